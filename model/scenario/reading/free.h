// free: [free] of a scenario: inputs whose value is not known, each with the range in which it may
// lie.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_FREE_H
#define PERTOKEN_MODEL_SCENARIO_READING_FREE_H

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/resolving.h"

#include <stdbool.h>

// A key of [free]: an audit searches its range. If nothing else gives the input a value, the
// midpoint of the range is used.
struct free_quantity {
  const char *key; // "mi325x.throughput", "electricity_price"
  struct place place;
  int declaration, option; // option: -1 for the common value
  double low, high;        // base units; low < high
};

// Fills scenario->frees. Errors are at the key or its value: an unknown option or input, an input
// that is a choice or a whole number, bounds that bounds_parse refuses or that exceed the input's
// limits.
void frees_read(struct reading *reading);

// Uses the midpoint of a range if the option was given no value for the input in a case. figures:
// [model->count].
void frees_fill(const struct resolving *resolving, const struct figure **figures);

// "2000 .. 8000 token/s": two quantities like `unit`; the low one may omit its unit. Returns false
// after an error: a missing end, another dimension, low not below high.
bool bounds_parse(const char *text, struct place place, const struct unit *unit, double *low,
                  double *high, struct diagnostics *diagnostics);

#endif
