#include "model/plan/fleet.h"

#include "base/arena.h"
#include "model/cost/arithmetic.h"

#include <math.h>
#include <string.h>

static const double tolerance = 1e-6; // of a row

static size_t share_count(const struct fleet_problem *problem) {
  return problem->workload_count * problem->option_count * (size_t)problem->periods;
}

struct planned_fleet fleet_new(const struct fleet_problem *problem, struct arena *arena) {
  const size_t shares = share_count(problem);
  struct planned_fleet fleet = {
      .lots = arena_array(arena, problem->action_count + 1, sizeof(double)),
      .spares = arena_array(arena, problem->action_count + 1, sizeof(double)),
      .shares = arena_array(arena, shares + 1, sizeof(double))};
  memset(fleet.lots, 0, problem->action_count * sizeof(double));
  memset(fleet.spares, 0, problem->action_count * sizeof(double));
  memset(fleet.shares, 0, shares * sizeof(double));
  return fleet;
}

struct planned_fleet fleet_copy(const struct fleet_problem *problem,
                                const struct planned_fleet *fleet, struct arena *arena) {
  struct planned_fleet copy = fleet_new(problem, arena);
  memcpy(copy.lots, fleet->lots, problem->action_count * sizeof(double));
  memcpy(copy.spares, fleet->spares, problem->action_count * sizeof(double));
  memcpy(copy.shares, fleet->shares, share_count(problem) * sizeof(double));
  copy.cost = fleet->cost;
  copy.outlay = fleet->outlay;
  return copy;
}

double fleet_nodes(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                   size_t option, int period) {
  double nodes = 0;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    if (action->option == option && action->first <= period && period <= action->last)
      nodes += fleet->lots[a] * problem->options[option].lot;
  }
  return nodes;
}

double fleet_ordered(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                     size_t option, int period) {
  double lots = 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == option && problem->actions[a].first == period)
      lots += fleet->lots[a];
  return lots;
}

double fleet_nodes_of_all(const struct fleet_problem *problem, size_t workload, size_t option,
                          int period) {
  const double capacity = fleet_pair_of(problem, workload, option)->capacity[period];
  return capacity > 0 ? problem->workloads[workload].demand[period] / capacity : 0;
}

double fleet_busy(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                  size_t workload, size_t option, int period) {
  return *fleet_share(problem, fleet, workload, option, period) *
         fleet_nodes_of_all(problem, workload, option, period);
}

double fleet_served(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                    size_t option, int period) {
  double tokens = 0;
  for (size_t w = 0; w < problem->workload_count; w++)
    tokens +=
        *fleet_share(problem, fleet, w, option, period) * problem->workloads[w].demand[period];
  return tokens;
}

size_t fleet_first_of_span(const struct fleet_problem *problem, size_t workload, size_t option) {
  size_t first = 0;
  while (fleet_pair_of(problem, first, option)->span !=
         fleet_pair_of(problem, workload, option)->span)
    first++;
  return first;
}

double fleet_held(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                  size_t option, int period) {
  double held = 0;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = fleet_pair_of(problem, w, option)->span;
    double busy = 0;
    if (fleet_first_of_span(problem, w, option) != w)
      continue;
    for (size_t other = w; other < problem->workload_count; other++)
      if (fleet_pair_of(problem, other, option)->span == span)
        busy += fleet_busy(problem, fleet, other, option, period);
    held += span > 1 && !problem->divisible ? ceil(busy / span * (1 - tolerance)) * span : busy;
  }
  return held;
}

double fleet_spare(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                   size_t option, int period) {
  const double held = fleet_held(problem, fleet, option, period);
  const double nodes = fleet_nodes(problem, fleet, option, period);
  if (problem->options[option].by_token || held <= 0)
    return 0;
  return fmax(0, fleet_served(problem, fleet, option, period) * (nodes / held - 1));
}

bool fleet_has(const struct fleet_problem *problem, const struct planned_fleet *fleet,
               size_t option, int period) {
  if (!problem->options[option].by_token)
    return fleet_nodes(problem, fleet, option, period) > 0;
  for (size_t w = 0; w < problem->workload_count; w++)
    if (*fleet_share(problem, fleet, w, option, period) > 0)
      return true;
  return false;
}

// ---- spares

bool fleet_has_spares(const struct fleet_problem *problem) {
  for (size_t o = 0; o < problem->option_count; o++)
    if (problem->options[o].spares > 0)
      return !problem->divisible || problem->ordered;
  return false;
}

