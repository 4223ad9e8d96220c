#include "model/scenario/reading/schedules.h"

#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/list_text.h"
#include "model/cost/quantity.h"
#include "model/cost/schedule.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/reading/text.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// ---- what the text mentions

// The input NAME that may be a list, from NAME, OPTION.NAME, NAME.OPTION or their twins in USD; or
// -1.
static int scheduled(const struct model *model, const char *key, struct arena *arena) {
  const char *point = strchr(key, '.');
  const char *names[] = {point ? point + 1 : key,
                         point ? arena_copy_n(arena, key, (size_t)(point - key)) : key};
  for (size_t i = 0; i < FIGURE_ATTRIBUTES; i++)
    if (!strcmp(names[0], figure_attributes[i]))
      return -1;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const int d = model_named(model, model_find(model, names[i]));
    if (d >= 0 && model->declarations[d].schedule)
      return d;
  }
  return -1;
}

// What lists of an input there are.
struct lists {
  struct place first; // of the file's own; no source: it has none
  double own_h;       // the step of the file's own; 0: by year
  double common_h;    // the longest time of which all steps are whole numbers, those of a file to
                      // be compared with included; 0: there are none
  bool stepped;       // some do not go by year
  double last_h;      // when the last value begins to hold
  bool scaled;        // there is a range in %
};

