// variants: other ways to make a request's step, each of which was faster on some device or may be
// (docs/measuring-gpu.md), so that only measurement tells which of them is on this one.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_VARIANTS_H
#define PERTOKEN_KERNELS_GPU_PLAN_VARIANTS_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/device.h"

// The number-th, from 0, as gpu_tuning_read takes it; NULL past the last. Each can be planned, and
// differs from the plan's own choice where it says so. None for a device with a tuning: that is
// somebody's choice; and none for several ranks.
const char *gpu_plan_variant(const struct decode_request *request, const struct gpu_device *device,
                             int number);

#endif
