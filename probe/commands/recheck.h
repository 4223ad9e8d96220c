// recheck: a record's workloads measured again.
#ifndef PERTOKEN_PROBE_COMMANDS_RECHECK_H
#define PERTOKEN_PROBE_COMMANDS_RECHECK_H

#include "probe/commands/options.h"
#include "probe/measure/protocol.h"

#include <stdio.h>

enum recheck_outcome {
  RECHECK_AGREES,  // every result within tolerance, and its watts where they could be compared
  RECHECK_DIFFERS, // one is not
  RECHECK_STOPPED, // by *stop
  RECHECK_FAILED   // reported: the record cannot be read, is of another device, or cannot be run
};

// How far watts may be off, as a share: the instruments' own error (as between a counter and
// integrated power).
#define RECHECK_WATTS 0.05

// Prints what was recorded beside what is measured now, token/s and, where the record has watts and
// a meter works here, watts; else it says that watts were not compared. The device is found here,
// among the backends, by the record's; protocol->device does not count, nor its meters unless
// protocol->roots is NULL.
enum recheck_outcome recheck(const struct protocol *protocol, const struct probe_options *options,
                             const struct decode_backend *const *backends, FILE *out);

#endif
