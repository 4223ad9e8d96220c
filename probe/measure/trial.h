// trial: one thing to measure: a model in a precision, at a batch and a context, on one device or
// on several that hold it together.
#ifndef PERTOKEN_PROBE_MEASURE_TRIAL_H
#define PERTOKEN_PROBE_MEASURE_TRIAL_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_DEPTHS = 3 };

struct trial {
  size_t number; // its place in the list of what is measured, from 0
  struct measurement_shape model;
  const char *precision; // as named by precision_find
  struct decode_types types;
  int batch, context, threads;
  uint64_t seed;
  enum decode_routing routing; // for a model with experts
  float skew;
  // Depths to measure, ascending: one, with all the model's layers or fewer, or several from which
  // the whole is extrapolated.
  int layers[MAX_DEPTHS];
  size_t layer_count;
  const int *prefills; // [prefill_count], prompts to measure apart from decoding, in positions
  size_t prefill_count;
  int chunk;                      // positions of a prompt computed at once
  struct measurement_shard shard; // of > 1: one rank's share; its step_seconds is not used
  // The devices of one backend that hold the model together, the protocol's first; none: that one
  // alone.
  const struct device *ranks; // [rank_count]
  const int *rank_indices;    // [rank_count]
  int rank_count;
  const char *variant; // of the backend's; NULL: its own choice
  bool fastest;        // instead, whichever of these is the fastest: variants.h
};

// "tinyllama-1.1b bf16, batch 1, context 512"
const char *trial_text(const struct trial *trial, struct arena *arena);

// The policies of routing as records name them, in the order of enum decode_routing; NULL ends the
// list.
extern const char *const trial_routings[];

// The number of layers at its last depth.
int trial_deepest(const struct trial *trial);

// The request to the backend for that depth. It points into the trial.
struct decode_request trial_request(const struct trial *trial, int layers);

#endif
