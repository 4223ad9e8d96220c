// one_step: a single step of a device, and what it computed.
#ifndef PERTOKEN_PROBE_MEASURE_ONE_STEP_H
#define PERTOKEN_PROBE_MEASURE_ONE_STEP_H

#include "kernels/decode.h"

// The state was made for the request. *logits [batch][vocab] and *tokens [batch] are the step's;
// what the device does not write is NAN and -1, which cannot look right.
enum decode_status one_step(const struct decode_backend *backend, struct decode_state *state,
                            const struct decode_request *request, float *logits, int *tokens);

#endif
