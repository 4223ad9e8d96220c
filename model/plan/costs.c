#include "model/plan/costs.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/evaluate.h"
#include "model/optimise/allocation_problem.h"
#include "model/plan/actions.h"
#include "model/plan/fleet.h"
#include "model/plan/plannable.h"
#include "model/plan/quote.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <string.h>

struct costing {
  struct quoting quoting;
  const struct plan_terms *terms;
  const struct portfolio *portfolio;
  const struct scenario *scenario;
  const struct route_pair *pairs;
  const struct pairing *pairing;
  struct fleet_problem *problem;
  struct fleet_action *actions;
  struct fleet_option *options;
  struct fleet_pair *shared; // the problem's pairs
  double **capacities;       // the pairs' capacities
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int find(const struct costing *costing, const char *name) {
  return quote_item(&costing->quoting, name);
}

// ---- what an option's pairs share

// The amount of an item in a period of a quote that a node has whatever it serves: that of the
// workload with the smallest.
static double least_of(const struct costing *costing, struct evaluation *const *blocks,
                       size_t quote, int item, int period) {
  double least = INFINITY;
  for (size_t w = 0; w < costing->portfolio->demand_count; w++)
    if (blocks[w])
      least = fmin(least, quote_slope(blocks[w], quote, item, period));
  return least;
}

// Finds in the first quote what a workload costs beyond the cheapest one in each period, and the
// largest cost over all workloads that does not depend on the number of nodes.
static void find_rest(const struct costing *costing, size_t o, struct evaluation *const *blocks) {
  const struct plan_terms *terms = costing->terms;
  const int cash = find(costing, "cash"), capex = find(costing, "capex");
  struct fleet_option *option = &costing->options[o];
  double *standing = option->standing, *entry = option->entry;
  for (size_t w = 0; w < costing->portfolio->demand_count; w++) {
    double *extra = costing->shared[w * costing->scenario->option_count + o].extra;
    for (int t = 0; blocks[w] && t < terms->periods; t++) {
      const double paid = plan_discount(terms, plan_elapsed(terms, t + 1));
      const double least = option->by_token ? 0 : least_of(costing, blocks, 0, cash, t + 1);
      extra[t] = (quote_slope(blocks[w], 0, cash, t + 1) - least) * paid;
      standing[t] = fmax(standing[t], quote_fixed(blocks[w], 0, cash, t + 1) * paid);
      entry[t] = fmax(entry[t], quote_fixed(blocks[w], 0, capex, 0) *
                                    plan_discount(terms, plan_elapsed(terms, t)));
    }
    if (blocks[w])
      option->entry_outlay = fmax(option->entry_outlay, quote_fixed(blocks[w], 0, capex, 0));
  }
}

// A series per lot, for the workload whose nodes cost least: tax follows cost.
static const double *find_series(const struct costing *costing, size_t quote,
                                 struct evaluation *const *blocks,
                                 const struct fleet_action *action, const char *item) {
  const int periods = action->last + 1 - action->first, declaration = find(costing, item);
  double *series = arena_array(costing->arena, (size_t)periods + 1, sizeof *series);
  for (int t = 0; t <= periods; t++)
    series[t] =
        costing->options[action->option].lot * least_of(costing, blocks, quote, declaration, t);
  return series;
}

// Finds the series that only the books need: draws do without them.
static void keep_books(const struct costing *costing, size_t quote,
                       struct evaluation *const *blocks, struct fleet_action *action) {
  action->depreciation = find_series(costing, quote, blocks, action, "book_depreciation");
  action->book_value = find_series(costing, quote, blocks, action, "book_value");
  action->after_tax = costing->options[action->option].tax_rate > 0
                          ? find_series(costing, quote, blocks, action, "after_tax_cash")
                          : action->cash;
}

static void find_action(const struct costing *costing, size_t quote,
                        struct evaluation *const *blocks, struct fleet_action *action) {
  const struct plan_terms *terms = costing->terms;
  const int capex = find(costing, "capex");
  action->cash = find_series(costing, quote, blocks, action, "cash");
  for (int t = action->first; t <= action->last + 1; t++)
    action->cost += action->cash[t - action->first] * plan_discount(terms, plan_elapsed(terms, t));
  if (!costing->quoting.drawn)
    keep_books(costing, quote, blocks, action);
  for (size_t w = 0; w < costing->portfolio->demand_count; w++)
    if (blocks[w])
      action->outlay = fmax(action->outlay, costing->options[action->option].lot *
                                                quote_slope(blocks[w], quote, capex, 0));
}

// A value per accelerator, from that of a lot with and without a spare for each.
static double part(double with, double without, double accelerators) {
  return (with - without) / accelerators;
}

static const double *parts(const struct costing *costing, const double *with, const double *without,
                           const struct fleet_action *action) {
  const struct fleet_option *option = &costing->options[action->option];
  const int count = action->last + 2 - action->first;
  double *values = arena_array(costing->arena, (size_t)count, sizeof *values);
  for (int t = 0; t < count; t++)
    values[t] = part(with[t], without[t], option->lot * option->accelerators);
  return values;
}

// Finds what one more spare costs: the quote has one for each accelerator.
static void find_spare(const struct costing *costing, size_t quote,
                       struct evaluation *const *blocks, struct fleet_action *action) {
  const struct fleet_option *option = &costing->options[action->option];
  const double accelerators = option->lot * option->accelerators;
  struct fleet_action *spare = arena_alloc(costing->arena, sizeof *spare);
  *spare = (struct fleet_action){
      .option = action->option, .first = action->first, .last = action->last, .tier = action->tier};
  find_action(costing, quote, blocks, spare);
  spare->cost = part(spare->cost, action->cost, accelerators);
  spare->outlay = part(spare->outlay, action->outlay, accelerators);
  spare->cash = parts(costing, spare->cash, action->cash, action);
  action->spare = spare;
  if (costing->quoting.drawn)
    return;
  spare->depreciation = parts(costing, spare->depreciation, action->depreciation, action);
  spare->book_value = parts(costing, spare->book_value, action->book_value, action);
  spare->after_tax = parts(costing, spare->after_tax, action->after_tax, action);
}

// Finds the watts per node at the site's meter, for the workload with the highest draw.
static void find_power(const struct costing *costing, size_t o, struct evaluation *const *blocks) {
  const int watts = find(costing, "peak_it_power");
  struct fleet_option *option = &costing->options[o];
  for (size_t w = 0; w < costing->portfolio->demand_count; w++) {
    const struct option *resolved = costing->pairs[w * costing->scenario->option_count + o].option;
    if (blocks[w] && !option->rented)
      option->power = fmax(option->power, quote_slope(blocks[w], 0, watts, 0) *
                                              quote_input(&costing->quoting, resolved, "pue", 1));
  }
}

// Finds what a node serves in each period in which it serves anything; in a draw, at that draw's
// throughput.
static void find_capacity(const struct costing *costing, size_t w, size_t o,
                          const struct evaluation *block) {
  const int rate = find(costing, "tokens_per_gpu");
  const struct option *resolved = costing->pairs[w * costing->scenario->option_count + o].option;
  const double per_node = quote_per_node(&costing->quoting, resolved);
  const double ready = costing->portfolio->demands[w].ready[o];
  double *capacity = costing->capacities[w * costing->scenario->option_count + o];
  for (int t = 0; t < costing->terms->periods && !resolved->provider; t++)
    if (capacity[t] > 0)
      capacity[t] =
          evaluation_at(block, rate, t + 1)[0] * per_node * ready * costing->terms->period_h;
}

static void price_option(const struct costing *costing, size_t o) {
  const size_t workloads = costing->portfolio->demand_count;
  struct arena scratch = {NULL};
  struct evaluation **blocks = arena_array(&scratch, workloads, sizeof(struct evaluation *));
  struct fleet_action *actions = &costing->actions[costing->problem->action_count];
  const size_t count = actions_list(&costing->quoting, o, &costing->options[o], actions);
  const struct quote *quotes = actions_quotes(&costing->quoting, o, actions, count, &scratch);
  const bool spares = costing->options[o].spares > 0;
  const size_t quoted = 1 + (spares ? 2 : 1) * count;
  for (size_t w = 0; w < workloads; w++) {
    const struct route_pair *pair = &costing->pairs[w * costing->scenario->option_count + o];
    blocks[w] = pair->option
                    ? quotes_evaluate(&costing->quoting, pair->option, quotes, quoted, &scratch)
                    : NULL;
    if (blocks[w])
      find_capacity(costing, w, o, blocks[w]);
  }
  costing->problem->action_count += count;
  for (size_t a = 0; a < count; a++)
    find_action(costing, a + 1, blocks, &actions[a]);
  for (size_t a = 0; a < count && spares; a++)
    find_spare(costing, a + 1 + count, blocks, &actions[a]);
  find_rest(costing, o, blocks);
  find_power(costing, o, blocks);
  arena_free(&scratch);
}

// ---- the problem

static double *numbers(const struct costing *costing) {
  double *values = arena_array(costing->arena, (size_t)costing->terms->periods, sizeof *values);
  memset(values, 0, (size_t)costing->terms->periods * sizeof *values);
  return values;
}

static void describe_option(const struct costing *costing, size_t o) {
  const struct option *option = &costing->scenario->options[o];
  const double accelerators = quote_per_node(&costing->quoting, option);
  costing->options[o] =
      (struct fleet_option){.lot = option->provider ? 1 : route_lot(costing->pairing, o),
                            .accelerators = option->provider ? 0 : accelerators,
                            .spares = quote_spares(&costing->quoting, option),
                            .stock = costing->portfolio->stock[o] / accelerators,
                            .rented = option->rented,
                            .by_token = option->provider != NULL,
                            .tax_rate = quote_input(&costing->quoting, option, "tax_rate", 0),
                            .standing = numbers(costing),
                            .entry = numbers(costing),
                            .vendor = costing->portfolio->vendor[o]};
}

// Describes an option for a workload: capacity 1 where it can serve at all. For a provider each
// token counts as a node that serves one.
static void describe_pair(const struct costing *costing, size_t w, size_t o) {
  const struct demand *demand = &costing->portfolio->demands[w];
  const struct route_pair *pair = &costing->pairs[w * costing->scenario->option_count + o];
  const bool by_token = costing->options[o].by_token;
  double *capacity = numbers(costing);
  costing->capacities[w * costing->scenario->option_count + o] = capacity;
  for (int t = 0; t < costing->terms->periods; t++) {
    const bool in_time = !by_token || t >= plan_first_period(costing->terms, costing->portfolio, o);
    if (pair->option && !pair->barriers && in_time && plan_is_ready(costing->terms, demand, o, t))
      capacity[t] = 1;
  }
  costing->shared[w * costing->scenario->option_count + o] =
      (struct fleet_pair){.capacity = capacity, .extra = numbers(costing), .span = pair->span};
}

// The slope of a provider's cash is per tokens per hour: converts it to a period's cash per token.
static void price_tokens(const struct costing *costing, size_t o) {
  for (size_t w = 0; w < costing->portfolio->demand_count; w++) {
    double *extra = costing->shared[w * costing->scenario->option_count + o].extra;
    for (int t = 0; t < costing->terms->periods; t++)
      extra[t] /= costing->terms->period_h;
  }
}

static struct planned_workload *demands_of(const struct costing *costing) {
  struct planned_workload *workloads =
      arena_array(costing->arena, costing->portfolio->demand_count, sizeof *workloads);
  for (size_t w = 0; w < costing->portfolio->demand_count; w++) {
    const struct demand *demand = &costing->portfolio->demands[w];
    double *tokens = numbers(costing);
    for (int t = 0; t < costing->terms->periods; t++)
      tokens[t] = plan_tokens(costing->terms, demand, t);
    workloads[w] = (struct planned_workload){tokens, demand->whole};
  }
  return workloads;
}

static int check_option(const struct costing *costing, size_t o) {
  const struct option *option = &costing->scenario->options[o];
  const char *why = plannable_barrier(&costing->quoting, o);
  if (!why &&
      costing->portfolio->lead_time[o] > quote_input(&costing->quoting, option, "life", INFINITY)) {
    diagnostics_error(costing->diagnostics, costing->portfolio->lead_time_places[o],
                      "option '%s' has a life shorter than its lead time: it would be retired "
                      "before it arrives",
                      option->id);
    return -1;
  }
  if (!why)
    return 0;
  diagnostics_error(costing->diagnostics, option->place, "option '%s' %s", option->id, why);
  return -1;
}

const struct fleet_problem *plan_costs(const struct plan_costs_request *request,
                                       struct arena *arena, struct diagnostics *diagnostics) {
  const struct plan_terms *terms = request->terms;
  const struct portfolio *portfolio = request->pairing->portfolio;
  const struct scenario *scenario = request->pairing->scenario;
  const size_t options = scenario->option_count, workloads = portfolio->demand_count;
  const size_t most =
      options * (size_t)terms->periods * (size_t)terms->periods * (FLEET_MOST_TIERS + 1);
  struct fleet_problem *problem = arena_alloc(arena, sizeof *problem);
  struct costing costing = {.quoting = {terms, portfolio, scenario, request->drawn, arena},
                            .terms = terms,
                            .portfolio = portfolio,
                            .scenario = scenario,
                            .pairs = request->pairing->pairs,
                            .pairing = request->pairing,
                            .problem = problem,
                            .actions = arena_array(arena, most + 1, sizeof *costing.actions),
                            .options = arena_array(arena, options, sizeof *costing.options),
                            .shared =
                                arena_array(arena, options * workloads, sizeof *costing.shared),
                            .capacities = arena_array(arena, options * workloads, sizeof(double *)),
                            .arena = arena,
                            .diagnostics = diagnostics};
  *problem =
      (struct fleet_problem){.periods = terms->periods,
                             .workloads = demands_of(&costing),
                             .workload_count = workloads,
                             .options = costing.options,
                             .option_count = options,
                             .pairs = costing.shared,
                             .actions = costing.actions,
                             .minimum_shares = portfolio->minimum_shares,
                             .vendor_count = portfolio->vendor_count,
                             .share_of_accelerators = portfolio->share_of == SHARE_ACCELERATORS,
                             .site_power = terms->site_power,
                             .budgets = terms->budgets,
                             .year_count = terms->year_count,
                             .years = terms->years,
                             .capex_budget = portfolio->capex_budget};
  int result = 0;
  for (size_t o = 0; o < options; o++)
    if (check_option(&costing, o))
      result = -1;
  for (size_t o = 0; o < options && !result; o++) {
    describe_option(&costing, o);
    actions_find_tiers(&costing.quoting, o, &costing.options[o]);
    for (size_t w = 0; w < workloads; w++)
      describe_pair(&costing, w, o);
    price_option(&costing, o);
    if (costing.options[o].by_token)
      price_tokens(&costing, o);
  }
  return result ? NULL : problem;
}
