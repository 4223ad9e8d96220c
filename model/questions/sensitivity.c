#include "model/questions/sensitivity.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/vector.h"
#include "model/chance/distribution.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/scenario.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The option whose saving is examined.
static int choose_option(const struct scenario *scenario, const char *id, size_t *out,
                         struct diagnostics *diagnostics) {
  if (id)
    return option_named(scenario, id, nowhere, out, diagnostics);
  *out = ranking_contender(scenario);
  return 0;
}

static double saving_of(const double *costs, size_t option, size_t baseline) {
  return option == baseline ? NAN : cost_saving(costs[option], costs[baseline]);
}

static double clip(double value, struct limits limits, bool *clipped) {
  const double inside = fmin(fmax(value, limits.low), limits.high);
  *clipped = *clipped || inside != value;
  return inside;
}

// A whole number moves by at least one.
static double whole(double value, double base, int sign) {
  const double rounded = round(value);
  return rounded == base ? base + sign : rounded;
}

// The range as which the target's input is drawn in the first option that it moves, or -1.
static int range_of(const struct scenario *scenario, struct target target) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (target_moves(scenario, target, o))
      return option_range(scenario, &scenario->options[o], target.declaration);
  return -1;
}

bool swing_moves(const struct scenario *scenario, const struct swing *swing, size_t option) {
  const int d = swing->target.declaration;
  return target_moves(scenario, swing->target, option) ||
         (swing->range >= 0 && swing->target.option >= 0 &&
          option_range(scenario, &scenario->options[option], d) == swing->range);
}

// The name of a swing: its target and, if that is an option's own, the others that move with it.
static const char *name_of(const struct scenario *scenario, const struct swing *swing,
                           struct arena *arena) {
  const char *name = target_name(scenario, swing->target, arena);
  for (size_t o = 0; o < scenario->option_count && swing->range >= 0; o++) {
    const struct target other = {swing->target.declaration, (int)o};
    if (swing_moves(scenario, swing, o) && !target_moves(scenario, swing->target, o) &&
        target_moves(scenario, other, o))
      name = arena_printf(arena, "%s = %s", name, target_name(scenario, other, arena));
  }
  return name;
}

static bool is_among(const struct sensitivity *sensitivity, const struct swing *swing) {
  for (size_t i = 0; i < sensitivity->count; i++)
    if (swing->range >= 0 && swing->target.option >= 0 &&
        sensitivity->swings[i].target.declaration == swing->target.declaration &&
        sensitivity->swings[i].range == swing->range)
      return true;
  return false;
}

// The 5th and 95th percentile.
static int set_ranged_ends(struct swing *swing, const struct range *range, struct arena *arena,
                           struct diagnostics *diagnostics) {
  double shares[VECTOR_BLOCK], values[VECTOR_BLOCK];
  struct distribution distribution = range->distribution;
  if (distribution_prepare(&distribution, range->place, arena, diagnostics))
    return -1;
  for (size_t i = 0; i < VECTOR_BLOCK; i++)
    shares[i] = i % 2 ? 0.95 : 0.05;
  distribution_quantiles(&distribution, shares, values);
  swing->low.value = values[0];
  swing->high.value = values[1];
  swing->ranged = true;
  return 0;
}

static void set_ends(struct swing *swing, const struct scenario *scenario, double share) {
  const bool integer = target_input(scenario, swing->target)->integer;
  const struct limits limits = target_limits(scenario, swing->target);
  const double reach = share * fabs(swing->base);
  double low = swing->base - reach, high = swing->base + reach;
  if (integer) {
    low = whole(low, swing->base, -1);
    high = whole(high, swing->base, +1);
  }
  swing->low.value = clip(low, limits, &swing->clipped);
  swing->high.value = clip(high, limits, &swing->clipped);
}

static double effect_of(const struct sensitivity *sensitivity, const struct swing *swing) {
  const size_t option = sensitivity->option;
  if (!sensitivity->of_saving)
    return fabs(swing->high.costs[option] - swing->low.costs[option]);
  return fabs(swing->high.saving - swing->low.saving);
}

