// gpu_timing_attention: a launch of attention in gpu_timing.h's model.
#ifndef PERTOKEN_TESTS_GPU_TIMING_ATTENTION_H
#define PERTOKEN_TESTS_GPU_TIMING_ATTENTION_H

#include "tests/support/gpu_timing_flow.h"

struct timing_stage timing_attention(const struct timing_context *context,
                                     const struct gpu_launch *launch);

#endif
