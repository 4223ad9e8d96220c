// clause: one clause of an acceptance, a guaranteed value against what was measured of the fleet's
// mean or of its single nodes. docs/acceptance.md has the formulas and their sources.
#ifndef PERTOKEN_MODEL_DELIVERY_CLAUSE_H
#define PERTOKEN_MODEL_DELIVERY_CLAUSE_H

#include "model/delivery/node_sample.h"
#include "model/delivery/offer.h"

#include <stdbool.h>
#include <stddef.h>

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_OPEN };

extern const char *const verdict_names[]; // "pass", "fail", "not enough data"

enum clause_kind {
  CLAUSE_DELIVERED, // accelerators, of the kind offered
  CLAUSE_MEAN,      // the fleet's
  CLAUSE_NODES,     // single nodes
};

// The quantity that is judged: at least this many tokens/s, at most this many watts or seconds.
enum guaranteed {
  GUARANTEED_TOKENS,
  GUARANTEED_WATTS,
  GUARANTEED_TTFT,
  GUARANTEED_TPOT,
  GUARANTEED_MEASURES
};

enum { ACCEPTANCE_MOST_RUNS = 100 };

// The rule of acceptance: an offer's [acceptance] with its gaps filled in.
struct acceptance_rule {
  double confidence, tolerance;
  double node_tolerance; // NAN: single nodes are not judged
  size_t nodes, per_node;
  size_t may_fail;
};

// A measured node compared with a guarantee.
struct accepted_node {
  const struct offer_guarantee *guarantee;
  enum guaranteed what;
  size_t node;         // of fleet.nodes
  size_t workload;     // of fleet.workloads
  double value, share; // value as in a clause; share over the guaranteed one, less one
  size_t runs;
  enum verdict verdict;
};

struct acceptance_clause {
  enum clause_kind kind;
  const struct offer_guarantee *guarantee; // NULL for CLAUSE_DELIVERED
  enum guaranteed what;
  long workload; // of fleet.workloads; -1: none was measured for it
  enum verdict verdict;
  // Tokens/s and watts per accelerator, or seconds; for CLAUSE_DELIVERED accelerators; for
  // CLAUSE_NODES quoted and limit are a node's, and found is the number of nodes that fail.
  double quoted, limit, found;
  double low, high; // bounds of the mean, or tolerance limits of single nodes; NAN
  struct node_sample sample;
  size_t open_nodes; // CLAUSE_NODES: those that neither fail nor pass
  // This many more nodes, or runs of each measured node, would have decided; 0: they would not.
  size_t more_nodes, more_runs;
  const char *why; // for an open or failed clause, in words; ""
};

// Whether less is better.
bool clause_is_ceiling(enum guaranteed what);

// How far a node must be from its limit, after that many runs, to fail or pass.
double clause_node_margin(const struct acceptance_rule *rule, const struct node_sample *sample,
                          size_t runs);

// Judges a clause whose limit and sample are there: its verdict, what was found, and what would
// have decided it.
void clause_judge_mean(const struct acceptance_rule *rule, struct acceptance_clause *clause);

// The same for single nodes; fills nodes[sample.count].
void clause_judge_nodes(const struct acceptance_rule *rule, struct acceptance_clause *clause,
                        struct accepted_node *nodes);

#endif
