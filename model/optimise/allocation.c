#include "model/optimise/allocation.h"

#include "base/arena.h"
#include "model/optimise/allocation_programme.h"
#include "model/optimise/merged.h"

#include <math.h>
#include <stddef.h>

// The nodes rounded up to a whole number of steps, unless they exceed one by less than the share
// `slack`.
static double rounded_up(double nodes, double step, double slack) {
  return ceil(nodes / step * (1 - slack)) * step;
}

double allocation_busy(const struct allocation_problem *problem,
                       const struct allocation *allocation, size_t workload, size_t option) {
  return allocation->shares[workload * problem->option_count + option] *
         allocation_nodes_of_all(problem, workload, option);
}

static double spares_of(const struct allocation_problem *problem, size_t o, double nodes) {
  const double needed = problem->options[o].spares * nodes;
  return problem->divisible ? needed : rounded_up(needed, 1, ALLOCATION_ROUNDING);
}

bool allocation_in_stock(const struct allocation_problem *problem, size_t o, double nodes) {
  const struct allocation_option *option = &problem->options[o];
  const double spares = spares_of(problem, o, nodes);
  return nodes + (spares > 0 ? spares / option->accelerators : 0) <=
         option->stock * (1 + ALLOCATION_TOLERANCE);
}

double allocation_spares(const struct allocation_problem *problem,
                         const struct allocation *allocation, size_t o) {
  return spares_of(problem, o, allocation->nodes[o]);
}

double allocation_spares_added(const struct allocation_problem *problem,
                               const struct allocation *allocation, size_t o) {
  return allocation_spares(problem, allocation, o) -
         problem->options[o].spares * allocation->nodes[o];
}

static double cost_of(const struct allocation_problem *problem, const struct allocation *allocation,
                      size_t o, bool capex) {
  const struct allocation_option *option = &problem->options[o];
  const double nodes = allocation->nodes[o];
  if (nodes <= 0)
    return 0;
  const double added = allocation_spares_added(problem, allocation, o);
  double cost = capex
                    ? option->fixed_capex + option->node_capex * nodes + option->spare_capex * added
                    : option->fixed_cost + option->node_cost * nodes + option->spare_cost * added;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const struct allocation_pair *pair = allocation_pair_of(problem, w, o);
    cost +=
        (capex ? pair->extra_capex : pair->extra_cost) * allocation_busy(problem, allocation, w, o);
  }
  return cost;
}

double allocation_cost(const struct allocation_problem *problem,
                       const struct allocation *allocation, size_t o) {
  return cost_of(problem, allocation, o, false);
}

static void sum_up(const struct allocation_problem *problem, struct allocation *allocation) {
  allocation->cost = allocation->capex = 0;
  for (size_t o = 0; o < problem->option_count; o++) {
    allocation->cost += cost_of(problem, allocation, o, false);
    allocation->capex += cost_of(problem, allocation, o, true);
  }
}

// Nodes that hold what an option must serve, with whole replicas if they span several nodes.
static double nodes_held(const struct allocation_problem *problem,
                         const struct allocation *allocation, size_t o, double slack) {
  double held = 0;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = allocation_pair_of(problem, w, o)->span;
    double busy = 0;
    if (allocation_first_of_span(problem, w, o) != w)
      continue;
    for (size_t other = w; other < problem->workload_count; other++)
      if (allocation_pair_of(problem, other, o)->span == span)
        busy += allocation_busy(problem, allocation, other, o);
    held += span > 1 && !problem->divisible ? rounded_up(busy, span, slack) : busy;
  }
  return held;
}

// ---- checks without a solver

// What an option's part of the split amounts to, in the unit in which shares are counted.
static double amount_of(const struct allocation_problem *problem,
                        const struct allocation *allocation, size_t o) {
  double tokens = 0;
  if (problem->share_of == SHARE_ACCELERATORS)
    return allocation->nodes[o] * problem->options[o].accelerators;
  if (problem->share_of == SHARE_COST)
    return cost_of(problem, allocation, o, false);
  for (size_t w = 0; w < problem->workload_count; w++)
    tokens += allocation->shares[w * problem->option_count + o] * problem->workloads[w].demand;
  return tokens;
}

