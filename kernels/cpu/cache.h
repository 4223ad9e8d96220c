// cache: how much of the last-level cache the cores in use share.
#ifndef PERTOKEN_KERNELS_CPU_CACHE_H
#define PERTOKEN_KERNELS_CPU_CACHE_H

#include <stdint.h>

// The last-level caches of the CPUs that this process may run on, each counted once, as Linux lists
// them; 0 where it does not. A processor of several chiplets has one for each.
uint64_t cache_in_use(void);

// What the C library says of the last level: on AMD a whole package's, however few of its cores a
// virtual machine has. 0: nothing.
uint64_t cache_reported(void);

#endif
