// verify: a backend's decode step against the double-precision oracle, before anything is timed.
#ifndef PERTOKEN_PROBE_MEASURE_VERIFY_H
#define PERTOKEN_PROBE_MEASURE_VERIFY_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/evidence/measurement.h"

#include <signal.h>

// What stands in for `request` so that the oracle takes seconds: full width and the same types,
// first two layers, at most 1,024 positions; for large models a smaller vocabulary, then one layer,
// then four rows of the batch.
struct decode_request verify_request(const struct decode_request *request);

// Runs verify_request(request) for a step or two from the same tokens on both, teacher-forced.
// *passed says how it went, and *out what was compared. *stop ends it early: then *passed is false.
enum decode_status verify(const struct decode_backend *backend, int device,
                          const struct decode_request *request, const volatile sig_atomic_t *stop,
                          struct arena *arena, struct measurement_verification *out, bool *passed);

#endif
