// claim: what a vendor says of a scenario's options, as sections [claim NAME] of its file.
//
//   says   = QUANTITY = VALUE +- TOLERANCE    or = LOW .. HIGH, or >= VALUE, or <= VALUE
//   shows  = QUANTITY                         nothing is claimed of it: what follows from the rest
//   with.INPUT, with.OPTION.INPUT = VALUE     a condition, which holds for this claim alone;
//                                 = times 1.2 as many times what it is otherwise
//   needs  = INPUT, OPTION.INPUT              what should give way when the claim does not hold
//   source = TEXT                             who says so
//
// QUANTITY is `saving of A over B`, 1 - A / B of two options' cost per token, with `in ITEM` at the
// end of another line item; or OPTION.ITEM, or several of them with * and / between. As items count
// OPTION.concurrency and OPTION.node_concurrency: requests at once on one accelerator and on a
// node. A ± may stand for +-. A tolerance of a percentage is in points; of anything else in its
// unit, or in % of the value. A quantity without tolerance is not guessed: `+- 0 %` says exactly.
#ifndef PERTOKEN_MODEL_QUESTIONS_CLAIM_H
#define PERTOKEN_MODEL_QUESTIONS_CLAIM_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <stddef.h>

// Of a claim and of what is free, in base units: the search compares numbers, and what is larger, or
// nearer to nothing, it takes for infinite, or for nothing.
#define LARGEST_CLAIM 1e30

enum { MAX_CLAIM_TERMS = 8, MAX_CLAIM_CONDITIONS = 16, MAX_CLAIM_NEEDS = 8, MAX_CLAIMS = 24 };

enum claim_relation { CLAIM_EQUALS, CLAIM_WITHIN, CLAIM_AT_LEAST, CLAIM_AT_MOST, CLAIM_SHOWS };

struct claim_term {
  size_t option;
  int declaration; // a scalar line item or an input; -1: `constant`
  bool below;      // the line of the fraction
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
  bool times;   // `value` times what the input is otherwise
  double value; // base units
};

struct claim {
  const char *name;
  const char *text;   // what it says or shows, as written
  const char *source; // "" if none
  struct place place;
  struct claim_quantity quantity;
  enum claim_relation relation;
  double value;     // base units: what is claimed; of LOW .. HIGH the middle
  double low, high; // base units: what fulfils it; infinite where open
  double scale;     // base units: 1 for a saving, else |value|: a miss is told in hundredths of it
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

// NULL after errors, all of the file's in one run: a claim that cannot be read, of an unknown
// option or item, of a series; a condition outside what its input may be or outside its free range,
// two that contradict each other.
const struct claims *claims_read(const struct scenario *scenario, struct arena *arena,
                                 struct diagnostics *diagnostics);

// Whether a number is within the search's reach: zero, or of 1 / LARGEST_CLAIM to LARGEST_CLAIM.
bool claim_can_count(double value);

// The free range of an option's input, in the selected case and not fixed by it or by --set; -1.
int claim_free(const struct scenario *scenario, size_t option, int declaration);

#endif
