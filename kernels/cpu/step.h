// step: one pass through the layers: a decode step of the batch, a prompt's positions, or both.
#ifndef PERTOKEN_KERNELS_CPU_STEP_H
#define PERTOKEN_KERNELS_CPU_STEP_H

#include "kernels/cpu/state.h"

// Runs the state's pass. All threads enter, synchronized by the state's barrier.
void cpu_step(struct decode_state *state, int thread);

#endif
