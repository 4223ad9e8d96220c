// stage_times: how long each stage of a decode step takes separately, so that a ladder of variants
// shows where each gains. Stages are named by launches.c ("qkv", "attention", ...); rounding counts
// toward the product that follows it.
//
// The launches of one stage follow each other through all layers, so that weights and cache come
// from memory as in a step, and each launch begins as the last one ends, also as in a step. But
// where all layers together have less than about twice what the device's cache holds, as attention
// has at batch 1, some of it is still there from the last turn: the time is a lower bound. They
// read what the last step left and what the stage itself adds to it: the sums are meaningless, and
// the next step starts fresh. So at least one step must have run.
#ifndef PERTOKEN_KERNELS_GPU_HOST_STAGE_TIMES_H
#define PERTOKEN_KERNELS_GPU_HOST_STAGE_TIMES_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/state.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <stdint.h>

enum { MAX_GPU_STAGES = 20 }; // more than a step has

struct gpu_stage_time {
  char name[24];
  int launches;   // in a step, rounding not counted
  uint64_t bytes; // in a step, counted as in decode.h: weights and cache; 0 for stages of neither
  double seconds; // in a step
};

// Repeats each stage for at least `least_s`; 0: once. *count of `out` [MAX_GPU_STAGES], in the
// order of a step; none of a streaming step, which is one launch.
enum decode_status gpu_stage_times(struct gpu_context *context, const struct plan *plan, void *base,
                                   double least_s, struct gpu_stage_time *out, size_t *count);

// The stage times of a state; a plugin exports this function under the following name.
typedef enum decode_status gpu_stage_times_function(struct decode_state *state, double least_s,
                                                    struct gpu_stage_time *out, size_t *count);
#define GPU_STAGE_TIMES "pertoken_stage_times"

#endif