struct counting {
  const struct model *model;
  struct lists *lists; // [model->count]
  bool own;            // of the file itself, or of one that it is to be compared with
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// A step in hours, where 0 is by year.
static double hours_of(double step_h) {
  return step_h > 0 ? step_h : HOURS_PER_YEAR;
}

static double common_part(double a, double b) {
  while (b > 1e-6) {
    const double rest = fmod(a, b);
    a = b;
    b = rest;
  }
  return a;
}

// One input has one step in a scenario, as its values are the same inputs in all options and cases.
// Returns true after an error.
static bool refuse_other_step(const struct counting *counting, int declaration, double step_h,
                              struct place place) {
  const struct lists *lists = &counting->lists[declaration];
  struct arena *arena = counting->arena;
  if (!counting->own || !lists->first.source || lists->own_h == step_h)
    return false;
  diagnostics_error(counting->diagnostics, place,
                    "'%s' goes %s here, and %s at %s:%d: all lists of an input have one step",
                    counting->model->declarations[declaration].name, step_words(step_h, arena),
                    step_words(lists->own_h, arena), lists->first.source->name, lists->first.line);
  return true;
}

static void take_list(const struct counting *counting, struct lists *lists, double step_h,
                      size_t count, struct place place) {
  if (counting->own && !lists->first.source) {
    lists->first = place;
    lists->own_h = step_h;
  }
  lists->stepped |= step_h > 0;
  lists->common_h = common_part(hours_of(step_h), lists->common_h);
  lists->last_h = fmax(lists->last_h, (double)(count - 1) * hours_of(step_h));
}

static void count_list(const struct counting *counting, int declaration, const char *text,
                       struct place place) {
  const bool ages = counting->model->declarations[declaration].ages;
  struct diagnostics quiet = {.arena = counting->arena}; // inputs.c reports a wrong step
  const struct list_value step = step_split(text, place, &text, counting->arena);
  const double step_h = step.text && !ages ? step_time(&step, &quiet) : 0;
  const size_t most = step_h > 0 ? MAX_STEPS : MAX_YEARS;
  const struct place at = step.text ? step.place : place;
  size_t count;
  list_split(text, place, &count, counting->arena);
  if (count <= most && !quiet.errors && !refuse_other_step(counting, declaration, step_h, at))
    take_list(counting, &counting->lists[declaration], step_h, count, at);
}

static void count_key(const struct counting *counting, bool is_range, const char *name,
                      const char *value, struct place place) {
  const int d = scheduled(counting->model, name, counting->arena);
  if (d < 0)
    return;
  if (is_range && range_is_scale(&counting->model->declarations[d], value))
    counting->lists[d].scaled = true;
  else if (!is_range && text_is_list(value) && !text_is_tiers(value))
    count_list(counting, d, value, place);
}

static void count_section(const struct counting *counting, const struct ini_section *section) {
  static const char *const others[] = {"item", "correlate", "free", "claim"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (!strcmp(section->kind, others[i]))
      return;
  for (size_t k = 0; k < section->key_count; k++) {
    const struct ini_key *key = &section->keys[k];
    count_key(counting, !strcmp(section->kind, "range"), key->name, key->value, key->value_place);
  }
}

static void count_setting(const struct counting *counting, const char *setting) {
  const char *equals = strchr(setting, '=');
  size_t length = equals ? (size_t)(equals - setting) : 0;
  while (length && setting[length - 1] == ' ')
    length--;
  if (!equals)
    return;
  struct place place = {source_from_text("--set", setting, counting->diagnostics->arena), 1, 1};
  place.column += (int)(equals + 1 - setting);
  count_key(counting, false, arena_copy_n(counting->arena, setting, length), equals + 1, place);
}

// A step that is only part of the file's own is no step of a list, and need not be a number of
// periods; its own does.
static void declare_lists(const struct reading *reading, struct model *model, int declaration,
                          const struct lists *lists) {
  const double step_h = lists->stepped ? lists->common_h : 0;
  const bool is_own = lists->first.source && step_h == lists->own_h;
  const double count = 1 + round(lists->last_h / hours_of(step_h));
  if (lists->first.source && !is_own && lists->own_h > 0)
    step_declare(model, lists->own_h, lists->first, reading->diagnostics);
  if (count > MAX_LIST)
    diagnostics_error(reading->diagnostics, lists->first,
                      "comparing the lists of '%s' takes a value %s, %.0f in all: at most %d are "
                      "allowed",
                      model->declarations[declaration].name, step_words(step_h, reading->arena),
                      count, MAX_LIST);
  else if (lists->common_h > 0 || lists->scaled)
    schedule_declare(model, declaration,
                     &(struct schedule){(int)count, step_h, is_own ? lists->first : nowhere},
                     reading->diagnostics);
}

void schedules_declare(const struct reading *reading, struct model *model) {
  const struct scenario_text *text = reading->spoken;
  const int count = model->count;
  struct arena scratch = {NULL};
  struct counting counting = {model, arena_array(&scratch, (size_t)count, sizeof(struct lists)),
                              true, &scratch, reading->diagnostics};
  for (size_t i = 0; i < text->section_count; i++) {
    counting.own = i < reading->text->section_count;
    count_section(&counting, &text->sections[i]);
  }
  counting.own = true;
  for (size_t i = 0; i < reading->request->setting_count; i++)
    count_setting(&counting, reading->request->settings[i]);
  for (int d = 0; d < count; d++)
    declare_lists(reading, model, d, &counting.lists[d]);
  arena_free(&scratch);
}

// ---- whole numbers of periods

static bool is_whole(double times) {
  return times > 1 - 1e-9 && fabs(times - round(times)) < 1e-9 * times;
}

// Whether it counts the steps of a list of this file.
static bool is_step(const struct declaration *declaration) {
  return declaration->kind == DECLARATION_SERIES && declaration->step_h > 0 &&
         declaration->place.source;
}

// The longest period of which all steps are whole numbers; 0: there is none.
static double fitting_period(const struct model *model) {
  for (int parts = 1; parts <= MAX_PERIODS_PER_YEAR; parts++) {
    bool fits = true;
    for (int d = 0; d < model->count; d++)
      if (is_step(&model->declarations[d]))
        fits &= is_whole(model->declarations[d].step_h / (HOURS_PER_YEAR / parts));
    if (fits)
      return HOURS_PER_YEAR / parts;
  }
  return 0;
}

void schedules_check_steps(const struct reading *reading, const struct model *model) {
  struct arena *arena = reading->arena;
  const double period_h = reading->scenario->period_h, fitting = fitting_period(model);
  const char *instead = fitting > 0 ? arena_printf(arena, "[scenario] period = %s would do",
                                                   step_text(fitting, arena))
                                    : "no [scenario] period would do: give steps in whole months";
  for (int d = 0; d < model->count; d++) {
    const struct declaration *step = &model->declarations[d];
    if (is_step(step) && !is_whole(step->step_h / period_h))
      diagnostics_error(reading->diagnostics, step->place,
                        "a step of %s is not a whole number of periods of %s; %s",
                        step_text(step->step_h, arena), step_text(period_h, arena), instead);
  }
}

// ---- each option's figures

// The value of a list that holds in a step of the input's lists.
static size_t index_at(const struct figure *list, const struct declaration *input, size_t number) {
  const double ratio = hours_of(input->step_h) / hours_of(list->step_h);
  return (size_t)floor((double)number * ratio + 1e-9);
}

// The number of steps of the input's lists until the last value of this one.
static size_t steps_of(const struct figure *list, const struct declaration *input) {
  const double ratio = hours_of(list->step_h) / hours_of(input->step_h);
  return list->year_count ? 1 + (size_t)round((double)(list->year_count - 1) * ratio) : 0;
}

// The number of values of an input in the option's longest case; 0: it has no list.
static size_t longest(const struct resolving *resolving, int declaration) {
  const struct declaration *input = &resolving->scenario->model->declarations[declaration];
  size_t most = 0;
  bool said = true;
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure *figure = resolving_figures(resolving, c)[declaration];
    said &= figure_is_stated(figure);
    const size_t steps = steps_of(figure, input);
    most = steps > most ? steps : most;
  }
  return !most && said && ranges_name(resolving->scenario, resolving->number, input->scale) ? 1
                                                                                            : most;
}

static struct figure default_of(const struct declaration *input) {
  return (struct figure){.origin = ORIGIN_DEFAULT,
                         .value = input->default_value,
                         .grade = GRADE_ASSUMED,
                         .source = "default",
                         .date = ""};
}

// A number as a list with one value.
static const struct figure *as_list(const struct resolving *resolving,
                                    const struct figure *figure) {
  struct figure list = *figure;
  if (!list.year_count) {
    struct list_figure *year = arena_alloc(resolving->arena, sizeof *year);
    *year = (struct list_figure){list.value, list.text, list.place};
    list.years = year;
    list.year_count = 1;
  }
  return resolving_keep(resolving, list);
}

// A list by age ends at zero, and never rises.
static void check_ages(const struct resolving *resolving, const struct figure **figures,
                       const struct declaration *input, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const struct figure *before = figures[input->years[i - 1]], *figure = figures[input->years[i]];
    if (figure->value <= before->value)
      continue;
    diagnostics_error(
        resolving->diagnostics, figure->place,
        "'%s' of option '%s' rises from %s to %s at age %zu: older hardware cannot be worth more",
        input->name, resolving->option->id,
        quantity_text(before->value, &input->unit, resolving->arena),
        quantity_text(figure->value, &input->unit, resolving->arena), i + 1);
    return;
  }
}

