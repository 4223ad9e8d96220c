// claim: a vendor's claims about a scenario's options, as sections [claim NAME] of its file.
//
//   says   = QUANTITY = VALUE +- TOLERANCE    or = LOW .. HIGH, or >= VALUE, or <= VALUE
//   shows  = QUANTITY                         not claimed: what follows from the rest
//   with.INPUT, with.OPTION.INPUT = VALUE     a condition, which applies only to this claim;
//                                 = times 1.2 multiplies the value that it has otherwise
//   needs  = INPUT, OPTION.INPUT              what should give way if the claim does not hold
//   source = TEXT                             who makes the claim
//
// QUANTITY is `saving of A over B`, 1 - A / B of two options' cost per token, or of another line
// item with `in ITEM` at the end; or OPTION.ITEM, or several of these joined by * and /.
// OPTION.concurrency and OPTION.node_concurrency also count as items: requests at once on one
// accelerator and on a node. ± may be used for +-. The tolerance of a percentage is in points; any
// other one is in the quantity's unit, or in % of the value. A missing tolerance is not guessed:
// `+- 0 %` means exactly.
#ifndef PERTOKEN_MODEL_QUESTIONS_CLAIM_H
#define PERTOKEN_MODEL_QUESTIONS_CLAIM_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <stddef.h>

// The largest amount of a claim and of free quantities, in base units: the search compares numbers,
// and treats larger ones as infinite, and ones nearer to zero as zero.
#define MAX_CLAIM 1e30

enum { MAX_CLAIM_TERMS = 8, MAX_CLAIM_CONDITIONS = 16, MAX_CLAIM_NEEDS = 8, MAX_CLAIMS = 24 };

enum claim_relation { CLAIM_EQUALS, CLAIM_WITHIN, CLAIM_AT_LEAST, CLAIM_AT_MOST, CLAIM_SHOWS };

struct claim_term {
  size_t option;
  int declaration; // a scalar line item or an input; -1: `constant`
  bool below;      // in the denominator
  double constant; // requests at once
};

struct claim_quantity {
  const char *text;
  bool saving; // 1 - the terms' product
  struct claim_term terms[MAX_CLAIM_TERMS];
  int term_count;
  const struct unit *unit; // to show it in
};

struct claim_condition {
  struct target target;
  const char *name; // "mi325x.engineers"
  const char *text; // "2 FTE", "times 1.2"
  struct place place;
  bool times;   // `value` times the input's value otherwise
  double value; // base units
};

struct claim {
  const char *name;
  const char *text;   // the text of `says` or `shows`
  const char *source; // "" if none
  struct place place;
  struct claim_quantity quantity;
  enum claim_relation relation;
  double value;     // base units: the claimed value; for LOW .. HIGH the middle
  double low, high; // base units: the fulfilling range; infinite if open
  double scale;     // base units: 1 for a saving, else |value|; a miss is in hundredths of it
  struct claim_condition conditions[MAX_CLAIM_CONDITIONS];
  int condition_count;
  struct target needs[MAX_CLAIM_NEEDS];
  int need_count;
};

struct claims {
  const struct scenario *scenario;
  struct claim list[MAX_CLAIMS]; // in the order of the file
  int count;
};

bool claims_there(const struct scenario *scenario);

// Reads the claims. NULL after errors, all of the file's in one run: a claim that cannot be parsed,
// about an unknown option or item, or about a series; a condition outside the input's limits or its
// free range, two that contradict each other.
const struct claims *claims_read(const struct scenario *scenario, struct arena *arena,
                                 struct diagnostics *diagnostics);

// Whether a number is within the search's range: zero, or from 1 / MAX_CLAIM to MAX_CLAIM.
bool claim_can_count(double value);

// The free range of an option's input, unless the selected case or --set fixes the input; else -1.
int claim_free(const struct scenario *scenario, size_t option, int declaration);

#endif
