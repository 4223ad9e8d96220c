// left_out: costs that outputs list as not included in an option.
//
// A cost that has a notice is left out if it is zero and has no source: a source, also an offer's
// or the catalogue's, says where else it is included. Of a list all values must be zero, and each
// needs a source, or its scale is. A rent includes all but the costs that a scenario opts for, and
// what engineers cost.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_LEFT_OUT_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_LEFT_OUT_H

#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// The name in outputs of a cost that is left out, "server"; NULL for one that nobody misses. Most
// names are in the model. If an option has a vendor's offer, everything that an offer can have a
// line for is missed as well, in all options: one offer's installation and another's zero are not
// the same purchase.
const char *left_out_notice(const struct scenario *scenario, int declaration);

// The inputs by which an option states a cost that it may leave out: itself, or the years of its
// list. inputs: [MAX_LIST]. Returns their number, 0 for any other declaration.
int left_out_inputs(const struct scenario *scenario, const struct option *option, int declaration,
                    int *inputs);

// The inputs that state what such a cost is the price of: engineers, of their pay. Without any, it
// is not left out. inputs: [MAX_LIST]. Returns their number, 0 if the cost stands by itself.
int left_out_priced(const struct option *option, int declaration, int *inputs);

// The input of a sum that may be paid instead of such a share: above zero, nothing is left out. -1:
// there is none.
int left_out_sum(const struct option *option, int declaration);

// The input that scales such a list, -1 for a single value.
int left_out_scale(const struct option *option, int declaration);

bool left_out(const struct scenario *scenario, const struct option *option, size_t which_case,
              int declaration);

// The input that an option's figure is part of in a case, as it is stated there; -1 for none. Once
// that has another value, it no longer says that it includes this one.
int left_out_within(const struct scenario *scenario, const struct option *option, size_t which_case,
                    int declaration);

// The inputs of the rent that such a figure is part of, itself or its years: once all are zero, it
// includes nothing. inputs: [MAX_LIST]. Returns their number, 0 if it is not part of a rent.
int left_out_rent(const struct scenario *scenario, const struct option *option, size_t which_case,
                  int declaration, int *inputs);

#endif
