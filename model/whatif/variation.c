#include "model/whatif/variation.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/reading/tiers.h"
#include "model/scenario/sources/quoted_sums.h"
#include "model/whatif/exclusion.h"

#include <math.h>
#include <string.h>

// The option to which the input belongs.
static size_t owner_of(const struct scenario *scenario, size_t option, int declaration) {
  const struct option *of = &scenario->options[option];
  return option_is_lent(of, declaration) ? of->lender : option;
}

static const struct figure *selected_figure(const struct scenario *scenario, size_t option,
                                            int declaration) {
  return option_figure(scenario, &scenario->options[option], scenario->selected, declaration);
}

static bool is_given(const struct scenario *scenario, size_t option, int declaration) {
  return scenario->options[option].graph->state[declaration] == GRAPH_INPUT &&
         selected_figure(scenario, option, declaration)->origin != ORIGIN_RENT;
}

static bool is_contained(const struct scenario *scenario, size_t option, int declaration) {
  return is_given(scenario, option, declaration) &&
         selected_figure(scenario, option, declaration)->contained;
}

static bool may_be_input(const struct scenario *scenario, size_t option, int declaration) {
  return is_given(scenario, option, declaration) && !is_contained(scenario, option, declaration);
}

static bool is_input(const struct scenario *scenario, size_t option, int declaration) {
  return may_be_input(scenario, option, declaration) && !scenario->finds[declaration] &&
         exclusion_by(scenario, &scenario->options[option], declaration) < 0;
}

bool target_would_spread(const struct scenario *scenario, int declaration) {
  if (!scenario->model->declarations[declaration].family &&
      !quoted_sums_is_sum(scenario->model, declaration))
    return false;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (option_is_owned(&scenario->options[o]) && !option_has(&scenario->options[o], declaration))
      return true;
  return false;
}

// Stated or found for this option alone, or there for it and not for others.
static bool is_own_in(const struct scenario *scenario, size_t which_case, size_t option,
                      int declaration) {
  const struct option *of = &scenario->options[option];
  return figure_is_own(option_figure(scenario, of, which_case, declaration)) ||
         option_scales_own(scenario, of, which_case, declaration) ||
         target_would_spread(scenario, declaration);
}

static bool is_own(const struct scenario *scenario, size_t option, int declaration) {
  return is_own_in(scenario, scenario->selected, option, declaration);
}

bool target_moves(const struct scenario *scenario, struct target target, size_t option) {
  option = owner_of(scenario, option, target.declaration);
  const bool may = target.option >= 0 ? (size_t)target.option == option
                                      : !is_own(scenario, option, target.declaration);
  return may && is_input(scenario, option, target.declaration);
}

bool target_is_steady(const struct scenario *scenario, struct target target) {
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (target.option >= 0 && (size_t)target.option != o)
      continue;
    const bool own = is_own(scenario, o, target.declaration);
    for (size_t c = 0; c < scenario->case_count; c++)
      if (is_input(scenario, o, target.declaration) &&
          is_own_in(scenario, c, o, target.declaration) != own)
        return false;
  }
  return true;
}

// The index of the first option that rules out the target by what it gives, or a common target by
// what all options give; or -1.
static long excluded_in(const struct scenario *scenario, struct target target) {
  const int d = target.declaration;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const bool reaches = target.option < 0 ? !is_own(scenario, o, d) : (size_t)target.option == o;
    const int by = reaches && may_be_input(scenario, o, d) ? exclusion_by(scenario, option, d) : -1;
    if (by >= 0 && (target.option >= 0 || exclusion_in_common(scenario, option, d, by)))
      return (long)o;
  }
  return -1;
}

static bool moves_any(const struct scenario *scenario, struct target target) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (target_moves(scenario, target, o))
      return excluded_in(scenario, target) < 0;
  return false;
}

const struct declaration *target_input(const struct scenario *scenario, struct target target) {
  return &scenario->model->declarations[target.declaration];
}

