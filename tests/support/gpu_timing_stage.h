// gpu_timing_stage: one launch of gpu_timing.h's model, and the laws shared by its stages.
#ifndef PERTOKEN_TESTS_GPU_TIMING_STAGE_H
#define PERTOKEN_TESTS_GPU_TIMING_STAGE_H

#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "tests/support/gpu_timing.h"

#include <stdbool.h>

struct timing_stage {
  double bytes;                // from memory
  double rate;                 // bytes/us at which they flow
  double slower[TIMING_TERMS]; // us that they take longer than at full speed
  double gap[TIMING_TERMS];    // us from the preceding stage to the flow
  double tail[TIMING_TERMS];   // us from the last byte of the flow to the results
  double asked_us;             // of the flow that takes place before the gap ends
  bool passes_on;              // the next stage makes requests while this one's gap lasts
  double finish_us, use_us;    // of a streaming step: the tail; the time to use all bytes
};

struct timing_context {
  const struct plan *plan;
  const struct timing_machine *machine;
  unsigned points;
  int before; // blocks of the preceding launch, which occupy their multiprocessors
};

// By the name of the launch's kernel; `stage` is without its layer.
struct timing_stage timing_stage_of(const struct timing_context *context,
                                    const struct gpu_launch *launch, const char *stage);

// Without P8 or P12 the first kernels round what the plan's pass on rounded, before the launch. False
// if there is nothing of the kind.
bool timing_round_before(const struct timing_context *context, const struct gpu_launch *launch,
                         const char *stage, struct timing_stage *out);

// Of a read of L2 that something waits for.
double timing_trip_us(const struct timing_context *context);

// Windows per us of a scheduler with `warps`, each of which waits `latency` and then uses it for
// `use`.
double timing_windows(int warps, double use, double latency);

#endif
