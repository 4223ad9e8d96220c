#include "model/cost/schedule.h"

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/model_currency.h"
#include "model/cost/quantity.h"
#include "model/cost/step.h"
#include "model/cost/units.h"

#include <string.h>

bool range_is_scale(const struct declaration *input, const char *text) {
  const char *end = strrchr(text, ')');
  return end && !input->unit.percents && !strcmp(end + 1 + strspn(end + 1, " \t"), "%");
}

// ---- what a list needs in the model

struct declaring {
  struct model *model;
  int input;         // whose list it is
  const char *clock; // the series that says which of its values holds
  struct diagnostics *diagnostics;
};

static void set_alternative(const struct declaring *declaring, struct alternative *alternative,
                            const char *text, int need) {
  const struct model *model = declaring->model;
  const struct place place = model->declarations[declaring->input].place;
  *alternative = (struct alternative){.text = text, .place = place, .need_count = 1};
  alternative->needs[0] = need;
  alternative->formula = formula_parse(text, place, model->arena, declaring->diagnostics);
}

// Inserts a formula before the other formulas of a declaration.
static void put_first(const struct declaring *declaring, int declaration, const char *text,
                      int need) {
  struct declaration *to = &declaring->model->declarations[declaration];
  if (to->alternative_count == MAX_ALTERNATIVES) {
    diagnostics_error(declaring->diagnostics, to->place,
                      "'%s' has %d formulas, the most allowed: a list in '%s' needs one more",
                      to->name, MAX_ALTERNATIVES,
                      declaring->model->declarations[declaring->input].name);
    return;
  }
  memmove(to->alternatives + 1, to->alternatives,
          (size_t)to->alternative_count * sizeof *to->alternatives);
  to->alternative_count++;
  set_alternative(declaring, &to->alternatives[0], text, need);
}

// Declares the input NAME_`ending` and returns its index, or -1. Pointers to declarations may
// become invalid.
static int declare(const struct declaring *declaring, const char *ending, const char *what) {
  struct model *model = declaring->model;
  const struct declaration of = model->declarations[declaring->input];
  struct declaration *input =
      model_declare(model, arena_printf(model->arena, "%s_%s", of.name, ending), of.place,
                    declaring->diagnostics);
  if (!input)
    return -1;
  input->kind = DECLARATION_INPUT;
  input->label = arena_printf(model->arena, "%s, %s", of.label, what);
  input->group = of.group;
  input->per_option = of.per_option;
  input->absent_with = of.absent_with;
  return (int)(input - model->declarations);
}

static int declare_scale(const struct declaring *declaring) {
  const struct declaration *list = &declaring->model->declarations[declaring->input];
  const char *of_all = list->ages         ? "factor on all ages"
                       : list->step_h > 0 ? "factor on all steps"
                                          : "factor on all years";
  const int scale = declare(declaring, "scale", of_all);
  if (scale < 0)
    return -1;
  struct declaration *input = &declaring->model->declarations[scale];
  input->unit = unit_percent;
  input->has_min = true;
  input->min_exclusive = declaring->model->declarations[declaring->input].min_exclusive;
  input->scale_of = declaring->input;
  declaring->model->declarations[declaring->input].scale = scale;
  return 0;
}

// From when a value holds: "year 2", "after 6 month".
static const char *held_from(const struct declaration *of, int number, struct arena *arena) {
  if (of->ages)
    return arena_printf(arena, "at %d yr", number);
  if (of->step_h == 0)
    return arena_printf(arena, "year %d", number);
  return number == 1 ? "from the outset"
                     : arena_printf(arena, "after %s", step_text((number - 1) * of->step_h, arena));
}

// NAME_year_1, ...; where a list has ended, the value is that of the year before.
static int declare_year(const struct declaring *declaring, int year) {
  struct model *model = declaring->model;
  const struct declaration of = model->declarations[declaring->input];
  const char *name = arena_printf(model->arena, of.step_h > 0 ? "step_%d" : "year_%d", year);
  const int number = declare(declaring, name, held_from(&of, year, model->arena));
  if (number < 0)
    return -1;
  struct declaration *input = &model->declarations[number];
  input->unit = of.unit;
  input->integer = of.integer;
  input->has_min = of.has_min;
  input->has_max = of.has_max;
  input->min_exclusive = of.min_exclusive;
  input->min = of.min;
  input->max = of.max;
  input->year_of = declaring->input;
  of.years[year - 1] = number;
  if (year > 1)
    put_first(declaring, number,
              of.ages ? quantity_text(0, &of.unit, model->arena)
                      : model->declarations[of.years[year - 2]].name,
              of.scale);
  model_declare_in_usd(model, number, declaring->diagnostics);
  return 0;
}