const char *target_name(const struct scenario *scenario, struct target target,
                        struct arena *arena) {
  const char *name = target_input(scenario, target)->name;
  if (target.option < 0)
    return name;
  return arena_printf(arena, "%s.%s", scenario->options[target.option].id, name);
}

static int unknown_input(const struct scenario *scenario, const char *name, struct place place,
                         struct diagnostics *diagnostics) {
  const char *nearest = model_nearest(scenario->model, name, true, diagnostics->arena);
  if (nearest)
    diagnostics_error(diagnostics, place, "unknown input '%s'; did you mean '%s'?", name, nearest);
  else
    diagnostics_error(diagnostics, place, "unknown input '%s'", name);
  return -1;
}

static int find_input(const struct scenario *scenario, const char *name, struct place place,
                      int *declaration, struct diagnostics *diagnostics) {
  const int d = model_find(scenario->model, name);
  if (d < 0)
    return unknown_input(scenario, name, place, diagnostics);
  const struct declaration *input = &scenario->model->declarations[d];
  if (input->kind != DECLARATION_INPUT) {
    diagnostics_error(diagnostics, place, "'%s' is computed, not an input", name);
    return -1;
  }
  if (input->choice_count) {
    diagnostics_error(diagnostics, place, "'%s' is a choice, not a quantity", name);
    return -1;
  }
  *declaration = d;
  return 0;
}

int option_named(const struct scenario *scenario, const char *id, struct place place, size_t *out,
                 struct diagnostics *diagnostics) {
  const int option = scenario_option(scenario, id);
  if (option >= 0) {
    *out = (size_t)option;
    return 0;
  }
  diagnostics_error(diagnostics, place, "no option '%s' in '%s'%s", id, scenario->path,
                    scenario_option_hint(scenario, id, diagnostics->arena));
  return -1;
}

// "h200.discount, mi325x.discount": possible meanings of an input that no option takes in common.
static const char *own_names(const struct scenario *scenario, int declaration,
                             struct arena *arena) {
  const char *text = "";
  for (size_t o = 0; o < scenario->option_count; o++)
    if (is_input(scenario, o, declaration) && owner_of(scenario, o, declaration) == o)
      text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
                          target_name(scenario, (struct target){declaration, (int)o}, arena));
  return text;
}

static bool concerns(struct target target, size_t option) {
  return target.option < 0 || (size_t)target.option == option;
}

// The number of years that an option has of the target's list in some case, so that its scale or
// one of its years can vary.
static size_t years_of(const struct scenario *scenario, struct target target) {
  size_t most = 0;
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count && concerns(target, o); c++) {
      const size_t count =
          option_figure(scenario, &scenario->options[o], c, target.declaration)->year_count;
      most = count > most ? count : most;
    }
  return most;
}

// A single value is a list of one if it has a range in %.
static void refuse_list(const struct scenario *scenario, struct target target, size_t years,
                        struct place place, struct diagnostics *diagnostics) {
  const struct declaration *input = target_input(scenario, target);
  const char *first = scenario->model->declarations[input->years[0]].name;
  if (years == 1)
    diagnostics_error(diagnostics, place,
                      "'%s' has a range in %%: use %s for its value, or %s_scale", input->name,
                      first, input->name);
  else
    diagnostics_error(diagnostics, place,
                      "'%s' is a list %s: use %s_scale for the whole list, or %s", input->name,
                      input->ages ? "by age" : step_words(input->step_h, diagnostics->arena),
                      input->name, first);
}

static void refuse_excluded(const struct scenario *scenario, struct target target, size_t o,
                            struct place place, struct diagnostics *diagnostics) {
  const struct option *option = &scenario->options[o];
  const int by = exclusion_by(scenario, option, target.declaration);
  const struct declaration *other = &scenario->model->declarations[by];
  const bool is_list = selected_figure(scenario, o, by)->year_count > 1;
  diagnostics_error(diagnostics, place, "option '%s' has '%s'%s, which excludes '%s'", option->id,
                    other->name,
                    is_list ? arena_printf(diagnostics->arena, " as a list %s",
                                           step_words(other->step_h, diagnostics->arena))
                            : "",
                    target_input(scenario, target)->name);
}

