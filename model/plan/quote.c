#include "model/plan/quote.h"

#include "base/arena.h"
#include "model/cost/arithmetic.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/plan/fleet.h"
#include "model/plan/shift.h"
#include "model/plan/terms.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/scenario.h"

#include <math.h>

// The numbers of nodes between which a line is drawn, large enough for rounding up not to matter;
// tokens per hour for what is paid by the token.
static const double few = 10000, many = 20000;

int quote_item(const struct quoting *quoting, const char *name) {
  return model_find(quoting->scenario->model, name);
}

// The draw's value if the option's own range applies to the workload: a throughput that the
// workload states itself is certain.
static double value_of(const struct quoting *quoting, const struct option *option, int d) {
  const struct scenario *scenario = quoting->scenario;
  const double certain = option_value(scenario, option, d, 0);
  const int o = quoting->drawn ? scenario_option(scenario, option->id) : -1;
  const int range = o < 0 ? -1 : option_range(scenario, &scenario->options[o], d);
  if (range < 0 || option_value(scenario, &scenario->options[o], d, 0) != certain)
    return certain;
  return quoting->drawn[range];
}

double quote_input(const struct quoting *quoting, const struct option *option, const char *name,
                   double otherwise) {
  const int d = quote_item(quoting, name);
  return d >= 0 && option_has(option, d) ? value_of(quoting, option, d) : otherwise;
}

double quote_per_node(const struct quoting *quoting, const struct option *option) {
  return quote_input(quoting, option, "accelerators_per_node", 1);
}

static void scale(const struct evaluation *block, const char *name, size_t i, double factor) {
  double *values = evaluation_input(block, name);
  if (values)
    values[i] *= factor;
}

static const char *tier_input(const struct quoting *quoting, const char *stem, int tier) {
  return arena_printf(quoting->arena, "%s_%d", stem, tier);
}

bool quote_has_tiers(const struct quoting *quoting, const struct option *option) {
  return option_has(option, quote_item(quoting, "discount_tier_1"));
}

double quote_spares(const struct quoting *quoting, const struct option *option) {
  return option->rented || option->provider ? 0 : quote_input(quoting, option, "spares", 0);
}

double quote_life(const struct quoting *quoting, const struct option *option) {
  const double life = quote_input(quoting, option, "life", INFINITY);
  return fmin(quoting->terms->periods, arithmetic_floor(life / quoting->terms->period_h));
}

// The residual value as a share of the price: it falls in a straight line over the life; zero for
// what is retired before the horizon.
static double residual_of(const struct quoting *quoting, const struct option *option,
                          const struct quote *quote, double at_end) {
  const double age = quote->last + 1 - quote->first;
  if (quote->last + 1 < quoting->terms->periods)
    return 0;
  return 1 - (1 - at_end) * age / quote_life(quoting, option);
}

// Sets the residual values at the age of sale. `resale` ages by itself, and is then the
// accelerators' alone where servers have a residual value.
static void age_residuals(const struct quoting *quoting, const struct option *option,
                          const struct evaluation *block, size_t i, const struct quote *quote) {
  static const char *const names[] = {"residual_value", "server_residual", "network_residual"};
  const bool ages = option_has(option, quote_item(quoting, "resale"));
  for (size_t n = ages ? 1 : 0; n < sizeof names / sizeof names[0]; n++) {
    double *values = evaluation_input(block, names[n]);
    if (values)
      values[i] = residual_of(quoting, option, quote, values[i]);
  }
}

static void grow_prices(const struct quoting *quoting, const struct option *option,
                        const struct evaluation *block, size_t i, double elapsed) {
  static const struct {
    const char *price, *growth;
  } growing[] = {{"electricity_price", "electricity_escalation"},
                 {"colo_rate", "colo_escalation"},
                 {"engineer_cost", "wage_growth"}};
  for (size_t g = 0; g < sizeof growing / sizeof growing[0]; g++)
    scale(block, growing[g].price, i,
          plan_growth(quoting->terms, quote_input(quoting, option, growing[g].growth, 0), elapsed));
}

