#include "probe/measure/variants.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "kernels/decode.h"
#include "kernels/reference/check.h"
#include "probe/devices/device.h"
#include "probe/measure/one_step.h"
#include "probe/measure/sampling.h"
#include "probe/measure/tryout.h"
#include "probe/measure/verify.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIANTS = 16 }; // and the own choice

static const double gain = 0.01; // less than that may be noise

// The results of a step.
struct step {
  float *logits;
  int *tokens;
};

struct race {
  const struct protocol *protocol;
  const char *label;
  struct decode_request request;
  struct decode_cost cost;
  struct step own, other;
  double own_s;                        // that the visit to the own choice took
  struct measurement_variant *entries; // [count], of which the first is the own choice
  size_t count;
};

static bool begin_step(struct step *step, const struct decode_request *request) {
  const size_t rows = (size_t)request->batch;
  step->logits = malloc(rows * (size_t)request->shape.vocab * sizeof *step->logits);
  step->tokens = malloc(rows * sizeof *step->tokens);
  return step->logits && step->tokens;
}

static void end_step(struct step *step) {
  free(step->logits);
  free(step->tokens);
}

static void refuse(const struct race *race, struct measurement_variant *entry, const char *from,
                   double error, double tolerance) {
  entry->refused =
      arena_printf(race->protocol->arena, "its results differ from %s: %.3g, %.3g is allowed", from,
                   error, tolerance);
  diagnostics_warning(race->protocol->diagnostics, nowhere, "%s, %s: %s; it is not used",
                      race->label, entry->variant, entry->refused);
}

static bool is_mixture(const struct race *race) {
  return race->request.shape.experts.count > 0;
}

// Either may be as far from the oracle as is tolerated.
static bool agrees(const struct race *race, struct measurement_variant *entry) {
  const double tolerance = 2 * reference_tolerance(&race->request.types);
  const double distance =
      reference_distance(race->other.logits, race->other.tokens, race->own.logits, race->own.tokens,
                         (size_t)race->request.batch, (size_t)race->request.shape.vocab);
  if (distance > tolerance)
    refuse(race, entry, "those of the kernels' own choice", distance, tolerance);
  return distance <= tolerance;
}

// A mixture's rows may go to other experts where two are nearly as good, so its results cannot be
// compared with others', only with the oracle's for the same experts.
static bool is_verified(const struct race *race, const struct decode_request *request,
                        struct measurement_variant *entry) {
  const struct protocol *protocol = race->protocol;
  const struct device *device = protocol->device;
  struct decode_request steps = *request;
  struct measurement_verification found;
  bool passed;
  steps.chunk = 0;
  const struct verify_plan plan = verify_plan(&steps);
  const enum decode_status status = verify(device->backend, device->index, &steps, &plan,
                                           protocol->stop, protocol->arena, &found, &passed);
  if (status != DECODE_OK)
    entry->refused = device_failure(device->backend, status, protocol->arena);
  else if (!passed && !*protocol->stop)
    refuse(race, entry, "the oracle's", found.max_error, found.tolerance);
  return status == DECODE_OK && passed;
}

static enum decode_status time_state(struct race *race, struct decode_state *state,
                                     struct measurement_variant *entry) {
  const bool is_own = entry == race->entries;
  struct sampling sampling = {.protocol = race->protocol,
                              .state = state,
                              .label = race->label,
                              .batch = race->request.batch,
                              .cost = &race->cost};
  struct step *step = is_own ? &race->own : &race->other;
  enum decode_status status =
      one_step(race->protocol->device->backend, state, &race->request, step->logits, step->tokens);
  if (status != DECODE_OK || (!is_own && !is_mixture(race) && !agrees(race, entry)))
    return status;
  status = sampling_warm_up(&sampling);
  if (status == DECODE_OK)
    status = sampling_glance(&sampling);
  if (status == DECODE_OK && !*race->protocol->stop)
    entry->step_seconds = sampling.summary.median;
  return status;
}

