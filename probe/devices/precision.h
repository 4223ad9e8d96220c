// precision: "bf16", "fp8" and "int8" as the types of decode.h, and those as texts.
#ifndef PERTOKEN_PROBE_DEVICES_PRECISION_H
#define PERTOKEN_PROBE_DEVICES_PRECISION_H

#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "model/evidence/measurement.h"

#include <stdbool.h>

// What the user asks for; the device chooses what is left open.
struct precision_request {
  const char *weights;     // bf16, fp8, int8
  const char *kv;          // bf16, fp8
  const char *head;        // bf16, or "weights": as the weights
  const char *activations; // bf16, or "weights": 8 bits beside 8-bit weights; NULL: best first
};

// Unknown names are errors. Returns 0 or -1.
int precision_check(const char *name, struct diagnostics *diagnostics);

// Fills request->types with the best types of that precision that the backend can run in this
// shape: bf16 activations rather than float; 8-bit activations beside fp8 weights only if nothing
// else will run, but first beside int8 weights, where they are usual (llama.cpp's q8_0).
// DECODE_UNSUPPORTED if there are none.
enum decode_status precision_choose(const struct decode_backend *backend,
                                    const struct precision_request *wanted,
                                    struct decode_request *request);

// As records hold them.
struct measurement_types precision_texts(const struct decode_types *types);

// The types in a record. False if one is unknown.
bool precision_types(const struct measurement_types *texts, struct decode_types *out);

#endif
