// cache: the share of the last-level cache that the cores in use have.
#ifndef PERTOKEN_KERNELS_CPU_CACHE_H
#define PERTOKEN_KERNELS_CPU_CACHE_H

#include <stdint.h>

// Size of the last-level caches of the CPUs that this process may run on, each cache counted once,
// as Linux lists them; 0 if it does not. A chiplet processor has one per chiplet.
uint64_t cache_in_use(void);

// What the C library reports for the last level: on AMD that of a whole package, however few of its
// cores a virtual machine has. 0: nothing reported.
uint64_t cache_reported(void);

#endif
