#include "model/questions/rent.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/arithmetic.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/question.h"
#include "model/questions/rent_offers.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <string.h>

// An option, or its rented twin, evaluated in one column.
struct fleet {
  const struct scenario *scenario;
  const struct option *option;
  struct evaluation *evaluation;
  const char *demand; // the input that scales it
  double base_accelerators, base_capacity, base_utilization, base_demand;
  double full_load; // at which the demand is met, the ramp aside; NAN without one
};

static int item(const struct scenario *scenario, const char *name) {
  return model_find(scenario->model, name);
}

static bool has(const struct fleet *fleet, const char *name) {
  const int d = item(fleet->scenario, name);
  return d >= 0 && fleet->evaluation->graph->state[d] != GRAPH_ABSENT;
}

static double value(const struct fleet *fleet, const char *name) {
  return has(fleet, name) ? evaluation_at(fleet->evaluation, item(fleet->scenario, name), 0)[0]
                          : NAN;
}

static void set(const struct fleet *fleet, const char *name, double to) {
  const int d = item(fleet->scenario, name);
  if (d >= 0 && fleet->evaluation->graph->state[d] == GRAPH_INPUT)
    evaluation_at(fleet->evaluation, d, 0)[0] = to;
}

static double period_value(const struct fleet *fleet, const char *name, int period) {
  const int d = item(fleet->scenario, name);
  return d < 0 ? NAN : evaluation_at(fleet->evaluation, d, period)[0];
}

static double sum(const struct fleet *fleet, const char *name) {
  double total = 0;
  for (int t = 0; t < fleet->scenario->periods; t++)
    total += period_value(fleet, name, t);
  return total;
}

// The amount of an item per hour in the period in which that is highest.
static double highest(const struct fleet *fleet, const char *name) {
  double most = 0;
  for (int t = 0; t < fleet->scenario->periods; t++)
    if (period_value(fleet, "period", t) > 0)
      most = fmax(most, period_value(fleet, name, t) / period_value(fleet, "period", t));
  return most;
}

// The tokens that the accelerators serve themselves.
static double fleet_tokens(const struct fleet *fleet, int period) {
  const double tokens = period_value(fleet, "tokens", period);
  return has(fleet, "burst_tokens") ? tokens - period_value(fleet, "burst_tokens", period) : tokens;
}

static double all_fleet_tokens(const struct fleet *fleet) {
  double total = 0;
  for (int t = 0; t < fleet->scenario->periods; t++)
    total += fleet_tokens(fleet, t);
  return total;
}

// The cost of the tokens that are bought elsewhere.
static double burst_cost(const struct fleet *fleet) {
  return has(fleet, "burst_total") ? value(fleet, "burst_total") : 0;
}

// Whether the input is NAME_applies of an own item that is limited to some options.
static bool is_limit(const struct declaration *input) {
  return input->kind == DECLARATION_INPUT && input->item && !input->literal;
}

static void leave_out(const struct model *model, const char *input, enum given *given,
                      double *values) {
  const int d = model_find(model, input);
  if (d < 0)
    return;
  given[d] = GIVEN_NEUTRAL;
  values[d] = 0;
}

// An offer's rate stands in rental_rate, whichever rent its option states and in which currency.
static void take_own_rate(const struct model *model, enum given *given, double *values) {
  given[model_find(model, "rental_rate")] = GIVEN_VALUE;
  leave_out(model, "on_demand_rate", given, values);
}

// Takes the inputs that the option gives. Its rented twin pays neither what comes with the rent nor
// the own items that are limited to some options, of which it is none.
static void take_inputs(const struct scenario *scenario, const struct option *option, bool twin,
                        enum given *given, double *values) {
  const struct model *model = scenario->model;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const struct figure *figure = option_figure(scenario, option, scenario->selected, d);
    given[d] = option->given[d];
    values[d] = option_has(option, d) && !(twin && is_limit(input))
                    ? option_value(scenario, option, d, 0)
                    : 0;
    if (figure->origin != ORIGIN_RENT && !(twin && input->in_rent))
      continue;
    given[d] = GIVEN_NEUTRAL;
    values[d] = figure->origin == ORIGIN_RENT ? figure->value : 0;
  }
}

