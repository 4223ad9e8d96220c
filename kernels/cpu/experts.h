// experts: the MLP of a layer that has experts: who chooses which, and their products, each expert's
// weights read once for all vectors of a pass that chose it.
#ifndef PERTOKEN_KERNELS_CPU_EXPERTS_H
#define PERTOKEN_KERNELS_CPU_EXPERTS_H

#include "kernels/cpu/worker.h"

#include <stddef.h>

// Adds the experts' part to x; m stands in the inputs of expert, shared expert and router. Entered
// by all threads at once.
void cpu_experts(const struct worker *worker, size_t layer);

// The experts that a vector of the last pass chose in a layer: [chosen].
static inline int *chosen_experts(const struct decode_state *state, size_t layer, size_t vector) {
  const struct plan *plan = &state->plan;
  return (int *)state->block[BLOCK_CHOSEN] + (layer * plan->vectors + vector) * plan->chosen;
}

#endif
