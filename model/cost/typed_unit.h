// typed_unit: units as people type them, "$ per GPU-hour", in the words of units.h.
#ifndef PERTOKEN_MODEL_COST_TYPED_UNIT_H
#define PERTOKEN_MODEL_COST_TYPED_UNIT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// "USD/gpu/h" for "$ per GPU-hour", "USD/Mtok" for "USD/1M tokens"; the text itself if nothing in
// it has another name. Words that mean nothing stay as they are, for unit_parse to name.
const char *unit_as_typed(const char *text, struct arena *arena);

// The multiple that follows a number, as in "250k", "1.5 M USD", "30 kEUR" and "2 billion tokens":
// its length with the spaces before it, and *value times it; 0 if there is none. A B that ends the
// text is the unit byte, but after a currency ("$2B") a billion.
size_t typed_unit_multiple(const char *text, bool after_currency, double *value);

// The currency that a text begins with, "$" or "EUR", by its code, and its length; NULL for none.
const char *typed_unit_currency(const char *text, size_t *length);

#endif
