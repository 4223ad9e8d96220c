#include "model/plan/uncertainty.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/statistics.h"
#include "base/vector.h"
#include "model/chance/distribution.h"
#include "model/chance/draw.h"
#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/plan/costs.h"
#include "model/plan/fleet.h"
#include "model/plan/programme.h"
#include "model/questions/portfolio.h"
#include "model/scenario/scenario.h"
#include "model/simulate/sampler.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// Smaller fractions of a lot are due to the solver's tolerances.
static const double part_of_lot = 1e-4;

// The amounts recorded for each draw: three costs, and how much the others exceed the best.
enum { BEST, FIRST_ORDER, WHOLE_PLAN, REGRET, EXCESS, KINDS };

struct chances {
  const struct plan_chance_request *request;
  struct plan_chance *chance;
  const struct sampler *sampler; // or NULL
  // [demand_count + option_count] for growths and delays
  const struct distribution **beliefs;
  struct draw_stream *streams;
  size_t belief_count;
  double *values;       // [variable_count + belief_count][VECTOR_BLOCK]
  double *costs[KINDS]; // [draws]
  double *bought;       // [option_count][draws] lots of the first order
  double end_s;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static const struct portfolio *portfolio_of(const struct chances *chances) {
  return chances->request->pairing->portfolio;
}

static const struct scenario *scenario_of(const struct chances *chances) {
  return chances->request->pairing->scenario;
}

// ---- what is drawn

static void start_beliefs(struct chances *chances) {
  const struct portfolio *portfolio = portfolio_of(chances);
  const size_t options = scenario_of(chances)->option_count;
  const size_t demands = portfolio->demand_count, count = demands + options;
  chances->belief_count = count;
  chances->beliefs = arena_array(chances->arena, count, sizeof(struct distribution *));
  chances->streams = arena_array(chances->arena, count, sizeof *chances->streams);
  for (size_t i = 0; i < count; i++) {
    const bool growth = i < demands;
    const char *name =
        growth ? portfolio->demands[i].name : scenario_of(chances)->options[i - demands].id;
    chances->beliefs[i] = growth ? portfolio->demands[i].growths : portfolio->delays[i - demands];
    draw_stream_start(&chances->streams[i], DRAW_SOBOL, (uint64_t)chances->request->terms->seed,
                      arena_printf(chances->arena, "plan.%s.%s", growth ? "growth" : "delay", name),
                      (int)(scenario_of(chances)->range_count + i), 0);
  }
}

static bool believes_any(const struct chances *chances) {
  for (size_t i = 0; i < chances->belief_count; i++)
    if (chances->beliefs[i])
      return true;
  return false;
}

// Returns 0, or -1 after an error; without ranges there is no sampler.
static int start_sampler(struct chances *chances) {
  const int item = model_find(scenario_of(chances)->model, "tco");
  const struct sampler_request request = {.scenario = scenario_of(chances),
                                          .method = DRAW_SOBOL,
                                          .seed = (uint64_t)chances->request->terms->seed,
                                          .replicates = 1,
                                          .items = &item,
                                          .item_count = 1};
  if (!sampler_draws_any(scenario_of(chances), NULL))
    return 0;
  chances->sampler = sampler_new(&request, chances->arena, chances->diagnostics);
  return chances->sampler ? 0 : -1;
}

static size_t variables_of(const struct chances *chances) {
  return chances->sampler ? (size_t)chances->sampler->variable_count : 0;
}

static void draw_block(const struct chances *chances, size_t first) {
  double *values = chances->values + variables_of(chances) * VECTOR_BLOCK;
  double shares[VECTOR_BLOCK];
  if (chances->sampler)
    sampler_draw(chances->sampler, SAMPLE_FIRST, 0, first, chances->values);
  for (size_t i = 0; i < chances->belief_count; i++) {
    if (!chances->beliefs[i])
      continue;
    draw_uniforms(&chances->streams[i], first, shares);
    distribution_quantiles(chances->beliefs[i], shares, values + i * VECTOR_BLOCK);
  }
}

// ---- a draw as a problem

static struct portfolio drawn_portfolio(const struct chances *chances, size_t lane,
                                        struct arena *arena) {
  const struct portfolio *base = portfolio_of(chances);
  const size_t options = scenario_of(chances)->option_count;
  const double *values = chances->values + variables_of(chances) * VECTOR_BLOCK + lane;
  struct portfolio portfolio = *base;
  portfolio.demands = arena_array(arena, base->demand_count, sizeof *portfolio.demands);
  portfolio.available = arena_array(arena, options, sizeof *portfolio.available);
  memcpy(portfolio.demands, base->demands, base->demand_count * sizeof *portfolio.demands);
  memcpy(portfolio.available, base->available, options * sizeof *portfolio.available);
  for (size_t w = 0; w < base->demand_count; w++)
    if (base->demands[w].growths)
      portfolio.demands[w].growth = values[w * VECTOR_BLOCK];
  for (size_t o = 0; o < options; o++)
    if (base->delays[o])
      portfolio.available[o] +=
          values[(base->demand_count + o) * VECTOR_BLOCK] - distribution_mean(base->delays[o]);
  return portfolio;
}

static const struct fleet_problem *drawn_problem(const struct chances *chances,
                                                 const struct portfolio *portfolio, size_t lane,
                                                 struct arena *arena) {
  const struct sampler *sampler = chances->sampler;
  double *drawn = arena_array(arena, scenario_of(chances)->range_count + 1, sizeof *drawn);
  struct pairing pairing = *chances->request->pairing;
  pairing.portfolio = portfolio;
  for (size_t v = 0; v < variables_of(chances); v++)
    drawn[sampler->ranges[v]] = chances->values[v * VECTOR_BLOCK + lane];
  const struct plan_costs_request request = {chances->request->terms, &pairing,
                                             sampler ? drawn : NULL};
  return plan_costs(&request, arena, chances->diagnostics);
}

// The plan's purchases for the first `periods` periods, each when it can be delivered in this draw.
static const double *orders_of(const struct chances *chances, const struct portfolio *portfolio,
                               int periods, struct arena *arena) {
  const struct fleet_problem *problem = chances->request->problem;
  const size_t count = problem->option_count * (size_t)problem->periods;
  double *orders = arena_array(arena, count, sizeof *orders);
  for (size_t i = 0; i < count; i++)
    orders[i] = NAN;
  for (size_t o = 0; o < problem->option_count; o++) {
    const int earliest = plan_first_period(chances->request->terms, portfolio, o);
    double *own = orders + o * (size_t)problem->periods;
    if (problem->options[o].rented || problem->options[o].by_token)
      continue;
    for (int t = 0; t < periods; t++)
      own[t] = 0;
    for (int t = 0; t < periods; t++) {
      const double lots = fleet_ordered(problem, chances->request->fleet, o, t);
      const int delivered = t > earliest ? t : earliest;
      if (lots > 0 && delivered < problem->periods)
        own[delivered] = lots + (isnan(own[delivered]) ? 0 : own[delivered]);
    }
  }
  return orders;
}

// ---- a draw solved

// The cost of a draw's fleet; INFINITY: it cannot serve everything; NAN: not found in time.
static double cost_of(const struct chances *chances, const struct fleet_problem *problem,
                      const double *orders, struct planned_fleet *fleet, struct arena *arena) {
  struct fleet_problem parts = *problem;
  const struct programme_limits limits = {.time_s = chances->end_s - clock_now(&machine_clock),
                                          .cost = INFINITY};
  parts.divisible = true;
  parts.ordered = orders;
  if (limits.time_s <= 0)
    return NAN;
  const struct programme_result result = programme_solve(&parts, limits, arena);
  *fleet = result.fleet;
  if (result.status == PROGRAMME_INFEASIBLE)
    return INFINITY;
  return result.status == PROGRAMME_OPTIMAL || result.rounded ? result.fleet.cost : NAN;
}

// Whether all three fleets were found in time; -1 after errors.
static int solve_draw(struct chances *chances, size_t lane, size_t draw, struct arena *arena) {
  const struct portfolio portfolio = drawn_portfolio(chances, lane, arena);
  const struct fleet_problem *problem = drawn_problem(chances, &portfolio, lane, arena);
  const int first = chances->chance->first, all = chances->request->terms->periods;
  struct planned_fleet best, other;
  if (!problem)
    return -1;
  const double *first_order = orders_of(chances, &portfolio, first + 1, arena);
  const double *every_order = orders_of(chances, &portfolio, all, arena);
  const double cost = cost_of(chances, problem, NULL, &best, arena);
  chances->costs[BEST][draw] = cost;
  chances->costs[FIRST_ORDER][draw] = cost_of(chances, problem, first_order, &other, arena);
  chances->costs[WHOLE_PLAN][draw] = cost_of(chances, problem, every_order, &other, arena);
  chances->costs[REGRET][draw] = chances->costs[FIRST_ORDER][draw] - cost;
  chances->costs[EXCESS][draw] = chances->costs[WHOLE_PLAN][draw] - cost;
  for (size_t o = 0; o < problem->option_count && isfinite(cost); o++)
    chances->bought[o * chances->chance->asked + draw] = fleet_ordered(problem, &best, o, first);
  for (int kind = BEST; kind <= WHOLE_PLAN; kind++)
    if (isnan(chances->costs[kind][draw]))
      return 0;
  return 1;
}

// The part of the regret that is not due to the draws: the order is in whole lots, but the best
// fleet of a draw in fractions. NAN: not found in time.
static double rounding_of(const struct chances *chances) {
  struct arena scratch = {NULL};
  struct planned_fleet fleet;
  const double *orders =
      orders_of(chances, portfolio_of(chances), chances->chance->first + 1, &scratch);
  const struct fleet_problem *base = chances->request->problem;
  const double rounded = cost_of(chances, base, orders, &fleet, &scratch);
  const double rounding = rounded - cost_of(chances, base, NULL, &fleet, &scratch);
  arena_free(&scratch);
  return isfinite(rounding) ? fmax(0, rounding) : NAN;
}

static int solve_draws(struct chances *chances) {
  struct plan_chance *chance = chances->chance;
  int solved = 1;
  for (size_t draw = 0; draw < chance->asked && solved > 0; draw++) {
    struct arena scratch = {NULL};
    if (draw % VECTOR_BLOCK == 0)
      draw_block(chances, draw);
    solved = solve_draw(chances, draw % VECTOR_BLOCK, draw, &scratch);
    chance->draws += solved > 0 ? 1 : 0;
    arena_free(&scratch);
  }
  return solved < 0 ? -1 : 0;
}

// ---- results over all draws

// The spread of the finite values, which it moves to the front and sorts.
static struct plan_spread spread_of(double *values, size_t count) {
  static const double low = 0.1, high = 0.9;
  struct plan_spread spread = {.mean = NAN, .low = NAN, .high = NAN};
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i])) {
      values[spread.count++] = values[i];
      sum += values[spread.count - 1];
    }
  if (!spread.count)
    return spread;
  sort_ascending(values, spread.count);
  spread.mean = sum / (double)spread.count;
  spread.low = values[(size_t)floor(low * (double)(spread.count - 1))];
  spread.high = values[(size_t)ceil(high * (double)(spread.count - 1))];
  return spread;
}

