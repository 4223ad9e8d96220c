// cost: what a step of a plan costs, of one rank.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_COST_H
#define PERTOKEN_KERNELS_GPU_PLAN_COST_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/plan.h"

#include <stdint.h>

struct decode_cost gpu_plan_cost(const struct plan *plan);

// The bytes of that total that all launches of a product read, and that all of attention reads and
// writes.
uint64_t gpu_plan_product_bytes(const struct plan *plan, enum product_name which);
uint64_t gpu_plan_cache_bytes(const struct plan *plan);

#endif
