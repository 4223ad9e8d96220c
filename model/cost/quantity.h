// quantity: numbers with units as people type them, "0.08 USD/kWh", and as files state them.
#ifndef PERTOKEN_MODEL_COST_QUANTITY_H
#define PERTOKEN_MODEL_COST_QUANTITY_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/units.h"

#include <stddef.h>

// Parses "0.08 USD/kWh" where a quantity like `expected` is required; *value is in base units.
// "250k" and "1.5M" are thousands and millions, "$" is USD, "percent" is %. A bare number is
// complete only if `expected` is a count or a plain number. Refused: NaN, infinity, hexadecimal,
// thousands separators, a unit of another dimension, and one per node where one per gpu is
// required. Returns 0 or -1.
int quantity_parse(const char *text, struct place place, const struct unit *expected, double *value,
                   struct diagnostics *diagnostics);

// The same, with the unit that was typed: "-" for a bare number.
int quantity_parse_typed(const char *text, struct place place, const struct unit *expected,
                         double *value, struct unit *typed, struct diagnostics *diagnostics);

// Parses the quantities of "10:30:5 %" or "2 .. 8 MW", which `between` separates, each as above; a
// number without a unit has the last one's. Returns 0; -1 after an error; or 1, without a message,
// if they are not `count`.
int quantity_parse_series(const char *text, const char *between, struct place place,
                          const struct unit *expected, double *values, size_t count,
                          struct diagnostics *diagnostics);

// "0.08 USD/kWh": a value in base units, written in a unit, with the fewest digits that read back
// to the same double.
const char *quantity_text(double value, const struct unit *unit, struct arena *arena);

// The same with at most that many significant digits: of a value that nobody typed.
const char *quantity_rounded(double value, const struct unit *unit, int digits,
                             struct arena *arena);

// "30000USD/gpu" for "30000 USD per GPU": the units' own names, without spaces. For what a text
// names: counts are no part of a dimension.
const char *quantity_spelled_out(const char *text, struct arena *arena);

// A decimal number at the start of `text`: digits, point, exponent; no sign, no hexadecimal.
// Returns its length, or 0.
size_t number_prefix(const char *text, double *value);

#endif
