// prefill: prompts computed in chunks into the cache, timed alongside decoding; and a chunk that
// shares its pass with the steps of the other rows.
#ifndef PERTOKEN_PROBE_MEASURE_PREFILL_H
#define PERTOKEN_PROBE_MEASURE_PREFILL_H

#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"

#include <stdbool.h>

#define PREFILL_CHUNK 2048 // positions, if nothing else is asked for

// What was compared, and the verdict.
struct prefill_verdict {
  int layers, rows, vocab;
  int positions, chunk; // decoded, and then taken in chunks
  int longest;          // chunk, compared with the same positions in short ones
  int compared;         // rows
  double error, tolerance;
  bool passed;
};

// Whether a prompt leaves the same state as the same prompt decoded token by token, in the request
// that replaces the trial's (verify.h): the steps themselves have been compared with the oracle. In
// a batch, also whether its last chunk does so together with a step of the other rows, which must
// leave what their steps alone did; not if a table routes each step elsewhere. Then whether a chunk
// as long as the trial's leaves what the same positions do in short ones.
// *out means nothing unless DECODE_OK is returned.
enum decode_status prefill_verify(const struct protocol *protocol, const struct trial *trial,
                                  struct prefill_verdict *out);

// Multiplications and additions of a prompt of that many positions; with several ranks, those of
// the first one, like the rate that they are compared with.
double prefill_operations(const struct device *device, const struct decode_request *request,
                          int count);

// Times every prompt of the trial in a state of its request, and fills out->prefills and, for a
// batch, out->mixed.
enum decode_status prefill_measure(const struct protocol *protocol, const struct trial *trial,
                                   struct decode_state *state, struct measurement *out);

#endif
