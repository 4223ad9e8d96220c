// step: the launches of one decode step.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_STEP_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_STEP_H

#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <stdint.h>

// [*count], in one allocation with their arguments, to be passed to free; NULL without memory.
// *what, unless `what` is NULL, becomes an array of the launches' stages ("layer 3 qkv") in the
// same allocation.
struct gpu_launch *gpu_plan_step(const struct plan *plan, void *base, size_t *count,
                                 const char *const **what);

// The launches of a piece of a prompt, likewise; with the rows beside it at most as many vectors as
// the plan of its pass (planner.h) takes at a time.
struct gpu_launch *gpu_plan_pass(const struct plan *prompt, const struct prompt_piece *piece,
                                 void *base, size_t *count);
// The launches of one product in one of its layers, likewise.
struct gpu_launch *gpu_plan_pass_product(const struct plan *prompt,
                                         const struct prompt_piece *piece, int layer,
                                         enum product_name name, void *base, size_t *count);
// The launches of a product of the experts of one of its layers, as `runs` divide the items,
// likewise.
struct gpu_launch *gpu_plan_pass_experts(const struct plan *prompt,
                                         const struct prompt_piece *piece, int layer,
                                         enum product_name name, const struct expert_run *runs,
                                         int run_count, void *base, size_t *count);

// The bytes of gpu_plan_cost that a stage ("qkv", without its layer) moves in a step: 0 for those
// that move neither weights nor cache.
uint64_t gpu_plan_stage_bytes(const struct plan *plan, const char *stage);

#endif
