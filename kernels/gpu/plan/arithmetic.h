// arithmetic: the types that the products of a plan's steps multiply.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_ARITHMETIC_H
#define PERTOKEN_KERNELS_GPU_PLAN_ARITHMETIC_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/plan.h"

// Fills in only out->arithmetic (kernels/arithmetic.h).
void gpu_plan_arithmetic(const struct plan *plan, struct decode_step_form *out);

#endif
