#include "model/scenario/sources/user_rate.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/workload.h"
#include "model/scenario/amendment.h"

#include <math.h>
#include <stddef.h>

// The workload's limit of that key in base units; `none` if it is not stated.
static double limit_of(const struct sources *sources, enum workload_key key, const char *unit_text,
                       double none) {
  const struct workload *workload = &sources->option->workload;
  struct diagnostics *diagnostics = sources->resolving->diagnostics;
  struct unit unit;
  double value = none;
  if (!*workload->values[key])
    return none;
  unit_parse(unit_text, workload->places[key], &unit, sources->arena, diagnostics);
  quantity_parse(workload->values[key], workload->places[key], &unit, &value, diagnostics);
  return value;
}

struct curve_limits user_rate_limits(const struct sources *sources) {
  return (struct curve_limits){
      rate_per_second(limit_of(sources, WORKLOAD_INTERACTIVITY, "token/s", 0)),
      rate_per_hour(limit_of(sources, WORKLOAD_TTFT, "s", INFINITY)), // hours in seconds
      rate_per_hour(limit_of(sources, WORKLOAD_TPOT, "s", INFINITY))};
}

struct place user_rate_place(const struct option *option) {
  size_t i = 0; // at least one of them asks for a rate
  while (i + 1 < WORKLOAD_PER_USER && !*option->workload.values[workload_per_user[i]])
    i++;
  return option->workload.places[workload_per_user[i]];
}

void user_rate_take(const struct sources *sources, const struct curve *curve) {
  struct option *option = sources->option;
  option->curve = curve;
  option->workload.values[WORKLOAD_BATCH] =
      arena_printf(sources->arena, "%d", option->choice.batch);
}

struct lack user_rate_choose(const struct sources *sources, const struct curve *curve) {
  struct option *option = sources->option;
  const struct curve_limits limits = user_rate_limits(sources);
  const char *why = curve_choose(curve, &limits, &option->choice, sources->arena);
  if (why)
    return (struct lack){LACK_RATE, user_rate_place(option), why};
  user_rate_take(sources, curve);
  return (struct lack){.kind = LACK_NONE};
}

enum grade user_rate_grade(const struct option *option, enum grade grade) {
  return option->choice.is_measured ? grade : grade_weaker(grade, GRADE_PROJECTED);
}

enum grade user_rate_power_grade(const struct option *option, enum grade grade) {
  return option->choice.has_own_watts ? grade : grade_weaker(grade, GRADE_PROJECTED);
}

static const char *place_words(const struct sources *sources, const char *source, bool measured) {
  const struct option *option = sources->option;
  const struct curve *curve = option->curve;
  return arena_printf(sources->arena, "%s; %s batch %d of %g to %g for %s per user on average",
                      source, measured ? "at" : "interpolated to", option->choice.batch,
                      curve->batch[0], curve->batch[curve->count - 1],
                      option->workload.values[WORKLOAD_INTERACTIVITY]);
}

const char *user_rate_words(const struct sources *sources, const char *source) {
  return place_words(sources, source, sources->option->choice.is_measured);
}

const char *user_rate_power_words(const struct sources *sources, const char *source) {
  return place_words(sources, source, sources->option->choice.has_own_watts);
}