static bool contains_any(const struct scenario *scenario, int declaration) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (is_contained(scenario, o, declaration))
      return true;
  return false;
}

static int refuse_contained(const char *name, struct place place, struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, place,
                    "'%s' has no effect of its own: it is part of the power of the whole node, "
                    "which was measured",
                    name);
  return -1;
}

// " from volume tiers: its order reaches 'discount_tier_2', which can be varied", of a discount
// that has them in some case; "" otherwise.
static const char *tier_reached(const struct scenario *scenario, struct target target,
                                struct arena *arena) {
  const struct option *option = &scenario->options[target.option];
  const struct declaration *input = target_input(scenario, target);
  const char *name = NULL;
  for (int tier = 1; input->tiers; tier++) {
    const int discounted = model_find(scenario->model, arena_printf(arena, "discounted_%d", tier));
    const int discount =
        model_find(scenario->model, arena_printf(arena, "%s_tier_%d", input->name, tier));
    if (discounted < 0 || discount < 0 || option->graph->state[discounted] < 0 ||
        option->graph->state[discount] != GRAPH_INPUT ||
        !(option_value(scenario, option, discounted, 0) > 0))
      break;
    name = scenario->model->declarations[discount].name;
  }
  return name ? arena_printf(
                    arena, " from volume tiers: its order reaches '%s', which can be varied", name)
              : "";
}

static int refuse_still(const struct scenario *scenario, struct target target, struct place place,
                        struct diagnostics *diagnostics) {
  const char *name = target_input(scenario, target)->name;
  const char *fixed = scenario_why_fixed(scenario, target.declaration, diagnostics->arena);
  if (fixed) {
    diagnostics_error(diagnostics, place, "'%s' is not varied alone: %s", name, fixed);
    return -1;
  }
  const size_t years = years_of(scenario, target);
  if (years) {
    refuse_list(scenario, target, years, place, diagnostics);
    return -1;
  }
  const long excluded = excluded_in(scenario, target);
  if (excluded >= 0) {
    refuse_excluded(scenario, target, (size_t)excluded, place, diagnostics);
    return -1;
  }
  if (target.option >= 0) {
    const struct option *option = &scenario->options[target.option];
    if (option_is_lent(option, target.declaration)) {
      diagnostics_error(diagnostics, place, "option '%s' uses the tokens of '%s': use %s.%s",
                        option->id, scenario->options[option->lender].id,
                        scenario->options[option->lender].id, name);
      return -1;
    }
    const int state = option->graph->state[target.declaration];
    if (is_contained(scenario, (size_t)target.option, target.declaration))
      return refuse_contained(name, place, diagnostics);
    diagnostics_error(diagnostics, place, "option '%s' %s '%s'%s", option->id,
                      state >= 0              ? "computes"
                      : state == GRAPH_ABSENT ? "does not have"
                                              : "has in its rent",
                      name, state >= 0 ? tier_reached(scenario, target, diagnostics->arena) : "");
    return -1;
  }
  const char *own = own_names(scenario, target.declaration, diagnostics->arena);
  if (!*own && contains_any(scenario, target.declaration))
    return refuse_contained(name, place, diagnostics);
  if (*own)
    diagnostics_error(diagnostics, place, "every option sets its own '%s': %s", name, own);
  else
    diagnostics_error(diagnostics, place, "no option has the input '%s'", name);
  return -1;
}

// Uses the input's twin in USD if that is the one that can be moved.
static void find_stated(const struct scenario *scenario, struct target *target) {
  const int in_usd = target_input(scenario, *target)->in_usd;
  const struct target stated = {in_usd, target->option};
  if (in_usd >= 0 && !moves_any(scenario, *target) && moves_any(scenario, stated))
    *target = stated;
}

