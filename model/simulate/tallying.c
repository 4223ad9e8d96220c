#include "model/simulate/tallying.h"

#include "base/arena.h"
#include "base/vector.h"
#include "model/chance/exact_sum.h"
#include "model/chance/quantile_sketch.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/whatif/response.h"

#include <math.h>
#include <stddef.h>

void tallying_start(const struct simulation_run *run, struct worker *worker, struct arena *arena) {
  const size_t options = run->frame.option_count;
  worker->part = simulation_part_new(&run->frame, arena);
  worker->costs = arena_array(&worker->arena, options, sizeof *worker->costs);
  worker->amounts = arena_array(&worker->arena, options * RANKING_AMOUNTS, sizeof *worker->amounts);
  worker->cost = arena_array(&worker->arena, options, sizeof *worker->cost);
  worker->ranked = arena_array(&worker->arena, 2 * options, sizeof *worker->ranked);
  worker->cheapest = worker->ranked + options;
}

static void tally_outcome(const struct simulation_run *run, struct worker *worker, size_t o,
                          unsigned replicate, size_t count) {
  const double *values = worker->outcomes + o * VECTOR_BLOCK;
  struct tally *tally = &worker->part->tallies[o];
  double centre = run->frame.shapes[o].centre, sum = 0, squares = 0;
  double lowest = tally->lowest, highest = tally->highest;
  for (size_t i = 0; i < count; i++) {
    double x = values[i] - centre;
    sum += x;
    squares += x * x;
    lowest = values[i] < lowest ? values[i] : lowest;
    highest = values[i] > highest ? values[i] : highest;
  }
  tally->done += count;
  tally->lowest = lowest;
  tally->highest = highest;
  tally->replicate_done[replicate] += count;
  exact_sum_add(&tally->replicate_sums[replicate], sum);
  exact_sum_add(&tally->squares, squares);
  sketch_add(&run->frame.shapes[o], values, count, worker->part->counts[o]);
}

static void find_costs(const struct simulation_run *run, struct worker *worker) {
  const struct response *response = run->sampler->response;
  for (size_t o = 0; o < run->frame.option_count; o++) {
    worker->costs[o] = response_item(response, worker->workspace, o, RUN_COST);
    for (size_t a = 0; a < RANKING_AMOUNTS; a++)
      worker->amounts[o * RANKING_AMOUNTS + a] =
          run->wanted[o * RUN_ITEMS + RUN_AMOUNT + a]
              ? response_item(response, worker->workspace, o, RUN_AMOUNT + a)
              : NULL;
  }
}

static bool amounts_hold(const struct worker *worker, size_t o, size_t i) {
  for (size_t a = 0; a < RANKING_AMOUNTS; a++) {
    const double *values = worker->amounts[o * RANKING_AMOUNTS + a];
    if (values && !ranking_holds(&ranking_amounts[a], values[i]))
      return false;
  }
  return true;
}

static void tally_verdicts(const struct simulation_run *run, struct worker *worker, size_t count) {
  const size_t options = run->frame.option_count;
  struct verdicts *verdicts = &worker->part->verdicts;
  find_costs(run, worker);
  for (size_t i = 0; i < count; i++) {
    for (size_t o = 0; o < options; o++) {
      worker->cost[o] = worker->costs[o][i];
      worker->ranked[o] =
          !*run->frame.not_ranked[o] && isfinite(worker->cost[o]) && amounts_hold(worker, o, i);
    }
    verdicts->decided += ranking_mark(worker->cost, worker->ranked, options, worker->cheapest) > 0;
    for (size_t o = 0; o < options; o++) {
      verdicts->ranked[o] += worker->ranked[o];
      verdicts->cheapest[o] += worker->cheapest[o];
    }
  }
}

// Counts the draws without a saving, in options in which a cost was below zero or the baseline cost
// nothing.
static void tally_unsaved(const struct simulation_run *run, struct worker *worker, size_t count) {
  const struct simulation_frame *frame = &run->frame;
  const struct tally *tallies = worker->part->tallies;
  const size_t baseline = frame->baseline;
  const double *base = worker->outcomes + baseline * VECTOR_BLOCK;
  for (size_t o = 0; o < frame->option_count; o++) {
    const double *cost = worker->outcomes + o * VECTOR_BLOCK;
    if (o == baseline || (tallies[o].lowest >= 0 && tallies[baseline].lowest > 0))
      continue;
    for (size_t i = 0; i < count; i++)
      worker->part->verdicts.unsaved[o] += isfinite(cost_saving(cost[i], base[i])) ? 0 : 1;
  }
}

void tallying_work(struct simulation_run *run, struct worker *worker, uint64_t block) {
  uint64_t first;
  if (run_is_stopped(run) || block > run_bad_block(run))
    return;
  size_t count = run_draws_in(run, block);
  worker_draw(run, worker, block);
  if (!worker_check(run, worker->outcomes, block, count, false))
    return;
  unsigned replicate = run_replicate(run, block, &first);
  for (size_t o = 0; o < run->frame.outcome_count; o++)
    tally_outcome(run, worker, o, replicate, count);
  tally_verdicts(run, worker, count);
  tally_unsaved(run, worker, count);
}
