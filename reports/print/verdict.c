#include "reports/print/verdict.h"

#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "reports/print/interval.h"
#include "reports/print/number.h"

#include <math.h>
#include <stddef.h>

// "h200", "h200 and mi325x", "h200, mi300x and mi325x"
static const char *cheapest_ids(const struct scenario *scenario, const struct ranking *ranking,
                                struct arena *arena) {
  const char *ids = "";
  size_t named = 0;
  for (size_t o = 0; o < ranking->option_count; o++) {
    if (!ranking->options[o].cheapest)
      continue;
    const char *label = scenario->options[o].label;
    ids = ++named > 1 && named == ranking->cheapest_count
              ? arena_printf(arena, "%s and %s", ids, label)
              : options_joined(scenario, ids, label, arena);
  }
  return ids;
}

const char *verdict_percent(double saving, struct arena *arena) {
  if (saving < VERDICT_LEAST_SAVING)
    return VERDICT_LITTLE;
  if (saving >= VERDICT_MOST_SAVING && saving < 1)
    return VERDICT_MUCH;
  return arena_printf(arena, "%s %%", number_percent(saving, arena));
}

enum { COST_DIGITS = 4 };

// The cost of the first option.
static const char *cost_text(const struct scenario *scenario, struct arena *arena) {
  const int cost = model_cost_item(scenario->model);
  const struct unit *unit = &scenario->model->declarations[cost].unit;
  const double value = option_value(scenario, &scenario->options[0], cost, 0);
  return arena_printf(arena, "%s costs %s %s of output tokens", scenario->options[0].label,
                      number_significant(number_in_unit(value, unit), COST_DIGITS, arena),
                      unit->text);
}

static const char *base_text(const struct scenario *scenario, const struct ranking *ranking,
                             struct arena *arena) {
  if (ranking->option_count == 1)
    return cost_text(scenario, arena);
  if (ranking->cheapest < 0)
    return arena_printf(arena, "Not ranked: %s", ranking->why_none);
  const char *ids = cheapest_ids(scenario, ranking, arena);
  if (ranking->against < 0)
    return arena_printf(arena, "%s cost the same per output token", ids);
  const char *verb = ranking->cheapest_count > 1 ? "cost least" : "costs least";
  if (isnan(ranking->saving))
    return arena_printf(arena, "%s %s per output token, " VERDICT_NEGATIVE, ids, verb);
  return arena_printf(arena, "%s %s per output token, %s less than %s", ids, verb,
                      verdict_percent(ranking->saving, arena),
                      scenario->options[ranking->against].label);
}

// "12.4", "99.97", with the decimals that tell the highest from 100; if all three would round to
// 0.0, with two significant digits.
static const char *share_text(double share, const struct interval *all, struct arena *arena) {
  const bool little = fmax(fabs(all->low), fabs(all->high)) < VERDICT_LEAST_SAVING;
  const int decimals = number_percent_decimals(100 * all->high, 1);
  return little && share != 0 ? number_significant(100 * share, 2, arena)
                              : number_fixed(100 * share, decimals, arena);
}

static const char *saving_over_ranges(const struct scenario *scenario,
                                      const struct ranking *ranking,
                                      const struct simulation *simulation, struct arena *arena) {
  const struct interval saving = interval_of_verdict(simulation, ranking);
  if (isnan(saving.median))
    return "";
  const char *median = share_text(saving.median, &saving, arena);
  const char *against = scenario->options[ranking->against].label;
  if (saving.constant)
    return arena_printf(arena, " and saves %s %% against %s, which no ranged input affects", median,
                        against);
  return arena_printf(arena, " and saves %s %% against %s (%s to %s %%)", median, against,
                      share_text(saving.low, &saving, arena),
                      share_text(saving.high, &saving, arena));
}

// "only in 25.5 % of the draws"
static const char *seldom_text(double share, struct arena *arena) {
  return share > 0 ? arena_printf(arena, "only in %s %% of the draws",
                                  number_fixed(100 * fmin(fmax(share, 0.001), 0.999), 1, arena))
                   : "in none of the draws";
}

// ", but only in 25.5 % of the draws does mi325x serve the demand, and h200 only in 80.2 % of the
// draws", of the cheapest and what it is compared with; "" if both always do.
static const char *limits_over_ranges(const struct scenario *scenario,
                                      const struct ranking *ranking,
                                      const struct simulation *simulation, int cheapest,
                                      struct arena *arena) {
  const int named[] = {cheapest, ranking->against};
  const char *text = "";
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    const double share = named[i] < 0 ? 1 : simulation->ranked[named[i]];
    if (!(share < 1))
      continue;
    const char *label = scenario->options[named[i]].label, *seldom = seldom_text(share, arena);
    text = *text ? arena_printf(arena, "%s, and %s %s", text, label, seldom)
                 : arena_printf(arena, ", but %s does %s %s", seldom, label, simulation->asked);
  }
  return text;
}

// ", but b200 is the cheapest in 71.3 % of the draws", if that is more often than the cheapest at
// the base values; "" otherwise.
static const char *other_over_ranges(const struct scenario *scenario,
                                     const struct simulation *simulation, int cheapest,
                                     struct arena *arena) {
  size_t most = (size_t)cheapest;
  for (size_t o = 0; o < simulation->option_count; o++)
    if (simulation->cheapest[o] > simulation->cheapest[most])
      most = o;
  return most == (size_t)cheapest
             ? ""
             : arena_printf(arena, ", but %s is the cheapest in %s %% of the draws",
                            scenario->options[most].label,
                            number_percent(simulation->cheapest[most], arena));
}

const char *verdict_over_ranges(const struct scenario *scenario, const struct ranking *ranking,
                                const struct simulation *simulation, struct arena *arena) {
  const int cheapest = ranking->option_count == 1 ? 0 : ranking->cheapest;
  if (!simulation || cheapest < 0)
    return "";
  if (!simulation->done)
    return VERDICT_CERTAIN;
  const char *few = simulation_few_draws(simulation, arena);
  if (*few)
    return arena_printf(arena, "over the ranges: %s", few);
  const struct interval cost = interval_of(simulation, OUTCOME_COST, (size_t)cheapest);
  const char *limits = limits_over_ranges(scenario, ranking, simulation, cheapest, arena);
  return arena_printf(
      arena, "over the ranges %s costs %s %s in the median (P5 to P95: %s to %s)%s%s",
      scenario->options[cheapest].label, number_significant(cost.median, COST_DIGITS, arena),
      simulation->unit, number_significant(cost.low, COST_DIGITS, arena),
      number_significant(cost.high, COST_DIGITS, arena),
      saving_over_ranges(scenario, ranking, simulation, arena),
      *limits ? limits : other_over_ranges(scenario, simulation, cheapest, arena));
}

const char *verdict_text(const struct scenario *scenario, const struct ranking *ranking,
                         const struct simulation *simulation, struct arena *arena) {
  const char *base = base_text(scenario, ranking, arena);
  const char *ranges = verdict_over_ranges(scenario, ranking, simulation, arena);
  return *ranges ? arena_printf(arena, "%s" VERDICT_BASE "; %s", base, ranges) : base;
}

const char *verdict_not_ranked(const struct scenario *scenario, const struct ranking *ranking,
                               size_t option, struct arena *arena) {
  return arena_printf(arena, "%s: %s", scenario->options[option].label,
                      ranking->options[option].why_not);
}
