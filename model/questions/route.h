// route: which workload goes to which option, at the lowest total cost of a portfolio.
//
// The program to be solved is stated in model/optimise/allocation.h. Its numbers come from the cost
// model: every option is resolved for every workload, with that workload's keys replacing
// [workload]'s, so that evidence, grades and guards apply to it. Each option then has
//   capacity   tokens_per_gpu * accelerators_per_node * readiness
//   node       the slope of tco over nodes, the lowest of all workloads; extra: how much a
//              workload's own slope (its watts) exceeds it
//   fixed      tco at zero nodes, extrapolated: engineers, migration
// and likewise for capex and, once the split is found, for npv_cost: the minimized cost is
// undiscounted; `discounted` is the discounted cost of the same split. Slope and fixed cost are
// taken from a line through 10,000 and 20,000 nodes without spares, and the cost of a spare from
// one for each accelerator; `exact_cost` is the model's own at the nodes found. Nodes are shared:
// workloads divide the time of an option's nodes, and purchase units and spares are rounded up for
// all of them together. A replica over several nodes is whole, and shared by workloads whose
// replicas span as many. A pair is excluded if the software does not run, the throughput is unknown
// or misses the interactivity, or the memory of a node's accelerators does not hold a request.
#ifndef PERTOKEN_MODEL_QUESTIONS_ROUTE_H
#define PERTOKEN_MODEL_QUESTIONS_ROUTE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/optimise/allocation_problem.h"
#include "model/questions/portfolio.h"
#include "model/questions/route_pairs.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// A constraint that was left out, and the lowest cost without it.
struct route_price {
  const char *constraint; // "stock of h200"
  enum allocation_status status;
  double cost;
};

// Everything from one vendor, whatever its share was to be.
struct route_source {
  int vendor;
  enum allocation_status status;
  double cost;
};

struct route_answer {
  const struct portfolio *portfolio;
  const struct route_pair *pairs; // [demand_count][option_count]
  struct allocation_problem problem;
  struct allocation split;
  double horizon;                   // h
  double exact_cost, exact_capex;   // of the split, by the cost model at its nodes
  const double *discounted;         // [option_count] USD, of the split; NULL: no discounting
  const struct route_price *prices; // for every constraint
  size_t price_count;
  const struct route_source *sources; // [vendor_count]
  double free_cost;                   // without minimum shares; NAN if there is no solution
};

// The complete answer; its split.status is ALLOCATION_INFEASIBLE if nothing can serve everything,
// and the prices then show which constraint is in the way. NULL after errors: those of the
// portfolio, a build without GLPK, options with different horizons, a demand of their own or a
// ramp, a workload that cannot be read.
const struct route_answer *route_ask(const struct scenario *scenario, struct arena *arena,
                                     struct diagnostics *diagnostics);

// The USD per token that an option's nodes cost for a workload, without fixed cost; NAN without a
// throughput.
double route_unit_cost(const struct route_answer *answer, size_t demand, size_t option);

static inline const struct route_pair *route_pair_of(const struct route_answer *answer,
                                                     size_t demand, size_t option) {
  return &answer->pairs[demand * answer->portfolio->scenario->option_count + option];
}

#endif
