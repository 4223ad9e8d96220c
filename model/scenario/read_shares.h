// read_shares: how much of its own read bandwidth each option's device reached in its record, and
// what a token would cost if all had reached as much.
//
// Decoding is reading, and a device's memory sets the fastest rate; how near to it a record comes
// depends on the probe's kernels, which are not tuned equally well for every device: they may not
// use the matrix unit of a newer generation. So where records of unlike devices stand beside each
// other, every face shows these shares. Beyond PROJECTION_TUNING, a warning says that the
// difference includes the tuning, and the costs at equal shares are added: those of the same
// options with decoding rates that each device would have at the highest of the shares. Power stays
// as measured. The verdict remains that of the rates as measured.
#ifndef PERTOKEN_MODEL_SCENARIO_READ_SHARES_H
#define PERTOKEN_MODEL_SCENARIO_READ_SHARES_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

struct read_shares {
  bool beside;         // records of unlike devices are beside each other
  bool apart;          // the shares of two unlike devices differ by more than PROJECTION_TUNING
  bool unknown;        // a record has none that can be used
  const bool *counted; // [option_count]: it decodes at the rate of such a record
  const double *share; // [option_count]; NAN: not counted, or unknown
  double equal;        // the highest share
  const double *cost;  // [option_count] cost_per_mtok at equal shares; NAN without a share
};

// The read shares of the selected case, in the arena.
struct read_shares read_shares_of(const struct scenario *scenario, struct arena *arena);

// Adds the warning to the scenario, if the shares are apart or one of them is unknown.
void read_shares_warn(struct scenario *scenario, struct arena *arena);

#endif
