// tryout: steps of a request in a process of their own, before this process runs any. Kernels whose
// blocks wait for each other may never end, and nothing ends a kernel but the end of its process.
//
// The process is the probe itself, with TRYOUT_COMMAND. It reads the request from its standard
// input as it is in memory, so both must be the same file.
#ifndef PERTOKEN_PROBE_MEASURE_TRYOUT_H
#define PERTOKEN_PROBE_MEASURE_TRYOUT_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "probe/devices/device.h"

#include <signal.h>

#define TRYOUT_COMMAND "try" // "pertoken-probe try", for no user

enum tryout_outcome {
  TRYOUT_ENDED,
  TRYOUT_REFUSED, // by the backend, which does not support the request or has no memory for it
  TRYOUT_FAILED,  // it did not end in time, or the device or the process failed
  TRYOUT_STUCK    // it did not even end when killed: the device is not free
};

// How long it may take if the backend's own choice took own_s.
double tryout_limit(double own_s);

// Has `program` make the request's state on the device and run steps for half a second. Unless they
// ended, *why says, in the arena, why the request must not be run, such as "its steps did not end
// within 60 s". *stop ends the process, too; what is returned then means nothing. The request is
// for one device.
enum tryout_outcome tryout(const char *program, const struct device *device,
                           const struct decode_request *request, double limit_s,
                           const volatile sig_atomic_t *stop, struct arena *arena,
                           const char **why);

// The other process: does what its standard input asks for with the plugins' backends in `folder`,
// and writes why it cannot to its standard output. Returns its exit status.
int tryout_serve(const char *folder);

#endif
