// verify: compares a backend's decode step with the double-precision oracle, before anything is
// timed.
#ifndef PERTOKEN_PROBE_MEASURE_VERIFY_H
#define PERTOKEN_PROBE_MEASURE_VERIFY_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"

#include <signal.h>
#include <stdbool.h>

// What is verified in place of a request: what the device runs, and how much of it the oracle can
// follow in seconds.
struct verify_plan {
  struct decode_request request; // the device's
  int rows;                      // the oracle's, the first rows of the batch
  int steps;
};

// The whole batch, at full width and with the same types, so that the device runs the kernels that
// are timed, but only the first two layers and at most 1,024 positions; for large models also a
// smaller vocabulary, then one layer, and all rows or as many as the oracle has time for, at least
// four. The two layers include each kind that the model has: one with experts, and one with a
// window shorter than the positions.
struct verify_plan verify_plan(const struct decode_request *request);

// Runs the plan's request on the device, and its first rows on the oracle, for a step or two from
// the same tokens, teacher-forced: the oracle takes the tokens and the experts that the device
// chose, and judges by how much they miss its own. In the other rows the logits must be numbers,
// and the tokens the first of the largest of them. *passed is the verdict, *out what part of
// `request` was compared; both mean nothing unless DECODE_OK is returned. *stop ends it early: then
// *passed is false.
enum decode_status verify(const struct decode_backend *backend, int device,
                          const struct decode_request *request, const struct verify_plan *plan,
                          const volatile sig_atomic_t *stop, struct arena *arena,
                          struct measurement_verification *out, bool *passed);

#endif