int target_find(const struct scenario *scenario, const char *name, struct place place,
                struct target *out, struct diagnostics *diagnostics) {
  const char *point = strchr(name, '.');
  struct target target = {.option = -1};
  if (point) {
    const char *id = arena_copy_n(diagnostics->arena, name, (size_t)(point - name));
    size_t option;
    if (option_named(scenario, id, nowhere, &option, diagnostics))
      return -1;
    target.option = (int)option;
  }
  if (find_input(scenario, point ? point + 1 : name, place, &target.declaration, diagnostics))
    return -1;
  find_stated(scenario, &target);
  if (!moves_any(scenario, target))
    return refuse_still(scenario, target, place, diagnostics);
  *out = target;
  return 0;
}

int target_of_option(const struct scenario *scenario, size_t option, const char *input,
                     struct place place, struct target *out, struct diagnostics *diagnostics) {
  if (strchr(input, '.'))
    return target_find(scenario, input, place, out, diagnostics);
  struct target target = {.option = (int)option};
  if (find_input(scenario, input, place, &target.declaration, diagnostics))
    return -1;
  target.declaration = option_stated(&scenario->options[option], target.declaration);
  if (!target_moves(scenario, target, option))
    return refuse_still(scenario, target, place, diagnostics);
  if (!target_input(scenario, target)->per_option && !is_own(scenario, option, target.declaration))
    target.option = -1;
  if (excluded_in(scenario, target) >= 0)
    return refuse_still(scenario, target, place, diagnostics);
  *out = target;
  return 0;
}

double target_value(const struct scenario *scenario, struct target target) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (target_moves(scenario, target, o))
      return selected_figure(scenario, o, target.declaration)->value;
  return NAN;
}

// The inputs between whose values that of the target must lie, so that tiers rise and what hardware
// is worth falls with its age: declarations, or -1.
static void find_neighbours(const struct scenario *scenario, struct target target, int *lower,
                            int *upper) {
  const struct model *model = scenario->model;
  const int of = target_input(scenario, target)->year_of;
  const struct declaration *list = of < 0 ? NULL : &model->declarations[of];
  *lower = *upper = -1;
  if (tiers_beside(model, target.declaration, lower, upper))
    return;
  for (int i = 0; list && list->ages && i < list->year_count; i++)
    if (list->years[i] == target.declaration) {
      *lower = i + 1 < list->year_count ? list->years[i + 1] : -1;
      *upper = i > 0 ? list->years[i - 1] : -1;
    }
}

// The value that one option gives for a neighbour; `none` if it gives nothing, or only repeats the
// target.
static double neighbour_value(const struct scenario *scenario, size_t option, struct target target,
                              int neighbour, double none) {
  if (neighbour < 0 || !is_input(scenario, option, neighbour))
    return none;
  const struct figure *figure = selected_figure(scenario, option, neighbour);
  const struct figure *own = selected_figure(scenario, option, target.declaration);
  const bool repeats = figure->place.source == own->place.source &&
                       figure->place.line == own->place.line &&
                       figure->place.column == own->place.column;
  return repeats ? none : figure->value;
}

// Numbers from which tiers hold are all different.
static void keep_order(const struct scenario *scenario, struct target target,
                       struct limits *limits) {
  const double apart = target_input(scenario, target)->integer ? 1 : 0;
  int lower, upper;
  find_neighbours(scenario, target, &lower, &upper);
  for (size_t o = 0; o < scenario->option_count && (lower >= 0 || upper >= 0); o++) {
    if (!target_moves(scenario, target, o))
      continue;
    limits->low = fmax(limits->low, apart + neighbour_value(scenario, o, target, lower, -INFINITY));
    limits->high =
        fmin(limits->high, neighbour_value(scenario, o, target, upper, INFINITY) - apart);
  }
}

struct limits target_limits(const struct scenario *scenario, struct target target) {
  const struct declaration *input = target_input(scenario, target);
  struct limits limits = {input->has_min ? input->min : -INFINITY,
                          input->has_max ? input->max : INFINITY};
  if (input->has_min && input->min_exclusive) {
    const double value = fabs(target_value(scenario, target));
    limits.low += OPEN_LIMIT_SHARE * (value > 0 ? value : unit_factor(&input->unit));
  }
  if (!strcmp(input->name, "horizon"))
    limits.high = fmin(limits.high, (scenario->periods - 1) * scenario->period_h);
  keep_order(scenario, target, &limits);
  return limits;
}

