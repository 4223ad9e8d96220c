// exchange: the launches in which the ranks of a model meet, and those around them.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_EXCHANGE_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_EXCHANGE_H

#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>

// Turns the residual stream into the sum of the ranks' parts; adds nothing for one device.
void launch_add_up_residual(struct launch_list *list);
// Turns the tokens into the best that the ranks have found.
void launch_agree(struct launch_list *list);

// A single all-reduce of a layer, and the token's: [*count], in one allocation with its arguments,
// to be passed to free; NULL without memory.
struct gpu_launch *gpu_plan_all_reduce(const struct plan *plan, void *base, size_t *count);

#endif
