// number_hint: what a number may have meant that is not written as one here, such as "30.000,50".
#ifndef PERTOKEN_MODEL_COST_NUMBER_HINT_H
#define PERTOKEN_MODEL_COST_NUMBER_HINT_H

#include "base/arena.h"

#include <stdbool.h>

// The unit of a hint, as it follows the number, and the number's factor: cents become dollars.
struct number_unit {
  const char *text; // " USD", ""
  double factor;
  bool is_share; // of a bare number where a percentage is expected: 0.12 may be 12 %
};

// The rest of a text that begins with a number, whatever its separators: its unit, or "".
const char *number_end(const char *text);

// A correct way to write the text, in brackets to follow an error, or "": with a point for
// decimals, without separators of thousands, and in that unit. A text with two readings ("2,300")
// gets both.
const char *number_hint(const char *text, const struct number_unit *unit, struct arena *arena);

#endif
