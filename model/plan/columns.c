#include "model/plan/columns.h"

#include "model/cost/arithmetic.h"
#include "model/plan/fleet.h"

#include <math.h>

static size_t cells(const struct fleet_problem *problem) {
  return problem->option_count * (size_t)problem->periods;
}

// Actions; lots, presence and entry of each option in each period; shares; replicas; spares; tiers.
int action_column(size_t a) {
  return 1 + (int)a;
}

static int cell_column(const struct fleet_problem *problem, size_t block, size_t o, int t) {
  return 1 + (int)(problem->action_count + block * cells(problem) + o * (size_t)problem->periods) +
         t;
}

int lots_column(const struct fleet_problem *problem, size_t o, int t) {
  return cell_column(problem, 0, o, t);
}

int presence_column(const struct fleet_problem *problem, size_t o, int t) {
  return cell_column(problem, 1, o, t);
}

int entry_column(const struct fleet_problem *problem, size_t o, int t) {
  return cell_column(problem, 2, o, t);
}

int share_column(const struct fleet_problem *problem, size_t w, size_t o, int t) {
  return cell_column(problem, 3 + w, o, t);
}

int replica_column(const struct fleet_problem *problem, size_t w, size_t o, int t) {
  return cell_column(problem, 3 + problem->workload_count + w, o, t);
}

int spare_column(const struct fleet_problem *problem, size_t o, int t) {
  return cell_column(problem, 3 + 2 * problem->workload_count, o, t);
}

static size_t untiered(const struct fleet_problem *problem) {
  return 3 + 2 * problem->workload_count + (fleet_has_spares(problem) ? 1 : 0);
}

int tier_column(const struct fleet_problem *problem, size_t o, int t, int k) {
  return cell_column(problem, untiered(problem) + (size_t)k, o, t);
}

int whole_column(const struct fleet_problem *problem, size_t a) {
  return cell_column(problem, untiered(problem) + FLEET_MOST_TIERS + 1, 0, 0) + (int)a;
}

int column_count(const struct fleet_problem *problem) {
  return fleet_has_tiers(problem) ? whole_column(problem, problem->action_count) - 1
                                  : cell_column(problem, untiered(problem), 0, 0) - 1;
}

// The nodes that hold all workloads of an option in the period with the highest need, each workload
// rounded up separately.
static double most_held(const struct fleet_problem *problem, size_t o) {
  double most = 0;
  for (int t = 0; t < problem->periods; t++) {
    double held = 0;
    for (size_t w = 0; w < problem->workload_count; w++) {
      const int span = fleet_pair_of(problem, w, o)->span;
      const double nodes = fleet_nodes_of_all(problem, w, o, t);
      held += span > 1 ? ceil(nodes / span) * span : nodes;
    }
    most = fmax(most, held);
  }
  return most;
}

// The lots that may be bought to reach a tier, in one order.
static double lots_of_tiers(const struct fleet_problem *problem, size_t o) {
  const struct fleet_option *option = &problem->options[o];
  return option->tier_count ? ceil(option->tier_from[option->tier_count - 1]) : 0;
}

// The most accelerators in a fleet that satisfies the vendors' shares of them, however it serves:
// everything that each option would need alone, plus one lot each for rounding and the lots that
// tiers may make worth buying, divided by what the shares leave free.
static double most_accelerators(const struct fleet_problem *problem) {
  static const double least_free = 0.05;
  double all = 0, free_share = 1;
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct fleet_option *option = &problem->options[o];
    const double lots = ceil(most_held(problem, o) / option->lot) + 1 +
                        problem->periods * lots_of_tiers(problem, o);
    all += lots * option->lot * option->accelerators;
  }
  for (int v = 0; v < problem->vendor_count; v++)
    free_share -= problem->minimum_shares[v];
  return free_share < 1 ? all / fmax(free_share, least_free) : 0;
}

// The lots that are ordered regardless of need.
static double lots_ordered(const struct fleet_problem *problem, size_t o) {
  double lots = 0;
  for (int t = 0; t < problem->periods && problem->ordered; t++) {
    const double ordered = problem->ordered[o * (size_t)problem->periods + (size_t)t];
    lots += isnan(ordered) ? 0 : ordered;
  }
  return lots;
}

static double lots_needed(const struct fleet_problem *problem, size_t o) {
  const struct fleet_option *option = &problem->options[o];
  double needed = most_held(problem, o);
  if (problem->share_of_accelerators && !option->by_token)
    needed = fmax(needed, most_accelerators(problem) / option->accelerators);
  return ceil(needed / option->lot) + lots_ordered(problem, o);
}

static double in_stock(const struct fleet_problem *problem, size_t o) {
  return arithmetic_floor(problem->options[o].stock / problem->options[o].lot);
}

double most_lots(const struct fleet_problem *problem, size_t o) {
  return fmin(in_stock(problem, o),
              lots_needed(problem, o) + problem->periods * lots_of_tiers(problem, o));
}

double most_in_order(const struct fleet_problem *problem, size_t o) {
  return fmin(in_stock(problem, o), fmax(lots_needed(problem, o), lots_of_tiers(problem, o)));
}

bool has_fixed_cost(const struct fleet_problem *problem, size_t o) {
  for (int t = 0; t < problem->periods; t++)
    if (problem->options[o].standing[t] != 0 || problem->options[o].entry[t] != 0)
      return true;
  return problem->options[o].entry_outlay != 0;
}
