// memory: running out of it, and keeping freed memory for reuse.
//
// memory.c intercepts malloc, calloc, realloc, aligned_alloc and posix_memalign for the whole
// program, including the libraries that it is linked with: none of them returns when memory has run
// out. Half the libraries would drop part of their output or crash, and nothing better can be done
// than to report it and exit.
#ifndef PERTOKEN_BASE_MEMORY_H
#define PERTOKEN_BASE_MEMORY_H

// Reports it on standard error and ends the program with exit status 3.
_Noreturn void memory_exhausted(void);

// From now on keeps up to 64 MiB of freed memory for the next allocations. By default the C library
// returns it to the system whenever enough is free at the heap's end, so that an arena that is made
// and freed ten thousand times would get its pages anew each time.
void memory_keep(void);

#endif
