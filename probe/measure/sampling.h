// sampling: timings of a decode state, alternating with reads of memory.
#ifndef PERTOKEN_PROBE_MEASURE_SAMPLING_H
#define PERTOKEN_PROBE_MEASURE_SAMPLING_H

#include "base/statistics.h"
#include "kernels/decode.h"
#include "probe/measure/calibration.h"
#include "probe/measure/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampling {
  const struct protocol *protocol;
  const struct calibration *calibration;
  struct decode_state *state;
  const char *label; // for progress
  int batch;
  const struct decode_cost *cost; // of a step
  double step_s;                  // roughly, when warm
  int steps;                      // of a sample
  double *samples;                // [count], seconds per step
  double *shares; // [count], bytes per step and second over the bandwidth of the reads around it
  double *sorted; // [count], scratch space
  size_t count;
  struct decode_touched touched; // experts, in all samples; for a model with experts
  struct summary summary;        // of the samples
};

// Runs until the speed has settled, at most 3 s, and sets `step_s` and `steps`. The caller has
// set everything down to `cost`.
enum decode_status sampling_warm_up(struct sampling *sampling);

// Samples until their mean has settled (TIMING_SETTLED), protocol->time_s is up, or *stop. A
// sample's share is based on the bytes that its own steps read, which depend on the experts touched
// if the model has any.
enum decode_status sampling_run(struct sampling *sampling);

// Samples for a third of a second, without reads beside them: `shares` are unknown. After
// sampling_warm_up.
enum decode_status sampling_glance(struct sampling *sampling);

#endif
