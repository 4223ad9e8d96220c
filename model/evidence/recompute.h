// recompute: numeric claims checked against the catalogues, by a rule in each row of their table.
//
// A rule is a formula (model/cost/formula.h: numbers, + - * / ^, min, max, round and ceil) over
// references (model/evidence/reference.h), and how its value must stand to what is claimed:
//
//   relation    holds when the formula's value is
//   equal       the claim's, within the tolerance, which is a share of the claim
//   at_least    no less than claimed
//   at_most     no more than claimed
//   within      between the two numbers of the claim, "1.5-2"
//   not_before  no later than the claim's day, or that of its text: one launch
//   same_text   the claim's text: one cell of accelerators
//
// A claim that can be read in several ways has a formula for each, and as many texts in `how`, with
// " | " between: it depends on the reading where they do not agree.
//
// Nothing is ever the rule's own result: figures come from the catalogue or from the claims.
#ifndef PERTOKEN_MODEL_EVIDENCE_RECOMPUTE_H
#define PERTOKEN_MODEL_EVIDENCE_RECOMPUTE_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/evidence/catalog.h"

#include <stdbool.h>

enum recompute_verdict { RECOMPUTE_HOLDS, RECOMPUTE_FAILS, RECOMPUTE_DEPENDS, RECOMPUTE_CANNOT };

struct recomputed {
  const char *id, *claim, *claimed, *unit, *source; // cells of the table
  const char *table_verdict;
  enum recompute_verdict verdict;
  double value;     // in the claim's unit; NAN where there is none
  const char *text; // of a date, a word, or several readings' numbers; NULL: a number
  const char *why;  // how it was recomputed, or why not
  bool disagrees;   // with the table's verdict
};

// Checks every row of a table of claims: columns id, claim, value, unit, verdict, source_title,
// as_of, and relation, formula, tolerance and how, of which all may be blank. A row without a
// relation cannot be recomputed; `how` says why. Returns [claims->rows] in the arena; NULL after
// errors: a column that is not there, and in rules, at their place in the table, an unknown
// relation, a formula that cannot be read or is missing, a tolerance that is no number.
const struct recomputed *recompute_claims(const struct table *claims, struct catalog *catalog,
                                          struct arena *arena, struct diagnostics *diagnostics);

#endif
