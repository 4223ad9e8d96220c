#include "model/simulate/simulate.h"

#include "base/source.h"
#include "base/vector.h"
#include "model/chance/exact_sum.h"
#include "model/chance/quantile_sketch.h"
#include "model/chance/rank_regression.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/range.h"
#include "model/simulate/part.h"
#include "model/simulate/sampler.h"
#include "model/whatif/response.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { PILOT_BLOCKS = 16, ROUND_BLOCKS = 4096, BLOCKS_PER_THREAD = 8 };

// What is computed of an option: the simulated item, and what options are ranked by.
enum { RUN_OUTCOME, RUN_COST, RUN_AMOUNT, RUN_ITEMS = RUN_AMOUNT + RANKING_AMOUNTS };

// One simulation under way, shared by all threads.
struct simulation_run {
  const struct simulate_request *request;
  const struct sampler *sampler;
  bool *wanted; // [option_count][RUN_ITEMS] which of them an option has
  struct simulation_frame frame;
  uint64_t blocks, influence_blocks;
  struct arena *arena;
  struct diagnostics *diagnostics;
  uint64_t bad_block; // the first with a value that is not finite; UINT64_MAX: none
  bool bad_influence; // it is one of the samples for influence
};

// What one thread needs.
struct worker {
  double *workspace;
  double *outcomes; // [outcome_count][VECTOR_BLOCK]
  double *samples;  // [2][variable_count][VECTOR_BLOCK]
  double *held;     // [2][outcome_count][VECTOR_BLOCK]
  struct tally *tallies;
  struct verdicts verdicts;
  const double **costs;    // [option_count] of a block
  const double **amounts;  // [option_count][RANKING_AMOUNTS] of it, or NULL
  double *cost;            // [option_count] of a draw
  bool *ranked, *cheapest; // [option_count] in it
  uint32_t **counts;
  struct arena arena;
};

static bool is_stopped(const struct simulation_run *run) {
  return run->request->stop && *run->request->stop;
}

// The blocks of a replicate follow one another; each begins its scrambling anew.
static unsigned replicate_of(const struct simulation_run *run, uint64_t block,
                             uint64_t *first_draw) {
  unsigned replicates = run->frame.replicates;
  unsigned replicate = (unsigned)(((block + 1) * replicates - 1) / run->blocks);
  uint64_t start = run->blocks * replicate / replicates;
  *first_draw = (run->frame.method == DRAW_SOBOL ? block - start : block) * VECTOR_BLOCK;
  return replicate;
}

// Draws of a block that count: all but in the last one.
static size_t draws_in(const struct simulation_run *run, uint64_t block) {
  uint64_t rest = run->frame.draws - block * VECTOR_BLOCK;
  return rest < VECTOR_BLOCK ? (size_t)rest : VECTOR_BLOCK;
}

VECTOR_CLONES static void find_saving(const double *cost, const double *baseline, double *out) {
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++)
    out[i] = 1 - cost[i] / baseline[i];
}

