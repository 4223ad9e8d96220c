#include "model/simulate/pilot.h"

#include "base/arena.h"
#include "base/vector.h"
#include "model/chance/quantile_sketch.h"
#include "model/chance/rank_regression.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/simulate/part.h"
#include "model/simulate/remedy.h"
#include "model/simulate/sampler.h"
#include "model/whatif/response.h"

#include <stdint.h>
#include <string.h>

// Notes how often the first draws owed anything, and how much: the same in every shard.
static void note_remedies(struct simulation_run *run, const double *due, const double *credit,
                          size_t draws) {
  struct simulation_frame *frame = &run->frame;
  const struct model *model = run->scenario->model;
  const int cost = model_cost_item(model);
  const struct unit *unit = &model->declarations[cost].unit;
  const char **notes =
      arena_array(run->arena, frame->note_count + run->remedies.count, sizeof *notes);
  for (size_t n = 0; n < frame->note_count; n++)
    notes[n] = frame->notes[n];
  for (size_t r = 0; r < run->remedies.count; r++) {
    const struct remedy *remedy = &run->remedies.list[r];
    const char *worth =
        remedy->replacement
            ? ""
            : arena_printf(run->arena, ", on average %.4g %s over all draws",
                           credit[r] / (double)draws / unit_factor(unit), unit->text);
    notes[frame->note_count++] =
        arena_printf(run->arena, "%s: in %.3g %% of the first %zu draws%s", remedy->words,
                     100 * due[r] / (double)draws, draws, worth);
  }
  frame->notes = notes;
}

// Adds what a block owed; call it after worker_find_outcomes.
static void count_owed(const struct simulation_run *run, const struct worker *worker, size_t count,
                       double *due, double *credit) {
  const struct response *response = run->sampler->response;
  for (size_t r = 0; r < run->remedies.count; r++) {
    const struct remedy *remedy = &run->remedies.list[r];
    const double *is_short = response_item(response, worker->workspace, remedy->option, RUN_SHORT);
    const double *owed = response_item(response, worker->workspace, remedy->option, RUN_REMEDY);
    const double *tokens = response_item(response, worker->workspace, remedy->option, RUN_TOKENS);
    for (size_t i = 0; i < count; i++) {
      due[r] += is_short[i];
      credit[r] -= owed[i] / tokens[i];
    }
  }
}

int pilot_find_shapes(struct simulation_run *run, struct worker *worker) {
  struct simulation_frame *frame = &run->frame;
  uint64_t blocks = run_pilot_blocks(run);
  size_t room = (size_t)blocks * VECTOR_BLOCK, count = 0;
  struct sketch_shape *shapes = arena_array(run->arena, frame->outcome_count, sizeof *shapes);
  double *pilot = arena_array(&worker->arena, frame->outcome_count * room, sizeof *pilot);
  double *due = arena_array(&worker->arena, 2 * run->remedies.count, sizeof *due);
  double *credit = due + run->remedies.count;
  for (uint64_t block = 0; block < blocks; block++) {
    size_t here = run_draws_in(run, block);
    worker_draw(run, worker, block);
    if (!worker_check(run, worker->outcomes, block, here, false))
      return -1;
    for (size_t o = 0; o < frame->outcome_count; o++)
      memcpy(pilot + o * room + count, worker->outcomes + o * VECTOR_BLOCK, here * sizeof *pilot);
    count += here;
    count_owed(run, worker, here, due, credit);
  }
  note_remedies(run, due, credit, count);
  for (size_t o = 0; o < frame->outcome_count; o++)
    shapes[o] = sketch_shape(pilot + o * room, count, frame->draws, run->arena);
  frame->shapes = shapes;
  return 0;
}

void pilot_find_rank_shares(struct simulation_run *run, struct worker *worker) {
  struct simulation_frame *frame = &run->frame;
  const struct sampler *sampler = run->sampler;
  size_t n = (size_t)frame->draws, variables = (size_t)sampler->variable_count;
  double *inputs = arena_array(&worker->arena, variables * n, sizeof *inputs);
  double *outcomes = arena_array(&worker->arena, frame->outcome_count * n, sizeof *outcomes);
  for (uint64_t block = 0; block < run->blocks; block++) {
    size_t here = run_draws_in(run, block), at = (size_t)block * VECTOR_BLOCK;
    worker_draw(run, worker, block);
    for (size_t v = 0; v < variables; v++)
      memcpy(inputs + v * n + at, response_variable(worker->workspace, (int)v),
             here * sizeof *inputs);
    for (size_t o = 0; o < frame->outcome_count; o++)
      memcpy(outcomes + o * n + at, worker->outcomes + o * VECTOR_BLOCK, here * sizeof *outcomes);
  }
  double *shares =
      arena_array(run->arena, frame->outcome_count * frame->group_count, sizeof *shares);
  double *each = arena_array(&worker->arena, variables, sizeof *each);
  for (size_t o = 0; o < frame->outcome_count; o++) {
    rank_regression(inputs, variables, outcomes + o * n, n, each);
    for (size_t g = 0; g < frame->group_count; g++)
      for (int i = 0; i < sampler->groups[g].count; i++)
        shares[o * frame->group_count + g] += each[sampler->groups[g].variables[i]];
  }
  frame->rank_shares = shares;
}
