// lone_item: one line item of the cost model by itself: its formula, applied to given values.
#ifndef PERTOKEN_MODEL_COST_LONE_ITEM_H
#define PERTOKEN_MODEL_COST_LONE_ITEM_H

#include "base/arena.h"

#include <stddef.h>

struct lone_item;

// The value of an input or item, in base units.
struct lone_value {
  const char *name;
  double value;
};

// Prepares to compute the item by its first formula in the built-in text, which must have the item.
const struct lone_item *lone_item_new(const char *name, struct arena *arena);

// The named declarations have these values [count]; any other is computed by its own first formula,
// or is NAN if it has none.
double lone_item_value(const struct lone_item *item, const struct lone_value *values, size_t count);

#endif