static double cost_in(const struct sensitivity *sensitivity, const struct evaluation *block,
                      size_t column) {
  return evaluation_at(block, sensitivity->item, 0)[column];
}

// Both ends of the swings that move an option are columns of one block; the last column is the
// unchanged option, for the other swings.
static void evaluate_option(struct sensitivity *sensitivity, size_t o) {
  const struct scenario *scenario = sensitivity->scenario;
  const struct option *option = &scenario->options[o];
  struct arena scratch = {NULL};
  bool *moves = arena_array(&scratch, sensitivity->count, sizeof *moves);
  size_t moving = 0;
  for (size_t i = 0; i < sensitivity->count; i++)
    moving += moves[i] = swing_moves(scenario, &sensitivity->swings[i], o);
  struct evaluation *block = evaluation_like(option->evaluation, 2 * moving + 1, &scratch);
  for (int d = 0; d < scenario->model->count; d++)
    for (size_t c = 0; c <= 2 * moving && option->graph->state[d] == GRAPH_INPUT; c++)
      evaluation_at(block, d, 0)[c] = evaluation_at(option->evaluation, d, 0)[scenario->selected];
  for (size_t i = 0, c = 0; i < sensitivity->count; i++)
    if (moves[i]) {
      const struct swing *swing = &sensitivity->swings[i];
      evaluation_at(block, swing->target.declaration, 0)[c++] = swing->low.value;
      evaluation_at(block, swing->target.declaration, 0)[c++] = swing->high.value;
    }
  evaluate(block);
  for (size_t i = 0, c = 0; i < sensitivity->count; i++) {
    struct swing *swing = &sensitivity->swings[i];
    swing->low.costs[o] = cost_in(sensitivity, block, moves[i] ? c++ : 2 * moving);
    swing->high.costs[o] = cost_in(sensitivity, block, moves[i] ? c++ : 2 * moving);
  }
  arena_free(&scratch);
}

static void evaluate_swings(struct sensitivity *sensitivity, struct arena *arena) {
  const struct scenario *scenario = sensitivity->scenario;
  const size_t options = scenario->option_count;
  for (size_t i = 0; i < sensitivity->count; i++) {
    sensitivity->swings[i].low.costs = arena_array(arena, options, sizeof(double));
    sensitivity->swings[i].high.costs = arena_array(arena, options, sizeof(double));
  }
  for (size_t o = 0; o < options; o++)
    evaluate_option(sensitivity, o);
  for (size_t i = 0; i < sensitivity->count; i++) {
    struct swing *swing = &sensitivity->swings[i];
    swing->low.saving = saving_of(swing->low.costs, sensitivity->option, scenario->baseline);
    swing->high.saving = saving_of(swing->high.costs, sensitivity->option, scenario->baseline);
    swing->effect = effect_of(sensitivity, swing);
  }
}

// Orders swings by their effect. NaN counts as the largest: it must not be hidden at the end.
static int by_effect(const void *a, const void *b) {
  const struct swing *left = a, *right = b;
  const double x = isnan(left->effect) ? INFINITY : left->effect;
  const double y = isnan(right->effect) ? INFINITY : right->effect;
  if (x != y)
    return x < y ? 1 : -1;
  if (left->target.declaration != right->target.declaration)
    return left->target.declaration - right->target.declaration;
  return left->target.option - right->target.option;
}

bool sensitivity_is_of_saving(const struct scenario *scenario, size_t option, int item) {
  return option != scenario->baseline &&
         option_may_save(scenario, &scenario->options[option], item);
}

