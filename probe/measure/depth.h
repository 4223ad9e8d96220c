// depth: a trial's model at one number of layers: filled, timed and, at the deepest, metered.
#ifndef PERTOKEN_PROBE_MEASURE_DEPTH_H
#define PERTOKEN_PROBE_MEASURE_DEPTH_H

#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/measure/calibration.h"
#include "probe/measure/energy_load.h"
#include "probe/measure/protocol.h"
#include "probe/measure/sampling.h"
#include "probe/measure/trial.h"

#include <stdint.h>

struct depth {
  struct decode_cost cost;
  double experts; // distinct experts that a step touches: counted, and before that expected
  struct sampling sampling;
  struct calibration calibration;
  double bandwidth_after;              // bytes per second, from a final calibration
  struct energy_load load;             // unknown except at the deepest
  struct decode_all_reduce all_reduce; // with several devices
  struct decode_step_form form;
};

// Bytes of weights, experts and cache that a step moves.
uint64_t depth_bytes(const struct depth *depth);

// Measures the trial's model with that many layers. *depth points to itself and must not be moved
// while it is measured. The trial's prompts go to prompts->prefills and ->mixed. Failures are
// reported.
enum protocol_outcome depth_measure(const struct protocol *protocol, const struct trial *trial,
                                    int layers, struct depth *depth, struct measurement *prompts);

#endif
