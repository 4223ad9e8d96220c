#include "model/plan/prices.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "model/plan/challenge.h"
#include "model/plan/costs.h"
#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/plan/programme.h"
#include "model/plan/terms.h"
#include "model/questions/portfolio.h"
#include "model/questions/route_pairs.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct pricing {
  const struct plan_answer *answer;
  const struct pairing *pairing;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static struct plan_price price_of(const char *constraint, const struct programme_result *result) {
  const bool found = programme_has_fleet(result);
  return (struct plan_price){constraint,
                             result->status,
                             found ? result->fleet.cost : INFINITY,
                             result->status == PROGRAMME_INFEASIBLE ? INFINITY : result->bound,
                             INFINITY,
                             INFINITY};
}

// One side of a difference: a cost that is known, or lies between a bound and the best found.
struct span {
  double low, high;
};

// Bounds the difference between the plan and another problem's cost. What is `restricted`, the plan
// or the other, costs no less than without that.
static void bound_difference(struct plan_price *price, const struct programme_result *plan,
                             bool other_costs_more, bool restricted) {
  const bool proven = plan->status == PROGRAMME_OPTIMAL && price->status == PROGRAMME_OPTIMAL;
  const struct span planned = {proven ? plan->fleet.cost : plan->bound, plan->fleet.cost};
  const struct span other = {proven ? price->cost : price->bound, price->cost};
  const struct span more = other_costs_more ? other : planned;
  const struct span less = other_costs_more ? planned : other;
  if (!programme_has_fleet(plan) || price->status == PROGRAMME_INFEASIBLE)
    return;
  price->least = more.low - less.high;
  price->most = more.high - less.low;
  if (restricted && !proven)
    price->least = fmax(0, price->least);
}

// A problem with one constraint left out.
struct relaxed {
  const char *constraint;
  const struct fleet_problem *problem;
};

static double lots_of(const struct plan_answer *answer, const struct fleet_action *like) {
  for (size_t a = 0; a < answer->problem->action_count; a++) {
    const struct fleet_action *action = &answer->problem->actions[a];
    if (action->option == like->option && action->first == like->first &&
        action->last == like->last && action->tier == like->tier)
      return answer->result.fleet.lots[a];
  }
  return 0;
}

// The plan's own fleet, at its cost in the other problem; NULL if it does not satisfy the other
// constraints.
static const struct planned_fleet *plan_in(const struct plan_answer *answer,
                                           const struct fleet_problem *problem,
                                           struct arena *arena) {
  struct planned_fleet *fleet = arena_alloc(arena, sizeof *fleet);
  const size_t shares = problem->workload_count * problem->option_count * (size_t)problem->periods;
  *fleet = fleet_new(problem, arena);
  if (!programme_has_fleet(&answer->result))
    return NULL;
  memcpy(fleet->shares, answer->result.fleet.shares, shares * sizeof *fleet->shares);
  for (size_t a = 0; a < problem->action_count; a++)
    fleet->lots[a] = lots_of(answer, &problem->actions[a]);
  fleet_sum(problem, fleet);
  return fleet_broken(problem, fleet) ? NULL : fleet;
}

static struct plan_price solve_without(const struct pricing *pricing, const struct relaxed *relaxed,
                                       double time_s) {
  struct arena scratch = {NULL};
  const struct planned_fleet *known = plan_in(pricing->answer, relaxed->problem, &scratch);
  const struct programme_result result = challenge_prove(relaxed->problem, known, time_s, &scratch);
  struct plan_price price = price_of(relaxed->constraint, &result);
  bound_difference(&price, &pricing->answer->result, false, true);
  arena_free(&scratch);
  return price;
}

