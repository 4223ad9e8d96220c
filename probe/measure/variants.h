// variants: of the ways in which a backend can compute a trial, the fastest on the device at hand.
#ifndef PERTOKEN_PROBE_MEASURE_VARIANTS_H
#define PERTOKEN_PROBE_MEASURE_VARIANTS_H

#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"

// The number-th, from 0, of the variants to try for a request on a device; NULL past the last.
const char *variants_name(const struct device *device, const struct decode_request *request,
                          int number);

// The backend's own choice has been verified for the trial. It is timed for a short while at the
// trial's greatest depth, and so is each of the backend's variants for it, if steps of it end in a
// process of their own (tryout.h, protocol->program), and if the logits and tokens of its first
// step agree with those of the own choice, or a mixture's with the oracle's. One that the device
// refuses is left out; so is one that does not end or disagrees, which is reported. The trial gets
// the fastest as its variant; the own choice, unless another takes at least 1 % less time. A
// variant chosen must still be verified. *out gets `variants`, if there are any to choose from.
enum protocol_outcome variants_choose(const struct protocol *protocol, struct trial *trial,
                                      struct measurement *out);

#endif
