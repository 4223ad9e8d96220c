// audit: can a vendor's claims all be true at once, and for which values of the unstated inputs?
//
// Every claim is a function of the free quantities, evaluated on the scenario's own cost model,
// with the claimed values as bounds. A global look at Sobol points and refinement from the best of
// them (model/optimise/search.h) find the point where the worst broken claim is broken least. That
// breach is the margin: at or below AUDIT_TOLERANCE the claims hold together. A negative answer is
// only as good as the search, and so is never reported without the margin.
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
  double low, high; // base units; NAN if nothing was found
};

struct audit_claim {
  const struct claim *claim;
  double stands;              // for the scenario as written, with the claim's conditions
  double best;                // at a point of the smallest breach, of which there may be many
  struct audit_span reach;    // regardless of the other claims
  struct audit_span together; // while all claims hold; NAN if they cannot
  // A smallest set of claims, including this one, that cannot hold together: without any one of
  // them, the rest can. Empty if there is none with this claim.
  bool conflict[MAX_CLAIMS]; // [claims.count]
  int conflict_size;
  bool beside_all;     // all others can hold together: else `nearest` refers to its conflict
  double nearest;      // to the claimed value, while the others hold within their tolerances
  double nearest_said; // the same while they hold exactly as stated
};

// The values of an input for which all claims would hold exactly as stated; `span`: within their
// tolerances. A condition of the claim is freed for that claim only, any other input for all.
struct audit_need {
  const struct claim *claim;
  struct target target;
  const char *name;
  double stated; // base units
  // The spans' ends. NAN: no value that is allowed, or in `looked`, is enough; infinite: all values
  // beyond are.
  struct audit_span exact, span;
  struct audit_span looked; // the search range
};

// A free quantity.
struct audit_free {
  const struct free_quantity *quantity;
  const struct unit *unit;
  double best;
  struct audit_span holds; // where all claims hold
};

// The consequences if one claim alone holds, exactly as stated.
struct audit_alone {
  const struct claim *claim; // the one that holds
  const struct claim *shown;
  struct audit_span span;
};

struct audit {
  const struct claims *claims;
  bool holds;
  double margin;            // in hundredths of a claim's scale (points): above 0, how far each
                            // claim of the conflict must give way; below, the room left
  struct audit_claim *list; // [count] of claims with `says`
  int count;
  struct audit_claim *shown; // [shown_count] of those with `shows`
  int shown_count;
  struct audit_free *frees; // [free_count] left free by the selected case and --set
  int free_count;
  struct audit_need *needs; // if the claims do not hold
  int need_count;
  struct audit_alone *alone; // likewise
  int alone_count;
  // The options of which a claim counts money or a replacement for a missed guarantee, at a point
  // that the answer shows: the example, or that of a nearest value.
  bool *owes;                      // [option_count]
  const struct audit_claim *worst; // of the claims in a conflict, the first with the smallest
};

// Answers the audit. NULL after errors, such as at a free quantity that changes no option.
const struct audit *audit_ask(const struct scenario *scenario, struct arena *arena,
                              struct diagnostics *diagnostics);

#endif
