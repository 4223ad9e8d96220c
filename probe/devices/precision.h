// precision: "bf16", "fp8", "int8" as the types of decode.h, and those as texts.
#ifndef PERTOKEN_PROBE_DEVICES_PRECISION_H
#define PERTOKEN_PROBE_DEVICES_PRECISION_H

#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "model/evidence/measurement.h"

// What people ask for; what is left open the device chooses.
struct precision_request {
  const char *weights;     // bf16, fp8, int8
  const char *kv;          // bf16, fp8
  const char *head;        // bf16, or "weights": as the weights
  const char *activations; // bf16, or "weights": 8 bits beside 8-bit weights; NULL: best first
};

// Unknown names are errors. Returns 0 or -1.
int precision_check(const char *name, struct diagnostics *diagnostics);

// Fills request->types with the first types of that precision, best first, that the backend can run
// in this shape: activations rounded to bf16 before float, and 8-bit weights with 8-bit activations
// only where there is nothing else, but for int8, where that is the usual way (llama.cpp's q8_0).
// DECODE_UNSUPPORTED when there are none.
enum decode_status precision_choose(const struct decode_backend *backend,
                                    const struct precision_request *wanted,
                                    struct decode_request *request);

struct measurement_types precision_texts(const struct decode_types *types);

// The types of a record. False when one is not known here.
bool precision_types(const struct measurement_types *texts, struct decode_types *out);

#endif
