// audit: can a vendor's claims be true together, and for which values of what nobody stated?
//
// Every claim is a function of the free quantities, evaluated on the scenario's own cost model, and
// bounded by what is claimed of it. A global look at Sobol points and refinement from the best of
// them (model/optimise/search.h) find the point where the worst broken claim is broken least. That
// breach is the margin: at or below AUDIT_TOLERANCE the claims hold together. "They do not" is what
// the search found, as good as its look, and so it is never said without the margin.
#ifndef PERTOKEN_MODEL_QUESTIONS_AUDIT_H
#define PERTOKEN_MODEL_QUESTIONS_AUDIT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/units.h"
#include "model/optimise/search.h"
#include "model/questions/claim.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#define AUDIT_TOLERANCE SEARCH_TOLERANCE // of a claim's scale: 1e-7 is 0.00001 points

struct audit_span {
  double low, high; // base units; NAN where nothing was found
};

struct audit_claim {
  const struct claim *claim;
  double stands;              // as the scenario stands, with the claim's conditions
  double best;                // at the point of the least breach
  struct audit_span reach;    // whatever the other claims say
  struct audit_span together; // while all claims hold; NAN when they cannot
  // A smallest set of claims, with this one in it, that cannot hold together: each of them can hold
  // beside the rest without it. Empty when it is in none.
  bool conflict[MAX_CLAIMS]; // [claims.count]
  int conflict_size;
  bool beside_all;     // all other claims can hold together: else `nearest` is beside its conflict
  double nearest;      // to what is claimed, while the others hold within their tolerances
  double nearest_said; // the same while they hold exactly as said
};

// What an input would have to be for all claims to hold exactly as said; `span` within their
// tolerances. A condition of the claim is freed for the claim alone, anything else for all.
struct audit_need {
  const struct claim *claim;
  struct target target;
  const char *name;
  double stated; // base units
  // NAN: no value within what the input may be, or `looked`, does it; infinite: all beyond do.
  struct audit_span exact, span;
  struct audit_span looked; // where
};

// A free quantity.
struct audit_free {
  const struct free_quantity *quantity;
  const struct unit *unit;
  double best;
  struct audit_span holds; // where all claims hold
};

// What follows if one claim holds alone, exactly as said.
struct audit_alone {
  const struct claim *claim; // that holds
  const struct claim *shown;
  struct audit_span span;
};

struct audit {
  const struct claims *claims;
  bool holds;
  double margin;            // in hundredths of a claim's scale (points): above 0, what each claim
                            // of the conflict must give way by; below, what room there is
  struct audit_claim *list; // [count] of claims with `says`
  int count;
  struct audit_claim *shown; // [shown_count] of those with `shows`
  int shown_count;
  struct audit_free *frees; // [free_count] that the selected case and --set leave free
  int free_count;
  struct audit_need *needs; // when they do not hold
  int need_count;
  struct audit_alone *alone; // the same
  int alone_count;
  const struct audit_claim *worst; // of those in a conflict, the first of the smallest
};

// NULL after errors.
const struct audit *audit_ask(const struct scenario *scenario, struct arena *arena,
                              struct diagnostics *diagnostics);

#endif
