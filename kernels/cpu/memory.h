// memory: large blocks straight from the system, and how much memory there is.
#ifndef PERTOKEN_KERNELS_CPU_MEMORY_H
#define PERTOKEN_KERNELS_CPU_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// Zeroed. From 2 MiB on it is aligned to that and advised to use huge pages, otherwise aligned to
// a page. No page is touched: the thread that first writes one gets it from its own memory node.
// NULL for 0 bytes, and when the system refuses.
void *memory_take(size_t bytes);
// `bytes` as taken; NULL is allowed.
void memory_give(void *block, size_t bytes);

struct memory_state {
  uint64_t total, available; // in bytes: memory available without swapping; 0 if unknown
};

struct memory_state memory_now(void);

#endif
