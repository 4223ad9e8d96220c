#include "model/plan/plan.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/optimise/allocation_problem.h"
#include "model/optimise/solver.h"
#include "model/plan/challenge.h"
#include "model/plan/costs.h"
#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/plan/prices.h"
#include "model/plan/programme.h"
#include "model/plan/terms.h"
#include "model/plan/uncertainty.h"
#include "model/questions/portfolio.h"
#include "model/questions/route_pairs.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_LOTS = 1000000 };

struct planning {
  struct plan_answer *answer;
  struct pairing pairing;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int requirements(const struct planning *planning) {
  static const char *const items[] = {"tco",   "cash",    "capex",        "tokens_per_gpu",
                                      "wacc",  "horizon", "accelerators", "accelerators_per_node",
                                      "demand"};
  int result = 0;
  if (!programme_available()) {
    diagnostics_error(planning->diagnostics, nowhere,
                      "this build is without GLPK, which finds the plan: install libglpk-dev and "
                      "build again");
    return -1;
  }
  for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
    if (model_require(planning->pairing.scenario->model, items[i], planning->diagnostics) < 0)
      result = -1;
  return result;
}

// Constraints on the cost of a single purchase are meaningless for several.
static int refuse_portfolio(const struct planning *planning) {
  const struct portfolio *portfolio = planning->answer->portfolio;
  const struct place place = planning->answer->terms->place;
  if (isfinite(portfolio->budget))
    diagnostics_error(
        planning->diagnostics, place,
        "'budget' is for a single purchase: a plan has a 'yearly_budget' under [plan] and a "
        "'capex_budget'");
  else if (portfolio->share_of == SHARE_COST)
    diagnostics_error(planning->diagnostics, place,
                      "'share_of = cost' is for a single purchase: in a plan, vendors share tokens "
                      "or accelerators in each period");
  else
    return 0;
  return -1;
}

// ---- limits of the program's numbers

static int check_sizes(const struct planning *planning) {
  const struct fleet_problem *problem = planning->answer->problem;
  const struct scenario *scenario = planning->answer->scenario;
  for (size_t o = 0; o < problem->option_count; o++)
    for (size_t w = 0; w < problem->workload_count; w++)
      for (int t = 0; t < problem->periods; t++) {
        const double nodes = fleet_nodes_of_all(problem, w, o, t);
        if (problem->options[o].by_token || nodes / problem->options[o].lot <= MAX_LOTS)
          continue;
        diagnostics_error(planning->diagnostics, planning->answer->portfolio->demands[w].place,
                          "would take %.3g purchase units of '%s' in period %d; at most %d can be "
                          "counted",
                          nodes / problem->options[o].lot, scenario->options[o].id, t + 1,
                          MAX_LOTS);
        return -1;
      }
  for (size_t a = 0; a < problem->action_count; a++)
    if (!(fabs(problem->actions[a].cost) <= MAX_SOLVER_NUMBER)) {
      const size_t o = problem->actions[a].option;
      diagnostics_error(planning->diagnostics, scenario->options[o].place,
                        "option '%s' costs %.3g a purchase unit; at most %.0e can be counted",
                        scenario->options[o].id, problem->actions[a].cost, MAX_SOLVER_NUMBER);
      return -1;
    }
  return 0;
}

// The cost of a single lot, with its spares.
static double outlay_of_lot(const struct fleet_problem *problem, size_t a) {
  const struct fleet_action *action = &problem->actions[a];
  const double spare = action->spare ? action->spare->outlay : 0;
  return action->outlay + fleet_lacking_spares(&problem->options[action->option], 1) * spare;
}

// The action with the lowest outlay for one purchase unit in a year, or, for year -1, in any;
// action_count if there is none.
static size_t cheapest(const struct planning *planning, int year) {
  const struct fleet_problem *problem = planning->answer->problem;
  size_t least = problem->action_count;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    const double *from = problem->options[action->option].tier_from;
    if ((year < 0 || problem->years[action->first] == year) && action->outlay > 0 &&
        (!action->tier || from[action->tier - 1] < 1) &&
        (least == problem->action_count ||
         outlay_of_lot(problem, a) < outlay_of_lot(problem, least)))
      least = a;
  }
  return least;
}