const struct sensitivity *sensitivity_ask(const struct scenario *scenario, const char *option,
                                          double share, struct arena *arena,
                                          struct diagnostics *diagnostics) {
  struct sensitivity *sensitivity = arena_alloc(arena, sizeof *sensitivity);
  *sensitivity = (struct sensitivity){.scenario = scenario, .share = share};
  sensitivity->item = model_require(scenario->model, "cost_per_mtok", diagnostics);
  if (sensitivity->item < 0 || choose_option(scenario, option, &sensitivity->option, diagnostics))
    return NULL;
  sensitivity->of_saving =
      sensitivity_is_of_saving(scenario, sensitivity->option, sensitivity->item);
  size_t targets;
  const struct target *all = targets_of(scenario, &targets, arena);
  const char **still = arena_array(arena, targets, sizeof *still);
  sensitivity->swings = arena_array(arena, targets, sizeof *sensitivity->swings);
  const bool many = targets * scenario->option_count > MAX_SWING_COSTS;
  for (size_t i = 0; i < targets; i++) {
    struct swing swing = {.target = all[i], .range = range_of(scenario, all[i])};
    if (many && !swing_moves(scenario, &swing, sensitivity->option) &&
        !swing_moves(scenario, &swing, scenario->baseline)) {
      sensitivity->aside++;
      continue;
    }
    swing.base = target_value(scenario, all[i]);
    swing.name = name_of(scenario, &swing, arena);
    if ((swing.range < 0 && target_input(scenario, all[i])->property) ||
        is_among(sensitivity, &swing))
      continue;
    if (swing.range < 0 && swing.base == 0) {
      still[sensitivity->still_count++] = swing.name;
      continue;
    }
    if (swing.range < 0)
      set_ends(&swing, scenario, share);
    else if (set_ranged_ends(&swing, &scenario->ranges[swing.range], arena, diagnostics))
      return NULL;
    sensitivity->swings[sensitivity->count++] = swing;
  }
  sensitivity->still = still;
  evaluate_swings(sensitivity, arena);
  qsort(sensitivity->swings, sensitivity->count, sizeof *sensitivity->swings, by_effect);
  return sensitivity;
}

// The three numbers of "0:30:2%", in base units.
struct steps {
  double low, high, step;
};

static int refuse_axis(const char *text, const char *why, struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, nowhere,
                    "in the grid's '%s': %s; expected INPUT=LOW:HIGH:STEP, as in "
                    "mi325x.discount=0:30:2%%",
                    text, why);
  return -1;
}

static int fill_axis(const struct scenario *scenario, const char *text, struct steps steps,
                     struct axis *axis, struct arena *arena, struct diagnostics *diagnostics) {
  const struct limits limits = target_answered(scenario, axis->target);
  if (!(steps.step > 0) || steps.high < steps.low)
    return refuse_axis(text, "it must rise in steps above zero", diagnostics);
  const bool whole_steps = steps.low == round(steps.low) && steps.step == round(steps.step);
  if (target_input(scenario, axis->target)->integer && !whole_steps)
    return refuse_axis(text, "every value must be a whole number", diagnostics);
  if (steps.low < limits.low || steps.high > limits.high)
    return refuse_axis(text, "it exceeds the input's allowed range", diagnostics);
  const double count = floor((steps.high - steps.low) / steps.step * (1 + 1e-12) + 1e-9) + 1;
  if (count > MAX_GRID_CELLS)
    return refuse_axis(text, "too many steps", diagnostics);
  axis->count = (size_t)count;
  axis->values = arena_array(arena, axis->count, sizeof *axis->values);
  for (size_t i = 0; i < axis->count; i++)
    axis->values[i] = fmin(steps.low + (double)i * steps.step, steps.high);
  if (steps.high - axis->values[axis->count - 1] > 1e-6 * steps.step)
    diagnostics_warning(diagnostics, nowhere,
                        "in the grid's '%s': the steps miss the upper end, which is left out",
                        text);
  return 0;
}