static void keep_base(struct fleet *fleet) {
  const int demand = item(fleet->scenario, "demand");
  const bool is_list = demand >= 0 && fleet->evaluation->graph->state[demand] >= 0;
  fleet->demand = is_list ? "demand_scale" : "demand";
  fleet->base_accelerators = value(fleet, "accelerators");
  fleet->base_capacity = sum(fleet, "capacity");
  fleet->base_utilization = value(fleet, "utilization");
  fleet->base_demand = value(fleet, fleet->demand);
  fleet->full_load = NAN;
  if (has(fleet, "demanded"))
    fleet->full_load =
        fleet->base_utilization * highest(fleet, "demanded") / highest(fleet, "capacity");
}

struct givens {
  enum given *given; // [declarations of the model]
  double *values;    // of the same
};

// The option with its number of accelerators fixed, so that no demand resizes it, and with its
// utilization, even if it computes that; `rented`: with a rent instead of a price, for the same
// accelerators. A rented option is sized for all of the tokens, so it buys none elsewhere.
static struct givens givens_of(const struct scenario *scenario, const struct option *option,
                               bool rented, struct arena *arena) {
  const struct model *model = scenario->model;
  const size_t count = (size_t)model->count;
  struct givens givens = {arena_array(arena, count, sizeof *givens.given),
                          arena_array(arena, count, sizeof *givens.values)};
  take_inputs(scenario, option, rented && !option->rented, givens.given, givens.values);
  givens.given[item(scenario, "accelerators")] = GIVEN_VALUE;
  if (givens.given[item(scenario, "utilization")] == GIVEN_NOT)
    givens.given[item(scenario, "utilization")] = GIVEN_VALUE;
  if (rented)
    take_own_rate(model, givens.given, givens.values);
  if (rented && option->rented) {
    leave_out(model, "burst_price", givens.given, givens.values);
    leave_out(model, "burst_rate", givens.given, givens.values);
  }
  return givens;
}

static int fleet_new(struct fleet *fleet, const struct scenario *scenario,
                     const struct option *option, struct givens givens, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct model *model = scenario->model;
  const struct graph *graph =
      graph_build(model, option->id, option->place, givens.given, arena, diagnostics);
  if (!graph)
    return -1;
  *fleet = (struct fleet){.scenario = scenario,
                          .option = option,
                          .evaluation = evaluation_new(graph, scenario->periods, 1, arena)};
  for (int d = 0; d < model->count; d++)
    if (graph->state[d] == GRAPH_INPUT)
      evaluation_at(fleet->evaluation, d, 0)[0] = givens.values[d];
  evaluate(fleet->evaluation);
  keep_base(fleet);
  return 0;
}

// Finds the credit of a residual value of 100 %: the hardware's cost, as far as that has no
// residual value of its own. 0 if any is credited already.
static int find_residual_base(const struct fleet *own, double *base, struct arena *arena,
                              struct diagnostics *diagnostics) {
  const int residual = item(own->scenario, "residual_value");
  const struct givens givens = givens_of(own->scenario, own->option, false, arena);
  struct fleet sold;
  *base = 0;
  if (residual < 0 || (has(own, "residual_total") && value(own, "residual_total") != 0))
    return 0;
  givens.given[residual] = GIVEN_VALUE;
  givens.values[residual] = 1;
  if (fleet_new(&sold, own->scenario, own->option, givens, arena, diagnostics))
    return -1;
  *base = value(own, "tco") - value(&sold, "tco");
  return 0;
}

// The utilization that its tokens take, the mean over the horizon: below the highest one where a
// period's demand does not reach it.
static double mean_load(const struct fleet *fleet) {
  return fleet->base_utilization * all_fleet_tokens(fleet) / fleet->base_capacity;
}

