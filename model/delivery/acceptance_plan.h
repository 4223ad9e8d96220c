// acceptance_plan: before anything is measured: how many nodes, and how many runs of each,
// distinguish a delivery as guaranteed from one that falls short? docs/acceptance.md has the
// formulas.
#ifndef PERTOKEN_MODEL_DELIVERY_ACCEPTANCE_PLAN_H
#define PERTOKEN_MODEL_DELIVERY_ACCEPTANCE_PLAN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/delivery/acceptance.h"
#include "model/delivery/clause.h"
#include "model/delivery/offer.h"

#include <stdbool.h>
#include <stddef.h>

#define PLAN_POWER           0.90
#define PLAN_LEAST_SHORTFALL 0.01
enum { PLAN_MOST_RUNS = 10 };

// The minimum number of requests that a plan assumes for a run.
#define PLAN_LEAST_REQUESTS 64

// Standard deviations, as shares of the guaranteed value.
struct clause_spread {
  double between; // a: of nodes
  double runs;    // e: of runs of a node
  size_t nodes;   // in which they were observed; 0: assumed
};

// The chances of a verdict on one clause with that many nodes and runs.
struct plan_chances {
  double passes;     // a delivery as guaranteed
  double fails;      // one that falls short
  double false_fail; // a delivery as guaranteed fails
  double false_pass; // one that falls short passes
};

// The errors with which a mean, or one node, is judged: the root of its true variance and of the
// estimated one, as shares of the guaranteed value, and t at the estimate's degrees of freedom.
struct plan_errors {
  double deviation, estimate, freedom, quantile;
};

struct plan_clause {
  enum clause_kind kind;
  const struct offer_guarantee *guarantee;
  enum guaranteed what;
  struct clause_spread spread;
  // The chances and errors of the chosen plan, or of the largest one. Chances of CLAUSE_NODES are
  // NAN where undefined.
  struct plan_chances chances;
  struct plan_errors errors;
  double stands, fails; // CLAUSE_NODES: the chance that one node as guaranteed passes, fails
  double found;         // CLAUSE_NODES: the shortfall of one node detected at the required power
};

// A number of nodes and runs, and the worst of its clauses' chances.
struct plan_choice {
  size_t nodes, runs;
  double passes, fails, false_fail, false_pass;
  bool decides;
};

struct acceptance_plan {
  const struct offer *offer;
  struct acceptance_rule rule;
  double shortfall, power;
  struct plan_clause *clauses;
  size_t clause_count;
  struct plan_choice
      *choices; // all nodes with 1, 2, ... runs, and of each the fewest nodes that decide
  size_t choice_count;
  const struct plan_choice *chosen; // the least work; NULL: none decides
  const struct plan_choice *shown;  // for which the clauses hold: the chosen one, else the largest
};

struct plan_request {
  struct acceptance_request of; // fleet: earlier records, or NULL
  double shortfall;             // NAN: twice the tolerance, PLAN_LEAST_SHORTFALL at least
  double power;
};

// Errors: no nodes, neither in the offer nor in records; a shortfall within the tolerance; what
// acceptance_of refuses in the request. NULL after errors.
const struct acceptance_plan *acceptance_plan_of(const struct plan_request *request,
                                                 struct arena *arena,
                                                 struct diagnostics *diagnostics);

#endif
