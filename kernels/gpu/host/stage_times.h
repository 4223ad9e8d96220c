// stage_times: how long each stage of a decode step takes by itself, so that a ladder of variants
// shows where one gains. Stages are named by launches.c ("qkv", "attention", ...); rounding counts
// towards the product that follows it.
//
// The launches of one stage follow each other through all layers, so that weights and cache come
// from memory as in a step, and each launch begins while the last one ends, as there. They read
// what the last step has left and what the stage itself adds to it: the sums are of no use, and the
// next step starts afresh. So at least one step must have been run.
#ifndef PERTOKEN_KERNELS_GPU_HOST_STAGE_TIMES_H
#define PERTOKEN_KERNELS_GPU_HOST_STAGE_TIMES_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/plan.h"
#include "kernels/gpu/host/state.h"

#include <stddef.h>
#include <stdint.h>

enum { MAX_GPU_STAGES = 16 }; // more than a step has

struct gpu_stage_time {
  char name[24];
  int launches;   // of a step, rounding not counted
  uint64_t bytes; // of a step, as decode.h counts: weights and cache; 0 for stages of neither
  double seconds; // of a step
};

// Repeats each stage for `least_s` or longer; 0: once. *count of `out` [MAX_GPU_STAGES], in the
// order of a step.
enum decode_status gpu_stage_times(struct gpu_context *context, const struct plan *plan, void *base,
                                   double least_s, struct gpu_stage_time *out, size_t *count);

// The same of a state, which a plugin exports under this name.
typedef enum decode_status gpu_stage_times_function(struct decode_state *state, double least_s,
                                                    struct gpu_stage_time *out, size_t *count);
#define GPU_STAGE_TIMES "pertoken_stage_times"

#endif
