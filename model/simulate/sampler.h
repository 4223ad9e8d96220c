// sampler: the ranged inputs of a scenario, ready to be drawn, and its options' response to them.
//
// A sampler is only read when it draws: any number of threads share one, each with a sample of its
// own. What is drawn depends on seed, method, the ranges and their order in the file, and the
// number of the draw, and on nothing else.
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

// The second of two unrelated samples serves the influence of inputs.
enum sample_side { SAMPLE_FIRST, SAMPLE_SECOND, SAMPLE_SIDES };

// Inputs that are correlated, directly or through others, form a group; any other is one alone.
struct sample_group {
  const char *label;    // "pue", "h200.discount, mi325x.discount"
  const int *variables; // [count]
  int count;
  const double *factor; // Cholesky factor of the correlations of normals, [count][count], lower
};

struct sampler {
  const struct scenario *scenario;
  const struct response *response;
  int variable_count;
  const size_t *ranges; // [variable_count] of the scenario
  const struct sample_group *groups;
  size_t group_count;
  enum draw_method method;
  uint64_t seed;
  unsigned replicates;
  const struct draw_stream *streams; // [SAMPLE_SIDES][replicates + 1][variable_count]
  const char *const *notes;          // what the user should know: ranges without effect, ...
  size_t note_count;
};

struct sampler_request {
  const struct scenario *scenario;
  enum draw_method method;
  uint64_t seed;
  unsigned replicates;
  const int *items;
  size_t item_count;
  const bool *wanted; // [option_count][item_count]; NULL: every item of every option
  // Not drawn, whatever its range, but one more variable of the response, behind those that are
  // drawn; NULL: none.
  const struct target *solved;
};

// Does any option draw any input in the selected case, but for `solved`, which may be NULL?
bool sampler_draws_any(const struct scenario *scenario, const struct target *solved);

// Draws of every range that some option has in the selected case. The scenario keeps what its
// distributions need for drawing, so only one thread at a time makes samplers of a scenario, which
// must outlive them.
// NULL after errors: no such range at all, a wanted item that an option lacks.
const struct sampler *sampler_new(const struct sampler_request *request, struct arena *arena,
                                  struct diagnostics *diagnostics);

// Draws first to first + VECTOR_BLOCK - 1 of a replicate and side: the values of all variables,
// [variable_count][VECTOR_BLOCK] in base units. Replicate `replicates` is one more, unrelated.
void sampler_draw(const struct sampler *sampler, enum sample_side side, unsigned replicate,
                  uint64_t first, double *values);

#endif
