#include "model/questions/power_limits.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/statistics.h"
#include "model/cost/model.h"
#include "model/records/measurement.h"
#include "model/records/records.h"
#include "model/scenario/amendment.h"
#include "model/scenario/option.h"
#include "model/scenario/resolution/resolution.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static double limit_of(const struct measurement *result) {
  return result->record->environment.device_state.power_limit_w;
}

static bool same(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

static bool differs_in_limit_alone(const struct measurement *a, const struct measurement *b) {
  return a->whole_model && b->whole_model && a->batch == b->batch && a->context == b->context &&
         measurement_devices(a) == measurement_devices(b) && same(a->model.id, b->model.id) &&
         same(a->types.weights, b->types.weights) &&
         same(a->types.activations, b->types.activations) && same(a->types.kv, b->types.kv) &&
         same(a->types.head, b->types.head) && same(a->record->device.name, b->record->device.name);
}

static int by_limit(const void *a, const void *b) {
  const struct power_point *left = a, *right = b;
  return number_order(left->limit_w, right->limit_w);
}

static void add_limit(struct power_limits *limits, double limit_w) {
  for (size_t i = 0; i < limits->count; i++)
    if (fabs(limits->points[i].limit_w - limit_w) < 0.5)
      return;
  if (limits->count < MAX_POWER_LIMITS && limit_w > 0)
    limits->points[limits->count++].limit_w = limit_w;
}

static void find_limits(const struct scenario *scenario, const struct measurement *own,
                        struct power_limits *limits) {
  for (size_t i = 0; i < scenario->records->count; i++) {
    const struct measurement_record *record = scenario->records->list[i];
    for (size_t k = 0; k < record->count; k++)
      if (differs_in_limit_alone(own, &record->results[k]))
        add_limit(limits, limit_of(&record->results[k]));
  }
  qsort(limits->points, limits->count, sizeof limits->points[0], by_limit);
}

// The option's cost at a power limit. NAN if it cannot be evaluated there: something else that it
// states contradicts the limit.
static double cost_at(const struct scenario *scenario, size_t option, double limit_w,
                      struct arena *arena) {
  struct diagnostics quiet = {.arena = arena};
  const struct ini_key key = {.name = "power_limit",
                              .value = arena_printf(arena, "%.9g W", limit_w),
                              .place = scenario->options[option].place,
                              .value_place = scenario->options[option].place};
  struct amendment *amendment = amendment_new(scenario, arena);
  struct lack lack;
  amendment_take_option(amendment, key.name, &key, &quiet);
  const struct option *held =
      quiet.errors ? NULL : option_resolve(scenario, option, amendment, &lack, arena, &quiet);
  if (!held || quiet.errors)
    return NAN;
  return option_value(scenario, held, model_cost_item(scenario->model), 0);
}

struct power_limits power_limits_of(const struct scenario *scenario, size_t option,
                                    struct arena *arena) {
  const struct measurement *own = scenario->options[option].record;
  struct power_limits limits = {.count = 0};
  size_t kept = 0;
  if (!own || model_cost_item(scenario->model) < 0)
    return limits;
  find_limits(scenario, own, &limits);
  for (size_t i = 0; limits.count > 1 && i < limits.count; i++) {
    limits.points[kept] = limits.points[i];
    limits.points[kept].cost_per_mtok = cost_at(scenario, option, limits.points[i].limit_w, arena);
    if (isnan(limits.points[kept].cost_per_mtok))
      continue;
    if (limits.points[kept].cost_per_mtok < limits.points[limits.least].cost_per_mtok)
      limits.least = kept;
    kept++;
  }
  limits.count = kept > 1 ? kept : 0;
  return limits;
}