static const double *copied(const double *values, size_t count, struct arena *arena) {
  double *copy = arena_array(arena, count + 1, sizeof *copy);
  memcpy(copy, values, count * sizeof *copy);
  return copy;
}

// Keeps the draws' costs. Called before they are sorted.
static void keep_draws(const struct chances *chances) {
  struct plan_chance *chance = chances->chance;
  static const int kinds[PLAN_DRAWN] = {BEST, FIRST_ORDER, WHOLE_PLAN};
  for (int i = 0; i < PLAN_DRAWN; i++)
    chance->each[i] = copied(chances->costs[kinds[i]], chance->draws, chances->arena);
  chance->bought = copied(chances->bought, chances->request->problem->option_count * chance->asked,
                          chances->arena);
}

static void judge_option(const struct chances *chances, size_t o, double planned, double *sure,
                         double *enough) {
  const struct plan_chance *chance = chances->chance;
  double *bought = chances->bought + o * chance->asked;
  size_t count = 0, right = 0;
  for (size_t i = 0; i < chance->draws; i++) {
    if (!isfinite(chances->costs[BEST][i]))
      continue;
    bought[count] = ceil(bought[i] - part_of_lot);
    right += bought[count++] >= planned ? 1 : 0;
  }
  sort_ascending(bought, count);
  const size_t below = (size_t)arithmetic_floor((1 - PLAN_SURE) * (double)count);
  *sure = count ? fmin(planned, bought[below]) : 0;
  *enough = count ? (double)right / (double)count : NAN;
}