// The factor of all years, 100 % unless stated: evidence like the list.
static void put_scale(const struct resolving *resolving, const struct figure **figures, int scale,
                      struct figure list) {
  list.value = 1;
  list.text = NULL;
  list.years = NULL;
  list.year_count = 0;
  // A common statement also reaches the scale of an option's own list, unless a case or --set gives
  // that: it is then certain.
  static const enum origin common[] = {[ORIGIN_OPTION] = ORIGIN_COMMON,
                                       [ORIGIN_CASE_OPTION] = ORIGIN_CASE,
                                       [ORIGIN_SET_OPTION] = ORIGIN_SET};
  if (figure_is_of_option(&list)) {
    list.origin = common[list.origin];
    list.place = nowhere;
  }
  if (figures[scale]->origin == ORIGIN_NONE)
    figures[scale] = resolving_keep(resolving, list);
}

// A value of the list; beyond its end, zero where it goes by age.
static struct figure value_at(const struct figure *list, const struct declaration *input, size_t at,
                              struct arena *arena) {
  struct figure figure = *list;
  const bool beyond = at >= list->year_count;
  const struct list_figure *year = &list->years[beyond ? list->year_count - 1 : at];
  figure.value = beyond ? 0 : year->value;
  figure.text = beyond ? quantity_text(0, &input->unit, arena) : year->text;
  figure.place = year->place;
  figure.years = NULL;
  figure.year_count = 0;
  return figure;
}

