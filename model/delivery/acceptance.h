// acceptance: is the delivery what an offer guarantees? Each clause passes, fails, or is open: not
// enough was measured. docs/acceptance.md has the formulas and their sources.
#ifndef PERTOKEN_MODEL_DELIVERY_ACCEPTANCE_H
#define PERTOKEN_MODEL_DELIVERY_ACCEPTANCE_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/delivery/clause.h"
#include "model/delivery/fleet.h"
#include "model/delivery/node_sample.h"
#include "model/delivery/offer.h"

#include <stdbool.h>
#include <stddef.h>

#define ACCEPTANCE_CONFIDENCE 0.95 // if the offer states none
#define ACCEPTANCE_MAY_FAIL   0.05 // of the nodes, if the offer states none

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

// The nodes by the value of a clause: tokens/s or watts per accelerator, or its share of the wall's
// watts if the offer counts by nodes, which is known if all of a node's accelerators ran at once;
// or seconds of its servers.
struct node_sample acceptance_sample_of(const struct acceptance_request *request,
                                        const struct acceptance_rule *rule, size_t workload,
                                        const struct offer_guarantee *guarantee,
                                        enum guaranteed what, struct arena *arena);

// Reports an offer without guarantees, or without the requested one. Returns 0 or -1.
int acceptance_check(const struct acceptance_request *request, struct arena *arena,
                     struct diagnostics *diagnostics);

// Errors: what acceptance_check refuses; a may_fail of all nodes; a node with more accelerators
// than the offer's nodes have; a device in two nodes; results from two builds of the probe's
// kernels, from two inference engines, or by two benchmark clients. NULL after errors.
const struct acceptance *acceptance_of(const struct acceptance_request *request,
                                       struct arena *arena, struct diagnostics *diagnostics);

#endif
