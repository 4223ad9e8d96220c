#include "probe/devices/precision.h"

#include "base/arena.h"
#include "base/source.h"
#include "kernels/element.h"
#include "model/evidence/catalog.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_ACTIVATIONS = 3 };

static const struct {
  const char *name, *also; // its name in records; its other common name
  enum element weights;
  enum element activations[MAX_ACTIVATIONS]; // best first
} precisions[] = {
    {"bf16", NULL, ELEMENT_BF16, {ELEMENT_BF16, ELEMENT_F32}},
    {"int8", NULL, ELEMENT_INT8, {ELEMENT_INT8, ELEMENT_BF16, ELEMENT_F32}},
    {"fp8", NULL, ELEMENT_E4M3, {ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
    {"mxfp4", NULL, ELEMENT_MXFP4, {ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
    {"fp4", "nvfp4", ELEMENT_NVFP4, {ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
    {"mxfp6", "fp6", ELEMENT_MXFP6_E2M3, {ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
    {"mxfp6-e3m2", NULL, ELEMENT_MXFP6_E3M2, {ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
    {"int4", NULL, ELEMENT_INT4_GROUP, {ELEMENT_INT8, ELEMENT_BF16, ELEMENT_F32}},
    {"int8-g128", NULL, ELEMENT_INT8_GROUP, {ELEMENT_INT8, ELEMENT_BF16, ELEMENT_F32}},
};

enum { PRECISIONS = sizeof precisions / sizeof precisions[0] };

static size_t find(const char *name) {
  size_t i = 0;
  while (i < PRECISIONS && strcmp(precisions[i].name, name) != 0 &&
         (!precisions[i].also || strcmp(precisions[i].also, name) != 0))
    i++;
  return i;
}

const char *precision_names(const char *excluded, struct arena *arena) {
  const char *list = "";
  for (size_t i = 0; i < PRECISIONS; i++)
    if (!catalog_lists(excluded, precisions[i].name))
      list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", precisions[i].name);
  return list;
}

const char *precision_find(const char *name, struct diagnostics *diagnostics) {
  const size_t found = find(name);
  if (found < PRECISIONS)
    return precisions[found].name;
  const char *names[PRECISIONS], *list = precision_names("", diagnostics->arena);
  for (size_t i = 0; i < PRECISIONS; i++)
    names[i] = precisions[i].name;
  const char *nearest = nearest_name(name, names, PRECISIONS);
  diagnostics_error(diagnostics, nowhere, "unknown precision '%s', expected one of %s%s", name,
                    list, did_you_mean(nearest, diagnostics->arena));
  return NULL;
}

// The i-th best type of activations with weights of that type; bf16 if only the experts have that
// precision, since they share their input with the rest.
static enum element activations_of(const struct precision_request *wanted, size_t which, size_t i) {
  static const enum element beside_bf16[MAX_ACTIVATIONS] = {ELEMENT_BF16, ELEMENT_F32};
  return wanted->of_experts_alone ? beside_bf16[i] : precisions[which].activations[i];
}

// The types of activations that can be asked for.
static const struct {
  const char *name;
  enum element element;
} named[] = {{"bf16", ELEMENT_BF16}, {"fp8", ELEMENT_E4M3}, {"int8", ELEMENT_INT8}};

enum { NAMED = sizeof named / sizeof named[0] };

// Whether the activations are those asked for, or nothing was asked for.
static bool is_wanted(const struct precision_request *wanted, enum element weights,
                      enum element activations) {
  for (size_t i = 0; wanted->activations && i < NAMED; i++)
    if (!strcmp(wanted->activations, named[i].name))
      return activations == named[i].element;
  const bool narrow = activations == ELEMENT_E4M3 || activations == ELEMENT_INT8;
  return !wanted->activations || (weights == ELEMENT_BF16 ? activations == weights : narrow);
}

static enum element weights_of(const struct precision_request *wanted, size_t which) {
  return wanted->of_experts_alone ? ELEMENT_BF16 : precisions[which].weights;
}

const char *precision_other_activations(const struct precision_request *wanted,
                                        struct arena *arena) {
  const size_t which = find(wanted->weights);
  const char *list = "";
  for (size_t i = 0; i < MAX_ACTIVATIONS; i++) {
    const enum element activations = activations_of(wanted, which, i);
    if (is_wanted(wanted, weights_of(wanted, which), activations))
      return NULL;
    for (size_t n = 0; n < NAMED; n++)
      if (named[n].element == activations)
        list = arena_printf(arena, "%s%s%s", list, *list ? " or " : "", named[n].name);
  }
  return list;
}

static enum decode_status ask(const struct device *device, const struct precision_request *wanted,
                              size_t which, size_t i, struct decode_request *request) {
  struct decode_cost cost;
  const enum element asked = precisions[which].weights;
  const enum element weights = weights_of(wanted, which);
  request->types = (struct decode_types){
      .weights = weights,
      .activations = activations_of(wanted, which, i),
      .kv = strcmp(wanted->kv, "fp8") ? ELEMENT_BF16 : ELEMENT_E4M3,
      .head = strcmp(wanted->head, "bf16") ? weights : ELEMENT_BF16,
      .accumulation = ELEMENT_F32,
      .experts = wanted->of_experts_alone ? asked : ELEMENT_F32,
  };
  return device->backend->cost(device->index, request, &cost);
}

enum decode_status precision_choose(const struct device *device,
                                    const struct precision_request *wanted,
                                    struct decode_request *request) {
  const size_t which = find(wanted->weights), count = MAX_ACTIVATIONS;
  enum decode_status status = DECODE_UNSUPPORTED;
  size_t first = count;
  for (size_t i = 0; i < count && status == DECODE_UNSUPPORTED; i++) {
    if (!is_wanted(wanted, weights_of(wanted, which), activations_of(wanted, which, i)))
      continue;
    first = first < count ? first : i;
    status = ask(device, wanted, which, i, request);
  }
  // The reason why the best cannot be run says more than the reason for the last.
  if (status == DECODE_UNSUPPORTED && first < count)
    status = ask(device, wanted, which, first, request);
  return status;
}

struct measurement_types precision_texts(const struct decode_types *types) {
  return (struct measurement_types){
      .weights = element_format(types->weights)->name,
      .activations = element_format(types->activations)->name,
      .kv = element_format(types->kv)->name,
      .head = element_format(types->head)->name,
      .accumulation = element_format(types->accumulation)->name,
      .experts = types->experts == ELEMENT_F32 ? "" : element_format(types->experts)->name,
  };
}

static bool read_element(const char *text, enum element *out) {
  for (int i = 0; i < ELEMENTS; i++) {
    if (strcmp(text, element_format((enum element)i)->name) != 0)
      continue;
    *out = (enum element)i;
    return true;
  }
  return false;
}

bool precision_types(const struct measurement_types *texts, struct decode_types *out) {
  out->experts = ELEMENT_F32;
  return read_element(texts->weights, &out->weights) &&
         read_element(texts->activations, &out->activations) && read_element(texts->kv, &out->kv) &&
         read_element(texts->head, &out->head) &&
         read_element(texts->accumulation, &out->accumulation) &&
         (!*texts->experts || read_element(texts->experts, &out->experts));
}
