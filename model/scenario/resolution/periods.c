#include "model/scenario/resolution/periods.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/day.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ROUNDING 1e-9

static double months(const struct scenario *scenario) {
  return scenario->period_h / HOURS_PER_YEAR * conversion_table[CONVERT_MONTHS_PER_YEAR].value;
}

// "1 yr" or "3 month"
static const char *period_text(const struct scenario *scenario, struct arena *arena) {
  return scenario->period_h == HOURS_PER_YEAR ? "1 yr"
                                              : arena_printf(arena, "%g month", months(scenario));
}

// ---- a ramp

enum { RAMP, ELAPSED, SERVED, PERIOD, CAPACITY, DEMANDED, READ };
enum { SHORT_HORIZON_MONTHS = 3 };

// The mean share of the capacity that there is between two times.
static double ramped(double ramp, double from, double to) {
  const double before = fmin(from, ramp), by = fmin(to, ramp);
  const double lost = by - before - (by * by - before * before) / (2 * ramp);
  return 1 - lost / (to - from);
}

// Whether the capacity suffices for that hourly demand, a share of the day's mean, in the last
// month of the period but not in the first. The model, which compares means of a period, then does
// not show what the first months cannot serve.
static bool is_reached(const double value[READ], double share) {
  const double full = value[CAPACITY] / value[SERVED], asked = value[DEMANDED] / value[PERIOD];
  const double begin = value[ELAPSED], end = begin + value[PERIOD];
  const double last =
      begin + (ceil(value[PERIOD] / HOURS_PER_MONTH - ROUNDING) - 1) * HOURS_PER_MONTH;
  const double at_first = full * ramped(value[RAMP], begin, fmin(begin + HOURS_PER_MONTH, end));
  const double at_last = full * ramped(value[RAMP], last, end);
  return share * asked > at_first * (1 + ROUNDING) && share * asked < at_last * (1 - ROUNDING);
}

static bool is_reached_in_any_hour(const struct scenario *scenario, const struct option *option,
                                   const double value[READ]) {
  const int share = model_find(scenario->model, "day_share_1");
  const int total = model_find(scenario->model, "day_total");
  if (share < 0 || total < 0 || !option_has(option, total))
    return is_reached(value, 1);
  for (int hour = 0; hour < HOURS_OF_DAY; hour++)
    if (is_reached(value, HOURS_OF_DAY * option_value(scenario, option, share + hour, 0) /
                              option_value(scenario, option, total, 0)))
      return true;
  return false;
}

static bool hides_demand(const struct scenario *scenario, const struct option *option,
                         const int d[READ]) {
  for (int i = 0; i < READ; i++)
    if (d[i] < 0 || !option_has(option, d[i]))
      return false;
  for (int t = 1; t < scenario->periods; t++) {
    double value[READ];
    for (int i = 0; i < READ; i++)
      value[i] = option_value(scenario, option, d[i], t);
    if (value[RAMP] > 0 && value[SERVED] > 0 && is_reached_in_any_hour(scenario, option, value))
      return true;
  }
  return false;
}

static void warn_of_ramp(struct scenario *scenario, struct arena *arena) {
  static const char *const names[READ] = {"ramp",   "elapsed",  "served",
                                          "period", "capacity", "demanded"};
  int d[READ];
  bool hides = false;
  for (int i = 0; i < READ; i++)
    d[i] = model_find(scenario->model, names[i]);
  for (size_t o = 0; o < scenario->option_count; o++)
    hides |= hides_demand(scenario, &scenario->options[o], d);
  if (hides)
    texts_add(&scenario->warnings, arena,
              "during a ramp, the capacity is averaged over each period of %s, which hides demand "
              "that it does not meet at first: [scenario] period = 1 month shows it",
              period_text(scenario, arena));
}

// ---- a life

// Warns each option whose life ends within a period, as hardware is retired at the end of a period.
static void warn_of_life(struct scenario *scenario, struct option *option, struct arena *arena) {
  const double life = option_amount(scenario, option, "life");
  const double counted = option_amount(scenario, option, "life_time");
  const double horizon = option_amount(scenario, option, "horizon");
  if (option_is_owned(option) && life > 0 && fabs(life - counted) > ROUNDING * life &&
      counted < horizon * (1 - ROUNDING))
    texts_add(&option->warnings, arena, "life counts as %g yr%s", counted / HOURS_PER_YEAR,
              scenario->period_h == HOURS_PER_YEAR ? ": [scenario] period = 1 month shows it" : "");
}

// ---- the user's own items