bool fleet_spares_are_whole(const struct fleet_problem *problem, size_t o, int t) {
  return problem->options[o].spares > 0 &&
         (!problem->divisible ||
          (problem->ordered && !isnan(problem->ordered[o * (size_t)problem->periods + (size_t)t])));
}

static double with_spares(const struct fleet_option *option, double lots) {
  return lots * option->lot * option->accelerators * (1 + option->spares);
}

double fleet_lacking_spares(const struct fleet_option *option, double lots) {
  const double accelerators = with_spares(option, lots);
  return fmax(0, arithmetic_ceil(accelerators) - accelerators);
}

double fleet_ordered_with_spares(const struct fleet_problem *problem,
                                 const struct planned_fleet *fleet, size_t o, int t) {
  return arithmetic_ceil(with_spares(&problem->options[o], fleet_ordered(problem, fleet, o, t)));
}

// The action of an order that stays longest, in the highest tier that it has; action_count if
// nothing is ordered.
static size_t longest(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                      size_t o, int t) {
  size_t best = problem->action_count;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    if (action->option == o && action->first == t && fleet->lots[a] > 0 &&
        (best == problem->action_count || action->last >= problem->actions[best].last))
      best = a;
  }
  return best;
}

static void make_spares_whole(const struct fleet_problem *problem, struct planned_fleet *fleet) {
  memset(fleet->spares, 0, problem->action_count * sizeof *fleet->spares);
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods; t++) {
      if (!fleet_spares_are_whole(problem, o, t))
        continue;
      const size_t a = longest(problem, fleet, o, t);
      if (a < problem->action_count)
        fleet->spares[a] =
            fleet_lacking_spares(&problem->options[o], fleet_ordered(problem, fleet, o, t));
    }
}

// ---- volume tiers

int fleet_tiers(const struct fleet_problem *problem, size_t action) {
  return problem->options[problem->actions[action].option].tier_count;
}

bool fleet_parts(const struct fleet_problem *problem, size_t action) {
  const struct fleet_option *option = &problem->options[problem->actions[action].option];
  return option->tier_count && !option->tier_of_all;
}

bool fleet_has_tiers(const struct fleet_problem *problem) {
  for (size_t o = 0; o < problem->option_count; o++)
    if (problem->options[o].tier_count)
      return true;
  return false;
}

double fleet_tier_width(const struct fleet_option *option, int k) {
  const double from = k ? option->tier_from[k - 1] : 0;
  return k < option->tier_count ? option->tier_from[k] - from : INFINITY;
}

static size_t of_tier_0(const struct fleet_problem *problem, size_t action) {
  return action - (size_t)problem->actions[action].tier;
}

double fleet_lots_of_tiers(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                           size_t action) {
  const size_t lowest = of_tier_0(problem, action);
  double lots = 0;
  for (int k = 0; k <= fleet_tiers(problem, action); k++)
    lots += fleet->lots[lowest + (size_t)k];
  return lots;
}

// The action for which the last tier saves most, among an order's actions of tier 0 that have lots
// left; action_count for none.
static size_t most_to_win(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                          size_t o, int t) {
  size_t best = problem->action_count;
  double most = -INFINITY;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    if (action->option != o || action->first != t || action->tier || fleet->lots[a] <= 0)
      continue;
    const double won = action->cost - problem->actions[a + (size_t)fleet_tiers(problem, a)].cost;
    if (won > most) {
      most = won;
      best = a;
    }
  }
  return best;
}

// Starts from an order whose lots are all in tier 0. Beyond: the highest tier goes first to the
// action that gains most.
static void take_tiers(const struct fleet_problem *problem, struct planned_fleet *fleet, size_t o,
                       int t) {
  const struct fleet_option *option = &problem->options[o];
  double order = fleet_ordered(problem, fleet, o, t);
  for (int k = option->tier_count; k > 0; k--) {
    const double beyond = order - option->tier_from[k - 1];
    double room = !option->tier_of_all ? beyond : beyond >= -tolerance ? order : 0;
    size_t a;
    while (room > 0 && (a = most_to_win(problem, fleet, o, t)) < problem->action_count) {
      const double part = fmin(room, fleet->lots[a]);
      fleet->lots[a + (size_t)k] += part;
      fleet->lots[a] -= part;
      room -= part;
      order -= part;
    }
  }
}

