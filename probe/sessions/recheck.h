// recheck: measures a record's results again.
#ifndef PERTOKEN_PROBE_SESSIONS_RECHECK_H
#define PERTOKEN_PROBE_SESSIONS_RECHECK_H

#include "kernels/decode.h"
#include "probe/measure/protocol.h"
#include "probe/options/options.h"

#include <stdio.h>

enum recheck_outcome {
  RECHECK_AGREES,  // every result is within tolerance, and so is power where it could be compared
  RECHECK_DIFFERS, // one is not
  RECHECK_STOPPED, // by *stop
  RECHECK_FAILED   // and reported: the record cannot be read or run, or is of another device
};

// How far watts may be off, as a share: the instruments' own error, for example between a counter
// and integrated power.
#define RECHECK_WATTS 0.05

// Measures every result of options->record again, and prints both values of token/s. If the record
// has watts and a meter works here, prints both watts; otherwise says why watts were not compared.
// The record says which device to look for among the backends: protocol->device is not used, and
// its meters only if protocol->roots is NULL.
enum recheck_outcome recheck(const struct protocol *protocol, const struct probe_options *options,
                             const struct decode_backend *const *backends, FILE *out);

#endif
