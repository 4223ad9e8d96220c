// precision: "bf16", "mxfp4" and the like as the types of decode.h, and those types as texts.
#ifndef PERTOKEN_PROBE_DEVICES_PRECISION_H
#define PERTOKEN_PROBE_DEVICES_PRECISION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"

#include <stdbool.h>

// What the user asks for; the device chooses what is left open.
struct precision_request {
  const char *weights;     // as named by precision_find
  const char *kv;          // bf16, fp8
  const char *head;        // bf16, or "weights": as the weights
  const char *activations; // bf16, fp8, int8, or "weights": as the weights; NULL: best first
  bool of_experts_alone;   // that precision applies to the routed experts, the rest is bf16
};

// The name of it in records: "fp4" for "nvfp4". NULL for an unknown one, which is an error.
const char *precision_find(const char *name, struct diagnostics *diagnostics);

// All names but those in the list, which are separated by semicolons: "bf16, int8, fp8".
const char *precision_names(const char *excluded, struct arena *arena);

// NULL, or which activations go with that precision, if those asked for do not: "bf16 or int8".
const char *precision_other_activations(const struct precision_request *wanted,
                                        struct arena *arena);

// Fills request->types with the best types of that precision that the device can run in this
// shape: bf16 activations rather than float; 8-bit activations with fp8 weights only if nothing
// else will run, but first with int8 and int4 weights, where they are usual (llama.cpp's q8_0 and
// q4_0). DECODE_UNSUPPORTED if there are none.
enum decode_status precision_choose(const struct device *device,
                                    const struct precision_request *wanted,
                                    struct decode_request *request);

// The types by their names in records.
struct measurement_types precision_texts(const struct decode_types *types);

// The types named in a record. False if one is unknown.
bool precision_types(const struct measurement_types *texts, struct decode_types *out);

#endif