void fleet_gather_tiers(const struct fleet_problem *problem, struct planned_fleet *fleet) {
  for (size_t a = 0; a < problem->action_count; a++) {
    const double lots = fleet_lots_of_tiers(problem, fleet, a);
    if (!fleet_tiers(problem, a) || problem->actions[a].tier)
      continue;
    for (int k = 1; k <= fleet_tiers(problem, a); k++)
      fleet->lots[a + (size_t)k] = 0;
    fleet->lots[a] = problem->divisible ? lots : round(lots);
  }
}

void fleet_take_tiers(const struct fleet_problem *problem, struct planned_fleet *fleet) {
  fleet_gather_tiers(problem, fleet);
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods && problem->options[o].tier_count; t++)
      take_tiers(problem, fleet, o, t);
}

double fleet_outlay(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                    size_t a) {
  const struct fleet_action *action = &problem->actions[a];
  return fleet->lots[a] * action->outlay +
         (action->spare ? fleet->spares[a] * action->spare->outlay : 0);
}

// What is spent on purchases in a year or, for year -1, in all years.
static double spent_in(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                       int year) {
  double spent = 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (year < 0 || problem->years[problem->actions[a].first] == year)
      spent += fleet_outlay(problem, fleet, a);
  for (size_t o = 0; o < problem->option_count; o++) {
    int t = 0;
    while (t < problem->periods && !fleet_has(problem, fleet, o, t))
      t++;
    if (t < problem->periods && (year < 0 || problem->years[t] == year))
      spent += problem->options[o].entry_outlay;
  }
  return spent;
}

void fleet_sum(const struct fleet_problem *problem, struct planned_fleet *fleet) {
  make_spares_whole(problem, fleet);
  fleet->cost = 0;
  fleet->outlay = spent_in(problem, fleet, -1);
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *spare = problem->actions[a].spare;
    fleet->cost +=
        fleet->lots[a] * problem->actions[a].cost + (spare ? fleet->spares[a] * spare->cost : 0);
  }
  for (size_t o = 0; o < problem->option_count; o++) {
    bool there = false;
    for (int t = 0; t < problem->periods; t++) {
      for (size_t w = 0; w < problem->workload_count; w++)
        fleet->cost += fleet_pair_of(problem, w, o)->extra[t] * fleet_busy(problem, fleet, w, o, t);
      if (!fleet_has(problem, fleet, o, t))
        continue;
      fleet->cost += problem->options[o].standing[t] + (there ? 0 : problem->options[o].entry[t]);
      there = true;
    }
  }
}

// ---- the constraints of a fleet

static bool above(double value, double limit) {
  return value > limit + tolerance * fmax(1, fabs(limit));
}

static bool serves_all(const struct fleet_problem *problem, const struct planned_fleet *fleet) {
  for (size_t w = 0; w < problem->workload_count; w++)
    for (int t = 0; t < problem->periods; t++) {
      double sum = 0;
      for (size_t o = 0; o < problem->option_count; o++) {
        const double share = *fleet_share(problem, fleet, w, o, t);
        if (share < 0 || (share > 0 && fleet_nodes_of_all(problem, w, o, t) <= 0) ||
            (problem->workloads[w].whole && share > tolerance && share < 1 - tolerance))
          return false;
        sum += share;
      }
      if (fabs(sum - 1) > tolerance)
        return false;
    }
  return true;
}

static bool nodes_hold(const struct fleet_problem *problem, const struct planned_fleet *fleet) {
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods; t++)
      if (!problem->options[o].by_token &&
          above(fleet_held(problem, fleet, o, t), fleet_nodes(problem, fleet, o, t)))
        return false;
  return true;
}

static bool stock_suffices(const struct fleet_problem *problem, const struct planned_fleet *fleet) {
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct fleet_option *option = &problem->options[o];
    double most = 0;
    for (int t = 0; t < problem->periods && option->rented; t++)
      most = fmax(most, fleet_nodes(problem, fleet, o, t));
    for (size_t a = 0; a < problem->action_count && !option->rented; a++)
      if (problem->actions[a].option == o)
        most += fleet->lots[a] * option->lot * (1 + option->spares) +
                fleet->spares[a] / option->accelerators;
    if (above(most, option->stock))
      return false;
  }
  return true;
}

static bool site_suffices(const struct fleet_problem *problem, const struct planned_fleet *fleet) {
  for (int t = 0; t < problem->periods; t++) {
    double power = 0;
    for (size_t o = 0; o < problem->option_count; o++)
      power += problem->options[o].power * fleet_nodes(problem, fleet, o, t);
    if (above(power, problem->site_power))
      return false;
  }
  return true;
}

