// result: measures a trial: verifies it, times it at each of its depths, meters it, and reports it.
#ifndef PERTOKEN_PROBE_MEASURE_RESULT_H
#define PERTOKEN_PROBE_MEASURE_RESULT_H

#include "model/records/measurement.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"

// Fills *out, except for its record and place; what it points to is in the protocol's arena.
// Failures are reported.
enum protocol_outcome result_measure(const struct protocol *protocol, const struct trial *trial,
                                     struct measurement *out);

#endif
