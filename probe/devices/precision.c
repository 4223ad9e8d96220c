#include "probe/devices/precision.h"

#include "base/source.h"

#include <stdbool.h>
#include <string.h>

static const char *const element_names[] = {[ELEMENT_F32] = "f32",
                                            [ELEMENT_BF16] = "bf16",
                                            [ELEMENT_E4M3] = "e4m3",
                                            [ELEMENT_INT8] = "int8"};

enum { ELEMENTS_NAMED = sizeof element_names / sizeof element_names[0] };

static const struct {
  const char *name;
  enum element weights;
  enum element activations[3]; // best first
} precisions[] = {
    {"bf16", ELEMENT_BF16, {ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int8", ELEMENT_INT8, {ELEMENT_INT8, ELEMENT_BF16, ELEMENT_F32}},
    {"fp8", ELEMENT_E4M3, {ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
};

enum { PRECISIONS = sizeof precisions / sizeof precisions[0] };

static size_t find(const char *name) {
  size_t i = 0;
  while (i < PRECISIONS && strcmp(precisions[i].name, name) != 0)
    i++;
  return i;
}

int precision_check(const char *name, struct diagnostics *diagnostics) {
  if (find(name) < PRECISIONS)
    return 0;
  const char *names[PRECISIONS];
  for (size_t i = 0; i < PRECISIONS; i++)
    names[i] = precisions[i].name;
  const char *nearest = nearest_name(name, names, PRECISIONS);
  diagnostics_error(diagnostics, (struct place){0},
                    "unknown precision '%s', expected bf16, int8 or fp8%s", name,
                    did_you_mean(nearest, diagnostics->arena));
  return -1;
}

// Whether what enters the products is as asked for, or nothing was asked for.
static bool is_wanted(const struct precision_request *wanted, enum element weights,
                      enum element activations) {
  if (!wanted->activations)
    return true;
  return activations == (strcmp(wanted->activations, "bf16") ? weights : ELEMENT_BF16);
}

static enum decode_status ask(const struct decode_backend *backend,
                              const struct precision_request *wanted, size_t which, size_t i,
                              struct decode_request *request) {
  struct decode_cost cost;
  request->types = (struct decode_types){
      .weights = precisions[which].weights,
      .activations = precisions[which].activations[i],
      .kv = strcmp(wanted->kv, "fp8") ? ELEMENT_BF16 : ELEMENT_E4M3,
      .head = strcmp(wanted->head, "bf16") ? precisions[which].weights : ELEMENT_BF16,
      .accumulation = ELEMENT_F32,
  };
  return backend->cost(request, &cost);
}

enum decode_status precision_choose(const struct decode_backend *backend,
                                    const struct precision_request *wanted,
                                    struct decode_request *request) {
  const size_t which = find(wanted->weights), count = 3;
  enum decode_status status = DECODE_UNSUPPORTED;
  size_t first = count;
  for (size_t i = 0; i < count && status == DECODE_UNSUPPORTED; i++) {
    if (!is_wanted(wanted, precisions[which].weights, precisions[which].activations[i]))
      continue;
    first = first < count ? first : i;
    status = ask(backend, wanted, which, i, request);
  }
  // Why the best cannot be run says more than why the last cannot.
  if (status == DECODE_UNSUPPORTED && first < count)
    status = ask(backend, wanted, which, first, request);
  return status;
}

struct measurement_types precision_texts(const struct decode_types *types) {
  return (struct measurement_types){
      .weights = element_names[types->weights],
      .activations = element_names[types->activations],
      .kv = element_names[types->kv],
      .head = element_names[types->head],
      .accumulation = element_names[types->accumulation],
  };
}

static bool read_element(const char *text, enum element *out) {
  for (int i = 0; i < ELEMENTS_NAMED; i++) {
    if (strcmp(text, element_names[i]) != 0)
      continue;
    *out = (enum element)i;
    return true;
  }
  return false;
}

bool precision_types(const struct measurement_types *texts, struct decode_types *out) {
  return read_element(texts->weights, &out->weights) &&
         read_element(texts->activations, &out->activations) && read_element(texts->kv, &out->kv) &&
         read_element(texts->head, &out->head) &&
         read_element(texts->accumulation, &out->accumulation);
}