// Whether all options are bought. A plan can do without purchases if some are rented or paid by the
// token.
static bool only_buys(const struct planning *planning) {
  const struct fleet_problem *problem = planning->answer->problem;
  for (size_t o = 0; o < problem->option_count; o++)
    if (problem->options[o].rented || problem->options[o].by_token)
      return false;
  return true;
}

// A budget too small for a single purchase unit: an error in a plan that can only buy.
static int check_budget(const struct planning *planning, int year, double budget,
                        struct place place) {
  const struct fleet_problem *problem = planning->answer->problem;
  const size_t least = cheapest(planning, year);
  const struct scenario *scenario = planning->answer->scenario;
  const char *currency = scenario->model->currency;
  if (least == problem->action_count || budget >= outlay_of_lot(problem, least))
    return 0;
  (only_buys(planning) ? diagnostics_error : diagnostics_warning)(
      planning->diagnostics, place,
      "the budget of %s, %.0f %s, does not buy one purchase unit: the cheapest, of '%s', costs "
      "%.0f %s",
      year < 0 ? "all purchases" : arena_printf(planning->arena, "year %d", year + 1), budget,
      currency, scenario->options[problem->actions[least].option].id, outlay_of_lot(problem, least),
      currency);
  return only_buys(planning) ? -1 : 0;
}

static int check_budgets(const struct planning *planning) {
  const struct plan_terms *terms = planning->answer->terms;
  const struct portfolio *portfolio = planning->answer->portfolio;
  for (int year = 0; year < terms->year_count; year++)
    if (check_budget(planning, year, terms->budgets[year], terms->budget_places[year]))
      return -1;
  return check_budget(planning, -1, portfolio->capex_budget, portfolio->capex_place);
}

// ---- demand that no option can serve

// Adds an option that serves everything at more than any cost: what it serves is what is missing.
static struct fleet_problem with_lack(const struct planning *planning, bool divisible) {
  const struct fleet_problem *problem = planning->answer->problem;
  const size_t options = problem->option_count + 1, periods = (size_t)problem->periods;
  struct fleet_problem other = *problem;
  struct fleet_option *listed = arena_array(planning->arena, options, sizeof *listed);
  struct fleet_pair *pairs =
      arena_array(planning->arena, options * problem->workload_count, sizeof *pairs);
  double *zeros = arena_array(planning->arena, periods, sizeof *zeros);
  double dearest = 1;
  for (size_t a = 0; a < problem->action_count; a++)
    dearest = fmax(dearest, fabs(problem->actions[a].cost));
  memset(zeros, 0, periods * sizeof *zeros);
  memcpy(listed, problem->options, problem->option_count * sizeof *listed);
  listed[options - 1] = (struct fleet_option){.lot = 1,
                                              .by_token = true,
                                              .standing = zeros,
                                              .entry = zeros,
                                              .stock = INFINITY,
                                              .vendor = -1};
  for (size_t w = 0; w < problem->workload_count; w++) {
    struct fleet_pair *lack = &pairs[w * options + options - 1];
    memcpy(&pairs[w * options], &problem->pairs[w * problem->option_count],
           problem->option_count * sizeof *pairs);
    *lack = (struct fleet_pair){.capacity = arena_array(planning->arena, periods, sizeof(double)),
                                .extra = arena_array(planning->arena, periods, sizeof(double))};
    for (size_t t = 0; t < periods; t++) {
      lack->capacity[t] = 1;
      lack->extra[t] = 1e4 * dearest / problem->workloads[w].demand[t];
    }
  }
  other.options = listed;
  other.option_count = options;
  other.pairs = pairs;
  other.divisible = divisible;
  return other;
}