// Replaces all tiers with one discount, from the first accelerator on.
static void level_tiers(const struct quoting *quoting, const struct evaluation *block, size_t i,
                        double discount) {
  for (int k = 1; k <= FLEET_MOST_TIERS; k++) {
    double *value = evaluation_input(block, tier_input(quoting, "discount_tier", k));
    double *from = evaluation_input(block, tier_input(quoting, "discount_from", k));
    if (value)
      value[i] = discount;
    if (from)
      from[i] = 1;
  }
}

static void set_column(const struct quoting *quoting, size_t o, const struct option *option,
                       const struct evaluation *block, size_t i, double size,
                       const struct quote *quote) {
  const struct plan_terms *terms = quoting->terms;
  const double elapsed = plan_elapsed(terms, quote->first);
  const double ordered = fmax(0, terms->from_date_h + elapsed - quoting->portfolio->lead_time[o]);
  double *accelerators = evaluation_input(block, "accelerators");
  double *demand = evaluation_input(block, "demand");
  double *horizon = evaluation_input(block, "horizon");
  double *spares = evaluation_input(block, "spares");
  double *decline = evaluation_input(block, "price_decline");
  double *since = shift_matters(quoting->scenario, option)
                      ? evaluation_at(block, shift_carrier(quoting->scenario), 0)
                      : NULL;
  horizon[i] = (quote->last + 1 - quote->first) * terms->period_h;
  if (option->provider)
    demand[i] = size;
  else
    accelerators[i] = round(size * quote_per_node(quoting, option));
  scale(block, "list_price", i,
        plan_growth(terms, -quote_input(quoting, option, "price_decline", 0), ordered));
  if (spares)
    spares[i] += quote->spares;
  if (decline)
    decline[i] = 0;
  if (since)
    since[i] = elapsed;
  grow_prices(quoting, option, block, i, elapsed);
  if (!isnan(quote->discount))
    level_tiers(quoting, block, i, quote->discount);
  age_residuals(quoting, option, block, i, quote);
}

struct evaluation *quotes_evaluate(const struct quoting *quoting, const struct option *option,
                                   const struct quote *quotes, size_t count, struct arena *arena) {
  struct evaluation *block = shift_block(quoting->scenario, option, 2 * count, arena);
  const size_t o = (size_t)scenario_option(quoting->scenario, option->id);
  for (int d = 0; d < quoting->scenario->model->count; d++) {
    if (option->graph->state[d] != GRAPH_INPUT)
      continue;
    const double value = value_of(quoting, option, d);
    for (size_t i = 0; i < 2 * count; i++)
      evaluation_at(block, d, 0)[i] = value;
  }
  for (size_t i = 0; i < 2 * count; i++)
    set_column(quoting, o, option, block, i, i % 2 ? many : few, &quotes[i / 2]);
  evaluate(block);
  return block;
}

double quote_tier_discount(const struct quoting *quoting, const struct option *option, int tier) {
  return tier ? quote_input(quoting, option, tier_input(quoting, "discount_tier", tier), 0) : 0;
}

double quote_tier_from(const struct quoting *quoting, const struct option *option, int tier,
                       double otherwise) {
  return quote_input(quoting, option, tier_input(quoting, "discount_from", tier), otherwise);
}

// ---- lines over nodes

double quote_slope(const struct evaluation *block, size_t quote, int item, int period) {
  const double *values = item < 0 ? NULL : evaluation_at(block, item, period);
  return values ? (values[2 * quote + 1] - values[2 * quote]) / (many - few) : 0;
}

// A remainder of the subtraction of large numbers counts as zero.
double quote_fixed(const struct evaluation *block, size_t quote, int item, int period) {
  const double *values = evaluation_at(block, item, period);
  const double fixed =
      values ? values[2 * quote] - quote_slope(block, quote, item, period) * few : 0;
  return values && fabs(fixed) < 1e-9 * fabs(values[2 * quote]) ? 0 : fixed;
}
