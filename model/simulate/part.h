// part: the findings of a simulation run, or of one shard of it; to be merged, stored, or turned
// into results. Sums are exact and counts are integers, so parts add up to the same result in any
// order.
#ifndef PERTOKEN_MODEL_SIMULATE_PART_H
#define PERTOKEN_MODEL_SIMULATE_PART_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/chance/exact_sum.h"
#include "model/chance/quantile_sketch.h"
#include "model/simulate/simulation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Fewer replicates tell too little of a standard error.
enum {
  MAX_REPLICATES = 8,
  FEWEST_REPLICATES = 4,
  MAX_INFLUENCE_DRAWS = 32768,
  MAX_SIMULATE_SHARDS = 4096
};

#define MAX_SIMULATE_DRAWS UINT64_C(4000000000) // Sobol's points have 32 bits

// The frame that all parts of a run have in common.
struct simulation_frame {
  const char *title, *item, *unit, *digest, *case_name, *stamp;
  const char *asked;  // of an option for it to be ranked: ranking.h
  double unit_factor; // base units per `unit`
  uint64_t draws, seed;
  enum draw_method method;
  unsigned shards, replicates;
  size_t option_count, baseline, outcome_count, group_count;
  const char *const *options, *const *labels, *const *groups, *const *notes;
  struct texts warnings;         // of the scenario and its options
  const char *const *not_ranked; // [option_count] why it is not ranked in any draw; "" if it can be
  const bool *compared;          // [option_count] its saving may be shown
  size_t note_count;
  const struct sketch_shape *shapes; // [outcome_count] for values in base units
  uint64_t influence_draws;          // of the whole run
  bool by_ranks;
  const double *rank_shares; // [outcome_count][group_count] when by_ranks
  const char *currency;
  const struct delay_damages *damages; // [option_count]
  uint64_t damages_draws;
};

// Sums of an outcome over draws, less its sketch's center.
struct tally {
  uint64_t done;
  double lowest, highest;
  uint64_t *replicate_done;         // [replicates]
  struct exact_sum *replicate_sums; // [replicates]
  struct exact_sum squares;
  // Influence, from the second samples.
  uint64_t influence_done;
  struct exact_sum influence_sum, influence_squares;
  struct exact_sum *first, *total; // [group_count]
};

// Counts of draws.
struct verdicts {
  uint64_t decided;            // some option is the cheapest
  uint64_t *ranked, *cheapest; // [option_count]
  uint64_t *unsaved;           // [option_count] draws without a saving, as in cost_saving
};

struct simulation_part {
  struct simulation_frame frame;
  bool *shards; // [frame.shards] the shards included
  bool stopped;
  struct tally *tallies; // [outcome_count]
  struct verdicts verdicts;
  uint32_t **counts; // [outcome_count][sketch_bins]
};

// Zeroed sums and counts for a frame. Most of its memory is taken only as draws are counted: the
// bins and sums of which nothing is ever added remain unwritten.
struct simulation_part *simulation_part_new(const struct simulation_frame *frame,
                                            struct arena *arena);

// Adds the sums and counts of other draws of the same frame.
void simulation_part_add(struct simulation_part *into, const struct simulation_part *from);

// Adds a part of the same run to another. Returns 0, or -1 with an error: a part of another run, or
// a shard that is already included.
int simulation_merge(struct simulation_part *into, const struct simulation_part *from,
                     struct diagnostics *diagnostics);

// The results of a part. NULL, with an error, if no draw was made.
const struct simulation *simulation_result(const struct simulation_part *part, struct arena *arena,
                                           struct diagnostics *diagnostics);

#endif
