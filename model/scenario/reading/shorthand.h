// shorthand: keys that stand for inputs: `grid = DE` for the carbon intensity of a grid,
// `day_profile = consumer` for the shares of a day's hours, `quote = FILE` for what a vendor's
// offer states.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_SHORTHAND_H
#define PERTOKEN_MODEL_SCENARIO_READING_SHORTHAND_H

#include "base/ini.h"
#include "model/scenario/inputs.h"
#include "model/scenario/reading/reading.h"

#include <stdbool.h>

struct shorthand {
  const char *key, *input; // the first of the inputs
  bool yields;             // to what the layer states of these inputs itself
  // Gives the layer the inputs. Errors are at the value: no such row, hours that are no shares, an
  // offer that cannot be read, or one for all options.
  void (*take)(struct reading *reading, struct layer layer, const struct ini_key *key);
};

enum { SHORTHANDS = 3 };
extern const struct shorthand shorthands[SHORTHANDS];

// The shorthand of that key; NULL if it is none, or the cost model lacks its inputs.
const struct shorthand *shorthand_find(const struct reading *reading, const char *key);

#endif
