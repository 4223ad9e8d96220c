// simulation: how the costs of a scenario's options, and the savings between them, are distributed.
#ifndef PERTOKEN_MODEL_SIMULATE_SIMULATION_H
#define PERTOKEN_MODEL_SIMULATE_SIMULATION_H

#include "base/arena.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIMULATE_LEVELS = 7, SIMULATE_BARS = 50 };

// 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95
extern const double simulate_levels[SIMULATE_LEVELS];

enum outcome_kind { OUTCOME_COST, OUTCOME_SAVING };

// A share of the variance of an outcome, for each group of inputs.
struct influence {
  double first, total; // may come out slightly below 0 or above 1
};

// In the item's own unit (USD/Mtok); a saving is a fraction.
struct outcome {
  enum outcome_kind kind;
  size_t option;
  double mean, standard_error, deviation, lowest, highest;
  double percentiles[SIMULATE_LEVELS];
  double rank_error;                  // of the percentiles, as a share of all draws
  double bars_low, bars_high;         // the histogram's ends: percentiles 0.1 and 99.9
  uint64_t bars[SIMULATE_BARS];       // draws within equal parts of them
  uint64_t bars_below;                // draws below their low end
  const struct influence *influences; // [group_count]
};

struct simulation {
  const char *item, *unit, *digest, *case_name;
  const char *stamp;          // of the scenario
  uint64_t draws, done, seed; // wanted, and made
  enum draw_method method;
  bool partial; // stopped early, or shards are missing
  size_t option_count, baseline;
  const char *const *options; // their ids
  // The verdict of model/scenario/ranking.h in each draw, always by cost_per_mtok, as shares of the
  // draws. A tie counts for each of its options, so that the shares may add up to more than 1.
  const double *ranked;          // [option_count]
  const double *cheapest;        // [option_count]; NAN where the option is never ranked, or nobody
                                 // is the cheapest in any draw
  const char *const *not_ranked; // [option_count] why an option is never ranked; "" where it is
  double undecided;              // fewer than two options are ranked, so that none is the cheapest
  const char *asked;             // of an option that is to be ranked: "serve the demand"
  const char *why_none;          // why that holds in all draws; ""
  size_t outcome_count; // a cost per option, then a saving per option that is compared with the
                        // baseline
  const struct outcome *outcomes;
  size_t group_count;
  const char *const *groups; // inputs, correlated ones together
  bool by_ranks;             // influence by regression on ranks
  uint64_t influence_draws;  // 0: none was found out, as the run stopped before
  const char *const *notes;
  size_t note_count;
};

// What stands instead of a simulation where no option draws any input: no draw was made, and every
// percentile is the value itself.
const struct simulation *simulation_certain(const struct scenario *scenario, struct arena *arena);

#endif
