// planner: makes a plan from a request. It is pure arithmetic, the same for every driver, so that
// the emulator runs what a GPU would.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_PLANNER_H
#define PERTOKEN_KERNELS_GPU_PLAN_PLANNER_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

// With several ranks, the plan of `rank`; the first one's is the largest. DECODE_UNSUPPORTED, with
// *why in words, for what the kernels do not support: F32 activations, head_dim above 256 or odd,
// batch above 256, a number of heads that is not a multiple of the KV heads.
enum decode_status gpu_plan_make(const struct decode_request *request, int rank,
                                 const struct gpu_device *device, struct plan *out,
                                 const char **why);

// For a plan whose request has a chunk, the plan of a prompt's pass: as many positions at a time as
// its request's batch, steps of other rows included, with the same weights and the same cache, and
// for the last of them the same tokens and logits; whatever else it needs is placed after the
// steps' own memory. Never fails for a plan that gpu_plan_make has made; that one says why it
// cannot be.
const char *gpu_plan_prompt(const struct plan *steps, struct plan *out);

#endif
