// constants: the numbers of a workbook that nobody types: conversions between units, the literals
// of formulas, the tolerance of the checks. Formulas contain no constants other than 0, 1 and 100;
// all others are named cells on Inputs.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_CONSTANTS_H
#define PERTOKEN_REPORTS_SPREADSHEET_CONSTANTS_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/names.h"

#include <stddef.h>

struct constant {
  struct name *name;
  const char *label;
  double value; // as its cell shows it, in `unit`
  const struct unit *unit;
};

struct constants {
  struct arena *arena;
  struct names *names;
  struct constant *list;
  size_t count, capacity;
};

// Reserves the names of all conversions, the rounding and the tolerance.
void constants_begin(struct constants *constants, struct names *names, struct arena *arena);

struct name *constants_rounding(const struct constants *constants);
struct name *constants_tolerance(const struct constants *constants);

double constants_tolerance_value(const struct constants *constants);

// The cell of a literal, `value` in base units; equal values in the same unit share a cell. `item`
// is the line item whose formula contains it, `typed` the literal as text.
struct name *constants_literal(struct constants *constants, const char *item, const char *label,
                               const char *typed, double value, const struct unit *unit);

// "*pt_million/pt_hours_per_year": converts a number between two units whose conversions differ by
// `excess`.
const char *conversion_factors(struct conversion excess, const struct constants *constants,
                               struct arena *arena);

// Marks the constants in that text as used.
void conversion_use(struct conversion excess, const struct constants *constants);

// The number in a cell for a value in base units: 15 digits are few enough to hide the last bits
// that a conversion leaves.
double cell_number(double value, const struct unit *unit);

#endif