// The cost of everything from one vendor: never less than the plan's, unless that must have others.
static struct plan_price solve_single(const struct pricing *pricing, int vendor, double time_s) {
  const struct fleet_problem single =
      challenge_single(pricing->answer->problem, vendor, pricing->arena);
  struct arena scratch = {NULL};
  const struct programme_result result = challenge_prove(&single, NULL, time_s, &scratch);
  struct plan_price price = price_of(pricing->answer->portfolio->vendors[vendor], &result);
  bound_difference(&price, &pricing->answer->result, true,
                   challenge_may_be_single(pricing->answer->problem, vendor));
  arena_free(&scratch);
  return price;
}

// ---- without a limit: a copy of the problem

static struct fleet_problem *copy_of(const struct pricing *pricing) {
  struct fleet_problem *other = arena_alloc(pricing->arena, sizeof *other);
  *other = *pricing->answer->problem;
  return other;
}

static const struct fleet_problem *without_stock(const struct pricing *pricing, size_t option) {
  struct fleet_problem *other = copy_of(pricing);
  struct fleet_option *options = arena_array(pricing->arena, other->option_count, sizeof *options);
  memcpy(options, other->options, other->option_count * sizeof *options);
  options[option].stock = INFINITY;
  other->options = options;
  return other;
}

static const struct fleet_problem *without_share(const struct pricing *pricing, int vendor) {
  struct fleet_problem *other = copy_of(pricing);
  double *shares = arena_array(pricing->arena, (size_t)other->vendor_count, sizeof *shares);
  memcpy(shares, other->minimum_shares, (size_t)other->vendor_count * sizeof *shares);
  shares[vendor] = 0;
  other->minimum_shares = shares;
  return other;
}

static const struct fleet_problem *without_budgets(const struct pricing *pricing) {
  struct fleet_problem *other = copy_of(pricing);
  double *budgets = arena_array(pricing->arena, (size_t)other->year_count, sizeof *budgets);
  for (int year = 0; year < other->year_count; year++)
    budgets[year] = INFINITY;
  other->budgets = budgets;
  return other;
}

// A workload that may be split.
static const struct fleet_problem *with_split(const struct pricing *pricing, size_t w) {
  struct fleet_problem *other = copy_of(pricing);
  struct planned_workload *workloads =
      arena_array(pricing->arena, other->workload_count, sizeof *workloads);
  memcpy(workloads, other->workloads, other->workload_count * sizeof *workloads);
  workloads[w].whole = false;
  other->workloads = workloads;
  return other;
}

// ---- without a line of the portfolio: new prices

static const struct fleet_problem *priced_anew(const struct pricing *pricing,
                                               const struct portfolio *portfolio,
                                               struct route_pair *pairs) {
  struct pairing pairing = *pricing->pairing;
  pairing.portfolio = portfolio;
  pairing.pairs = pairs;
  const struct plan_costs_request request = {pricing->answer->terms, &pairing, NULL};
  return plan_costs(&request, pricing->arena, pricing->diagnostics);
}

static struct portfolio *portfolio_copy(const struct pricing *pricing) {
  struct portfolio *other = arena_alloc(pricing->arena, sizeof *other);
  *other = *pricing->answer->portfolio;
  return other;
}

// Every workload can run on every option from the first period on.
static const struct fleet_problem *without_readiness(const struct pricing *pricing) {
  const size_t options = pricing->answer->problem->option_count;
  struct portfolio *portfolio = portfolio_copy(pricing);
  const size_t count = portfolio->demand_count * options;
  struct demand *demands = arena_array(pricing->arena, portfolio->demand_count, sizeof *demands);
  struct route_pair *pairs = arena_array(pricing->arena, count, sizeof *pairs);
  double *ready = arena_array(pricing->arena, options, sizeof *ready);
  double *ready_from = arena_array(pricing->arena, options, sizeof *ready_from);
  for (size_t o = 0; o < options; o++) {
    ready[o] = 1;
    ready_from[o] = 0;
  }
  for (size_t w = 0; w < portfolio->demand_count; w++) {
    demands[w] = portfolio->demands[w];
    demands[w].ready = ready;
    demands[w].ready_from = ready_from;
  }
  for (size_t i = 0; i < count; i++) {
    pairs[i] = pricing->pairing->pairs[i];
    pairs[i].barriers &= ~(unsigned)ROUTE_NOT_READY;
  }
  portfolio->demands = demands;
  return priced_anew(pricing, portfolio, pairs);
}

