// verification: a device's kernels against the oracle, without timing and without a record.
#ifndef PERTOKEN_PROBE_MEASURE_VERIFICATION_H
#define PERTOKEN_PROBE_MEASURE_VERIFICATION_H

#include "probe/commands/session.h"

#include <stdio.h>

enum verification_outcome {
  VERIFICATION_AGREES,  // every comparison within tolerance
  VERIFICATION_DIFFERS, // one is not
  VERIFICATION_STOPPED, // by *stop
  VERIFICATION_FAILED   // reported: a workload that cannot be run, or the device failed
};

// Compares one layer, then the depth that a run verifies (verify.h), of every workload of the
// session's options, and prints a line for each: sizes, the error, the tolerance. A comparison out
// of tolerance does not end it. The session's record and meters are not used.
enum verification_outcome verification_run(const struct session *session,
                                           const struct measurement_shape *model, FILE *out);

#endif
