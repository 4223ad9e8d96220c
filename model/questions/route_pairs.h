// route_pairs: every option resolved for every workload of a portfolio: what it serves and costs
// there, or what excludes it. route.h explains the figures.
#ifndef PERTOKEN_MODEL_QUESTIONS_ROUTE_PAIRS_H
#define PERTOKEN_MODEL_QUESTIONS_ROUTE_PAIRS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/evaluate.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// Why an option cannot serve a workload, as bits. The second and third are about evidence: their
// `why` says what is missing.
enum route_barrier {
  ROUTE_NOT_READY = 1,
  ROUTE_NO_THROUGHPUT = 2,
  ROUTE_TOO_SLOW = 4, // for the interactivity
  ROUTE_TOO_LARGE = 8 // for the memory
};

struct route_pair {
  unsigned barriers;
  const char *why;             // the first barrier in words, or NULL
  const struct option *option; // resolved for the workload; NULL without a throughput
  int nodes;                   // of one replica, as fit counts them; 0: unknown
  int span;                    // servers of one replica; 0: unknown
  bool costs_by_node;          // an additional accelerator costs more than its part of a node
  const char *doubt;           // why the rate is doubtful at that span, or NULL
  const char *excess;          // why its cost is too high where its nodes are not all busy, or NULL
  double throughput;           // token/h per accelerator, before readiness
  double capacity;             // token/h per node, without readiness; 0 without a throughput
  double node_cost, node_capex, fixed_cost, fixed_capex; // USD, for this workload alone
  double node_npv, fixed_npv;                            // USD, its discounted cost
  double spares;                             // per node, a fraction, which its cost includes
  double spare_cost, spare_capex, spare_npv; // USD of one spare more
};

// The portfolio to resolve, and where the results go: [demand_count][option_count].
struct pairing {
  const struct portfolio *portfolio;
  const struct scenario *scenario;
  struct route_pair *pairs, *loose; // loose: without a required interactivity
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// Fills pairs and loose, which must be zeroed. Errors: a workload that cannot be read, throughputs
// that count different tokens, amounts too large or too small for a program. Returns 0 or -1.
int route_pairs_find(const struct pairing *pairing);

// Nodes of an option that are bought together: those of a purchase unit, or a fraction of one if
// cards are sold singly.
double route_lot(const struct pairing *pairing, size_t option);

// An option evaluated at this number of nodes, with its spares.
struct evaluation *route_evaluate_nodes(const struct scenario *scenario,
                                        const struct option *option, double nodes,
                                        struct arena *arena);

#endif