// The option is delivered as soon as it is ordered, or is available from the start.
static const struct fleet_problem *without_waiting(const struct pricing *pricing, size_t option,
                                                   bool lead_time) {
  const size_t options = pricing->answer->problem->option_count;
  struct portfolio *portfolio = portfolio_copy(pricing);
  double **times = lead_time ? &portfolio->lead_time : &portfolio->available;
  double *without = arena_array(pricing->arena, options, sizeof *without);
  memcpy(without, *times, options * sizeof *without);
  without[option] = 0;
  *times = without;
  return priced_anew(pricing, portfolio, pricing->pairing->pairs);
}

// A workload at any interactivity.
static const struct fleet_problem *without_interactivity(const struct pricing *pricing, size_t w) {
  const size_t options = pricing->answer->problem->option_count;
  const size_t count = pricing->answer->portfolio->demand_count * options;
  struct route_pair *pairs = arena_array(pricing->arena, count, sizeof *pairs);
  memcpy(pairs, pricing->pairing->pairs, count * sizeof *pairs);
  memcpy(&pairs[w * options], &pricing->pairing->loose[w * options], options * sizeof *pairs);
  return priced_anew(pricing, pricing->answer->portfolio, pairs);
}

// ---- all constraints

struct listing {
  const struct pricing *pricing;
  struct relaxed *list;
  size_t count;
};

static void add(struct listing *listing, const struct fleet_problem *problem, const char *form,
                const char *of) {
  if (problem)
    listing->list[listing->count++] =
        (struct relaxed){arena_printf(listing->pricing->arena, form, of), problem};
}

static bool has_readiness(const struct portfolio *portfolio) {
  for (size_t w = 0; w < portfolio->demand_count; w++)
    for (size_t o = 0; o < portfolio->scenario->option_count; o++)
      if (portfolio->demands[w].ready[o] < 1 || portfolio->demands[w].ready_from[o] > 0)
        return true;
  return false;
}

static bool has_budgets(const struct plan_terms *terms) {
  for (int year = 0; year < terms->year_count; year++)
    if (isfinite(terms->budgets[year]))
      return true;
  return false;
}

static void list_supply(struct listing *listing) {
  const struct pricing *pricing = listing->pricing;
  const struct portfolio *portfolio = pricing->answer->portfolio;
  for (size_t o = 0; o < portfolio->scenario->option_count; o++) {
    const char *label = portfolio->scenario->options[o].label;
    if (isfinite(portfolio->stock[o]))
      add(listing, without_stock(pricing, o), "stock of %s", label);
    if (portfolio->lead_time[o] > 0)
      add(listing, without_waiting(pricing, o, true), "lead time of %s", label);
    if (portfolio->available[o] > 0)
      add(listing, without_waiting(pricing, o, false), "first delivery of %s", label);
  }
  for (int v = 0; v < portfolio->vendor_count; v++)
    if (portfolio->minimum_shares[v] > 0)
      add(listing, without_share(pricing, v), "minimum share of %s", portfolio->vendors[v]);
}

static void list_workloads(struct listing *listing) {
  const struct pricing *pricing = listing->pricing;
  const struct portfolio *portfolio = pricing->answer->portfolio;
  for (size_t w = 0; w < portfolio->demand_count; w++) {
    const struct demand *demand = &portfolio->demands[w];
    if (demand->whole)
      add(listing, with_split(pricing, w), "no split of %s", demand->name);
    if (demand->keys[DEMAND_INTERACTIVITY])
      add(listing, without_interactivity(pricing, w), "interactivity of %s", demand->name);
  }
  if (has_readiness(portfolio))
    add(listing, without_readiness(pricing), "software readiness", NULL);
}