// Sets the highest load. Beyond the load that the demand allows, the demand rises with the load.
static void set_load(const struct fleet *fleet, double load) {
  set(fleet, "utilization", load);
  set(fleet, fleet->demand, fleet->base_demand * fmax(1, load / fleet->full_load));
  evaluate(fleet->evaluation);
}

static void set_base(const struct fleet *fleet) {
  set(fleet, "utilization", fleet->base_utilization);
  set(fleet, fleet->demand, fleet->base_demand);
  evaluate(fleet->evaluation);
}

// ---- one offer

struct renting {
  const struct fleet *own;
  struct fleet rented;
  struct rent_cost *cost;
  double rental_per_token;  // USD
  double following_present; // following, discounted
};

static double ceil_to(double number, double multiple) {
  return arithmetic_ceil(number / multiple) * multiple;
}

// Whether the owned option's own accelerators are rented, beside which it buys the same tokens.
static bool is_twin(const struct renting *renting) {
  return renting->cost->offer.option < 0;
}

// The owned option's tokens that the rented accelerators serve.
static double replaced_tokens(const struct renting *renting, int period) {
  return is_twin(renting) ? fleet_tokens(renting->own, period)
                          : period_value(renting->own, "tokens", period);
}

static double all_replaced_tokens(const struct renting *renting) {
  double total = 0;
  for (int t = 0; t < renting->own->scenario->periods; t++)
    total += replaced_tokens(renting, t);
  return total;
}

// The number to rent for the owned option's tokens in every period.
static double accelerators_for(const struct renting *renting) {
  const struct fleet *rented = &renting->rented;
  double most = 0;
  if (is_twin(renting))
    return rented->base_accelerators;
  for (int t = 0; t < renting->own->scenario->periods; t++)
    if (replaced_tokens(renting, t) > 0)
      most = fmax(most, replaced_tokens(renting, t) / period_value(rented, "capacity", t));
  return ceil_to(most * rented->base_accelerators, value(rented, "purchase_unit"));
}

// The accelerator-hours paid for.
static double paid_hours(const struct renting *renting, double tokens) {
  const struct rent_offer *offer = &renting->cost->offer;
  const struct fleet *rented = &renting->rented;
  const double horizon = value(rented, "horizon");
  if (offer->hours == RENT_HOURS_USED)
    return (1 + offer->interruption) * tokens /
           (value(rented, "tokens_per_gpu") / value(rented, "utilization"));
  return renting->cost->accelerators * (offer->term > 0 ? ceil_to(horizon, offer->term) : horizon);
}

// The difference of two rounded equal values counts as zero.
static double unless_rounding(double difference, double of) {
  return fabs(difference) < 1e-12 * fabs(of) ? 0 : difference;
}

// Evaluates the rented accelerators at a rate in USD/h.
static void evaluate_at(const struct renting *renting, double rate) {
  const struct rent_cost *cost = renting->cost;
  set(&renting->rented, "rental_rate",
      cost->paid * rate / (cost->accelerators * value(&renting->rented, "horizon")));
  evaluate(renting->rented.evaluation);
}

static double beside_at(const struct renting *renting, double rate) {
  const double cost = value(&renting->rented, "tco");
  return unless_rounding(cost - renting->cost->paid * rate, cost);
}

// The discounted cost beside the rent. The cost model's rent is spread evenly over the horizon.
static double discounted_beside(const struct renting *renting) {
  const double all = sum(&renting->rented, "discounted_cash");
  double rental = 0;
  for (int t = 0; t < renting->own->scenario->periods; t++)
    rental += period_value(&renting->rented, "rental_cost", t) *
              period_value(&renting->rented, "discount_factor", t);
  return unless_rounding(all - rental, all);
}