// Whether the declaration is computed for each period, other than the year or the step of a list,
// which does not vary within it.
static bool varies(const struct graph *graph, int d) {
  const struct declaration *declaration = &graph->model->declarations[d];
  return graph_is_series(graph, d) && declaration->kind != DECLARATION_INPUT &&
         !declaration_is_clock(declaration);
}

// Whether the formula varies with the periods, other than by the year or the step of a list.
static bool follows_periods(const struct graph *graph, const struct node *node) {
  if (node->kind == NODE_NAME)
    return node->declaration == T_NAME ||
           (node->declaration >= 0 && varies(graph, node->declaration));
  if (node_takes_series(node))
    return function_table[node->function].per_period;
  for (int i = 0; i < node->argument_count; i++)
    if (follows_periods(graph, node->arguments[i]))
      return true;
  return false;
}

static bool is_cut(const struct scenario *scenario, const struct option *option) {
  const int horizon = model_find(scenario->model, "horizon");
  const double periods = option_value(scenario, option, horizon, 0) / scenario->period_h;
  return fabs(periods - round(periods)) > ROUNDING;
}

// Whether item d is charged in the period that is cut short or, if none is, in several periods.
static bool is_charged(const struct scenario *scenario, const struct option *option, int d,
                       bool cut) {
  const int last = option_periods(scenario, option, 0);
  int times = 0;
  for (int t = cut ? last : 1; t <= last; t++)
    times += option_value(scenario, option, d, t) != 0;
  return times > (cut ? 0 : 1);
}

// An item in money that is the same whatever the length of a period.
static bool is_charged_per_period(const struct option *option, int d) {
  const struct declaration *item = &option->graph->model->declarations[d];
  const int opex = model_find(option->graph->model, "opex");
  return item->item && item->kind != DECLARATION_INPUT && opex >= 0 &&
         item->group == option->graph->model->declarations[opex].group &&
         dimension_is_money(item->unit.dimension) && option_has(option, d) &&
         !follows_periods(option->graph, graph_formula(option->graph, d));
}

static void warn_of_item(struct scenario *scenario, const struct option *option, int d,
                         struct arena *arena) {
  const struct declaration *item = &scenario->model->declarations[d];
  const bool yearly = scenario->period_h == HOURS_PER_YEAR;
  if (!is_charged_per_period(option, d) || (yearly && !is_cut(scenario, option)) ||
      !is_charged(scenario, option, d, yearly))
    return;
  if (yearly)
    texts_add(&scenario->warnings, arena,
              "%s, in %s, is charged in full in the last period, which the horizon cuts short: "
              "an item in %s/yr is charged by time",
              item->label, item->unit.text, item->unit.text);
  else
    texts_add(&scenario->warnings, arena,
              "%s, in %s, is charged in every period of %s: an item in %s/yr is charged by time",
              item->label, item->unit.text, period_text(scenario, arena), item->unit.text);
}

// Warns of each item once, however many options have it.
static void warn_of_items(struct scenario *scenario, struct arena *arena) {
  for (int d = 0; d < scenario->model->count; d++) {
    const size_t before = scenario->warnings.count;
    for (size_t o = 0; o < scenario->option_count && scenario->warnings.count == before; o++)
      warn_of_item(scenario, &scenario->options[o], d, arena);
  }
}

// Warns of a short horizon: most of a purchase is then residual value, or a unit is wrong. A rent
// may be for a day.
static void warn_of_short_horizon(struct scenario *scenario, struct arena *arena) {
  const int horizon = model_find(scenario->model, "horizon");
  const int price = model_find(scenario->model, "list_price");
  const double least = HOURS_PER_YEAR * SHORT_HORIZON_MONTHS / 12;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const double hours = option_value(scenario, option, horizon, 0);
    if (option->rented || price < 0 || !option_has(option, price) || hours >= least)
      continue;
    const struct figure *figure = option_figure(scenario, option, scenario->selected, horizon);
    texts_add(&scenario->warnings, arena,
              "the horizon, %s, is below %d months, short for a purchase: check its unit",
              figure->text
                  ? figure->text
                  : quantity_text(hours, &scenario->model->declarations[horizon].unit, arena),
              SHORT_HORIZON_MONTHS);
    return;
  }
}

void periods_warn(struct scenario *scenario, struct arena *arena) {
  warn_of_short_horizon(scenario, arena);
  warn_of_ramp(scenario, arena);
  for (size_t o = 0; o < scenario->option_count; o++)
    warn_of_life(scenario, &scenario->options[o], arena);
  warn_of_items(scenario, arena);
}
