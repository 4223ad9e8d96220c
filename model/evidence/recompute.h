// recompute: numeric claims checked against the catalogues, one rule per claim.
//
// A rule is a formula (model/cost/formula.h) in which references stand between brackets:
//   [ACCELERATOR.COLUMN]   a cell of accelerators; [ACCELERATOR.launch] in years
//   [row ID.COLUMN]        a cell of throughput
//   [best ACCELERATOR MODEL SCENARIO PRECISION ROUND]   the most MLPerf output tokens per second
//   and
//                          accelerator among rows without doubt; `lowest` the least, `total` the
//                          most of a whole system
//   [partners ROUND]       how many others than AMD submitted on AMD's accelerators
//   [rent ACCELERATOR PROVIDER]   the lowest price on demand per accelerator-hour
//   [purchase ACCELERATOR] the median purchase price, claims left out
//   [model ID]             a model's parameters as published, in billions
//   [claim N]              what another claim of the table says; [claim N as_of] its day in years
// Nothing is ever the rule's own result: figures come from the catalogue or from the claims.
#ifndef PERTOKEN_MODEL_EVIDENCE_RECOMPUTE_H
#define PERTOKEN_MODEL_EVIDENCE_RECOMPUTE_H

#include "model/evidence/catalog.h"

enum recompute_relation {
  RECOMPUTE_NOT,        // no catalogue has it: `why`
  RECOMPUTE_EQUAL,      // within the rule's tolerance, relative
  RECOMPUTE_AT_LEAST,   // the recomputed value is no less than claimed
  RECOMPUTE_AT_MOST,    // ... no more
  RECOMPUTE_WITHIN,     // between the two numbers of the claim, "1.5-2"
  RECOMPUTE_NOT_BELOW,  // what is claimed is no less than the recomputed value
  RECOMPUTE_NOT_BEFORE, // the day of the claim, or of its text, is not before that of the formula
  RECOMPUTE_SAME_TEXT   // the cell that the formula names says the same
};

struct recompute_rule {
  const char *claim; // its id
  enum recompute_relation relation;
  double tolerance;
  const char *formula;
  const char *why; // what the formula says of the claim, or why there is none
};

extern const struct recompute_rule recompute_rules[];
extern const size_t recompute_rule_count;

enum recompute_verdict { RECOMPUTE_HOLDS, RECOMPUTE_FAILS, RECOMPUTE_CANNOT };

struct recomputed {
  const char *id, *claim, *claimed, *unit, *source; // cells of the table
  const char *table_verdict;
  enum recompute_verdict verdict;
  double value;     // NAN where there is none
  const char *text; // of a date or a word; NULL: a number
  const char *why;  // how it was recomputed, or why not
  bool disagrees;   // with the table's verdict
};

// Checks every row of a table of claims: columns id, claim, value, unit, verdict, source_title and
// as_of. Rows without a rule cannot be recomputed. NULL after errors.
const struct recomputed *recompute_claims(const struct table *claims, struct catalog *catalog,
                                          struct arena *arena, struct diagnostics *diagnostics);

#endif