static int read_axis(const struct scenario *scenario, const char *text, struct axis *axis,
                     struct arena *arena, struct diagnostics *diagnostics) {
  const char *equals = strchr(text, '=');
  if (!equals)
    return refuse_axis(text, "there is no '='", diagnostics);
  axis->name = arena_copy_n(arena, text, (size_t)(equals - text));
  if (target_find(scenario, axis->name, nowhere, &axis->target, diagnostics))
    return -1;
  double steps[3];
  struct place place = source_text_start("--grid", text, arena);
  place.column += (int)(equals + 1 - text);
  const struct unit *unit = &target_input(scenario, axis->target)->unit;
  const int failed = quantity_parse_series(equals + 1, ":", place, unit, steps, 3, diagnostics);
  if (failed > 0)
    return refuse_axis(text, "three numbers are needed", diagnostics);
  const struct steps in_base = {steps[0], steps[1], steps[2]};
  return failed ? -1 : fill_axis(scenario, text, in_base, axis, arena, diagnostics);
}

static int read_axes(struct cost_grid *grid, const char *text, struct arena *arena,
                     struct diagnostics *diagnostics) {
  grid->cells = 1;
  while (text) {
    const char *comma = strchr(text, ',');
    if (grid->axis_count == MAX_GRID_AXES) {
      diagnostics_error(diagnostics, nowhere, "a grid has at most %d inputs", MAX_GRID_AXES);
      return -1;
    }
    const char *one = comma ? arena_copy_n(arena, text, (size_t)(comma - text)) : text;
    struct axis *axis = &grid->axes[grid->axis_count++];
    if (read_axis(grid->scenario, one, axis, arena, diagnostics))
      return -1;
    grid->cells *= axis->count;
    text = comma ? comma + 1 : NULL;
  }
  if (grid->axis_count == 2 &&
      grid->axes[0].target.declaration == grid->axes[1].target.declaration &&
      grid->axes[0].target.option == grid->axes[1].target.option) {
    diagnostics_error(diagnostics, nowhere, "'%s' is on both axes of the grid", grid->axes[0].name);
    return -1;
  }
  if (grid->cells <= MAX_GRID_CELLS)
    return 0;
  diagnostics_error(diagnostics, nowhere, "a grid of %zu cells is too large, at most %d",
                    grid->cells, MAX_GRID_CELLS);
  return -1;
}

const struct cost_grid *cost_grid_ask(const struct scenario *scenario, const char *option,
                                      const char *axes, struct arena *arena,
                                      struct diagnostics *diagnostics) {
  struct cost_grid *grid = arena_alloc(arena, sizeof *grid);
  *grid = (struct cost_grid){.scenario = scenario};
  grid->item = model_require(scenario->model, "cost_per_mtok", diagnostics);
  if (grid->item < 0 || choose_option(scenario, option, &grid->option, diagnostics) ||
      read_axes(grid, axes, arena, diagnostics))
    return NULL;
  struct variation *variation = variation_new(scenario, grid->cells, arena);
  const size_t inner = grid->axis_count == 2 ? grid->axes[1].count : 1;
  assert(grid->axes[0].values); // as read_axes leaves them
  for (size_t i = 0; i < grid->cells; i++) {
    variation_set(variation, grid->axes[0].target, i, grid->axes[0].values[i / inner]);
    if (grid->axis_count == 2)
      variation_set(variation, grid->axes[1].target, i, grid->axes[1].values[i % inner]);
  }
  variation_evaluate(variation);
  const size_t options = scenario->option_count;
  grid->costs = arena_array(arena, options * grid->cells, sizeof *grid->costs);
  for (size_t o = 0; o < options; o++)
    for (size_t i = 0; i < grid->cells; i++)
      grid->costs[o * grid->cells + i] = variation_item(variation, o, grid->item, i);
  if (grid->option == scenario->baseline)
    return grid;
  grid->saving = arena_array(arena, grid->cells, sizeof *grid->saving);
  for (size_t i = 0; i < grid->cells; i++)
    grid->saving[i] = cost_saving(grid->costs[grid->option * grid->cells + i],
                                  grid->costs[scenario->baseline * grid->cells + i]);
  return grid;
}
