// step: one decode step.
#ifndef PERTOKEN_KERNELS_CPU_STEP_H
#define PERTOKEN_KERNELS_CPU_STEP_H

#include "kernels/cpu/state.h"

// Entered by all threads, which keep step through the state's barrier.
void cpu_step(struct decode_state *state, int thread);

#endif
