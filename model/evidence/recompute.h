// recompute: numeric claims checked against the catalogues, by a rule in each row of the table of
// claims.
//
// A rule is a formula (model/cost/formula.h: numbers, + - * / ^, min, max, round and ceil) over
// references (model/evidence/reference.h), and the relation that its value must have to what is
// claimed:
//
//   relation    holds if the formula's value is
//   equal       the claim's, within the tolerance, which is a share of the claim
//   at_least    no less than claimed
//   at_most     no more than claimed
//   within      between the two numbers of the claim, "1.5-2"
//   not_before  no later than the claim's day, or that of its text: one launch
//   same_text   the claim's text: one cell of accelerators
//
// A claim that can be read in several ways has a formula for each reading, and as many texts in
// `how`, separated by " | ": if they disagree, the verdict depends on the reading.
//
// A rule adds no figures of its own: they come from the catalogue or from the claims.
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
  double value;     // in the claim's unit; NAN if there is none
  const char *text; // for a date, a word, or the numbers of several readings; NULL: a number
  const char *why;  // how it was recomputed, or why not
  bool disagrees;   // the result contradicts the table's verdict
};

// Checks every row of a table of claims: columns id, claim, value, unit, verdict, source_title,
// as_of, and relation, formula, tolerance and how, of which the last four may be blank. A row
// without a relation cannot be recomputed; `how` says why. Returns [claims->rows] in the arena;
// NULL after errors: a missing column, and in rules, at their place in the table, an unknown
// relation, a formula that is missing or cannot be parsed, a tolerance that is not a number.
const struct recomputed *recompute_claims(const struct table *claims, struct catalog *catalog,
                                          struct arena *arena, struct diagnostics *diagnostics);

#endif
