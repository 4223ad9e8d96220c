// published_bounds: the range of the catalogue's values for an input of an option, to judge how
// plausible an implied value is.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_PUBLISHED_BOUNDS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_PUBLISHED_BOUNDS_H

#include "model/evidence/grade.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

struct published {
  double low, high; // base units of the input; for a ratio plain numbers
  const char *low_id, *high_id;
  const char *of; // "output tokens of llama-2-70b, fp8, offline": what is compared; NULL: unknown
  size_t count;   // of rows, or for a ratio of pairs of rows
};

// Finds what is published of an input for the option's accelerator and, for throughput, its model,
// precision and scenario (offline if none is named; rows of a server or of interactive users are
// not mixed in): rows of that grade or a stronger one, without a doubt. Known inputs: throughput,
// list_price, rents, electricity_price (in US cents per kWh), pue, prices of APIs, and those with a
// row of typical values. Returns false if nothing is published.
bool published_input(const struct scenario *scenario, size_t option, int declaration,
                     enum grade weakest, struct published *out);

// The ratio of the throughputs of two options' accelerators: the best row of each in the same
// benchmark round, model, precision and scenario. Returns false if there is none.
bool published_ratio(const struct scenario *scenario, size_t option, size_t over,
                     struct published *out);

#endif
