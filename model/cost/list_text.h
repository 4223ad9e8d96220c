// list_text: the text of a list of values.
//
// "2, 1, 1 FTE": a comma and a blank separate values, so that "30,000 USD" is not a list but a
// mistake. A value without a unit takes the unit of the last value.
#ifndef PERTOKEN_MODEL_COST_LIST_TEXT_H
#define PERTOKEN_MODEL_COST_LIST_TEXT_H

#include "base/arena.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

// A value of a list, complete with its unit.
struct list_value {
  const char *text; // "1 FTE"; "" if there is nothing between two commas
  struct place place;
};

// Whether a comma separates values in the text.
bool text_is_list(const char *text);

// Whether the text states the number from which each value holds: "8 % from 100 gpu, 14 % from 500
// gpu".
bool text_is_tiers(const char *text);

// The values of a list, or the one value of any other text, in the arena; at least one.
const struct list_value *list_split(const char *text, struct place place, size_t *count,
                                    struct arena *arena);

#endif