static const double *served_of(const struct fleet_problem *problem,
                               const struct planned_fleet *fleet, size_t w, int t,
                               struct arena *arena) {
  double *served = arena_array(arena, problem->option_count, sizeof *served);
  for (size_t o = 0; o < problem->option_count; o++)
    served[o] = *fleet_share(problem, fleet, w, o, t) * problem->workloads[w].demand[t];
  return served;
}

// Finds what the fleet with the smallest shortfall lacks, in fractional purchase units or whole
// ones.
static void find_lacks_of(const struct planning *planning, bool divisible) {
  struct plan_answer *answer = planning->answer;
  const struct fleet_problem problem = with_lack(planning, divisible);
  const size_t most = problem.workload_count * (size_t)problem.periods;
  struct plan_lack *lacks = arena_array(planning->arena, most, sizeof *lacks);
  const struct programme_limits limits = {.time_s = answer->terms->time_s, .cost = INFINITY};
  const struct programme_result result = programme_solve(&problem, limits, planning->arena);
  for (size_t w = 0; w < problem.workload_count && programme_has_fleet(&result); w++)
    for (int t = 0; t < problem.periods; t++) {
      const double share = *fleet_share(&problem, &result.fleet, w, problem.option_count - 1, t);
      if (share > 1e-7)
        lacks[answer->lack_count++] =
            (struct plan_lack){w, t, share * problem.workloads[w].demand[t], share,
                               served_of(&problem, &result.fleet, w, t, planning->arena)};
    }
  answer->lacks = lacks;
  answer->lacks_status = result.status;
}

static void find_lacks(const struct planning *planning) {
  struct plan_answer *answer = planning->answer;
  find_lacks_of(planning, true);
  answer->divisible_serves = answer->lacks_status == PROGRAMME_OPTIMAL && !answer->lack_count;
  if (answer->divisible_serves)
    find_lacks_of(planning, false);
}

const struct plan_answer *plan_ask(const struct scenario *scenario, struct arena *arena,
                                   struct diagnostics *diagnostics) {
  struct plan_answer *answer = arena_alloc(arena, sizeof *answer);
  struct planning planning = {
      .answer = answer,
      .pairing = {.scenario = scenario, .arena = arena, .diagnostics = diagnostics},
      .arena = arena,
      .diagnostics = diagnostics};
  *answer = (struct plan_answer){.scenario = scenario};
  if (requirements(&planning))
    return NULL;
  answer->portfolio = planning.pairing.portfolio = portfolio_read(scenario, arena, diagnostics);
  answer->terms = plan_terms_read(scenario, arena, diagnostics);
  if (!answer->portfolio || !answer->terms || refuse_portfolio(&planning))
    return NULL;
  const size_t pairs = answer->portfolio->demand_count * scenario->option_count;
  planning.pairing.pairs = arena_array(arena, pairs, sizeof *planning.pairing.pairs);
  planning.pairing.loose = arena_array(arena, pairs, sizeof *planning.pairing.loose);
  answer->pairs = planning.pairing.pairs;
  if (route_pairs_find(&planning.pairing))
    return NULL;
  const struct plan_costs_request request = {answer->terms, &planning.pairing, NULL};
  answer->problem = plan_costs(&request, arena, diagnostics);
  if (!answer->problem || check_sizes(&planning) || check_budgets(&planning))
    return NULL;
  answer->result = challenge_prove(answer->problem, NULL, answer->terms->time_s, arena);
  if (answer->result.status == PROGRAMME_INFEASIBLE)
    find_lacks(&planning);
  prices_find(answer, &planning.pairing, arena, diagnostics);
  const size_t errors = diagnostics->errors;
  const struct plan_chance_request drawn = {answer->terms, &planning.pairing, answer->problem,
                                            &answer->result.fleet};
  if (programme_has_fleet(&answer->result))
    answer->chance = plan_chance(&drawn, arena, diagnostics);
  return diagnostics->errors == errors ? answer : NULL;
}
