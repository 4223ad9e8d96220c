// timing_attention: a launch of attention in timing.h's model.
#ifndef PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_ATTENTION_H
#define PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_ATTENTION_H

#include "tests/support/timing/timing_flow.h"

struct timing_stage timing_attention(const struct timing_context *context,
                                     const struct gpu_launch *launch);

#endif
