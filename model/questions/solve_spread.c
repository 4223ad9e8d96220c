#include "model/questions/solve_spread.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/statistics.h"
#include "base/vector.h"
#include "model/cost/model.h"
#include "model/questions/solve_search.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulation.h"
#include "model/whatif/response.h"

#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>

enum { MAX_BISECTIONS = 64, ROUND_BLOCKS = 256 };

// The amounts computed for an option in each draw: the cost, and what may keep it from being
// ranked.
enum { SPREAD_COST, SPREAD_AMOUNT, SPREAD_ITEMS = SPREAD_AMOUNT + RANKING_AMOUNTS };

// The outcome of a draw.
enum spread_verdict { UNSOLVED, FOUND, SEVERAL, ABOVE, BELOW, VERDICTS };

struct spread_run {
  const struct solve_answer *answer;
  const struct simulate_request *request;
  const struct sampler *sampler;
  size_t options[2], option_count; // the option and, if there is one, its match
  bool barred;                     // one of them is not ranked in any draw
  double *roots;                   // [draws]
  unsigned char *verdicts;         // [draws]
  bool *enough;                    // [draws]
  uint64_t blocks;
};

// The draws of a block side by side: for each, the two points between which the sign changes.
struct lanes {
  double low[VECTOR_BLOCK], high[VECTOR_BLOCK];
  double gap_low[VECTOR_BLOCK], gap_high[VECTOR_BLOCK];
  double first[VECTOR_BLOCK], last[VECTOR_BLOCK]; // gaps at both ends of the interval
  unsigned char crossings[VECTOR_BLOCK];          // 0, 1, 2 for more
};

static bool is_stopped(const struct spread_run *run) {
  return run->request->stop && *run->request->stop;
}

// The gap of every draw, each with its own value for the input.
static void find_gaps(const struct spread_run *run, double *workspace, const double *values,
                      double *gaps) {
  const struct solve_answer *answer = run->answer;
  const struct response *response = run->sampler->response;
  double *input = response_variable(workspace, run->sampler->variable_count);
  for (int i = 0; i < VECTOR_BLOCK; i++)
    input[i] = answer->integer ? round(values[i]) : values[i];
  response_rerun(response, workspace);
  const double *cost = response_item(response, workspace, answer->option, SPREAD_COST);
  const double *match =
      answer->matches ? response_item(response, workspace, answer->match, SPREAD_COST) : NULL;
  for (int i = 0; i < VECTOR_BLOCK; i++)
    gaps[i] = solve_gap(solve_costs(answer, cost[i], match ? match[i] : NAN));
}

static void find_gaps_at(const struct spread_run *run, double *workspace, double value,
                         double *gaps) {
  double values[VECTOR_BLOCK];
  for (int i = 0; i < VECTOR_BLOCK; i++)
    values[i] = value;
  find_gaps(run, workspace, values, gaps);
}

// Finds where the gap crosses zero from one point to the next. A value at which it is zero counts
// with the point before it.
static void find_crossings(struct lanes *lanes, double low, double high, const double *gaps) {
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    const double before = lanes->last[i];
    lanes->last[i] = gaps[i];
    if (!isfinite(before) || !isfinite(gaps[i]) || (before > 0) == (gaps[i] > 0))
      continue;
    if (lanes->crossings[i] == 0) {
      lanes->low[i] = low;
      lanes->high[i] = high;
      lanes->gap_low[i] = before;
      lanes->gap_high[i] = gaps[i];
    }
    lanes->crossings[i] = lanes->crossings[i] ? 2 : 1;
  }
}

static void look_through(const struct spread_run *run, double *workspace, struct lanes *lanes) {
  const struct solve_answer *answer = run->answer;
  double gaps[VECTOR_BLOCK];
  memset(lanes->crossings, 0, sizeof lanes->crossings);
  find_gaps_at(run, workspace, answer->points[0], lanes->last);
  memcpy(lanes->first, lanes->last, sizeof lanes->first);
  for (size_t p = 1; p < answer->point_count; p++) {
    find_gaps_at(run, workspace, answer->points[p], gaps);
    find_crossings(lanes, answer->points[p - 1], answer->points[p], gaps);
    for (int i = 0; i < VECTOR_BLOCK; i++)
      lanes->first[i] = isfinite(lanes->first[i]) ? lanes->first[i] : gaps[i];
  }
}

static bool is_close(const struct spread_run *run, const struct lanes *lanes) {
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    const double width = lanes->high[i] - lanes->low[i];
    const double least = run->answer->integer ? 1 : 0x1p-50 * fabs(lanes->high[i]);
    if (lanes->crossings[i] && width > least)
      return false;
  }
  return true;
}