// An item of the user's own may follow the rent, as a tax does: twice what half the rate saves.
static void evaluate_rented(struct renting *renting) {
  struct rent_cost *cost = renting->cost;
  const struct fleet *rented = &renting->rented;
  const double rate = cost->offer.rate, tokens = all_replaced_tokens(renting);
  cost->accelerators = accelerators_for(renting);
  cost->paid = paid_hours(renting, tokens);
  cost->rental = cost->paid * rate;
  set(rented, "accelerators", cost->accelerators);
  evaluate_at(renting, rate / 2);
  const double beside = beside_at(renting, rate / 2), present = discounted_beside(renting);
  evaluate_at(renting, rate);
  cost->cost = value(rented, "tco");
  cost->beside = beside_at(renting, rate);
  cost->following = 2 * unless_rounding(cost->beside - beside, cost->cost);
  renting->following_present =
      2 * unless_rounding(discounted_beside(renting) - present, cost->cost);
  renting->rental_per_token = cost->rental / tokens;
}

// The rent of a period: on demand it follows the tokens.
static double rental_in(const struct renting *renting, int period) {
  const struct rent_cost *cost = renting->cost;
  return cost->offer.hours == RENT_HOURS_USED
             ? renting->rental_per_token * replaced_tokens(renting, period)
             : cost->accelerators * cost->offer.rate *
                   period_value(&renting->rented, "period", period);
}

// The part of a term's rent that remains to be paid when the horizon ends.
static double rental_left(const struct renting *renting) {
  const struct rent_cost *cost = renting->cost;
  return cost->offer.term > 0 ? cost->rental - cost->accelerators * cost->offer.rate *
                                                   value(&renting->rented, "horizon")
                              : 0;
}

// The rent when it is due, discounted.
static double discounted_rental(const struct renting *renting) {
  double total = 0;
  for (int t = 0; t < renting->own->scenario->periods; t++)
    total +=
        (rental_in(renting, t) + period_value(&renting->rented, "last", t) * rental_left(renting)) *
        period_value(&renting->rented, "discount_factor", t);
  return total;
}

// The share by which a period's payments are worth more at the outset if made monthly, in equal
// parts.
static double monthly_gain(const struct fleet *fleet, int period) {
  const double wacc = has(fleet, "wacc") ? value(fleet, "wacc") * HOURS_PER_YEAR : 0;
  const int months =
      (int)fmax(1, round(12 * period_value(fleet, "period", period) / HOURS_PER_YEAR));
  double total = 0;
  for (int m = 0; m < months; m++)
    total += pow(1 + wacc, m / 12.) - 1;
  return total / months;
}

// The sum of a series' present values, more than at the ends of its periods.
static double gained_monthly(const struct fleet *fleet, const char *name) {
  double total = 0;
  for (int t = 1; t < fleet->scenario->periods; t++)
    total += monthly_gain(fleet, t) * period_value(fleet, name, t) *
             period_value(fleet, "discount_factor", t);
  return total;
}

// The same for the rent: what is paid of it in each period, in place of the cost model's even rent.
static double rental_gained_monthly(const struct renting *renting) {
  const struct fleet *rented = &renting->rented;
  double total = 0;
  for (int t = 1; t < renting->own->scenario->periods; t++)
    total += monthly_gain(rented, t) * period_value(rented, "discount_factor", t) *
             (rental_in(renting, t) - period_value(rented, "rental_cost", t));
  return total;
}

static double fixed_beside(const struct renting *renting) {
  return renting->cost->beside - renting->cost->following;
}

static void compare_costs(const struct renting *renting, const struct rent_answer *answer) {
  struct rent_cost *cost = renting->cost;
  cost->cost_per_mtok = cost->cost / answer->tokens;
  const double rental = discounted_rental(renting), beside = discounted_beside(renting);
  cost->levelised = (rental + beside) / sum(renting->own, "discounted_tokens");
  cost->present =
      rental + beside + gained_monthly(&renting->rented, "opex") + rental_gained_monthly(renting);
  const double share = value(&renting->rented, "prefill_share");
  const double inputs =
      answer->tokens * value(renting->own, "input_tokens") / value(renting->own, "output_tokens");
  cost->per_input = cost->cost * share / inputs;
  cost->per_output = cost->cost * (1 - share) / answer->tokens;
  cost->saving = cost_saving(answer->tco, cost->cost);
  cost->saving_levelised = cost_saving(answer->levelised, cost->levelised);
  cost->break_even_rate =
      cost->offer.rate * (answer->tco - fixed_beside(renting)) / (cost->rental + cost->following);
  cost->break_even_levelised =
      cost->offer.rate *
      (sum(renting->own, "discounted_cash") - (beside - renting->following_present)) /
      (rental + renting->following_present);
}

