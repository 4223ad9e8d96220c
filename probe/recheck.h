// recheck: a record's workloads measured again.
#ifndef PERTOKEN_RECHECK_H
#define PERTOKEN_RECHECK_H

#include "probe/probe_options.h"
#include "probe/protocol.h"

#include <stdio.h>

enum recheck_outcome {
  RECHECK_AGREES,  // every result within tolerance
  RECHECK_DIFFERS, // one is not
  RECHECK_STOPPED, // by *stop
  RECHECK_FAILED   // reported: the record cannot be read, is of another device, or cannot be run
};

// Prints what was recorded beside what is measured now. The device is found here, among
// the backends, by the record's; protocol->device does not count.
enum recheck_outcome recheck(const struct protocol *protocol, const struct probe_options *options,
                             const struct decode_backend *const *backends, FILE *out);

#endif
