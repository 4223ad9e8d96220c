#include "model/plan/spares.h"

#include "base/arena.h"
#include "model/cost/arithmetic.h"
#include "model/plan/challenge.h"
#include "model/plan/fleet.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_ROUNDS = 4 };

static double with_spares(const struct fleet_option *option, double lots) {
  return lots * option->lot * option->accelerators * (1 + option->spares);
}

// From a fraction of a spare to a whole one.
static double missing(const struct fleet_option *option, double lots) {
  const double accelerators = with_spares(option, lots);
  return fmax(0, arithmetic_ceil(accelerators) - accelerators);
}

double spares_ordered(const struct fleet_problem *problem, const struct fleet *fleet, size_t o,
                      int t) {
  return arithmetic_ceil(with_spares(&problem->options[o], fleet_ordered(problem, fleet, o, t)));
}

double spares_outlay_of_lot(const struct fleet_problem *problem, size_t a) {
  const struct fleet_action *action = &problem->actions[a];
  const double spare = action->spare ? action->spare->outlay : 0;
  return action->outlay + missing(&problem->options[action->option], 1) * spare;
}

double spares_cost(const struct fleet_problem *problem, const struct fleet *fleet) {
  double cost = 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].spare)
      cost += fleet->spares[a] * problem->actions[a].spare->cost;
  return cost;
}

// ---- the spares of a fleet

// The action of an order that stays longest, in the highest tier that it has; action_count if
// nothing is ordered.
static size_t longest(const struct fleet_problem *problem, const struct fleet *fleet, size_t o,
                      int t) {
  size_t best = problem->action_count;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    if (action->option == o && action->first == t && fleet->lots[a] > 0 &&
        (best == problem->action_count || action->last >= problem->actions[best].last))
      best = a;
  }
  return best;
}

static void make_whole(const struct fleet_problem *problem, struct fleet *fleet) {
  memset(fleet->spares, 0, problem->action_count * sizeof *fleet->spares);
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods && problem->options[o].spares > 0; t++) {
      const size_t a = longest(problem, fleet, o, t);
      if (a < problem->action_count)
        fleet->spares[a] = missing(&problem->options[o], fleet_ordered(problem, fleet, o, t));
    }
  fleet_sum(problem, fleet);
}

// ---- the search

// What whole spares add to the purchases of a year, or, for year -1, of all.
static double added(const struct fleet_problem *problem, const struct fleet *fleet, int year) {
  double outlay = 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].spare &&
        (year < 0 || problem->years[problem->actions[a].first] == year))
      outlay += fleet->spares[a] * problem->actions[a].spare->outlay;
  return outlay;
}

static double lowered(const struct fleet_problem *problem, const struct fleet *fleet, int year,
                      double budget, double before) {
  if (fleet_spent(problem, fleet, year) <= budget)
    return before;
  return fmin(before, budget - added(problem, fleet, year));
}

// Leaves room for the spares of a fleet that breaks budgets.
static void lower_budgets(const struct fleet_problem *problem, const struct fleet *fleet,
                          struct fleet_problem *tight, struct arena *arena) {
  double *budgets = arena_array(arena, (size_t)problem->year_count + 1, sizeof *budgets);
  for (int year = 0; year < problem->year_count; year++)
    budgets[year] = lowered(problem, fleet, year, problem->budgets[year], tight->budgets[year]);
  tight->budgets = budgets;
  tight->capex_budget = lowered(problem, fleet, -1, problem->capex_budget, tight->capex_budget);
}

static bool may_have_spares(const struct fleet_problem *problem) {
  for (size_t o = 0; o < problem->option_count; o++)
    if (problem->options[o].spares > 0)
      return !problem->divisible;
  return false;
}

// Whole spares may be all that keeps a fleet from being the cheapest for certain.
static void judge(struct programme_result *found, const struct programme_result *first) {
  const bool searched = first->status == PROGRAMME_OPTIMAL && found->status == PROGRAMME_OPTIMAL;
  found->bound = first->bound;
  found->rounded = searched && found->fleet.cost > found->bound * (1 + PROGRAMME_GAP);
  if (found->rounded || !searched)
    found->status = PROGRAMME_UNPROVEN;
}

struct programme_result spares_prove(const struct fleet_problem *problem, const struct fleet *known,
                                     double time_s, struct arena *arena) {
  struct fleet_problem tight = *problem;
  struct programme_result first = challenge_prove(problem, known, time_s, arena);
  if (!may_have_spares(problem) || !programme_has_fleet(&first))
    return first;
  make_whole(problem, &first.fleet);
  struct programme_result found = first;
  for (int round = 0; fleet_broken(problem, &found.fleet); round++) {
    lower_budgets(problem, &found.fleet, &tight, arena);
    if (round < MOST_ROUNDS)
      found = challenge_prove(&tight, known, time_s / MOST_ROUNDS, arena);
    if (round == MOST_ROUNDS || !programme_has_fleet(&found)) {
      first.status = PROGRAMME_OVER_BUDGET;
      return first;
    }
    make_whole(problem, &found.fleet);
  }
  judge(&found, &first);
  return found;
}
