// launches: a plan as lists of launches. Each list and the arguments within are one allocation
// [*count], to be given to free; NULL without memory.
#ifndef PERTOKEN_KERNELS_GPU_HOST_LAUNCHES_H
#define PERTOKEN_KERNELS_GPU_HOST_LAUNCHES_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/plan.h"

#include <stddef.h>
#include <stdint.h>

// The launches that fill memory at `base` from the seed, and those of one step. *what, unless
// `what` is NULL, becomes an array of the launches' stages ("layer 3 qkv") inside the same
// allocation.
struct gpu_launch *gpu_plan_fill(const struct plan *plan, void *base, size_t *count);
struct gpu_launch *gpu_plan_step(const struct plan *plan, void *base, size_t *count,
                                 const char *const **what);
// A single all-reduce of a layer.
struct gpu_launch *gpu_plan_all_reduce(const struct plan *plan, void *base, size_t *count);

// A persistent plan's step: one launch, and the `count` stages that belong into REGION_STAGES,
// inside the same allocation.
struct gpu_launch *gpu_plan_persistent(const struct plan *plan, void *base,
                                       const struct persistent_stage **stages, size_t *count);

// The bytes of gpu_plan_cost that a stage ("qkv", without its layer) moves in a step: 0 for those
// that move neither weights nor cache.
uint64_t gpu_plan_stage_bytes(const struct plan *plan, const char *stage);

#endif
