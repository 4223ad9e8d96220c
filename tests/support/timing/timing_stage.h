// timing_stage: one launch of timing.h's model.
#ifndef PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_STAGE_H
#define PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_STAGE_H

#include "kernels/gpu/plan/device.h"
#include "tests/support/timing/timing_flow.h"

#include <stdbool.h>

// By the name of the launch's kernel; `stage` is without its layer.
struct timing_stage timing_stage_of(const struct timing_context *context,
                                    const struct gpu_launch *launch, const char *stage);

// Without P8 or P12 the first kernels round what the plan's pass on rounded, before the launch.
// False if there is nothing of the kind.
bool timing_round_before(const struct timing_context *context, const struct gpu_launch *launch,
                         const char *stage, struct timing_stage *out);

#endif
