// sampler: the ranged inputs of a scenario, ready to be drawn, and its options' response to them.
//
// Drawing does not change a sampler: any number of threads share one, each with its own sample. The
// draws depend on seed, method, the ranges and their order in the file, and the number of the draw,
// and on nothing else.
#ifndef PERTOKEN_MODEL_SIMULATE_SAMPLER_H
#define PERTOKEN_MODEL_SIMULATE_SAMPLER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"
#include "model/whatif/response.h"
#include "model/whatif/variation.h"

#include <stddef.h>
#include <stdint.h>

// The second of two independent samples is for the influence of inputs.
enum sample_side { SAMPLE_FIRST, SAMPLE_SECOND, SAMPLE_SIDES };

// Inputs that are correlated, directly or through others, form a group; any other input is its own
// group.
struct sample_group {
  const char *label;    // of its variables: "pue", "h200.discount, mi325x.discount"
  const int *variables; // [count]
  int count;
  const double *factor; // Cholesky factor of the correlations of normals, [count][count], lower
};

struct sampler {
  const struct scenario *scenario;
  const struct response *response;
  int variable_count;
  const size_t *ranges; // [variable_count] of the scenario
  const int *variables; // [option_count][model->count]: the variable of an option's input, or -1
  const char *const
      *labels; // [variable_count] "pue", "a.throughput = b.throughput" of one quantity
  const struct sample_group *groups;
  size_t group_count;
  enum draw_method method;
  uint64_t seed;
  unsigned replicates;
  const struct draw_stream *streams; // [SAMPLE_SIDES][replicates + 1][variable_count]
  const char *const *notes;          // notes for the user: ranges without effect, ...
  size_t note_count;
};

// Columns of a series, enough for the longest horizon that is drawn.
int sampler_periods(const struct scenario *scenario);

struct sampler_request {
  const struct scenario *scenario;
  enum draw_method method;
  uint64_t seed;
  unsigned replicates;
  const int *items;
  size_t item_count;
  const bool *wanted; // [option_count][item_count]; NULL: every item of every option
  // The target that is not drawn, whatever its range, but is an additional variable of the
  // response, after those that are drawn; NULL: none.
  const struct target *solved;
};

// Whether any option draws any input in the selected case, apart from `solved`, which may be NULL.
bool sampler_draws_any(const struct scenario *scenario, const struct target *solved);

// Draws every range that some option has in the selected case. The scenario stores what its
// distributions need for drawing, so only one thread at a time may make samplers for a scenario,
// which must outlive them. NULL after errors: no such range, a wanted item that an option lacks.
const struct sampler *sampler_new(const struct sampler_request *request, struct arena *arena,
                                  struct diagnostics *diagnostics);

// Draws first to first + VECTOR_BLOCK - 1 of a replicate and side: the values of all variables,
// [variable_count][VECTOR_BLOCK] in base units. Replicate `replicates` is an additional,
// independent one.
void sampler_draw(const struct sampler *sampler, enum sample_side side, unsigned replicate,
                  uint64_t first, double *values);

#endif
