// part: the findings of a simulation run, or of one shard of it; to be merged, stored, or turned
// into results. Sums are exact and counts are integers, so parts add up to the same result in any
// order.
#ifndef PERTOKEN_MODEL_SIMULATE_PART_H
#define PERTOKEN_MODEL_SIMULATE_PART_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/chance/draw.h"
#include "model/chance/exact_sum.h"
#include "model/chance/quantile_sketch.h"
#include "model/simulate/simulation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_REPLICATES = 8, MAX_INFLUENCE_DRAWS = 32768, MAX_SIMULATE_SHARDS = 4096 };

#define MAX_SIMULATE_DRAWS UINT64_C(4000000000) // Sobol's points have 32 bits

// What all parts of a run have in common.
struct simulation_frame {
  const char *item, *unit, *digest, *case_name, *stamp;
  const char *asked;  // of an option for it to be ranked: ranking.h
  double unit_factor; // base units per `unit`
  uint64_t draws, seed;
  enum draw_method method;
  unsigned shards, replicates;
  size_t option_count, baseline, outcome_count, group_count;
  const char *const *options, *const *labels, *const *groups, *const *notes;
  const char *const *not_ranked; // [option_count] why it is not ranked in any draw; "" if it can be
  const bool *compared;          // [option_count] its saving may be shown
  size_t note_count;
  const struct sketch_shape *shapes; // [outcome_count] for values in base units
  uint64_t influence_draws;          // of the whole run
  bool by_ranks;
  const double *rank_shares; // [outcome_count][group_count] when by_ranks
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
};

struct simulation_part {
  struct simulation_frame frame;
  bool *shards; // [frame.shards] the shards included
  bool stopped;
  struct tally *tallies; // [outcome_count]
  struct verdicts verdicts;
  uint64_t **counts; // [outcome_count][sketch_bins]
};

// Zeroed sums and counts for a frame.
struct simulation_part *simulation_part_new(const struct simulation_frame *frame,
                                            struct arena *arena);

// Sums and counts for one thread or part, in the arena.
void tally_start(struct tally *tally, const struct simulation_frame *frame, struct arena *arena);
void tally_merge(struct tally *into, const struct tally *from,
                 const struct simulation_frame *frame);
void verdicts_start(struct verdicts *verdicts, size_t option_count, struct arena *arena);
void verdicts_merge(struct verdicts *into, const struct verdicts *from, size_t option_count);

// Adds a part of the same run to another. Returns 0, or -1 with an error: a part of another run, or
// a shard that is already included.
int simulation_merge(struct simulation_part *into, const struct simulation_part *from,
                     struct diagnostics *diagnostics);

// NULL, with an error, if no draw was made.
const struct simulation *simulation_result(const struct simulation_part *part, struct arena *arena,
                                           struct diagnostics *diagnostics);

#endif