// What an option's fleet amounts to in a period, in the unit in which shares are counted.
static double amount_of(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                        size_t o, int t) {
  double tokens = 0;
  if (problem->share_of_accelerators)
    return fleet_nodes(problem, fleet, o, t) * problem->options[o].accelerators;
  for (size_t w = 0; w < problem->workload_count; w++)
    tokens += *fleet_share(problem, fleet, w, o, t) * problem->workloads[w].demand[t];
  return tokens;
}

static bool shares_are_kept(const struct fleet_problem *problem,
                            const struct planned_fleet *fleet) {
  for (int t = 0; t < problem->periods; t++) {
    double all = 0;
    for (size_t o = 0; o < problem->option_count; o++)
      all += amount_of(problem, fleet, o, t);
    for (int v = 0; v < problem->vendor_count; v++) {
      double own = 0;
      for (size_t o = 0; o < problem->option_count; o++)
        own += problem->options[o].vendor == v ? amount_of(problem, fleet, o, t) : 0;
      if (own < (problem->minimum_shares[v] - tolerance) * all)
        return false;
    }
  }
  return true;
}

static bool budgets_are_kept(const struct fleet_problem *problem,
                             const struct planned_fleet *fleet) {
  for (int year = 0; year < problem->year_count; year++)
    if (above(spent_in(problem, fleet, year), problem->budgets[year]))
      return false;
  return !above(fleet->outlay, problem->capex_budget);
}

// Fractions of lots in several tiers add up to whole lots.
static bool lots_are_whole(const struct fleet_problem *problem, const struct planned_fleet *fleet) {
  for (size_t a = 0; a < problem->action_count; a++) {
    const double lots =
        fleet_parts(problem, a) ? fleet_lots_of_tiers(problem, fleet, a) : fleet->lots[a];
    if (fleet->lots[a] < 0 || (!problem->divisible && fabs(lots - round(lots)) > tolerance))
      return false;
  }
  return true;
}

static double lots_in_tier(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                           size_t option, int period, int tier) {
  double lots = 0;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    if (action->option == option && action->first == period && action->tier == tier)
      lots += fleet->lots[a];
  }
  return lots;
}

static bool order_has_its_tiers(const struct fleet_problem *problem,
                                const struct planned_fleet *fleet, size_t o, int t) {
  const struct fleet_option *option = &problem->options[o];
  const double order = fleet_ordered(problem, fleet, o, t);
  for (int k = 0; k <= option->tier_count; k++) {
    const double lots = lots_in_tier(problem, fleet, o, t, k);
    const double from = k ? option->tier_from[k - 1] : 0;
    if (lots <= tolerance)
      continue;
    if (option->tier_of_all ? above(order, lots) || above(from, order)
                            : above(lots, fmin(order - from, fleet_tier_width(option, k))))
      return false;
  }
  return true;
}

static bool tiers_are_kept(const struct fleet_problem *problem, const struct planned_fleet *fleet) {
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods && problem->options[o].tier_count; t++)
      if (!order_has_its_tiers(problem, fleet, o, t))
        return false;
  return true;
}

static bool orders_are_kept(const struct fleet_problem *problem,
                            const struct planned_fleet *fleet) {
  for (size_t o = 0; o < problem->option_count && problem->ordered; o++)
    for (int t = 0; t < problem->periods; t++) {
      const double ordered = problem->ordered[o * (size_t)problem->periods + (size_t)t];
      const double lots = fleet_ordered(problem, fleet, o, t);
      if (!isnan(ordered) && (above(lots, ordered) || above(ordered, lots)))
        return false;
    }
  return true;
}

const char *fleet_broken(const struct fleet_problem *problem, const struct planned_fleet *fleet) {
  static const struct {
    const char *constraint;
    bool (*kept)(const struct fleet_problem *problem, const struct planned_fleet *fleet);
  } constraints[] = {{"whole purchase units", lots_are_whole},
                     {"volume tiers", tiers_are_kept},
                     {"demand", serves_all},
                     {"capacity", nodes_hold},
                     {"stock", stock_suffices},
                     {"site power", site_suffices},
                     {"minimum share", shares_are_kept},
                     {"budget", budgets_are_kept},
                     {"orders", orders_are_kept}};
  for (size_t i = 0; i < sizeof constraints / sizeof constraints[0]; i++)
    if (!constraints[i].kept(problem, fleet))
      return constraints[i].constraint;
  return NULL;
}
