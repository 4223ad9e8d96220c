// allocation_problem: what is to be allocated, and a split of it. allocation.h says what each
// figure means in the program.
#ifndef PERTOKEN_MODEL_OPTIMISE_ALLOCATION_PROBLEM_H
#define PERTOKEN_MODEL_OPTIMISE_ALLOCATION_PROBLEM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define ALLOCATION_TOLERANCE 1e-6 // of a row
#define ALLOCATION_ROUNDING  1e-9 // of a sum

enum allocation_share { SHARE_TOKENS, SHARE_ACCELERATORS, SHARE_COST, SHARE_KINDS };

struct allocation_workload {
  double demand; // token/h, above 0
  bool whole;    // on one option only
};

struct allocation_option {
  double fixed_cost, fixed_capex; // USD, if it is taken
  double node_cost, node_capex;   // USD per node
  double spares;                  // per node, a fraction
  double spare_cost, spare_capex; // USD each
  double accelerators;            // per node
  double lot;                     // nodes, above 0
  double stock;                   // nodes, spares included; INFINITY: no limit
  int vendor;
};

struct allocation_pair {
  double capacity;                // token/h of one node; 0: excluded
  double extra_cost, extra_capex; // USD per node that serves the workload around the clock
  int span;                       // nodes of a replica; up to 1: it shares the node
};

struct allocation_problem {
  const struct allocation_workload *workloads;
  size_t workload_count;
  const struct allocation_option *options;
  size_t option_count;
  const struct allocation_pair *pairs; // [workload_count][option_count]
  const double *minimum_shares;        // [vendor_count] of the total; 0: none
  int vendor_count;
  enum allocation_share share_of;
  double budget, capex_budget; // USD; INFINITY: none
  bool divisible;              // fractions of lots, replicas and spares are possible
};

enum allocation_status {
  ALLOCATION_OPTIMAL,
  ALLOCATION_INFEASIBLE,
  ALLOCATION_UNPROVEN, // time limit reached: the best split so far
  ALLOCATION_FAILED    // no answer: time limit reached before any split was found, or no GLPK
};

struct allocation {
  enum allocation_status status;
  double cost, capex; // USD
  double *nodes;      // [option_count]
  double *shares;     // [workload_count][option_count]
};

// An allocation of nothing to any option, with the status "failed".
struct allocation allocation_new(const struct allocation_problem *problem, struct arena *arena);

// Whether it says what runs on what.
bool allocation_is_split(const struct allocation *allocation);

const struct allocation_pair *allocation_pair_of(const struct allocation_problem *problem, size_t w,
                                                 size_t o);

// Nodes that would serve the whole workload.
double allocation_nodes_of_all(const struct allocation_problem *problem, size_t w, size_t o);

// The first workload whose replicas on o span as many nodes as w's: these workloads share replicas.
size_t allocation_first_of_span(const struct allocation_problem *problem, size_t w, size_t o);

#endif