// The cash paid within a period, before the vendor's credits.
static double cash_paid(const struct fleet *fleet, int period) {
  const double opex = period_value(fleet, "opex", period);
  return has(fleet, "vendor_credit") ? opex - period_value(fleet, "vendor_credit", period) : opex;
}

// How much more owning costs than renting within a period, in cash paid over time.
static double extra_cash(const struct renting *renting, int period) {
  return cash_paid(renting->own, period) -
         (cash_paid(&renting->rented, period) -
          period_value(&renting->rented, "rental_cost", period) + rental_in(renting, period));
}

// Finds the first moment at which owning has cost no more, with capex at the purchase, then each
// period's cash evenly, and the rest of a term at the end.
static void find_month(const struct renting *renting) {
  struct rent_cost *cost = renting->cost;
  double gap = value(renting->own, "capex") - value(&renting->rented, "capex"), elapsed = 0;
  cost->break_even_month = gap <= 0 ? 0 : NAN;
  for (int t = 1; t < renting->own->scenario->periods && !isfinite(cost->break_even_month); t++) {
    const double length = period_value(renting->own, "period", t);
    const double change = extra_cash(renting, t);
    if (length > 0 && gap + change <= 0)
      cost->break_even_month = elapsed + length * gap / -change;
    gap += change;
    elapsed += length;
  }
  if (isnan(cost->break_even_month) && gap - rental_left(renting) <= 0)
    cost->break_even_month = elapsed;
}

// The cost of owning at a load, less that of renting for the same tokens. Tokens that the same
// accelerators leave to be bought elsewhere cost the same either way.
static double gap_at(const struct renting *renting, double load) {
  set_load(renting->own, load);
  const double bought =
      is_twin(renting) ? burst_cost(renting->own) - burst_cost(&renting->rented) : 0;
  const double rise = 1 + renting->cost->following / renting->cost->rental;
  return value(renting->own, "tco") - bought - fixed_beside(renting) -
         rise * renting->rental_per_token * all_replaced_tokens(renting);
}