static void bisect(const struct spread_run *run, double *workspace, struct lanes *lanes) {
  double middle[VECTOR_BLOCK], gaps[VECTOR_BLOCK];
  const bool integer = run->answer->integer;
  for (int k = 0; k < MAX_BISECTIONS && !is_close(run, lanes); k++) {
    for (int i = 0; i < VECTOR_BLOCK; i++) {
      const double half = lanes->low[i] + (lanes->high[i] - lanes->low[i]) / 2;
      middle[i] = !lanes->crossings[i] ? run->answer->low : integer ? floor(half) : half;
    }
    find_gaps(run, workspace, middle, gaps);
    for (int i = 0; i < VECTOR_BLOCK; i++) {
      const bool like_low = (gaps[i] > 0) == (lanes->gap_low[i] > 0);
      if (like_low) {
        lanes->low[i] = middle[i];
        lanes->gap_low[i] = gaps[i];
      } else {
        lanes->high[i] = middle[i];
        lanes->gap_high[i] = gaps[i];
      }
    }
  }
}

// Takes the side that is cheap enough, unless the crossing is a pole.
static void judge(const struct spread_run *run, const struct lanes *lanes, uint64_t first) {
  for (uint64_t i = 0; i < VECTOR_BLOCK && first + i < run->request->draws; i++) {
    const double dear = fmax(fabs(lanes->gap_low[i]), fabs(lanes->gap_high[i]));
    enum spread_verdict verdict = UNSOLVED;
    if (lanes->crossings[i] && dear < SOLVE_POLE)
      verdict = lanes->crossings[i] > 1 ? SEVERAL : FOUND;
    else if (!lanes->crossings[i] && isfinite(lanes->first[i]))
      verdict = lanes->first[i] > 0 ? ABOVE : BELOW;
    run->verdicts[first + i] = (unsigned char)verdict;
    run->roots[first + i] = lanes->gap_low[i] <= 0 ? lanes->low[i] : lanes->high[i];
  }
}

// Whether the options are ranked in a draw of the block.
static bool are_ranked(const struct spread_run *run, const double *workspace, uint64_t i) {
  for (size_t k = 0; k < run->option_count * RANKING_AMOUNTS; k++) {
    const size_t o = run->options[k / RANKING_AMOUNTS], a = k % RANKING_AMOUNTS;
    const double *values = response_item(run->sampler->response, workspace, o, SPREAD_AMOUNT + a);
    if (values && !ranking_holds(&ranking_amounts[a], values[i]))
      return false;
  }
  return !run->barred;
}

static void solve_block(const struct spread_run *run, double *workspace, uint64_t block) {
  struct lanes lanes;
  double gaps[VECTOR_BLOCK];
  const uint64_t first = block * VECTOR_BLOCK;
  sampler_draw(run->sampler, SAMPLE_FIRST, 0, first, response_variable(workspace, 0));
  response_run(run->sampler->response, workspace);
  find_gaps_at(run, workspace, run->answer->base, gaps);
  for (uint64_t i = 0; i < VECTOR_BLOCK && first + i < run->request->draws; i++)
    run->enough[first + i] = gaps[i] <= 0 && are_ranked(run, workspace, i);
  look_through(run, workspace, &lanes);
  bisect(run, workspace, &lanes);
  judge(run, &lanes, first);
}

// Returns how many blocks, from the first on, are complete.
static uint64_t solve_all(const struct spread_run *run) {
  const struct simulate_request *request = run->request;
  const int threads = request->threads > 0 ? request->threads : omp_get_max_threads();
  uint64_t next = 0;
  double *workspaces[threads];
  for (int t = 0; t < threads; t++)
    workspaces[t] = response_workspace_new(run->sampler->response);
  while (next < run->blocks && !is_stopped(run)) {
    const uint64_t last = next + ROUND_BLOCKS < run->blocks ? next + ROUND_BLOCKS : run->blocks;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (uint64_t block = next; block < last; block++)
      solve_block(run, workspaces[omp_get_thread_num()], block);
    next = last;
    if (request->progress)
      request->progress(request->progress_data, next, run->blocks);
  }
  for (int t = 0; t < threads; t++)
    response_workspace_free(workspaces[t]);
  return next;
}

// A whole number must be one of those found; other values are interpolated linearly.
static double percentile(const double *sorted, size_t count, double level, bool integer) {
  if (!count)
    return NAN;
  if (!integer)
    return gsl_stats_quantile_from_sorted_data(sorted, 1, count, level);
  const double rank = ceil(level * (double)count) - 1;
  return sorted[rank > 0 ? (size_t)rank : 0];
}

