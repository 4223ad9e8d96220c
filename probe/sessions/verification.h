// verification: compares a device's kernels with the oracle, without timing and without a record.
#ifndef PERTOKEN_PROBE_SESSIONS_VERIFICATION_H
#define PERTOKEN_PROBE_SESSIONS_VERIFICATION_H

#include "model/records/measurement.h"
#include "probe/sessions/session.h"

#include <stdio.h>

#define VERIFICATION_VARIANTS_S 120.0 // no variant of a trial is begun later, after the first was

enum verification_outcome {
  VERIFICATION_AGREES,  // every comparison is within tolerance
  VERIFICATION_DIFFERS, // one is not, or a variant's steps did not end well
  VERIFICATION_PARTIAL, // none differs, but there was no time for every variant
  VERIFICATION_STOPPED, // by *stop
  VERIFICATION_FAILED   // and reported: a trial cannot be run, or the device failed
};

// Compares one layer, then the depth that a run verifies (verify.h), of every trial that the
// session's options ask for, and prints a line for each: sizes, error, tolerance. Where a run would
// choose the fastest variant, each that it would try is compared, too, after steps of it have ended
// in a process of their own; those for which there was no time are named. It continues after one
// that is out of tolerance. The session's record and meters are not used.
enum verification_outcome verification_run(const struct session *session,
                                           const struct measurement_shape *model, FILE *out);

#endif
