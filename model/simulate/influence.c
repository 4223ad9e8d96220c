#include "model/simulate/influence.h"

#include "base/vector.h"
#include "model/chance/exact_sum.h"
#include "model/simulate/sampler.h"
#include "model/whatif/response.h"

#include <string.h>

// The second sample's values for one group, with the first sample's for all others.
static void swap_group(const struct simulation_run *run, struct worker *worker,
                       const struct sample_group *group, int side) {
  double *variables = response_variable(worker->workspace, 0);
  size_t size = (size_t)run->sampler->variable_count * VECTOR_BLOCK;
  for (int i = 0; i < group->count; i++) {
    size_t at = (size_t)group->variables[i] * VECTOR_BLOCK;
    memcpy(variables + at, worker->samples + (size_t)side * size + at,
           VECTOR_BLOCK * sizeof *variables);
  }
}

static void tally_influence(const struct simulation_run *run, struct worker *worker, size_t o,
                            size_t g) {
  const double *a = worker->held + o * VECTOR_BLOCK;
  const double *b = worker->held + (run->frame.outcome_count + o) * VECTOR_BLOCK;
  const double *mixed = worker->outcomes + o * VECTOR_BLOCK;
  double centre = run->frame.shapes[o].centre, first = 0, total = 0;
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double change = mixed[i] - a[i];
    first += (b[i] - centre) * change;
    total += change * change;
  }
  if (first == 0 && total == 0) // an input of another option: its sums take no memory
    return;
  exact_sum_add(&worker->part->tallies[o].first[g], first);
  exact_sum_add(&worker->part->tallies[o].total[g], total);
}

static void tally_sample(const struct simulation_run *run, struct worker *worker,
                         const double *outcomes) {
  for (size_t o = 0; o < run->frame.outcome_count; o++) {
    double centre = run->frame.shapes[o].centre, sum = 0, squares = 0;
    for (int i = 0; i < VECTOR_BLOCK; i++) {
      double x = outcomes[o * VECTOR_BLOCK + (size_t)i] - centre;
      sum += x;
      squares += x * x;
    }
    exact_sum_add(&worker->part->tallies[o].influence_sum, sum);
    exact_sum_add(&worker->part->tallies[o].influence_squares, squares);
  }
}

static bool hold_samples(struct simulation_run *run, struct worker *worker, uint64_t block) {
  const struct sampler *sampler = run->sampler;
  double *variables = response_variable(worker->workspace, 0);
  size_t size = (size_t)sampler->variable_count * VECTOR_BLOCK;
  size_t outcomes = run->frame.outcome_count * VECTOR_BLOCK;
  for (int side = SAMPLE_SECOND; side >= SAMPLE_FIRST; side--) {
    double *held = worker->held + (size_t)side * outcomes;
    sampler_draw(sampler, (enum sample_side)side, run->frame.replicates, block * VECTOR_BLOCK,
                 variables);
    memcpy(worker->samples + (size_t)side * size, variables, size * sizeof *variables);
    worker_find_outcomes(run, worker, held);
    if (!worker_check(run, held, block, VECTOR_BLOCK, true))
      return false;
    tally_sample(run, worker, held);
  }
  return true;
}

void influence_work(struct simulation_run *run, struct worker *worker, uint64_t block) {
  const struct sampler *sampler = run->sampler;
  if (run_is_stopped(run) || block > run_bad_block(run) || !hold_samples(run, worker, block))
    return;
  for (size_t g = 0; g < sampler->group_count; g++) {
    swap_group(run, worker, &sampler->groups[g], SAMPLE_SECOND);
    worker_find_outcomes(run, worker, worker->outcomes);
    swap_group(run, worker, &sampler->groups[g], SAMPLE_FIRST);
    for (size_t o = 0; o < run->frame.outcome_count; o++)
      tally_influence(run, worker, o, g);
  }
  for (size_t o = 0; o < run->frame.outcome_count; o++)
    worker->part->tallies[o].influence_done += VECTOR_BLOCK;
}
