// fill: weights, embedding, norms and cache, computed from the seed.
#ifndef PERTOKEN_KERNELS_CPU_FILL_H
#define PERTOKEN_KERNELS_CPU_FILL_H

#include "kernels/cpu/state.h"

#include <stddef.h>

// Fills the thread's part of all of them; all threads enter.
void cpu_fill(struct decode_state *state, int thread);

// The rope angles of a position, for a vector of a pass.
void cpu_fill_turns(struct decode_state *state, size_t vector, size_t position);

#endif