// Runs the response on the variables in the workspace. The costs of all options, then the savings.
static void find_outcomes(const struct simulation_run *run, struct worker *worker,
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

static void draw_block(const struct simulation_run *run, struct worker *worker, uint64_t block) {
  uint64_t first;
  unsigned replicate = replicate_of(run, block, &first);
  sampler_draw(run->sampler, SAMPLE_FIRST, replicate, first,
               response_variable(worker->workspace, 0));
  find_outcomes(run, worker, worker->outcomes);
}

// Not a number, once in a sum, stays there, as does infinity less itself.
static bool all_finite(const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += values[i] - values[i];
  return sum == 0;
}

static bool check_block(struct simulation_run *run, const double *outcomes, uint64_t block,
                        size_t count, bool influence) {
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

static void tally_outcome(const struct simulation_run *run, struct worker *worker, size_t o,
                          unsigned replicate, size_t count) {
  const double *values = worker->outcomes + o * VECTOR_BLOCK;
  struct tally *tally = &worker->tallies[o];
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
  sketch_add(&run->frame.shapes[o], values, count, worker->counts[o]);
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
  struct verdicts *verdicts = &worker->verdicts;
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

static uint64_t first_bad_block(const struct simulation_run *run) {
  uint64_t block;
#pragma omp atomic read
  block = run->bad_block;
  return block;
}

static void work_on_block(struct simulation_run *run, struct worker *worker, uint64_t block) {
  uint64_t first;
  if (is_stopped(run) || block > first_bad_block(run))
    return;
  size_t count = draws_in(run, block);
  draw_block(run, worker, block);
  if (!check_block(run, worker->outcomes, block, count, false))
    return;
  unsigned replicate = replicate_of(run, block, &first);
  for (size_t o = 0; o < run->frame.outcome_count; o++)
    tally_outcome(run, worker, o, replicate, count);
  tally_verdicts(run, worker, count);
}

// The second sample's values of one group among the first sample's of all others.
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
  exact_sum_add(&worker->tallies[o].first[g], first);
  exact_sum_add(&worker->tallies[o].total[g], total);
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
    exact_sum_add(&worker->tallies[o].influence_sum, sum);
    exact_sum_add(&worker->tallies[o].influence_squares, squares);
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
    find_outcomes(run, worker, held);
    if (!check_block(run, held, block, VECTOR_BLOCK, true))
      return false;
    tally_sample(run, worker, held);
  }
  return true;
}

static void work_on_influence(struct simulation_run *run, struct worker *worker, uint64_t block) {
  const struct sampler *sampler = run->sampler;
  if (is_stopped(run) || block > first_bad_block(run) || !hold_samples(run, worker, block))
    return;
  for (size_t g = 0; g < sampler->group_count; g++) {
    swap_group(run, worker, &sampler->groups[g], SAMPLE_SECOND);
    find_outcomes(run, worker, worker->outcomes);
    swap_group(run, worker, &sampler->groups[g], SAMPLE_FIRST);
    for (size_t o = 0; o < run->frame.outcome_count; o++)
      tally_influence(run, worker, o, g);
  }
  for (size_t o = 0; o < run->frame.outcome_count; o++)
    worker->tallies[o].influence_done += VECTOR_BLOCK;
}

static void worker_start(const struct simulation_run *run, struct worker *worker) {
  const struct simulation_frame *frame = &run->frame;
  size_t vectors = frame->outcome_count * VECTOR_BLOCK;
  size_t variables = (size_t)run->sampler->variable_count * VECTOR_BLOCK;
  *worker = (struct worker){.workspace = response_workspace_new(run->sampler->response)};
  worker->outcomes = arena_array(&worker->arena, vectors, sizeof(double));
  worker->held = arena_array(&worker->arena, 2 * vectors, sizeof(double));
  worker->samples = arena_array(&worker->arena, 2 * variables, sizeof(double));
}

static void worker_start_tallies(const struct simulation_run *run, struct worker *worker) {
  const struct simulation_frame *frame = &run->frame;
  const size_t options = frame->option_count;
  worker->tallies = arena_array(&worker->arena, frame->outcome_count, sizeof *worker->tallies);
  verdicts_start(&worker->verdicts, options, &worker->arena);
  worker->costs = arena_array(&worker->arena, options, sizeof *worker->costs);
  worker->amounts = arena_array(&worker->arena, options * RANKING_AMOUNTS, sizeof *worker->amounts);
  worker->cost = arena_array(&worker->arena, options, sizeof *worker->cost);
  worker->ranked = arena_array(&worker->arena, 2 * options, sizeof *worker->ranked);
  worker->cheapest = worker->ranked + options;
  worker->counts = arena_array(&worker->arena, frame->outcome_count, sizeof *worker->counts);
  for (size_t o = 0; o < frame->outcome_count; o++) {
    tally_start(&worker->tallies[o], frame, &worker->arena);
    worker->counts[o] =
        arena_array(&worker->arena, sketch_bins(&frame->shapes[o]), sizeof **worker->counts);
  }
}

static void worker_end(struct worker *worker) {
  response_workspace_free(worker->workspace);
  arena_free(&worker->arena);
}

static void merge_worker(struct simulation_part *part, const struct worker *worker) {
  const struct simulation_frame *frame = &part->frame;
  verdicts_merge(&part->verdicts, &worker->verdicts, frame->option_count);
  for (size_t o = 0; o < frame->outcome_count; o++) {
    tally_merge(&part->tallies[o], &worker->tallies[o], frame);
    for (size_t b = 0; b < sketch_bins(&frame->shapes[o]); b++)
      part->counts[o][b] += worker->counts[o][b];
  }
}

// A shard has every block between two numbers.
static uint64_t shard_start(const struct simulation_run *run, uint64_t blocks, unsigned shard) {
  return blocks * shard / run->frame.shards;
}

static void work_on_all(struct simulation_run *run, struct worker *workers, int threads) {
  unsigned shard = run->request->shard;
  uint64_t start = shard_start(run, run->blocks, shard);
  uint64_t end = shard_start(run, run->blocks, shard + 1);
  for (uint64_t next = start; next < end; next += ROUND_BLOCKS) {
    uint64_t last = next + ROUND_BLOCKS < end ? next + ROUND_BLOCKS : end;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (uint64_t block = next; block < last; block++)
      work_on_block(run, &workers[omp_get_thread_num()], block);
    if (is_stopped(run) || run->bad_block != UINT64_MAX)
      return;
    if (run->request->progress)
      run->request->progress(run->request->progress_data, (last - start) * VECTOR_BLOCK,
                             (end - start) * VECTOR_BLOCK);
  }
  start = shard_start(run, run->influence_blocks, shard);
  end = shard_start(run, run->influence_blocks, shard + 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (uint64_t block = start; block < end; block++)
    work_on_influence(run, &workers[omp_get_thread_num()], block);
}

static const char *describe_draw(const struct simulation_run *run, const double *variables,
                                 size_t which) {
  const struct scenario *scenario = run->request->scenario;
  const char *text = "";
  for (int v = 0; v < run->sampler->variable_count; v++) {
    const struct range *range = &scenario->ranges[run->sampler->ranges[v]];
    const struct declaration *input = &scenario->model->declarations[range->declaration];
    double value = variables[(size_t)v * VECTOR_BLOCK + which];
    const char *choice = declaration_choice(input, value);
    const char *shown =
        choice ? choice
               : arena_printf(run->arena, "%.6g %s", value / unit_factor(&input->unit),
                              strcmp(input->unit.text, "-") != 0 ? input->unit.text : "");
    text = arena_printf(run->arena, "%s%s%s = %s", text, v ? ", " : "", range->key, shown);
  }
  return text;
}

// Draws the bad block once more, and reports the first draw in it that has no finite value.
static void report_bad_draw(struct simulation_run *run, struct worker *worker) {
  const struct scenario *scenario = run->request->scenario;
  const struct simulation_frame *frame = &run->frame;
  const double *variables = response_variable(worker->workspace, 0);
  size_t count = run->bad_influence ? VECTOR_BLOCK : draws_in(run, run->bad_block);
  for (int side = SAMPLE_FIRST; side < SAMPLE_SIDES; side++) {
    if (run->bad_influence) {
      sampler_draw(run->sampler, (enum sample_side)side, frame->replicates,
                   run->bad_block * VECTOR_BLOCK, response_variable(worker->workspace, 0));
      find_outcomes(run, worker, worker->outcomes);
    } else
      draw_block(run, worker, run->bad_block);
    for (size_t i = 0; i < count; i++)
      for (size_t o = 0; o < frame->outcome_count; o++) {
        if (isfinite(worker->outcomes[o * VECTOR_BLOCK + i]))
          continue;
        size_t option = o < frame->option_count ? o : frame->baseline;
        uint64_t draw = run->bad_block * VECTOR_BLOCK + i + 1;
        diagnostics_error(run->diagnostics, (struct place){.source = scenario->source},
                          "'%s' of option '%s' has no finite value in draw %" PRIu64 "%s: %s",
                          o < frame->option_count ? frame->item : "saving",
                          scenario->options[option].id, draw,
                          run->bad_influence ? " of the sample for influence" : "",
                          describe_draw(run, variables, i));
        return;
      }
  }
}

// The sketches' bins, from the run's first draws.
static int find_shapes(struct simulation_run *run, struct worker *worker) {
  struct simulation_frame *frame = &run->frame;
  uint64_t blocks = run->blocks < PILOT_BLOCKS ? run->blocks : PILOT_BLOCKS;
  size_t room = (size_t)blocks * VECTOR_BLOCK, count = 0;
  struct sketch_shape *shapes = arena_array(run->arena, frame->outcome_count, sizeof *shapes);
  double *pilot = arena_array(&worker->arena, frame->outcome_count * room, sizeof *pilot);
  for (uint64_t block = 0; block < blocks; block++) {
    size_t here = draws_in(run, block);
    draw_block(run, worker, block);
    if (!check_block(run, worker->outcomes, block, here, false))
      return -1;
    for (size_t o = 0; o < frame->outcome_count; o++)
      memcpy(pilot + o * room + count, worker->outcomes + o * VECTOR_BLOCK, here * sizeof *pilot);
    count += here;
  }
  for (size_t o = 0; o < frame->outcome_count; o++)
    shapes[o] = sketch_shape(pilot + o * room, count, frame->draws, run->arena);
  frame->shapes = shapes;
  return 0;
}

// All draws of a short run, for regression on their ranks.
static void find_rank_shares(struct simulation_run *run, struct worker *worker) {
  struct simulation_frame *frame = &run->frame;
  const struct sampler *sampler = run->sampler;
  size_t n = (size_t)frame->draws, variables = (size_t)sampler->variable_count;
  double *inputs = arena_array(&worker->arena, variables * n, sizeof *inputs);
  double *outcomes = arena_array(&worker->arena, frame->outcome_count * n, sizeof *outcomes);
  for (uint64_t block = 0; block < run->blocks; block++) {
    size_t here = draws_in(run, block), at = (size_t)block * VECTOR_BLOCK;
    draw_block(run, worker, block);
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

static int find_item(const struct simulate_request *request, struct diagnostics *diagnostics) {
  const struct model *model = request->scenario->model;
  const char *name = request->item ? request->item : "cost_per_mtok";
  struct place place = {.source = request->scenario->source};
  int item = model_find(model, name);
  if (item >= 0 && !declaration_is_series(&model->declarations[item]))
    return item;
  const char *nearest = model_nearest(model, name, false, model->arena);
  if (item >= 0)
    diagnostics_error(diagnostics, place, "'%s' has a value per period: simulate a total", name);
  else
    diagnostics_error(diagnostics, place, "unknown item '%s'%s", name,
                      did_you_mean(nearest, model->arena));
  return -1;
}

static int check_request(const struct simulate_request *request, struct diagnostics *diagnostics) {
  struct place place = {.source = request->scenario->source};
  unsigned shards = request->shards ? request->shards : 1;
  if (request->draws < 1 || request->draws > MAX_SIMULATE_DRAWS)
    diagnostics_error(diagnostics, place, "expected 1 to %" PRIu64 " draws, not %" PRIu64,
                      MAX_SIMULATE_DRAWS, request->draws);
  else if (shards > MAX_SIMULATE_SHARDS || request->shard >= shards)
    diagnostics_error(diagnostics, place, "there is no shard %u of %u", request->shard, shards);
  else
    return 0;
  return -1;
}

static void name_all(struct simulation_run *run) {
  struct simulation_frame *frame = &run->frame;
  const struct scenario *scenario = run->request->scenario;
  const char **options = arena_array(run->arena, scenario->option_count, sizeof *options);
  const char **groups = arena_array(run->arena, run->sampler->group_count, sizeof *groups);
  const char **not_ranked = arena_array(run->arena, scenario->option_count, sizeof *not_ranked);
  bool *compared = arena_array(run->arena, scenario->option_count, sizeof *compared);
  for (size_t o = 0; o < scenario->option_count; o++) {
    options[o] = scenario->options[o].id;
    compared[o] = ranking_fixed_bar(scenario, &scenario->options[o], &not_ranked[o], run->arena) !=
                  RANK_UPPER_BOUND;
  }
  for (size_t g = 0; g < run->sampler->group_count; g++)
    groups[g] = run->sampler->groups[g].label;
  frame->options = options;
  frame->not_ranked = not_ranked;
  frame->compared = compared;
  frame->groups = groups;
  frame->notes = run->sampler->notes;
  frame->note_count = run->sampler->note_count;
}

static int sampler_start(struct simulation_run *run, int item) {
  const struct scenario *scenario = run->request->scenario;
  const size_t options = scenario->option_count;
  int items[RUN_ITEMS] = {
      [RUN_OUTCOME] = item, [RUN_COST] = model_find(scenario->model, "cost_per_mtok")};
  bool *wanted = run->wanted = arena_array(run->arena, options * RUN_ITEMS, sizeof *wanted);
  for (size_t a = 0; a < RANKING_AMOUNTS; a++)
    items[RUN_AMOUNT + a] = model_find(scenario->model, ranking_amounts[a].item);
  for (size_t o = 0; o < options; o++) {
    wanted[o * RUN_ITEMS + RUN_OUTCOME] = wanted[o * RUN_ITEMS + RUN_COST] = true;
    for (size_t a = 0; a < RANKING_AMOUNTS; a++)
      wanted[o * RUN_ITEMS + RUN_AMOUNT + a] =
          ranking_amount_of(scenario, &scenario->options[o], &ranking_amounts[a]) >= 0;
  }
  const struct sampler_request sample = {.scenario = scenario,
                                         .method = run->request->method,
                                         .seed = run->request->seed,
                                         .replicates = run->frame.replicates,
                                         .items = items,
                                         .item_count = RUN_ITEMS,
                                         .wanted = wanted};
  run->sampler = sampler_new(&sample, run->arena, run->diagnostics);
  return run->sampler ? 0 : -1;
}

static int frame_start(struct simulation_run *run, int item) {
  const struct simulate_request *request = run->request;
  const struct scenario *scenario = request->scenario;
  const struct declaration *declaration = &scenario->model->declarations[item];
  run->blocks = (request->draws + VECTOR_BLOCK - 1) / VECTOR_BLOCK;
  bool few = request->draws < SIMULATE_FEW_DRAWS;
  unsigned replicates = request->method == DRAW_SOBOL ? MAX_REPLICATES : 1;
  run->frame = (struct simulation_frame){
      .item = declaration->name,
      .unit = declaration->unit.text,
      .unit_factor = unit_factor(&declaration->unit),
      .digest = scenario->digest,
      .case_name = scenario->cases[scenario->selected],
      .stamp = scenario_stamp(scenario, run->arena),
      .asked = ranking_asked(scenario),
      .draws = request->draws,
      .seed = request->seed,
      .method = request->method,
      .shards = request->shards ? request->shards : 1,
      .replicates = run->blocks < replicates ? (unsigned)run->blocks : replicates,
      .option_count = scenario->option_count,
      .baseline = scenario->baseline,
      .outcome_count = 2 * scenario->option_count - 1,
      .by_ranks = few,
  };
  uint64_t wanted =
      request->draws < MAX_INFLUENCE_DRAWS ? run->blocks * VECTOR_BLOCK : MAX_INFLUENCE_DRAWS;
  run->influence_blocks = few ? 0 : wanted / VECTOR_BLOCK;
  run->frame.influence_draws = run->influence_blocks * VECTOR_BLOCK;
  if (sampler_start(run, item))
    return -1;
  run->frame.group_count = run->sampler->group_count;
  name_all(run);
  return 0;
}

static struct simulation_part *run_all(struct simulation_run *run, struct worker *workers,
                                       int threads) {
  for (int t = 0; t < threads; t++)
    worker_start(run, &workers[t]);
  if (find_shapes(run, &workers[0])) {
    report_bad_draw(run, &workers[0]);
    return NULL;
  }
  if (run->frame.by_ranks)
    find_rank_shares(run, &workers[0]);
  for (int t = 0; t < threads; t++)
    worker_start_tallies(run, &workers[t]);
  work_on_all(run, workers, threads);
  if (run->bad_block != UINT64_MAX) {
    report_bad_draw(run, &workers[0]);
    return NULL;
  }
  struct simulation_part *part = simulation_part_new(&run->frame, run->arena);
  for (int t = 0; t < threads; t++)
    merge_worker(part, &workers[t]);
  part->shards[run->request->shard] = true;
  part->stopped = is_stopped(run);
  return part;
}

// As many as there is work for: waiting for a thread takes longer than some blocks.
static int threads_for(const struct simulation_run *run) {
  int threads = run->request->threads > 0 ? run->request->threads : omp_get_max_threads();
  uint64_t most = run->blocks / BLOCKS_PER_THREAD + 1;
  return (uint64_t)threads < most ? threads : (int)most;
}

struct simulation_part *simulate(const struct simulate_request *request, struct arena *arena,
                                 struct diagnostics *diagnostics) {
  struct simulation_run run = {
      .request = request, .arena = arena, .diagnostics = diagnostics, .bad_block = UINT64_MAX};
  int item = find_item(request, diagnostics);
  if (item < 0 || check_request(request, diagnostics) || frame_start(&run, item))
    return NULL;
  int threads = threads_for(&run);
  struct worker *workers = arena_array(arena, (size_t)threads, sizeof *workers);
  struct simulation_part *part = run_all(&run, workers, threads);
  for (int t = 0; t < threads; t++)
    worker_end(&workers[t]);
  return part;
}