// Where one never ended, or crashed, everybody should know.
static enum tryout_outcome try_elsewhere(const struct race *race,
                                         const struct decode_request *request,
                                         struct measurement_variant *entry) {
  const struct protocol *protocol = race->protocol;
  if (!protocol->program)
    return TRYOUT_ENDED;
  const char *why = "";
  const enum tryout_outcome outcome =
      tryout(protocol->program, protocol->device, request, tryout_limit(race->own_s),
             protocol->stop, protocol->arena, &why);
  if (outcome == TRYOUT_ENDED)
    return outcome;
  entry->refused = why;
  if (outcome != TRYOUT_REFUSED && !*protocol->stop)
    diagnostics_warning(protocol->diagnostics, nowhere, "%s, %s: %s; it is not used", race->label,
                        entry->variant, why);
  return outcome;
}

// A failure of the own choice ends the race, and so does a device that another occupies for good;
// otherwise another that fails is left out.
static enum decode_status visit(struct race *race, struct measurement_variant *entry) {
  const struct device *device = race->protocol->device;
  struct decode_request request = race->request;
  enum decode_status status = DECODE_OK;
  request.variant = entry->variant;
  protocol_say(race->protocol, race->label,
               *entry->variant ? arena_printf(race->protocol->arena, "trying %s", entry->variant)
                               : "trying the kernels' own choice");
  const enum tryout_outcome outcome =
      entry == race->entries ? TRYOUT_ENDED : try_elsewhere(race, &request, entry);
  if (outcome != TRYOUT_ENDED)
    return outcome == TRYOUT_STUCK ? DECODE_NO_DEVICE : DECODE_OK;
  if (entry != race->entries && is_mixture(race) && !is_verified(race, &request, entry))
    return DECODE_OK;
  struct decode_state *state = device->backend->create(device->index, &request, &status);
  if (state)
    status = time_state(race, state, entry);
  if (status != DECODE_OK)
    entry->refused = device_failure(device->backend, status, race->protocol->arena);
  if (state)
    device->backend->destroy(state);
  return entry == race->entries ? status : DECODE_OK;
}

const char *variants_name(const struct device *device, const struct decode_request *request,
                          int number) {
  return device->backend->variant && number < MAX_VARIANTS
             ? device->backend->variant(device->index, request, number)
             : NULL;
}

// The own choice and the variants; alone if there are none.
static void list(struct race *race) {
  const struct device *device = race->protocol->device;
  const char *variant = "";
  race->entries = arena_array(race->protocol->arena, MAX_VARIANTS + 1, sizeof *race->entries);
  while (variant) {
    race->entries[race->count] = (struct measurement_variant){variant, NAN, ""};
    variant = variants_name(device, &race->request, (int)race->count++);
  }
}

static const char *fastest(const struct race *race) {
  const struct measurement_variant *own = race->entries, *best = own;
  for (size_t i = 1; i < race->count; i++)
    if (race->entries[i].step_seconds < best->step_seconds &&
        race->entries[i].step_seconds <= (1 - gain) * own->step_seconds)
      best = &race->entries[i];
  return *best->variant ? best->variant : NULL;
}

static enum decode_status run(struct race *race) {
  enum decode_status status =
      begin_step(&race->own, &race->request) && begin_step(&race->other, &race->request)
          ? race->protocol->device->backend->cost(race->protocol->device->index, &race->request,
                                                  &race->cost)
          : DECODE_NO_MEMORY;
  for (size_t i = 0; i < race->count && status == DECODE_OK && !*race->protocol->stop; i++) {
    const double start = clock_now(race->protocol->clock);
    status = visit(race, &race->entries[i]);
    if (i == 0)
      race->own_s = clock_now(race->protocol->clock) - start;
  }
  end_step(&race->own);
  end_step(&race->other);
  return status;
}

enum protocol_outcome variants_choose(const struct protocol *protocol, struct trial *trial,
                                      struct measurement *out) {
  struct race race = {.protocol = protocol,
                      .label = trial_text(trial, protocol->arena),
                      .request = trial_request(trial, trial_deepest(trial))};
  list(&race);
  if (race.count == 1)
    return PROTOCOL_DONE;
  const enum decode_status status = run(&race);
  if (status != DECODE_OK)
    return protocol_fail(protocol, trial, "cannot be measured", status);
  if (*protocol->stop)
    return PROTOCOL_STOPPED;
  trial->variant = fastest(&race);
  out->variants = race.entries;
  out->variant_count = race.count;
  return PROTOCOL_DONE;
}
