// step: one pass through the layers: a decode step of the batch, a prompt's positions, or both.
#ifndef PERTOKEN_KERNELS_CPU_STEP_H
#define PERTOKEN_KERNELS_CPU_STEP_H

#include "kernels/cpu/state.h"

// What the state's pass says. Entered by all threads, which keep step through the state's barrier.
void cpu_step(struct decode_state *state, int thread);

#endif
