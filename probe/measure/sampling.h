// sampling: timings of one decode state, alternating with reads of memory.
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
  int steps;       // of a sample
  double *samples; // [count], seconds per step
  double *shares;  // [count], bytes per step and second over the bandwidth of the reads around it
  double *sorted;  // [count], scratch space
  size_t count;
  struct summary summary; // of the samples
  bool settled;
};

// Runs until the speed has settled, for 3 s at most, and sets `steps`. The caller has set
// everything down to `batch`.
enum decode_status sampling_warm_up(struct sampling *sampling);

// Samples until the median has settled, protocol->time_s is up, or *stop. `bytes` of a step, for
// the shares.
enum decode_status sampling_run(struct sampling *sampling, uint64_t bytes);

#endif
