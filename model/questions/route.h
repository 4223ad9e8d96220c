// route: which workload goes to which option, at the least total cost of a portfolio.
//
// The programme that is solved stands in model/optimise/allocation.h. Its numbers come from the
// cost model: every option is resolved for every workload with that workload's keys in place of
// [workload]'s, so that evidence, grades and guards apply to it, and then of every option
//   capacity   tokens_per_gpu * accelerators_per_node * readiness
//   node       the slope of tco over nodes, the least of all workloads; extra: what a workload's
//              own slope (its watts) lies above it
//   fixed      tco at no node, extrapolated: engineers, migration
// likewise of capex. Slope and fixed cost are taken from a line through 10,000 and 20,000 nodes,
// where nothing that is rounded up matters; `exact_cost` is the model's own at the nodes found.
// Nodes are shared: workloads divide the time of an option's nodes, and the whole number of purchase
// units is of all together. A replica over several nodes is whole, and shared by workloads whose
// replicas span as many. A pair is barred where the software does not run, the throughput is unknown or misses
// the interactivity, or the memory of a node's accelerators does not hold a request.
#ifndef PERTOKEN_MODEL_QUESTIONS_ROUTE_H
#define PERTOKEN_MODEL_QUESTIONS_ROUTE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/optimise/allocation.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// Why an option cannot serve a workload, as bits. The second and third are properties of evidence:
// their `why` says what is missing.
enum route_barrier {
  ROUTE_NOT_READY = 1,
  ROUTE_NO_THROUGHPUT = 2,
  ROUTE_TOO_SLOW = 4, // for the interactivity
  ROUTE_TOO_LARGE = 8 // for the memory
};

struct route_pair {
  unsigned barriers;
  const char *why;             // the first barrier in words, or NULL
  const struct option *option; // as resolved for the workload; NULL without a throughput
  int nodes;                   // of one replica, as fit counts them; 0: not known
  int span;                    // servers of one replica; 0: not known
  bool costs_by_node;          // an accelerator more costs more than its part of a node
  const char *doubt;           // what is wrong with the rate at that span, or NULL
  double throughput;           // token/h per accelerator, before readiness
  double capacity;             // token/h of a node, readiness left out; 0 without a throughput
  double node_cost, node_capex, fixed_cost, fixed_capex; // USD, of this workload alone
};

// A constraint that was left out, and what the least cost is then.
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
  const struct route_price *prices; // of every constraint there is
  size_t price_count;
  const struct route_source *sources; // [vendor_count]
  double free_cost;                   // without minimum shares; NAN where that has no answer
};

// The whole answer; its split.status is ALLOCATION_INFEASIBLE where nothing can serve everything,
// and then the prices say which constraint is in the way. NULL after errors: those of the
// portfolio, a build without GLPK, options of different horizons, a workload that cannot be read.
const struct route_answer *route_ask(const struct scenario *scenario, struct arena *arena,
                                     struct diagnostics *diagnostics);

// USD per token that an option's nodes cost on a workload, fixed cost left out; NAN without a
// throughput.
double route_unit_cost(const struct route_answer *answer, size_t demand, size_t option);

static inline const struct route_pair *route_pair_of(const struct route_answer *answer,
                                                     size_t demand, size_t option) {
  return &answer->pairs[demand * answer->portfolio->scenario->option_count + option];
}

#endif
