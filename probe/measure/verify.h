// verify: a backend's decode step against the double-precision oracle, before anything is timed.
#ifndef PERTOKEN_PROBE_MEASURE_VERIFY_H
#define PERTOKEN_PROBE_MEASURE_VERIFY_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/evidence/measurement.h"

#include <signal.h>
#include <stdbool.h>

// A stand-in for `request` that takes the oracle seconds: full width and the same types, but only
// the first two layers and at most 1,024 positions; for large models also a smaller vocabulary,
// then one layer, then four rows of the batch. Each kind of layer that the model has is among two:
// one of experts, one with a window that is shorter than the positions.
struct decode_request verify_request(const struct decode_request *request);

// Runs verify_request(request) on the device and the oracle for a step or two from the same tokens,
// teacher-forced: the oracle takes the tokens and the experts that the device chose, and judges by how
// much they miss its own. *passed says how it went, *out what was compared; both mean nothing unless
// DECODE_OK is returned. *stop ends it early: then *passed is false.
enum decode_status verify(const struct decode_backend *backend, int device,
                          const struct decode_request *request, const volatile sig_atomic_t *stop,
                          struct arena *arena, struct measurement_verification *out, bool *passed);

#endif
