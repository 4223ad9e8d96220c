#include "model/cost/step.h"

#include "model/cost/formula.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const char word[] = " every ";

struct list_value step_split(const char *text, struct place place, const char **values,
                             struct arena *arena) {
  const char *found = NULL;
  for (const char *at = text; (at = strstr(at, word)); at++)
    found = at;
  *values = text;
  if (!found)
    return (struct list_value){NULL, place};
  const char *step = found + strlen(word);
  step += strspn(step, " \t");
  *values = arena_copy_n(arena, text, (size_t)(found - text));
  place.column += (int)(step - text);
  return (struct list_value){arena_copy(arena, step), place};
}

bool step_refuse_lone(const char *text, struct place place, struct diagnostics *diagnostics) {
  const char *value;
  const struct list_value step = step_split(text, place, &value, diagnostics->arena);
  if (!step.text || text_is_list(value))
    return false;
  diagnostics_error(diagnostics, step.place,
                    "'every' is for a list, such as '100, 150 Mtok/day every 6 month': a single "
                    "value has no step");
  return true;
}

double step_time(const struct list_value *step, struct diagnostics *diagnostics) {
  double hours = 0;
  if (quantity_parse(step->text, step->place, unit_constant("month", diagnostics->arena), &hours,
                     diagnostics))
    return 0;
  if (hours > 0 && hours <= MAX_STEP_YEARS * HOURS_PER_YEAR)
    return hours;
  diagnostics_error(diagnostics, step->place,
                    "the step of a list must be above 0 month and at most %d yr, not %s",
                    MAX_STEP_YEARS, step->text);
  return 0;
}

// How many times the unit the time is, if that is a whole number; else 0.
static double whole_number(double hours, double unit_h) {
  const double number = hours / unit_h;
  return fabs(number - round(number)) < 1e-9 * number ? round(number) : 0;
}

const char *step_text(double hours, struct arena *arena) {
  static const struct {
    const char *name;
    double hours;
  } units[] = {{"yr", HOURS_PER_YEAR}, {"month", HOURS_PER_MONTH}, {"day", 24}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    const double number = whole_number(hours, units[i].hours);
    if (number > 0)
      return arena_printf(arena, "%.0f %s", number, units[i].name);
  }
  return quantity_text(hours, unit_constant("h", arena), arena);
}

const char *step_words(double hours, struct arena *arena) {
  return hours > 0 ? arena_printf(arena, "every %s", step_text(hours, arena)) : "by year";
}

// "step_6_month"
static const char *series_name(double hours, struct arena *arena) {
  char *name = arena_printf(arena, "step_%s", step_text(hours, arena));
  for (char *at = name; *at; at++)
    *at = isalnum((unsigned char)*at) ? *at : '_';
  return name;
}

int step_declare(struct model *model, double hours, struct place place,
                 struct diagnostics *diagnostics) {
  const char *name = series_name(hours, model->arena), *step = step_text(hours, model->arena);
  const int found = model_find(model, name), year = model_find(model, "year");
  if (found >= 0 && model->declarations[found].kind == DECLARATION_SERIES &&
      model->declarations[found].step_h > 0) {
    if (!model->declarations[found].place.source)
      model->declarations[found].place = place;
    return found;
  }
  if (model_require(model, "elapsed", diagnostics) < 0)
    return -1;
  struct declaration *series = model_declare(model, name, place, diagnostics);
  if (!series)
    return -1;
  struct alternative *alternative = &series->alternatives[0];
  series->kind = DECLARATION_SERIES;
  series->label = arena_printf(model->arena, "Step of %s, from 0", step);
  series->unit = *unit_constant("-", model->arena);
  series->group = year < 0 ? 0 : model->declarations[year].group;
  series->step_h = hours;
  series->alternative_count = 1;
  alternative->text = arena_printf(model->arena, "floor(elapsed / %s)", step);
  alternative->place = place;
  alternative->formula = formula_parse(alternative->text, place, model->arena, diagnostics);
  return (int)(series - model->declarations);
}
