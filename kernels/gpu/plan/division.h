// division: which kernels a plan's products and attention use, and how their work is divided into
// blocks, splits and slices.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_DIVISION_H
#define PERTOKEN_KERNELS_GPU_PLAN_DIVISION_H

#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>

// Which products there are and their types; then which kernels multiply them, and in how many
// blocks. False if they need more shared memory than the device has.
void division_name_products(struct plan *plan);
bool division_share_products(struct plan *plan);

// Into how many splits attention is divided: plan->attention_splits and window_splits.
void division_share_attention(struct plan *plan);

// Percent of a multiprocessor's shared memory to request: device.h's carveout.
int division_carveout(const struct plan *plan);

// The number of splits, of `parts` equal parts, with which `blocks` blocks finish soonest when
// `room` of them run at a time. Starting a block takes as long as a part; writing a split's sums
// and reading them back takes as long as `merging` parts.
int division_splits(int blocks, int parts, int merging, int room, int most);

#endif
