#include "model/simulate/worker.h"

#include "base/vector.h"
#include "model/simulate/sampler.h"
#include "model/whatif/response.h"

#include <string.h>

// Computes the savings, also in draws that have none, with a cost below zero or a baseline that
// costs nothing: tallying.c counts those draws, and part.c then shows no saving.
VECTOR_CLONES static void find_saving(const double *cost, const double *baseline, double *out) {
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++)
    out[i] = baseline[i] != 0 ? 1 - cost[i] / baseline[i] : 0;
}

void worker_find_outcomes(const struct simulation_run *run, struct worker *worker,
                          double *outcomes) {
  const struct simulation_frame *frame = &run->frame;
  const struct response *response = run->sampler->response;
  response_run(response, worker->workspace);
  for (size_t o = 0; o < frame->option_count; o++)
    memcpy(outcomes + o * VECTOR_BLOCK, response_item(response, worker->workspace, o, 0),
           VECTOR_BLOCK * sizeof *outcomes);
  double *saving = outcomes + frame->option_count * VECTOR_BLOCK;
  for (size_t o = 0; o < frame->option_count; o++) {
    if (o == frame->baseline)
      continue;
    find_saving(outcomes + o * VECTOR_BLOCK, outcomes + frame->baseline * VECTOR_BLOCK, saving);
    saving += VECTOR_BLOCK;
  }
}

void worker_draw(const struct simulation_run *run, struct worker *worker, uint64_t block) {
  uint64_t first;
  unsigned replicate = run_replicate(run, block, &first);
  sampler_draw(run->sampler, SAMPLE_FIRST, replicate, first,
               response_variable(worker->workspace, 0));
  worker_find_outcomes(run, worker, worker->outcomes);
}

// Whether all values are finite: NAN would remain in a sum forever, as would infinity minus
// infinity.
static bool all_finite(const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += values[i] - values[i];
  return sum == 0;
}

bool worker_check(struct simulation_run *run, const double *outcomes, uint64_t block, size_t count,
                  bool influence) {
  for (size_t o = 0; o < run->frame.outcome_count; o++) {
    if (all_finite(outcomes + o * VECTOR_BLOCK, count))
      continue;
#pragma omp critical(first_bad_block)
    if (block < run->bad_block) {
#pragma omp atomic write
      run->bad_block = block;
      run->bad_influence = influence;
    }
    return false;
  }
  return true;
}

void worker_start(const struct simulation_run *run, struct worker *worker) {
  const struct simulation_frame *frame = &run->frame;
  size_t vectors = frame->outcome_count * VECTOR_BLOCK;
  size_t variables = (size_t)run->sampler->variable_count * VECTOR_BLOCK;
  *worker = (struct worker){.workspace = response_workspace_new(run->sampler->response)};
  worker->outcomes = arena_array(&worker->arena, vectors, sizeof(double));
  worker->held = arena_array(&worker->arena, 2 * vectors, sizeof(double));
  worker->samples = arena_array(&worker->arena, 2 * variables, sizeof(double));
}

void worker_end(struct worker *worker) {
  response_workspace_free(worker->workspace);
  arena_free(&worker->arena);
}
