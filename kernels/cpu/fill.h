// fill: weights, embedding, norms and cache, computed from the seed.
#ifndef PERTOKEN_KERNELS_CPU_FILL_H
#define PERTOKEN_KERNELS_CPU_FILL_H

#include "kernels/cpu/state.h"

// Fills the thread's part of all of them; entered by all threads.
void cpu_fill(struct decode_state *state, int thread);

#endif
