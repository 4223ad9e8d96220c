// sensitivity: the effect of each input of a scenario on the result when it moves alone (a
// tornado), and of two of them together (a grid).
#ifndef PERTOKEN_MODEL_QUESTIONS_SENSITIVITY_H
#define PERTOKEN_MODEL_QUESTIONS_SENSITIVITY_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <stdbool.h>
#include <stddef.h>

// One end of a swing: the input's value, and the result of every option there, in base units.
struct swing_end {
  double value;
  double *costs; // [option_count]
  double saving; // of the selected option over the baseline; NAN with a single option
};

// The target is the first of those that are one quantity, with one range: they move together.
struct swing {
  struct target target;
  const char *name; // "pue", "a.throughput = b.throughput"
  int range;        // as which it is drawn, or -1
  double base;
  struct swing_end low, high;
  bool ranged;   // its ends are the 5th and 95th percentile of that range
  bool clipped;  // an end was limited to what the input may be
  double effect; // |result(high) - result(low)|: of the saving, or of the cost
};

struct sensitivity {
  const struct scenario *scenario;
  int item;             // cost_per_mtok
  size_t option;        // the swings are sorted by its saving
  bool of_saving;       // or by its cost: of the baseline, or if it may not save
  double share;         // the swing of inputs without a range
  struct swing *swings; // largest effect first; equal ones in the order of the model
  size_t count;
  size_t aside;             // inputs of other options, left out if there are very many
  const char *const *still; // inputs that are zero and have no range: a share of zero is zero
  size_t still_count;
};

// Whether an option's results are savings: not the baseline's, nor where nothing may be saved.
bool sensitivity_is_of_saving(const struct scenario *scenario, size_t option, int item);

bool swing_moves(const struct scenario *scenario, const struct swing *swing, size_t option);

enum { MAX_SWING_COSTS = 100000 };

// Swings every input over its range or, without one, by +-share (0 < share <= 1) of its value,
// unless it is a property of the hardware; whole numbers stay whole. If inputs times options exceed
// MAX_SWING_COSTS, only the inputs that affect the result are used: those of the option and of the
// baseline. `option` NULL: ranking_contender. NULL after errors.
const struct sensitivity *sensitivity_ask(const struct scenario *scenario, const char *option,
                                          double share, struct arena *arena,
                                          struct diagnostics *diagnostics);

// One axis of a grid: "mi325x.discount=0:30:2%", low, high and step, in the unit at the end or,
// without one, in the input's own.
struct axis {
  struct target target;
  const char *name;
  double *values; // base units
  size_t count;
};

enum { MAX_GRID_AXES = 2, MAX_GRID_CELLS = 10000 };

struct cost_grid {
  const struct scenario *scenario;
  int item;
  size_t option;
  struct axis axes[MAX_GRID_AXES];
  size_t axis_count;
  size_t cells;   // axes[0].count, times axes[1].count if there are two
  double *costs;  // [option_count][cells], the last axis fastest
  double *saving; // [cells] of `option` over the baseline; NULL with a single option
};

// Reads "AXIS" or "AXIS,AXIS" and evaluates every cell. NULL after errors.
const struct cost_grid *cost_grid_ask(const struct scenario *scenario, const char *option,
                                      const char *axes, struct arena *arena,
                                      struct diagnostics *diagnostics);

#endif