static void put_years(const struct resolving *resolving, const struct figure **figures,
                      int declaration, size_t count) {
  const struct declaration *input = &resolving->scenario->model->declarations[declaration];
  struct figure list = *as_list(resolving, figures[declaration]);
  for (size_t i = 0; i < count; i++) {
    const size_t at = index_at(&list, input, i);
    const int year = input->years[i];
    struct figure figure = value_at(&list, input, at, resolving->arena);
    if (at >= list.year_count && !input->ages) {
      figure = *figures[input->years[i - 1]]; // which a case or --set may have given alone
      figure.follows = true;
    }
    if (figures[year]->origin < list.origin)
      figures[year] = resolving_keep(resolving, figure);
  }
  if (input->ages)
    check_ages(resolving, figures, input, count);
  list.grade = GRADE_MEASURED;
  for (size_t i = 0; i < count; i++)
    list.grade = grade_weaker(list.grade, figures[input->years[i]]->grade);
  list.in_usd = false; // its years are in USD
  put_scale(resolving, figures, input->scale, list);
  list.grade = grade_weaker(list.grade, figures[input->scale]->grade);
  for (int i = (int)count; i < input->year_count; i++)
    if (figures[input->years[i]]->origin < list.origin)
      figures[input->years[i]] = &figure_none; // stated for another list
  figures[declaration] = resolving_keep(resolving, list);
}

// Clears statements about the years of a list that the option does not have.
static void clear_years(const struct resolving *resolving, const struct figure **figures,
                        const struct declaration *input) {
  for (int i = -1; i < input->year_count; i++) {
    const int d = i < 0 ? input->scale : input->years[i];
    if (figure_is_of_option(figures[d]))
      diagnostics_error(resolving->diagnostics, figures[d]->place,
                        "'%s' has no effect on option '%s', whose '%s' is not a list %s",
                        resolving->scenario->model->declarations[d].name, resolving->option->id,
                        input->name, step_words(input->step_h, resolving->arena));
    figures[d] = &figure_none;
  }
}

// A list already states how it changes.
static void refuse_rates(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *rate = &model->declarations[d];
    if (figures[d]->origin <= ORIGIN_RENT || figures[d]->value == 0)
      continue;
    for (int i = 0; i < rate->rated_count; i++)
      if (figures[rate->rated[i]]->year_count)
        diagnostics_error(resolving->diagnostics, figures[d]->place,
                          "option '%s' has both '%s' as a list %s and '%s': give only one",
                          resolving->option->id, model->declarations[rate->rated[i]].name,
                          step_words(model->declarations[rate->rated[i]].step_h, resolving->arena),
                          rate->name);
  }
}

void schedules_settle(const struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  const size_t errors = resolving->diagnostics->errors;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    if (resolving->diagnostics->errors == errors)
      refuse_rates(resolving, resolving_figures(resolving, c));
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const size_t count = input->year_count ? longest(resolving, d) : 0;
    for (size_t c = 0; c < resolving->scenario->case_count && input->year_count; c++) {
      const struct figure **figures = resolving_figures(resolving, c);
      if (count && figures[d]->origin == ORIGIN_NONE && input->has_default)
        figures[d] = resolving_keep(resolving, default_of(input));
      if (count && figures[d]->origin != ORIGIN_NONE)
        put_years(resolving, figures, d, count);
      else
        clear_years(resolving, figures, input);
    }
  }
}

// ---- warnings

static void warn(struct scenario *scenario, struct option *option, const struct figure *list,
                 const char *name, const char *horizon, struct arena *arena) {
  const char *values = list->step_h > 0
                           ? arena_printf(arena, "values, %s", step_words(list->step_h, arena))
                           : "years";
  const char *text =
      arena_printf(arena, "'%s' has %zu %s; those beyond the horizon of %s have no effect", name,
                   list->year_count, values, horizon);
  if (figure_is_of_option(list)) {
    texts_add(&option->warnings, arena, "%s", text);
    return;
  }
  for (size_t i = 0; i < scenario->warnings.count; i++)
    if (!strcmp(scenario->warnings.list[i], text))
      return;
  texts_add(&scenario->warnings, arena, "%s", text);
}

void schedules_warn(struct scenario *scenario, struct arena *arena) {
  const struct model *model = scenario->model;
  const int horizon = model_find(model, "horizon");
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct option *option = &scenario->options[o];
    const struct figure *figure = option_figure(scenario, option, scenario->selected, horizon);
    const char *text =
        figure->text ? figure->text
                     : quantity_text(figure->value, &model->declarations[horizon].unit, arena);
    for (int d = 0; d < model->count; d++) {
      const struct declaration *input = &model->declarations[d];
      const struct figure *list = option_figure(scenario, option, scenario->selected, d);
      const double steps = figure->value / hours_of(list->step_h);
      if (!input->ages && (double)list->year_count > ceil(round(steps * 1e9) / 1e9))
        warn(scenario, option, list, input->name, text, arena);
    }
  }
}