// What is late arrives within the horizon, and before it is retired after the last whole period of
// its life.
static void keep_arrival(const struct scenario *scenario, struct target target,
                         struct limits *limits) {
  const char *name = target_input(scenario, target)->name;
  const bool is_delay = !strcmp(name, "delivery_delay"), is_life = !strcmp(name, "life");
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const double delay = option_amount(scenario, option, "delivery_delay");
    const double life = option_amount(scenario, option, "life_time");
    const double end = option_amount(scenario, option, "horizon");
    if (!target_moves(scenario, target, o))
      continue;
    if (is_delay)
      limits->high =
          fmin(limits->high, (life > 0 ? fmin(life, end) : end) * (1 - OPEN_LIMIT_SHARE));
    else if (is_life && delay > 0)
      limits->low = fmax(limits->low, (floor(delay / scenario->period_h) + 1) * scenario->period_h);
    else if (!strcmp(name, "horizon") && delay > 0)
      limits->low = fmax(limits->low, delay * (1 + OPEN_LIMIT_SHARE));
  }
}

struct limits target_answered(const struct scenario *scenario, struct target target) {
  struct limits limits = target_limits(scenario, target);
  keep_arrival(scenario, target, &limits);
  return limits;
}

struct target *targets_of(const struct scenario *scenario, size_t *count, struct arena *arena) {
  const size_t room = (size_t)scenario->model->count * (scenario->option_count + 1);
  struct target *targets = arena_array(arena, room, sizeof *targets);
  *count = 0;
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    const int named = model_named(scenario->model, d);
    const bool by_factor =
        scenario->model->declarations[named].year_of >= 0; // lists move as a whole
    if (input->kind != DECLARATION_INPUT || input->choice_count || by_factor)
      continue;
    const struct target common = {d, -1};
    if (moves_any(scenario, common))
      targets[(*count)++] = common;
    for (size_t o = 0; o < scenario->option_count; o++)
      if (is_input(scenario, o, d) && is_own(scenario, o, d) && owner_of(scenario, o, d) == o)
        targets[(*count)++] = (struct target){d, (int)o};
  }
  return targets;
}

// Resets a column to the selected case.
static void reset(struct variation *variation, size_t column) {
  const struct scenario *scenario = variation->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    for (int d = 0; d < scenario->model->count; d++)
      if (scenario->options[o].graph->state[d] == GRAPH_INPUT)
        evaluation_at(variation->evaluations[o], d, 0)[column] =
            selected_figure(scenario, o, d)->value;
}

struct variation *variation_new(const struct scenario *scenario, size_t width,
                                struct arena *arena) {
  struct variation *variation = arena_alloc(arena, sizeof *variation);
  *variation = (struct variation){.scenario = scenario, .width = width};
  variation->evaluations = arena_array(arena, scenario->option_count, sizeof(struct evaluation *));
  for (size_t o = 0; o < scenario->option_count; o++)
    variation->evaluations[o] = evaluation_like(scenario->options[o].evaluation, width, arena);
  for (size_t column = 0; column < width; column++)
    reset(variation, column);
  return variation;
}

void variation_set(struct variation *variation, struct target target, size_t column, double value) {
  for (size_t o = 0; o < variation->scenario->option_count; o++)
    for (int d = target_moves(variation->scenario, target, o) ? target.declaration : -1; d >= 0;
         d = option_follower(variation->scenario, &variation->scenario->options[o], d))
      evaluation_at(variation->evaluations[o], d, 0)[column] = value;
}

void variation_evaluate(struct variation *variation) {
  for (size_t o = 0; o < variation->scenario->option_count; o++)
    evaluate(variation->evaluations[o]);
}

double variation_item(const struct variation *variation, size_t option, int declaration,
                      size_t column) {
  if (!option_has(&variation->scenario->options[option], declaration))
    return NAN;
  return evaluation_at(variation->evaluations[option], declaration, 0)[column];
}