// "engineers_year_1 * (year = 0) + engineers_year_2 * (year >= 1)", by the series `clock`. A list
// by age counts from 1, and does not hold beyond its end.
static const char *by_clock(const struct model *model, const struct declaration *input,
                            const char *clock) {
  const char *text = "";
  if (input->year_count == 1 && !input->ages)
    return model->declarations[input->years[0]].name;
  for (int i = 0; i < input->year_count; i++) {
    const bool last = i + 1 == input->year_count && !input->ages;
    const char *name = model->declarations[input->years[i]].name;
    text = arena_printf(model->arena, "%s%s%s * (%s %s %d)", text, i ? " + " : "", name, clock,
                        last ? ">=" : "=", input->ages ? i + 1 : i);
  }
  return text;
}

// The formula of a list's value, with whole numbers rounded up and a share limited to its maximum.
static const char *value_text(const struct model *model, const struct declaration *input,
                              const char *clock) {
  struct arena *arena = model->arena;
  const char *text = arena_printf(arena, "%s * (%s)", model->declarations[input->scale].name,
                                  by_clock(model, input, clock));
  if (input->integer)
    text = arena_printf(arena, "ceil(%s)", text);
  return input->has_max ? arena_printf(arena, "min(%s, %s)",
                                       quantity_text(input->max, &input->unit, arena), text)
                        : text;
}

// Adds everything that the other alternative needs.
static void need_like(struct alternative *alternative, const struct alternative *other) {
  for (int i = 0; i < other->need_count && alternative->need_count < MAX_NEEDS; i++)
    alternative->needs[alternative->need_count++] = other->needs[i];
}

// A list of what is read by age; the input itself is the first value.
static int put_ages(const struct declaring *declaring) {
  struct model *model = declaring->model;
  const struct declaration *input = &model->declarations[declaring->input];
  const int scale = input->scale;
  char *rest = arena_copy(model->arena, input->ages);
  const char *name, *age;
  while ((name = strsep(&rest, " ")) && (age = strsep(&rest, " "))) {
    const int there = model_require(model, name, declaring->diagnostics);
    const int at = model_require(model, age, declaring->diagnostics);
    if (there < 0 || at < 0)
      return -1;
    put_first(declaring, there, value_text(model, input, age), scale);
    need_like(&model->declarations[there].alternatives[0],
              &model->declarations[at].alternatives[0]);
  }
  put_first(declaring, declaring->input, model->declarations[input->years[0]].name, scale);
  return 0;
}

// A list of the input itself, or of the series that the model's text names for it.
static int put_list(const struct declaring *declaring) {
  struct model *model = declaring->model;
  const struct declaration *input = &model->declarations[declaring->input];
  const char *value = value_text(model, input, declaring->clock);
  const int scale = input->scale;
  if (!strcmp(input->schedule, input->name)) {
    put_first(declaring, declaring->input, value, scale);
    return 0;
  }
  char *rest = arena_copy(model->arena, input->schedule), *series = strsep(&rest, " ");
  const char *same = strsep(&rest, " "), *factor = strsep(&rest, " ");
  const int list = model_require(model, series, declaring->diagnostics);
  const int like = same ? model_require(model, same, declaring->diagnostics) : -1;
  const int by = factor ? model_require(model, factor, declaring->diagnostics) : -1;
  if (list < 0 || (same && like < 0) || (factor && by < 0))
    return -1;
  put_first(declaring, list, arena_printf(model->arena, "operating * %s", value), scale);
  if (same)
    put_first(declaring, like, series, scale);
  if (factor) {
    put_first(declaring, like, arena_printf(model->arena, "%s * %s", series, factor), scale);
    need_like(&model->declarations[like].alternatives[0], &model->declarations[by].alternatives[0]);
  }
  put_first(declaring, declaring->input, arena_printf(model->arena, "highest(%s)", series), scale);
  return 0;
}

// The series that says which value of a list holds; NULL after an error.
static const char *declare_clock(const struct declaring *declaring,
                                 const struct schedule *schedule) {
  if (schedule->step_h == 0)
    return "year";
  const int series =
      step_declare(declaring->model, schedule->step_h, schedule->place, declaring->diagnostics);
  return series < 0 ? NULL : declaring->model->declarations[series].name;
}

int schedule_declare(struct model *model, int declaration, const struct schedule *schedule,
                     struct diagnostics *diagnostics) {
  struct declaring declaring = {model, declaration, NULL, diagnostics};
  declaring.clock = declare_clock(&declaring, schedule);
  if (!declaring.clock)
    return -1;
  struct declaration *input = &model->declarations[declaration];
  input->step_h = schedule->step_h;
  input->years = arena_array(model->arena, (size_t)schedule->count, sizeof *input->years);
  if (declare_scale(&declaring))
    return -1;
  for (int year = 1; year <= schedule->count; year++)
    if (declare_year(&declaring, year))
      return -1;
  model->declarations[declaration].year_count = schedule->count;
  return model->declarations[declaration].ages ? put_ages(&declaring) : put_list(&declaring);
}
