#include "model/simulate/sampler.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/vector.h"
#include "model/chance/distribution.h"
#include "model/chance/sobol.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/scenario.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix_double.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_solved(const struct scenario *scenario, const struct target *solved, size_t option,
                      int declaration) {
  return solved && declaration == solved->declaration && target_moves(scenario, *solved, option);
}

bool sampler_draws_any(const struct scenario *scenario, const struct target *solved) {
  for (size_t o = 0; o < scenario->option_count; o++)
    for (int d = 0; d < scenario->model->count; d++)
      if (option_range(scenario, &scenario->options[o], d) >= 0 &&
          !is_solved(scenario, solved, o, d))
        return true;
  return false;
}

enum { SOLVED = -2 }; // used instead of the number of a range or variable

struct sampler_setup {
  struct sampler *sampler;
  const struct scenario *scenario;
  const struct target *solved;
  int *variables; // for the response request
  int *variable_of_range;
  const char **notes;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static void note(struct sampler_setup *setup, const char *text) {
  setup->notes[setup->sampler->note_count++] = text;
}

// The fate of a stated range.
enum fate { UNUSED, ONLY_SOLVED, DRAWN };

// What follows an input is drawn with it, unless it has a range of its own.
static void draw_followers(struct sampler_setup *setup, size_t o) {
  const int count = setup->scenario->model->count;
  int *variables = &setup->variables[o * (size_t)count];
  for (int d = 0; d < count; d++) {
    const int next = option_follower(setup->scenario, &setup->scenario->options[o], d);
    if (next >= 0 && variables[next] == -1)
      variables[next] = variables[d];
  }
}

// The range as which each input is drawn, and the fate of those stated.
static void find_fates(struct sampler_setup *setup, enum fate *fates) {
  const struct scenario *scenario = setup->scenario;
  size_t count = (size_t)scenario->model->count;
  for (size_t o = 0; o < scenario->option_count; o++) {
    for (size_t d = 0; d < count; d++) {
      const struct option *option = &scenario->options[o];
      int stated = option_stated_range(scenario, option, (int)d);
      bool solved = is_solved(scenario, setup->solved, o, (int)d);
      setup->variables[o * count + d] = solved ? SOLVED : option_range(scenario, option, (int)d);
      if (stated >= 0 && !solved)
        fates[stated] = DRAWN;
      else if (stated >= 0 && fates[stated] == UNUSED)
        fates[stated] = ONLY_SOLVED;
    }
    draw_followers(setup, o);
  }
}

// The keys of the ranges that are drawn as this one: "a.throughput = b.throughput"; NULL for none.
static const char *label_of(const struct sampler_setup *setup, const enum fate *fates, size_t range,
                            struct arena *arena) {
  const struct scenario *scenario = setup->scenario;
  const char *label = NULL;
  for (size_t r = range; r < scenario->range_count; r++)
    if (fates[r] == DRAWN && scenario->ranges[r].drawn_as == range)
      label = label ? arena_printf(arena, "%s = %s", label, scenario->ranges[r].key)
                    : scenario->ranges[r].key;
  return label;
}

// Finds the ranges that some option has, in the order of the file.
static int choose_variables(struct sampler_setup *setup) {
  struct sampler *sampler = setup->sampler;
  const struct scenario *scenario = setup->scenario;
  size_t most = scenario->range_count + 1;
  size_t inputs = scenario->option_count * (size_t)scenario->model->count;
  size_t *ranges = arena_array(setup->arena, most, sizeof *ranges);
  const char **labels = arena_array(setup->arena, most, sizeof *labels);
  enum fate *fates = arena_array(setup->arena, most, sizeof *fates);
  find_fates(setup, fates);
  for (size_t r = 0; r < scenario->range_count; r++) {
    const char *label = label_of(setup, fates, r, setup->arena);
    setup->variable_of_range[r] = label ? sampler->variable_count : -1;
    if (label) {
      labels[sampler->variable_count] = label;
      ranges[sampler->variable_count++] = r;
    }
    if (fates[r] != DRAWN)
      note(setup, arena_printf(setup->arena, "the range of '%s' has no effect: %s",
                               scenario->ranges[r].key,
                               fates[r] == ONLY_SOLVED ? "its value is being solved for"
                                                       : "a case or --set gives its value"));
  }
  for (size_t i = 0; i < inputs; i++)
    if (setup->variables[i] >= 0)
      setup->variables[i] = setup->variable_of_range[setup->variables[i]];
    else if (setup->variables[i] == SOLVED)
      setup->variables[i] = sampler->variable_count;
  sampler->ranges = ranges;
  sampler->variables = setup->variables;
  sampler->labels = labels;
  if (sampler->variable_count)
    return 0;
  diagnostics_error(setup->diagnostics, (struct place){.source = scenario->source},
                    scenario->range_count
                        ? "every ranged input has a fixed value here: there is nothing to draw"
                        : "there is no [range]: there is nothing to draw");
  return -1;
}

// A fleet's mean varies less than one device.
static void note_single_devices(struct sampler_setup *setup) {
  const struct sampler *sampler = setup->sampler;
  for (int v = 0; v < sampler->variable_count; v++) {
    const struct distribution *drawn = &setup->scenario->ranges[sampler->ranges[v]].distribution;
    if (drawn->kind == DISTRIBUTION_MEASURED && drawn->atom_count)
      note(setup,
           arena_printf(setup->arena,
                        "%s is the figure of one device, drawn for all accelerators: ±%.2g %% "
                        "between devices",
                        sampler->labels[v], 100 * drawn->spread));
  }
}

// The share of draws below a value.
static double share_below(const struct distribution *distribution, double value) {
  enum { HALVINGS = 40 };
  double low = 0, high = 1, shares[VECTOR_BLOCK], values[VECTOR_BLOCK];
  for (int i = 0; i < HALVINGS; i++) {
    for (size_t k = 0; k < VECTOR_BLOCK; k++)
      shares[k] = (low + high) / 2;
    distribution_quantiles(distribution, shares, values);
    *(values[0] < value ? &low : &high) = shares[0];
  }
  return high;
}

// What a limit moved inwards, or a tail cut off at one, leaves out.
#define NO_SHARE 1e-5

// The limits of what is drawn as a variable in any option; a longer horizon has room, by
// sampler_periods. *declaration: the input.
static struct limits limits_of(const struct sampler_setup *setup, int variable, int *declaration) {
  const struct scenario *scenario = setup->scenario;
  const size_t count = (size_t)scenario->model->count;
  struct limits all = {-INFINITY, INFINITY};
  for (size_t i = 0; i < count * scenario->option_count; i++) {
    if (setup->variables[i] != variable)
      continue;
    const struct target target = {(int)(i % count), (int)(i / count)};
    const struct limits limits = target_answered(scenario, target);
    *declaration = target.declaration;
    all.low = fmax(all.low, limits.low);
    all.high = fmin(all.high, limits.high);
  }
  if (*declaration == model_find(scenario->model, "horizon"))
    all.high = INFINITY;
  return all;
}

// Notes the ranges that reach values with which the scenario would be refused.
static void note_refused(struct sampler_setup *setup) {
  const struct scenario *scenario = setup->scenario;
  for (int v = 0; v < setup->sampler->variable_count; v++) {
    const struct distribution *drawn = &scenario->ranges[setup->sampler->ranges[v]].distribution;
    int d = 0;
    const struct limits limits = limits_of(setup, v, &d);
    const bool below = drawn->low<limits.low, above = drawn->high> limits.high;
    const double share = (below ? share_below(drawn, limits.low) : 0) +
                         (above ? 1 - share_below(drawn, limits.high) : 0);
    if (share < NO_SHARE)
      continue;
    note(setup,
         arena_printf(setup->arena,
                      "%.2g %% of the range of '%s' is %s %s, where compare gives no answer",
                      100 * share, setup->sampler->labels[v], below ? "below" : "above",
                      quantity_rounded(below ? limits.low : limits.high,
                                       &scenario->model->declarations[d].unit, 4, setup->arena)));
  }
}

int sampler_periods(const struct scenario *scenario) {
  int horizon = model_find(scenario->model, "horizon"), periods = scenario->periods;
  for (size_t r = 0; r < scenario->range_count; r++) {
    if (scenario->ranges[r].declaration != horizon)
      continue;
    int needed = scenario_columns(scenario, scenario->ranges[r].distribution.high);
    periods = needed > periods ? needed : periods;
  }
  return periods;
}

static double rank_between(const struct sampler_setup *setup, size_t a, size_t b) {
  const struct scenario *scenario = setup->scenario;
  for (size_t c = 0; c < scenario->correlation_count; c++)
    if (scenario->correlations[c].a == a && scenario->correlations[c].b == b)
      return scenario->correlations[c].rank;
  return 0;
}

static int find_factor(const struct sampler_setup *setup, struct sample_group *group) {
  size_t n = (size_t)group->count;
  double *factor = arena_array(setup->arena, n * n, sizeof *factor);
  gsl_matrix_view matrix = gsl_matrix_view_array(factor, n, n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      size_t a = setup->sampler->ranges[group->variables[i < j ? i : j]];
      size_t b = setup->sampler->ranges[group->variables[i < j ? j : i]];
      double r = correlation_of_normals(rank_between(setup, a, b)) * CORRELATION_SHRINK;
      gsl_matrix_set(&matrix.matrix, i, j, i == j ? 1 : r);
    }
  group->factor = factor;
  return gsl_linalg_cholesky_decomp1(&matrix.matrix) ? -1 : 0;
}

// The lowest-numbered variable to which each one is connected by correlations.
static void find_roots(const struct sampler_setup *setup, int *roots) {
  const struct scenario *scenario = setup->scenario;
  int count = setup->sampler->variable_count;
  for (int v = 0; v < count; v++)
    roots[v] = v;
  for (size_t c = 0; c < scenario->correlation_count; c++) {
    int a = setup->variable_of_range[scenario->correlations[c].a];
    int b = setup->variable_of_range[scenario->correlations[c].b];
    if (a < 0 || b < 0)
      continue;
    int keep = roots[a] < roots[b] ? roots[a] : roots[b];
    int drop = roots[a] < roots[b] ? roots[b] : roots[a];
    for (int v = 0; v < count; v++)
      roots[v] = roots[v] == drop ? keep : roots[v];
  }
}

static int find_groups(struct sampler_setup *setup) {
  struct sampler *sampler = setup->sampler;
  size_t count = (size_t)sampler->variable_count;
  int *roots = arena_array(setup->arena, count, sizeof *roots);
  struct sample_group *groups = arena_array(setup->arena, count, sizeof *groups);
  find_roots(setup, roots);
  for (int v = 0; v < sampler->variable_count; v++) {
    if (roots[v] != v)
      continue;
    int *members = arena_array(setup->arena, count, sizeof *members);
    struct sample_group *group = &groups[sampler->group_count++];
    *group = (struct sample_group){.label = "", .variables = members};
    for (int w = v; w < sampler->variable_count; w++) {
      if (roots[w] != v)
        continue;
      group->label = arena_printf(setup->arena, "%s%s%s", group->label, group->count ? ", " : "",
                                  sampler->labels[w]);
      members[group->count++] = w;
    }
    if (group->count > 1 && find_factor(setup, group))
      return -1;
  }
  sampler->groups = groups;
  return 0;
}

static void start_streams(struct sampler_setup *setup) {
  struct sampler *sampler = setup->sampler;
  size_t per_replicate = (size_t)sampler->variable_count, replicates = sampler->replicates + 1;
  struct draw_stream *streams =
      arena_array(setup->arena, SAMPLE_SIDES * replicates * per_replicate, sizeof *streams);
  struct draw_stream *next = streams;
  for (int side = 0; side < SAMPLE_SIDES; side++)
    for (unsigned replicate = 0; replicate < replicates; replicate++)
      for (size_t v = 0; v < per_replicate; v++) {
        const char *key = setup->scenario->ranges[sampler->ranges[v]].key;
        // No key of an INI file contains a line end.
        const char *name = side == SAMPLE_FIRST && replicate < sampler->replicates
                               ? key
                               : arena_printf(setup->arena, "%s\n%d", key, side);
        int number = (int)sampler->ranges[v];
        int dimension =
            number < DRAW_DIMENSIONS ? number + side * DRAW_DIMENSIONS : SOBOL_DIMENSIONS;
        draw_stream_start(next++, sampler->method, sampler->seed, name, dimension, replicate);
      }
  sampler->streams = streams;
  if (sampler->method == DRAW_SOBOL && setup->scenario->range_count > DRAW_DIMENSIONS)
    note(setup,
         arena_printf(
             setup->arena,
             "the Sobol sequence covers the first %d ranges; the remaining %zu are drawn at random",
             DRAW_DIMENSIONS, setup->scenario->range_count - DRAW_DIMENSIONS));
}

static int prepare_distributions(const struct sampler_setup *setup) {
  for (int v = 0; v < setup->sampler->variable_count; v++) {
    struct range *range = &setup->scenario->ranges[setup->sampler->ranges[v]];
    // The distribution stays prepared for every later sampler of the scenario.
    if (distribution_prepare(&range->distribution, range->place, setup->scenario->model->arena,
                             setup->diagnostics))
      return -1;
  }
  return 0;
}

const struct sampler *sampler_new(const struct sampler_request *request, struct arena *arena,
                                  struct diagnostics *diagnostics) {
  gsl_set_error_handler_off();
  const struct scenario *scenario = request->scenario;
  struct sampler *sampler = arena_alloc(arena, sizeof *sampler);
  *sampler = (struct sampler){.scenario = scenario,
                              .method = request->method,
                              .seed = request->seed,
                              .replicates = request->replicates};
  struct sampler_setup setup = {.sampler = sampler,
                                .scenario = scenario,
                                .solved = request->solved,
                                .arena = arena,
                                .diagnostics = diagnostics};
  size_t inputs = scenario->option_count * (size_t)scenario->model->count;
  setup.variables = arena_array(arena, inputs, sizeof *setup.variables);
  setup.variable_of_range =
      arena_array(arena, scenario->range_count + 1, sizeof *setup.variable_of_range);
  setup.notes = arena_array(arena, 3 * scenario->range_count + 2, sizeof *setup.notes);
  sampler->notes = setup.notes;
  if (choose_variables(&setup) || find_groups(&setup) || prepare_distributions(&setup))
    return NULL;
  note_single_devices(&setup);
  note_refused(&setup);
  start_streams(&setup);
  struct response_request wanted = {.scenario = scenario,
                                    .periods = sampler_periods(scenario),
                                    .variables = setup.variables,
                                    .variable_count =
                                        sampler->variable_count + (request->solved ? 1 : 0),
                                    .late_variables = request->solved ? 1 : 0,
                                    .items = request->items,
                                    .item_count = request->item_count,
                                    .wanted = request->wanted};
  sampler->response = response_new(&wanted, arena, diagnostics);
  return sampler->response ? sampler : NULL;
}

// The share of each draw's distribution that lies below it, before correlation.
static void uniforms_of(const struct sampler *sampler, enum sample_side side, unsigned replicate,
                        uint64_t first, int variable, double *u) {
  size_t row = (size_t)side * (sampler->replicates + 1) + replicate;
  draw_uniforms(&sampler->streams[row * (size_t)sampler->variable_count + (size_t)variable], first,
                u);
}

// Correlates the variables of a group, from the last one to the first, as each needs only itself
// and those before it.
VECTOR_CLONES static void correlate(const struct sample_group *group, double *const *normals) {
  for (int i = group->count - 1; i >= 0; i--) {
    const double *row = group->factor + (size_t)i * (size_t)group->count;
    double *out = normals[i];
#pragma omp simd
    for (int k = 0; k < VECTOR_BLOCK; k++)
      out[k] = row[i] * out[k];
    for (int j = 0; j < i; j++) {
      const double *other = normals[j];
#pragma omp simd
      for (int k = 0; k < VECTOR_BLOCK; k++)
        out[k] += row[j] * other[k];
    }
  }
}

// Keeps shares in the far tails from rounding to 0 or 1, for which no distribution has a quantile.
VECTOR_CLONES static void keep_inside(double *u) {
#pragma omp simd
  for (int k = 0; k < VECTOR_BLOCK; k++)
    u[k] = u[k] < 0x1p-53 ? 0x1p-53 : u[k] > 1 - 0x1p-53 ? 1 - 0x1p-53 : u[k];
}

static void draw_group(const struct sampler *sampler, const struct sample_group *group,
                       enum sample_side side, unsigned replicate, uint64_t first, double *values) {
  double *vectors[group->count];
  for (int i = 0; i < group->count; i++) {
    vectors[i] = values + (size_t)group->variables[i] * VECTOR_BLOCK;
    uniforms_of(sampler, side, replicate, first, group->variables[i], vectors[i]);
    if (group->count > 1)
      normal_quantiles(vectors[i], vectors[i]);
  }
  if (group->count > 1)
    correlate(group, vectors);
  for (int i = 0; i < group->count; i++) {
    const struct range *range = &sampler->scenario->ranges[sampler->ranges[group->variables[i]]];
    double u[VECTOR_BLOCK];
    if (group->count > 1) {
      normal_shares(vectors[i], u);
      keep_inside(u);
    } else
      memcpy(u, vectors[i], sizeof u);
    distribution_quantiles(&range->distribution, u, vectors[i]);
  }
}

void sampler_draw(const struct sampler *sampler, enum sample_side side, unsigned replicate,
                  uint64_t first, double *values) {
  for (size_t g = 0; g < sampler->group_count; g++)
    draw_group(sampler, &sampler->groups[g], side, replicate, first, values);
}