static void list_limits(struct listing *listing) {
  const struct pricing *pricing = listing->pricing;
  struct fleet_problem *other;
  if (isfinite(pricing->answer->problem->site_power)) {
    other = copy_of(pricing);
    other->site_power = INFINITY;
    add(listing, other, "site power", NULL);
  }
  if (has_budgets(pricing->answer->terms))
    add(listing, without_budgets(pricing), "yearly budget", NULL);
  if (isfinite(pricing->answer->problem->capex_budget)) {
    other = copy_of(pricing);
    other->capex_budget = INFINITY;
    add(listing, other, "capex budget", NULL);
  }
  other = copy_of(pricing);
  other->divisible = true;
  add(listing, other, "whole purchase units", NULL);
}

void prices_find(struct plan_answer *answer, const struct pairing *pairing, struct arena *arena,
                 struct diagnostics *diagnostics) {
  const struct pricing pricing = {answer, pairing, arena, diagnostics};
  const size_t vendors = (size_t)answer->portfolio->vendor_count;
  const size_t most =
      3 * answer->scenario->option_count + 2 * answer->portfolio->demand_count + vendors + 8;
  struct listing listing = {&pricing, arena_array(arena, most, sizeof *listing.list), 0};
  struct plan_price *prices = arena_array(arena, most, sizeof *prices);
  struct plan_price *singles = arena_array(arena, vendors, sizeof *singles);
  list_supply(&listing);
  list_workloads(&listing);
  list_limits(&listing);
  const double end_s = clock_now(&machine_clock) + answer->terms->time_s;
  for (size_t i = 0; i < listing.count; i++)
    prices[i] = solve_without(&pricing, &listing.list[i],
                              clock_part_until(&machine_clock, end_s, listing.count - i + vendors));
  for (size_t v = 0; v < vendors; v++)
    singles[v] =
        solve_single(&pricing, (int)v, clock_part_until(&machine_clock, end_s, vendors - v));
  answer->prices = prices;
  answer->price_count = listing.count;
  answer->vendors = singles;
}

// ---- what would be bought instead

// The option that gains the most tokens compared with the plan; option_count for none.
static size_t most_gained(const struct fleet_problem *problem, const struct planned_fleet *before,
                          const struct planned_fleet *after) {
  size_t best = problem->option_count;
  double most = 0;
  for (size_t o = 0; o < problem->option_count; o++) {
    double gained = 0;
    for (int t = 0; t < problem->periods; t++)
      gained += fleet_served(problem, after, o, t) - fleet_served(problem, before, o, t);
    if (gained > most) {
      most = gained;
      best = o;
    }
  }
  return best;
}

static struct plan_runner_up runner_up_of(const struct plan_answer *answer, size_t option,
                                          double time_s) {
  struct arena scratch = {NULL};
  const struct fleet_problem other = challenge_without(answer->problem, option, &scratch);
  const struct programme_result result = challenge_prove(&other, NULL, time_s, &scratch);
  const struct plan_runner_up found = {
      option, price_of(answer->scenario->options[option].label, &result),
      programme_has_fleet(&result)
          ? most_gained(answer->problem, &answer->result.fleet, &result.fleet)
          : answer->problem->option_count};
  arena_free(&scratch);
  return found;
}

static bool is_used(const struct plan_answer *answer, size_t option) {
  for (int t = 0; t < answer->problem->periods; t++)
    if (fleet_has(answer->problem, &answer->result.fleet, option, t))
      return true;
  return false;
}

size_t prices_find_runners_up(const struct plan_answer *answer, struct plan_runner_up *found) {
  const double end_s = clock_now(&machine_clock) + answer->terms->time_s;
  size_t used = 0, count = 0;
  for (size_t o = 0; o < answer->problem->option_count; o++)
    used += is_used(answer, o);
  for (size_t o = 0; o < answer->problem->option_count; o++)
    if (is_used(answer, o)) {
      found[count] = runner_up_of(answer, o, clock_part_until(&machine_clock, end_s, used - count));
      count++;
    }
  return count;
}
