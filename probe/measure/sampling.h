// sampling: the timings of one decode state, each step beside a read of memory.
#ifndef PERTOKEN_PROBE_MEASURE_SAMPLING_H
#define PERTOKEN_PROBE_MEASURE_SAMPLING_H

#include "base/statistics.h"
#include "probe/measure/calibration.h"
#include "probe/measure/protocol.h"

struct sampling {
  const struct protocol *protocol;
  const struct calibration *calibration;
  struct decode_state *state;
  const char *label; // for progress
  int batch;
  int steps;       // of a sample
  double *samples; // seconds per step
  double *shares;  // bytes per step and second over the bandwidth of the reads around it
  double *sorted;  // room to work in
  size_t count, capacity;
  struct summary summary;
  bool settled;
};

// Runs until the speed has settled, and finds how many steps a sample takes.
enum decode_status sampling_warm_up(struct sampling *sampling);

// Samples until the rule stops it, time is up, or *stop. `bytes` per step, for the shares.
enum decode_status sampling_run(struct sampling *sampling, uint64_t bytes);

#endif
