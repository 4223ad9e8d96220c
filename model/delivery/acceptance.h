// acceptance: is the delivery what an offer guarantees? Each clause passes, fails, or is open: not
// enough was measured. docs/acceptance.md has the formulas and their sources.
#ifndef PERTOKEN_MODEL_DELIVERY_ACCEPTANCE_H
#define PERTOKEN_MODEL_DELIVERY_ACCEPTANCE_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/delivery/fleet.h"
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

// What is judged: at least this many tokens/s, at most this many watts or seconds.
enum guaranteed {
  GUARANTEED_TOKENS,
  GUARANTEED_WATTS,
  GUARANTEED_TTFT,
  GUARANTEED_TPOT,
  GUARANTEED_MEASURES
};

#define ACCEPTANCE_CONFIDENCE 0.95 // if the offer states none
#define ACCEPTANCE_MAY_FAIL   0.05 // of the nodes, if the offer states none
enum { ACCEPTANCE_MOST_RUNS = 100 };

// [acceptance] of an offer with its gaps filled in.
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
  // What would have decided: this many more nodes, or runs of each measured node; 0: this would
  // not.
  size_t more_nodes, more_runs;
  const char *why; // for an open or failed clause, in words; ""
};

struct acceptance {
  const struct offer *offer;
  const struct fleet *fleet;
  struct acceptance_rule rule;
  struct acceptance_clause *clauses;
  size_t clause_count;
  enum verdict verdict;        // fails if a clause does, else open if one is
  struct accepted_node *nodes; // by guarantee, then name
  size_t node_count;
  const char *first_day, *last_day; // of the runs judged: "2026-11-21"; "" without runs
  struct texts warnings;
};

struct acceptance_request {
  const struct offer *offer;
  const struct fleet *fleet;
  const struct table *accelerators; // of the catalogue
  const char *guarantee;            // the only one to judge; NULL: all
};

// Fills the gaps of [acceptance]; if the offer does not state nodes, from the measured ones (fleet
// may be NULL).
struct acceptance_rule acceptance_rule_of(const struct offer *offer, const struct fleet *fleet);

// Whether a guarantee has a clause of that kind and measure.
bool acceptance_has_clause(const struct offer_guarantee *guarantee,
                           const struct acceptance_rule *rule, enum clause_kind kind,
                           enum guaranteed what);

// Whether a clause is about a latency.
bool acceptance_judges_times(const struct acceptance *acceptance);

// Whether less is better.
bool acceptance_is_ceiling(enum guaranteed what);

// The nodes by the value of a clause: tokens/s or watts per accelerator, or its share of the wall's
// watts if the offer counts by nodes, which is known if all of a node's accelerators ran at once;
// or seconds of its servers.
struct node_sample acceptance_sample_of(const struct acceptance_request *request,
                                        const struct acceptance_rule *rule, size_t workload,
                                        const struct offer_guarantee *guarantee,
                                        enum guaranteed what, struct arena *arena);

// By how much a node must differ from its limit, after that many runs, to fail or pass.
double acceptance_node_margin(const struct acceptance_rule *rule, const struct node_sample *sample,
                              size_t runs);

// Reports an offer without guarantees, or without the requested one. Returns 0 or -1.
int acceptance_check(const struct acceptance_request *request, struct arena *arena,
                     struct diagnostics *diagnostics);

// Errors: what acceptance_check refuses; a may_fail of all nodes; a node with more accelerators
// than the offer's nodes have; a device in two nodes; results from two builds of the probe's
// kernels, or from two inference engines. NULL after errors.
const struct acceptance *acceptance_of(const struct acceptance_request *request,
                                       struct arena *arena, struct diagnostics *diagnostics);

#endif