static void judge(const struct chances *chances) {
  struct plan_chance *chance = chances->chance;
  const struct fleet_problem *problem = chances->request->problem;
  double *lots = arena_array(chances->arena, problem->option_count, sizeof *lots);
  double *sure = arena_array(chances->arena, problem->option_count, sizeof *sure);
  double *enough = arena_array(chances->arena, problem->option_count, sizeof *enough);
  for (size_t o = 0; o < problem->option_count; o++) {
    const bool owned = !problem->options[o].rented && !problem->options[o].by_token;
    lots[o] = owned ? fleet_ordered(problem, chances->request->fleet, o, chance->first) : 0;
    judge_option(chances, o, lots[o], &sure[o], &enough[o]);
  }
  for (size_t i = 0; i < chance->draws; i++)
    chance->unserved += isinf(chances->costs[BEST][i]) ? 1 : 0;
  chance->lots = lots;
  chance->sure = sure;
  chance->enough = enough;
  chance->best = spread_of(chances->costs[BEST], chance->draws);
  chance->first_order = spread_of(chances->costs[FIRST_ORDER], chance->draws);
  chance->whole_plan = spread_of(chances->costs[WHOLE_PLAN], chance->draws);
  chance->regret = spread_of(chances->costs[REGRET], chance->draws);
  chance->excess = spread_of(chances->costs[EXCESS], chance->draws);
}

