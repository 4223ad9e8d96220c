// memory: large blocks straight from the system, and how much memory there is.
#ifndef PERTOKEN_KERNELS_CPU_MEMORY_H
#define PERTOKEN_KERNELS_CPU_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// Zeroed, aligned to 2 MB and advised to use huge pages. No page is touched: the thread that first
// writes one gets it from its own memory node. NULL when the system refuses.
void *memory_take(size_t bytes);
void memory_give(void *block, size_t bytes); // NULL is allowed

struct memory_state {
  uint64_t total, available; // in bytes: memory available without swapping
};

struct memory_state memory_now(void);

#endif
