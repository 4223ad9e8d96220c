// prefill: prompts computed in chunks into the cache, timed beside decoding; and a chunk that shares
// its pass with the steps of the other rows.
#ifndef PERTOKEN_PROBE_MEASURE_PREFILL_H
#define PERTOKEN_PROBE_MEASURE_PREFILL_H

#include "kernels/decode.h"
#include "model/evidence/measurement.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"

#include <stdbool.h>

#define PREFILL_CHUNK 2048 // positions, where nothing else is asked for

// Whether a prompt leaves what the same prompt leaves that is decoded token by token, in the request
// that stands in for the trial's (verify.h): the steps themselves have been compared with the
// oracle. *passed means nothing unless DECODE_OK is returned.
enum decode_status prefill_verify(const struct protocol *protocol, const struct trial *trial,
                                  bool *passed, double *error);

// Times every prompt of the trial in a state of its request, and fills out->prefills and, of a batch, out->mixed.
enum decode_status prefill_measure(const struct protocol *protocol, const struct trial *trial,
                                   struct decode_state *state, struct measurement *out);

#endif