// The first period for which anything is bought; `periods` for none.
static int first_order(const struct plan_chance_request *request) {
  const struct fleet_problem *problem = request->problem;
  for (int t = 0; t < problem->periods; t++)
    for (size_t o = 0; o < problem->option_count; o++)
      if (!problem->options[o].rented && fleet_ordered(problem, request->fleet, o, t) > 0)
        return t;
  return problem->periods;
}

const struct plan_chance *plan_chance(const struct plan_chance_request *request,
                                      struct arena *arena, struct diagnostics *diagnostics) {
  struct plan_chance *chance = arena_alloc(arena, sizeof *chance);
  struct chances chances = {.request = request,
                            .chance = chance,
                            .arena = arena,
                            .diagnostics = diagnostics,
                            .end_s = clock_now(&machine_clock) + request->terms->time_s};
  *chance = (struct plan_chance){.asked = (size_t)request->terms->draws,
                                 .seed = (uint64_t)request->terms->seed,
                                 .first = first_order(request)};
  if (chance->first == request->problem->periods)
    return NULL;
  start_beliefs(&chances);
  if (start_sampler(&chances))
    return NULL;
  if (!chances.sampler && !believes_any(&chances))
    return NULL;
  const size_t rows = variables_of(&chances) + chances.belief_count;
  chances.values = arena_array(arena, rows * VECTOR_BLOCK, sizeof *chances.values);
  for (int kind = 0; kind < KINDS; kind++)
    chances.costs[kind] = arena_array(arena, chance->asked, sizeof(double));
  chances.bought =
      arena_array(arena, request->problem->option_count * chance->asked, sizeof(double));
  chance->rounding = rounding_of(&chances);
  if (solve_draws(&chances))
    return NULL;
  keep_draws(&chances);
  judge(&chances);
  return chance;
}
