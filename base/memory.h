// memory: what happens when there is none left.
//
// memory.c stands in front of malloc, calloc, realloc, aligned_alloc and posix_memalign for the whole
// program, the libraries that it is linked with included: none of them returns for want of memory.
// Half the libraries would drop a member of their output or crash, and nobody can do better than to
// say so and end.
#ifndef PERTOKEN_BASE_MEMORY_H
#define PERTOKEN_BASE_MEMORY_H

// Says so on standard error and ends the program with exit status 3.
_Noreturn void memory_exhausted(void);

#endif
