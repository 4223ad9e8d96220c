// experts: the MLP of a layer with experts: the routing and the products. An expert's weights are
// read once for all vectors of a pass that chose it.
#ifndef PERTOKEN_KERNELS_CPU_EXPERTS_H
#define PERTOKEN_KERNELS_CPU_EXPERTS_H

#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/worker.h"

#include <stddef.h>

// Adds the experts' part to x; m is in the inputs of the experts, the shared expert and the router.
// All threads enter together.
void cpu_experts(const struct worker *worker, size_t layer);

// The experts that a vector of the last pass chose in a layer: [chosen].
static inline int *chosen_experts(const struct decode_state *state, size_t layer, size_t vector) {
  const struct plan *plan = &state->plan;
  return (int *)state->block[BLOCK_CHOSEN] + (layer * plan->vectors + vector) * plan->chosen;
}

#endif