static void sum_up(const struct spread_run *run, struct solve_spread *spread) {
  uint64_t counts[VERDICTS] = {0}, enough = 0;
  size_t found = 0;
  for (uint64_t i = 0; i < spread->done; i++) {
    counts[run->verdicts[i]]++;
    enough += run->enough[i];
    if (run->verdicts[i] == FOUND || run->verdicts[i] == SEVERAL)
      run->roots[found++] = run->roots[i];
  }
  const double done = (double)spread->done;
  spread->found = (double)found / done;
  spread->several = (double)counts[SEVERAL] / done;
  spread->above = (double)counts[ABOVE] / done;
  spread->below = (double)counts[BELOW] / done;
  spread->enough = (double)enough / done;
  sort_ascending(run->roots, found);
  for (int l = 0; l < SIMULATE_LEVELS; l++)
    spread->percentiles[l] =
        percentile(run->roots, found, simulate_levels[l], run->answer->integer);
}

static int check_draws(const struct simulate_request *request, struct diagnostics *diagnostics) {
  if (request->draws >= 1 && request->draws <= MAX_SOLVE_DRAWS)
    return 0;
  diagnostics_error(diagnostics, nowhere, "expected 1 to %" PRIu64 " draws, not %" PRIu64,
                    MAX_SOLVE_DRAWS, request->draws);
  return -1;
}

// The options whose costs are compared, and the sampler of what they need. Returns 0 or -1.
static int start(struct spread_run *run, struct arena *arena, struct diagnostics *diagnostics) {
  const struct solve_answer *answer = run->answer;
  const struct scenario *scenario = answer->scenario;
  int items[SPREAD_ITEMS] = {[SPREAD_COST] = answer->item};
  bool *wanted = arena_array(arena, scenario->option_count * SPREAD_ITEMS, sizeof *wanted);
  const struct fixed_bar *bars = ranking_fixed_bars(scenario, arena);
  run->options[run->option_count++] = answer->option;
  if (answer->matches)
    run->options[run->option_count++] = answer->match;
  for (size_t a = 0; a < RANKING_AMOUNTS; a++)
    items[SPREAD_AMOUNT + a] = model_find(scenario->model, ranking_amounts[a].item);
  for (size_t k = 0; k < run->option_count; k++) {
    const struct option *option = &scenario->options[run->options[k]];
    bool *of_option = wanted + run->options[k] * SPREAD_ITEMS;
    of_option[SPREAD_COST] = true;
    for (size_t a = 0; a < RANKING_AMOUNTS; a++)
      of_option[SPREAD_AMOUNT + a] = ranking_amount_of(scenario, option, &ranking_amounts[a]) >= 0;
    run->barred |= answer->matches && bars[run->options[k]].bar != RANK_FREE;
  }
  const struct sampler_request sample = {.scenario = scenario,
                                         .method = run->request->method,
                                         .seed = run->request->seed,
                                         .replicates = 1,
                                         .items = items,
                                         .item_count = SPREAD_ITEMS,
                                         .wanted = wanted,
                                         .solved = &answer->target};
  run->sampler = sampler_new(&sample, arena, diagnostics);
  return run->sampler ? 0 : -1;
}

const struct solve_spread *solve_spread_ask(const struct solve_answer *answer,
                                            const struct simulate_request *request,
                                            struct arena *arena, struct diagnostics *diagnostics) {
  if (check_draws(request, diagnostics))
    return NULL;
  const size_t draws = (size_t)request->draws;
  struct spread_run run = {.answer = answer,
                           .request = request,
                           .roots = arena_array(arena, draws, sizeof(double)),
                           .verdicts = arena_array(arena, draws, 1),
                           .enough = arena_array(arena, draws, sizeof(bool)),
                           .blocks = (request->draws + VECTOR_BLOCK - 1) / VECTOR_BLOCK};
  if (start(&run, arena, diagnostics))
    return NULL;
  const uint64_t done = solve_all(&run) * VECTOR_BLOCK;
  struct solve_spread *spread = arena_alloc(arena, sizeof *spread);
  *spread = (struct solve_spread){.draws = request->draws,
                                  .done = done < request->draws ? done : request->draws,
                                  .seed = request->seed,
                                  .method = request->method,
                                  .partial = done < request->draws,
                                  .notes = run.sampler->notes,
                                  .note_count = run.sampler->note_count};
  if (spread->done) {
    sum_up(&run, spread);
    return spread;
  }
  diagnostics_error(diagnostics, nowhere, "stopped before the first draw");
  return NULL;
}
