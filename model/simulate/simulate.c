#include "model/simulate/simulate.h"

#include "base/source.h"
#include "base/vector.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/ranking.h"
#include "model/simulate/bad_draw.h"
#include "model/simulate/delay_damages.h"
#include "model/simulate/influence.h"
#include "model/simulate/part.h"
#include "model/simulate/pilot.h"
#include "model/simulate/remedy.h"
#include "model/simulate/run.h"
#include "model/simulate/sampler.h"
#include "model/simulate/tallying.h"
#include "model/simulate/worker.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_BLOCKS = 4096, BLOCKS_PER_THREAD = 8 };

// A shard covers the blocks between two numbers.
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
      tallying_work(run, &workers[omp_get_thread_num()], block);
    if (run_is_stopped(run) || run->bad_block != UINT64_MAX)
      return;
    if (run->request->progress)
      run->request->progress(run->request->progress_data, (last - start) * VECTOR_BLOCK,
                             (end - start) * VECTOR_BLOCK);
  }
  start = shard_start(run, run->influence_blocks, shard);
  end = shard_start(run, run->influence_blocks, shard + 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (uint64_t block = start; block < end; block++)
    influence_work(run, &workers[omp_get_thread_num()], block);
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
  const struct scenario *scenario = run->scenario;
  const char **options = arena_array(run->arena, scenario->option_count, sizeof *options);
  const char **labels = arena_array(run->arena, scenario->option_count, sizeof *labels);
  const char **groups = arena_array(run->arena, run->sampler->group_count, sizeof *groups);
  const char **not_ranked = arena_array(run->arena, scenario->option_count, sizeof *not_ranked);
  bool *compared = arena_array(run->arena, scenario->option_count, sizeof *compared);
  const struct fixed_bar *bars = ranking_fixed_bars(scenario, run->arena);
  for (size_t o = 0; o < scenario->option_count; o++) {
    options[o] = scenario->options[o].id;
    labels[o] = scenario->options[o].label;
    not_ranked[o] = bars[o].why;
    compared[o] = bars[o].bar != RANK_UPPER_BOUND;
  }
  for (size_t g = 0; g < run->sampler->group_count; g++)
    groups[g] = run->sampler->groups[g].label;
  frame->options = options;
  frame->labels = labels;
  frame->not_ranked = not_ranked;
  frame->compared = compared;
  frame->groups = groups;
  frame->notes = run->sampler->notes;
  frame->note_count = run->sampler->note_count;
}

static int sampler_start(struct simulation_run *run, int item) {
  const struct scenario *scenario = run->scenario;
  const size_t options = scenario->option_count;
  int items[RUN_ITEMS] = {[RUN_OUTCOME] = item,
                          [RUN_COST] = model_cost_item(scenario->model),
                          [RUN_SHORT] = model_find(scenario->model, "falls_short"),
                          [RUN_REMEDY] = model_find(scenario->model, "remedy_total"),
                          [RUN_TOKENS] = model_find(scenario->model, "tokens_total"),
                          [RUN_DAMAGES] = model_find(scenario->model, "damages_total")};
  bool *wanted = run->wanted = arena_array(run->arena, options * RUN_ITEMS, sizeof *wanted);
  for (size_t a = 0; a < RANKING_AMOUNTS; a++)
    items[RUN_AMOUNT + a] = model_find(scenario->model, ranking_amounts[a].item);
  for (size_t o = 0; o < options; o++) {
    wanted[o * RUN_ITEMS + RUN_OUTCOME] = wanted[o * RUN_ITEMS + RUN_COST] = true;
    wanted[o * RUN_ITEMS + RUN_TOKENS] = wanted[o * RUN_ITEMS + RUN_DAMAGES] =
        delay_damages_apply(scenario, o);
    for (size_t a = 0; a < RANKING_AMOUNTS; a++)
      wanted[o * RUN_ITEMS + RUN_AMOUNT + a] =
          ranking_amount_of(scenario, &scenario->options[o], &ranking_amounts[a]) >= 0;
  }
  for (size_t r = 0; r < run->remedies.count; r++) {
    const struct remedy *remedy = &run->remedies.list[r];
    wanted[remedy->option * RUN_ITEMS + RUN_SHORT] =
        wanted[remedy->option * RUN_ITEMS + RUN_REMEDY] =
            wanted[remedy->option * RUN_ITEMS + RUN_TOKENS] = true;
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
      .title = scenario->title,
      .digest = scenario->digest,
      .case_name = scenario->cases[scenario->selected],
      .stamp = scenario_stamp(scenario, run->arena),
      .warnings = scenario_all_warnings(scenario, run->arena),
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
      .currency = scenario->model->currency,
  };
  run->frame.damages_draws = run_pilot_draws(run);
  uint64_t wanted =
      request->draws < MAX_INFLUENCE_DRAWS ? run->blocks * VECTOR_BLOCK : MAX_INFLUENCE_DRAWS;
  run->influence_blocks = few || request->without_influence ? 0 : wanted / VECTOR_BLOCK;
  run->frame.influence_draws = run->influence_blocks * VECTOR_BLOCK;
  run->remedies = remedies_of(scenario, run->arena);
  if (sampler_start(run, item))
    return -1;
  run->frame.group_count = request->without_influence ? 0 : run->sampler->group_count;
  name_all(run);
  return 0;
}

static struct simulation_part *run_all(struct simulation_run *run, struct worker *workers,
                                       int threads) {
  for (int t = 0; t < threads; t++)
    worker_start(run, &workers[t]);
  if (pilot_find_shapes(run, &workers[0])) {
    bad_draw_report(run, &workers[0]);
    return NULL;
  }
  if (delay_damages_find(run, &workers[0]))
    return NULL;
  if (run->frame.by_ranks)
    pilot_find_rank_shares(run, &workers[0]);
  for (int t = 0; t < threads; t++)
    tallying_start(run, &workers[t], t ? &workers[t].arena : run->arena);
  work_on_all(run, workers, threads);
  if (run->bad_block != UINT64_MAX) {
    bad_draw_report(run, &workers[0]);
    return NULL;
  }
  struct simulation_part *part = workers[0].part;
  for (int t = 1; t < threads; t++)
    simulation_part_add(part, workers[t].part);
  part->shards[run->request->shard] = true;
  part->stopped = run_is_stopped(run);
  return part;
}

// The number of threads, no more than there is work for: waiting for a thread takes longer than
// some blocks.
static int threads_for(const struct simulation_run *run) {
  int threads = run->request->threads > 0 ? run->request->threads : omp_get_max_threads();
  uint64_t most = run->blocks / BLOCKS_PER_THREAD + 1;
  return (uint64_t)threads < most ? threads : (int)most;
}

struct simulation_part *simulate(const struct simulate_request *request, struct arena *arena,
                                 struct diagnostics *diagnostics) {
  struct simulation_run run = {.request = request,
                               .scenario = request->scenario,
                               .stop = request->stop,
                               .arena = arena,
                               .diagnostics = diagnostics,
                               .bad_block = UINT64_MAX};
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
