// verification: compares a device's kernels with the oracle, without timing and without a record.
#ifndef PERTOKEN_PROBE_COMMANDS_VERIFICATION_H
#define PERTOKEN_PROBE_COMMANDS_VERIFICATION_H

#include "model/records/measurement.h"
#include "probe/commands/session.h"

#include <stdio.h>

enum verification_outcome {
  VERIFICATION_AGREES,  // every comparison is within tolerance
  VERIFICATION_DIFFERS, // one is not
  VERIFICATION_STOPPED, // by *stop
  VERIFICATION_FAILED   // and reported: a trial cannot be run, or the device failed
};

// Compares one layer, then the depth that a run verifies (verify.h), of every trial that the
// session's options ask for, and prints a line for each: sizes, error, tolerance. It continues
// after one that is out of tolerance. The session's record and meters are not used.
enum verification_outcome verification_run(const struct session *session,
                                           const struct measurement_shape *model, FILE *out);

#endif