static bool shares_are_kept(const struct allocation_problem *problem,
                            const struct allocation *allocation) {
  double all = 0;
  for (size_t o = 0; o < problem->option_count; o++)
    all += amount_of(problem, allocation, o);
  for (int v = 0; v < problem->vendor_count; v++) {
    double own = 0;
    for (size_t o = 0; o < problem->option_count; o++)
      own += problem->options[o].vendor == v ? amount_of(problem, allocation, o) : 0;
    if (own < (problem->minimum_shares[v] - ALLOCATION_TOLERANCE) * all)
      return false;
  }
  return true;
}

// Whether a split satisfies the program's rows, by independent sums.
static bool is_kept(const struct allocation_problem *problem, const struct allocation *allocation) {
  for (size_t o = 0; o < problem->option_count; o++) {
    if (nodes_held(problem, allocation, o, ALLOCATION_TOLERANCE) >
            allocation->nodes[o] * (1 + ALLOCATION_TOLERANCE) ||
        !allocation_in_stock(problem, o, allocation->nodes[o]))
      return false;
  }
  return allocation->cost <= problem->budget * (1 + ALLOCATION_TOLERANCE) &&
         allocation->capex <= problem->capex_budget * (1 + ALLOCATION_TOLERANCE) &&
         shares_are_kept(problem, allocation);
}

// Everything on one option.
static struct allocation all_on(const struct allocation_problem *problem, size_t o,
                                struct arena *arena) {
  struct allocation allocation = allocation_new(problem, arena);
  for (size_t w = 0; w < problem->workload_count; w++) {
    allocation.shares[w * problem->option_count + o] = 1;
    if (allocation_pair_of(problem, w, o)->capacity <= 0)
      return allocation;
  }
  allocation.nodes[o] = nodes_held(problem, &allocation, o, ALLOCATION_ROUNDING);
  if (!problem->divisible)
    allocation.nodes[o] =
        rounded_up(allocation.nodes[o], problem->options[o].lot, ALLOCATION_ROUNDING);
  sum_up(problem, &allocation);
  if (is_kept(problem, &allocation))
    allocation.status = ALLOCATION_UNPROVEN;
  return allocation;
}

// A solution that beats an optimum shows that it was not one.
static void keep_better(struct allocation *best, const struct allocation *other) {
  if (allocation_is_split(other) &&
      !(allocation_is_split(best) && best->cost <= other->cost * (1 + ALLOCATION_TOLERANCE))) {
    *best = *other;
    best->status = ALLOCATION_UNPROVEN;
  }
}

static struct allocation solve_once(const struct allocation_problem *problem, double limit_s,
                                    struct arena *arena) {
  const struct merged merged = merged_of(problem, arena);
  const struct allocation together = allocation_programme(&merged.problem, limit_s, arena);
  struct allocation allocation = merged_apart(&merged, problem, &together, arena);
  if (!allocation_is_split(&allocation))
    return allocation;
  sum_up(problem, &allocation);
  if (!is_kept(problem, &allocation))
    allocation.status = ALLOCATION_FAILED;
  return allocation;
}

struct allocation allocation_solve(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena) {
  struct allocation best = solve_once(problem, limit_s, arena);
  for (size_t o = 0; o < problem->option_count && allocation_available(); o++) {
    const struct allocation alone = all_on(problem, o, arena);
    keep_better(&best, &alone);
  }
  return best;
}

struct allocation allocation_prove(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena) {
  static const struct allocation_pair none = {0};
  struct allocation best = allocation_solve(problem, limit_s, arena);
  const size_t count = problem->workload_count * problem->option_count;
  struct allocation_pair *pairs = arena_array(arena, count, sizeof *pairs);
  struct allocation_problem without = *problem;
  without.pairs = pairs;
  for (size_t o = 0; o < problem->option_count && best.status != ALLOCATION_FAILED; o++) {
    for (size_t i = 0; i < count; i++)
      pairs[i] = i % problem->option_count == o ? none : problem->pairs[i];
    const struct allocation other = allocation_solve(&without, limit_s, arena);
    keep_better(&best, &other);
  }
  return best;
}