static double bisect(const struct renting *renting, double low, double high) {
  const bool rises = gap_at(renting, low) < 0;
  for (int i = 0; i < 100 && high - low > 1e-15; i++) {
    const double middle = (low + high) / 2;
    if ((gap_at(renting, middle) < 0) == rises)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

static void search_utilization(const struct renting *renting) {
  enum { POINTS = 256 };
  struct rent_cost *cost = renting->cost;
  double last = gap_at(renting, 1. / POINTS / POINTS);
  for (int i = 1; i <= POINTS; i++) {
    const double gap = gap_at(renting, (double)i / POINTS);
    if (last > 0 && gap <= 0) {
      set_load(renting->own,
               bisect(renting, fmax(i - 1, 1. / POINTS) / POINTS, (double)i / POINTS));
      cost->break_even_utilization = mean_load(renting->own);
      return;
    }
    last = gap;
  }
}

// The part of the owned option's cost that grows with its load, at its load, apart from what it
// buys elsewhere; NAN if the cost is not affine in the load, or its accelerators' tokens are not
// proportional to it.
static double cost_of_use(const struct fleet *own, const struct rent_answer *answer) {
  const double net = answer->tco - burst_cost(own), served = all_fleet_tokens(own);
  double costs[3], tokens[3];
  for (int i = 0; i < 3; i++) {
    set_load(own, answer->load * (i + 2) / 4);
    costs[i] = value(own, "tco") - burst_cost(own);
    tokens[i] = all_fleet_tokens(own);
  }
  set_base(own);
  const bool is_affine = fabs(costs[0] + costs[2] - 2 * costs[1]) <= 1e-11 * fabs(costs[2]);
  const bool is_proportional = fabs(2 * tokens[0] - served) <= 1e-9 * served;
  const bool is_same = fabs(costs[2] - net) <= 1e-9 * fabs(net);
  const double use = 2 * (costs[2] - costs[0]);
  if (!is_affine || !is_proportional || !is_same)
    return NAN;
  return fabs(use) <= 1e-11 * fabs(costs[2]) ? 0 : use;
}

// The load up to which the rent rises with the tokens. Beyond it, accelerators rented around the
// clock serve as many more tokens as owned ones do, for the same rent.
static double highest_followed(const struct renting *renting, const struct rent_answer *answer) {
  if (renting->cost->offer.hours == RENT_HOURS_USED)
    return 1;
  return is_twin(renting) ? answer->load : renting->own->base_utilization;
}

static void find_utilization(const struct renting *renting, const struct rent_answer *answer) {
  struct rent_cost *cost = renting->cost;
  cost->break_even_utilization = NAN;
  cost->is_closed = !isnan(answer->use) && (is_twin(renting) || !answer->buys_elsewhere);
  if (cost->is_closed)
    cost->break_even_utilization = answer->load *
                                   (answer->tco - answer->use - fixed_beside(renting)) /
                                   (cost->rental + cost->following - answer->use);
  else
    search_utilization(renting);
  const double nearly = 1e-9, most = highest_followed(renting, answer);
  const bool inside =
      cost->break_even_utilization > 0 && cost->break_even_utilization <= most * (1 + nearly);
  cost->owning_always = !inside && gap_at(renting, nearly) <= 0 && gap_at(renting, most) <= 0;
  cost->owning_never = !inside && !cost->owning_always;
  if (cost->rental + cost->following <= answer->use ||
      (cost->owning_never && cost->offer.hours == RENT_AROUND_THE_CLOCK))
    cost->break_even_utilization = NAN;
  set_base(renting->own);
}

static int answer_offer(const struct scenario *scenario, const struct fleet *own,
                        const struct rent_answer *answer, struct rent_cost *cost,
                        struct arena *arena, struct diagnostics *diagnostics) {
  struct renting renting = {.own = own, .cost = cost};
  const struct option *option =
      cost->offer.option < 0 ? own->option : &scenario->options[cost->offer.option];
  if (fleet_new(&renting.rented, scenario, option, givens_of(scenario, option, true, arena), arena,
                diagnostics))
    return -1;
  evaluate_rented(&renting);
  compare_costs(&renting, answer);
  find_month(&renting);
  find_utilization(&renting, answer);
  return 0;
}

// The labels of the own items that the owned option pays and its rented twin does not.
static const char *left_out(const struct fleet *own, struct arena *arena) {
  const struct model *model = own->scenario->model;
  const char *labels = "";
  for (int d = 0; d < model->count; d++) {
    const struct declaration *limit = &model->declarations[d];
    if (is_limit(limit) && value(own, limit->name) > 0)
      labels = arena_printf(arena, "%s%s%s", labels, *labels ? ", " : "",
                            model->declarations[model_find(model, limit->item)].label);
  }
  return labels;
}

static int answer_question(const struct scenario *scenario, const struct rent_offers *offers,
                           struct rent_answer *answer, struct arena *arena,
                           struct diagnostics *diagnostics) {
  const struct option *option = &scenario->options[offers->own];
  struct fleet own;
  if (fleet_new(&own, scenario, option, givens_of(scenario, option, false, arena), arena,
                diagnostics) ||
      find_residual_base(&own, &answer->residual_base, arena, diagnostics))
    return -1;
  answer->own = offers->own;
  answer->tco = value(&own, "tco");
  answer->tokens = value(&own, "tokens_total");
  answer->cost_per_mtok = answer->tco / answer->tokens;
  answer->levelised = sum(&own, "discounted_cash") / sum(&own, "discounted_tokens");
  answer->present = sum(&own, "discounted_cash") + gained_monthly(&own, "opex");
  answer->hours = value(&own, "accelerators") * value(&own, "horizon");
  answer->left_out = left_out(&own, arena);
  answer->has_split = isfinite(value(&own, "prefill_share"));
  answer->buys_elsewhere = has(&own, "burst") && value(&own, "burst") > 0;
  answer->load = fmin(own.base_utilization, mean_load(&own));
  answer->use = cost_of_use(&own, answer);
  answer->costs = arena_array(arena, offers->count, sizeof *answer->costs);
  for (size_t i = 0; i < offers->count; i++) {
    answer->costs[i].offer = offers->list[i];
    if (answer_offer(scenario, &own, answer, &answer->costs[i], arena, diagnostics))
      return -1;
  }
  answer->count = offers->count;
  return 0;
}

// ---- all questions

static const char *const needed_items[] = {
    "rental_rate",     "accelerators", "purchase_unit", "utilization",
    "tokens_per_gpu",  "tokens_total", "tco",           "discounted_tokens",
    "capex",           "opex",         "period",        "discounted_cash",
    "discount_factor", "rental_cost",  "tokens",        "last",
    "horizon"};

enum { NEEDED_ITEMS = sizeof needed_items / sizeof needed_items[0] };

static void refuse_name(const struct scenario *scenario, const char *only, size_t most,
                        bool has_sections, struct diagnostics *diagnostics) {
  const char *names = "";
  for (size_t i = 0; i < most; i++) {
    const bool is_one = has_sections ? !strcmp(scenario->questions[i].kind, "rent")
                                     : rent_offers_exist(scenario, (int)i);
    if (is_one)
      names =
          arena_printf(diagnostics->arena, "%s%s%s", names, *names ? ", " : "",
                       has_sections ? scenario->questions[i].argument : scenario->options[i].id);
  }
  diagnostics_error(diagnostics, nowhere, "no question '%s' for rent; available: %s", only, names);
}

static int check_model(const struct scenario *scenario, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  for (size_t i = 0; i < NEEDED_ITEMS; i++)
    model_require(scenario->model, needed_items[i], diagnostics);
  return diagnostics->errors == errors ? 0 : -1;
}

// False for a user's own cost model that has no rent.
bool rent_is_asked(const struct scenario *scenario) {
  bool asked = false;
  if (question_section(scenario, "rent", NULL))
    return true;
  for (size_t o = 0; o < scenario->option_count; o++)
    asked |= rent_offers_exist(scenario, (int)o);
  for (size_t i = 0; i < NEEDED_ITEMS; i++)
    asked &= item(scenario, needed_items[i]) >= 0;
  return asked;
}

const struct rent_answers *rent_ask(const struct scenario *scenario, const char *only,
                                    struct arena *arena, struct diagnostics *diagnostics) {
  const bool has_sections = question_section(scenario, "rent", NULL) != NULL;
  const size_t most = has_sections ? scenario->question_count : scenario->option_count;
  const size_t errors = diagnostics->errors;
  struct rent_answers *answers = arena_alloc(arena, sizeof *answers);
  answers->list = arena_array(arena, most + 1, sizeof *answers->list);
  if (check_model(scenario, diagnostics))
    return NULL;
  for (size_t i = 0; i < most; i++) {
    const struct ini_section *section = has_sections ? &scenario->questions[i] : NULL;
    if (section ? strcmp(section->kind, "rent") != 0 : !rent_offers_exist(scenario, (int)i))
      continue;
    struct rent_answer answer = {.name = section ? section->argument : scenario->options[i].id};
    if (only && strcmp(only, answer.name) != 0)
      continue;
    struct rent_offers offers = {.own = (int)i};
    if (!section)
      rent_offers_aside(scenario, (int)i, &answer.aside, arena);
    if (!rent_offers_read(scenario, section, &offers, arena, diagnostics) &&
        !answer_question(scenario, &offers, &answer, arena, diagnostics))
      answers->list[answers->count++] = answer;
  }
  if (only && !answers->count && diagnostics->errors == errors)
    refuse_name(scenario, only, most, has_sections, diagnostics);
  return diagnostics->errors == errors ? answers : NULL;
}
