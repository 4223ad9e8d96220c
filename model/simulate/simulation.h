// simulation: the distributions of the costs of a scenario's options, and of the savings between
// them.
#ifndef PERTOKEN_MODEL_SIMULATE_SIMULATION_H
#define PERTOKEN_MODEL_SIMULATE_SIMULATION_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIMULATE_LEVELS = 7, SIMULATE_BARS = 50 };

// 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95
extern const double simulate_levels[SIMULATE_LEVELS];

enum outcome_kind { OUTCOME_COST, OUTCOME_SAVING };

// Shares of the variance of an outcome for one group of inputs.
struct influence {
  double first, total; // may come out slightly below 0 or above 1
};

// The distribution of a cost, in the item's own unit (USD/Mtok), or of a saving, a fraction.
struct outcome {
  enum outcome_kind kind;
  size_t option;
  double mean, deviation, lowest, highest;
  double standard_error; // of the mean; NAN: not known, by too few draws
  double percentiles[SIMULATE_LEVELS];
  double rank_error;                  // of the percentiles, as a share of all draws
  double bars_low, bars_high;         // the histogram's ends: percentiles 0.1 and 99.9
  uint64_t bars[SIMULATE_BARS];       // draws in equal parts between them
  uint64_t bars_below;                // draws below bars_low
  const struct influence *influences; // [group_count]
};

// The damages of an option whose contract pays them for a late delivery; amounts are means over the
// draws.
struct delay_damages {
  double due;  // share of the draws in which they are; NAN for other options
  double cost; // of the delay, before damages
  double paid, uncovered;
};

struct simulation {
  const char *item, *unit;
  const char *title, *digest, *case_name, *stamp; // of the scenario
  struct texts warnings;                          // of the scenario and its options
  uint64_t draws, done, seed;                     // requested, and made
  enum draw_method method;
  bool partial; // stopped early, or shards are missing
  size_t option_count, baseline;
  const char *const *options; // their ids
  const char *const *labels;  // the names shown to people
  // The verdict of model/scenario/ranking.h in each draw, always by cost_per_mtok, as shares of the
  // draws. A tie counts for each of its options, so the shares may add up to more than 1.
  const double *ranked;          // [option_count]
  const double *cheapest;        // [option_count]; NAN if the option is never ranked, or no
                                 // draw has a cheapest option
  const char *const *not_ranked; // [option_count] why an option is never ranked; "" if it can be
  double undecided;              // fewer than two options are ranked, so there is no cheapest
  const char *asked;             // of an option for it to be ranked: "serve the demand"
  const char *why_none;          // why that is so in all draws; ""
  size_t outcome_count; // a cost per option, then a saving per option that is compared with the
                        // baseline, if both cost nothing or more in every draw
  const struct outcome *outcomes;
  // A cost below zero has no share (cost_saving). What is left without the draws that have such a
  // cost is no sample of the saving: they are its best, or its worst.
  const char *const *no_saving;        // [option_count] why one that is compared has none; ""
  const double *unsaved;               // [option_count] in which share of the draws
  const struct delay_damages *damages; // [option_count]; NULL if nothing was drawn
  uint64_t damages_draws;              // the first ones, from which these are
  const char *currency;
  size_t group_count;
  const char *const *groups; // inputs, correlated ones together
  bool by_ranks;             // influence by regression on ranks
  uint64_t influence_draws;  // 0: none was determined, as the run stopped before
  const char *const *notes;
  size_t note_count;
};

// "3 draws are too few for percentiles or a share; use at least 100"; "" if they are not, or
// nothing was drawn.
const char *simulation_few_draws(const struct simulation *simulation, struct arena *arena);

// Whether at least one draw lies beyond the level's percentile, on either side.
bool simulation_has_percentile(const struct simulation *simulation, int level);

// Whether the draws differ in rounding only: no ranged input affects the outcome.
bool simulation_is_constant(const struct outcome *outcome);

// Used in place of a simulation if no option draws any input: no draw was made, and every
// percentile is the value itself.
const struct simulation *simulation_certain(const struct scenario *scenario, struct arena *arena);

#endif
