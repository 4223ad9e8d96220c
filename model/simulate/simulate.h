// simulate: many draws of the ranged inputs -> how the costs per token of the options, and the
// savings between them, are distributed, and which inputs that comes from.
//
// A run is cut into blocks of VECTOR_BLOCK draws, always computed whole. Sums are exact and counts
// are counts, so the result is the same to the last bit on any number of threads, and for any
// number of shards once they are merged.
//
// Draws are spread over up to SIMULATE_REPLICATES independent scramblings of Sobol's sequence,
// whose means give the standard error of the mean; random draws are one sample. Percentiles come
// from a sketch (model/chance/quantile_sketch.h), whose error in rank is at most `rank_error`.
//
// Influence: which share of the variance goes with an input alone (first order) and with it in any
// company (total), by the estimators of Saltelli et al. (Computer Physics Communications 181, 2010,
// table 2, b) and Jansen (ibid. 117, 1999), from two unrelated samples of up to
// SIMULATE_INFLUENCE_DRAWS draws each. Correlated inputs have no share of their own: they are taken
// together. Runs of fewer than SIMULATE_FEW_DRAWS draws have regression on ranks instead: first is
// the standardised coefficient times the correlation (Pratt's measure), which adds up to the
// regression's R squared, and total is NAN.
#ifndef PERTOKEN_MODEL_SIMULATE_SIMULATE_H
#define PERTOKEN_MODEL_SIMULATE_SIMULATE_H

#include "model/simulate/sampler.h"

#include <signal.h>
#include <stdio.h>

enum {
  SIMULATE_LEVELS = 7,
  SIMULATE_BARS = 50,
  SIMULATE_REPLICATES = 8,
  SIMULATE_FEW_DRAWS = 1024,
  SIMULATE_INFLUENCE_DRAWS = 32768
};

#define SIMULATE_MOST_DRAWS  UINT64_C(4000000000) // Sobol's points have 32 bits
#define SIMULATE_MOST_SHARDS 4096

// 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95
extern const double simulate_levels[SIMULATE_LEVELS];

struct simulate_request {
  const struct scenario *scenario;
  const char *item; // of unit USD/Mtok or any other; NULL: cost_per_mtok
  uint64_t draws, seed;
  enum draw_method method;
  int threads;                       // 0: as many as OpenMP sees fit
  unsigned shard, shards;            // shard 0 to shards - 1; shards 0 is 1
  const volatile sig_atomic_t *stop; // once not zero, the run ends early; may be NULL
  // Called now and then by the thread that called simulate(); may be NULL.
  void (*progress)(void *data, uint64_t done, uint64_t all);
  void *progress_data;
};

// What a run, or one shard of it, found; to be merged, stored, or turned into results.
struct simulation_part;

// Errors: 0 draws or more than SIMULATE_MOST_DRAWS, no ranges, an unknown item or one that is no
// scalar of every option, a value that is not finite (which draw, and all its inputs). NULL after
// errors.
struct simulation_part *simulate(const struct simulate_request *request, struct arena *arena,
                                 struct diagnostics *diagnostics);

// Adds a part of the same run to another. Errors: another run's, a shard that is there already.
int simulation_merge(struct simulation_part *into, const struct simulation_part *from,
                     struct diagnostics *diagnostics);

// A part as numbers that processes can bring together without knowing what they are: whole numbers
// to be added modulo 2^64, and doubles of which the least and the greatest count.
struct simulation_numbers {
  uint64_t *sums;
  double *lows, *highs; // [end_count]
  size_t sum_count, end_count;
};

// All parts of one run have as many of them.
struct simulation_numbers simulation_part_numbers(const struct simulation_part *part,
                                                  struct arena *arena);

// Makes a part what the parts together are. Returns -1, with an error, if they were not all of the
// same run.
int simulation_part_set(struct simulation_part *part, const struct simulation_numbers *numbers,
                        struct diagnostics *diagnostics);

// Parts as JSON. Reading refuses, with an error, what is no JSON, what lacks something or has it of
// the wrong type, and counts that do not add up. Printing returns 0 or -1.
int simulation_part_print(const struct simulation_part *part, FILE *out);
struct simulation_part *simulation_part_read(const char *path, struct arena *arena,
                                             struct diagnostics *diagnostics);

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

// NULL, with an error, when not a single draw was made.
const struct simulation *simulation_result(const struct simulation_part *part, struct arena *arena,
                                           struct diagnostics *diagnostics);

// What stands instead of a simulation where no option draws any input: no draw was made, and every
// percentile is the value itself.
const struct simulation *simulation_certain(const struct scenario *scenario, struct arena *arena);

#endif
