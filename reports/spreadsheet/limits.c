#include "reports/spreadsheet/limits.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

enum { MAX_MESSAGE = 200, CHOICE_DIGITS = 12 };

// A decimal validation cannot combine an exclusive limit with another limit: use the next value
// above it.
static double lowest(const struct declaration *input) {
  double low = cell_number(input->min, &input->unit);
  return input->min_exclusive ? low + 1e-9 * fmax(1, fabs(low)) : low;
}

// A series has no columns for a longer horizon.
static struct declaration limited(const struct book *book, int declaration) {
  struct declaration input = book->scenario->model->declarations[declaration];
  if (declaration == model_find(book->scenario->model, "horizon")) {
    input.max = (book->scenario->periods - 1) * book->scenario->period_h;
    input.has_max = true;
  }
  return input;
}

static const char *limits_text(const struct declaration *input, struct arena *arena) {
  const char *low = quantity_text(input->min, &input->unit, arena);
  const char *high = quantity_text(input->max, &input->unit, arena);
  const char *what = input->integer ? "a whole number" : "a number";
  if (input->has_min && input->has_max)
    return arena_printf(arena, "%s from %s to %s", what, low, high);
  if (input->has_min)
    return arena_printf(arena, "%s %s %s", what, input->min_exclusive ? "above" : "of at least",
                        low);
  if (input->has_max)
    return arena_printf(arena, "%s of at most %s", what, high);
  return what;
}

static const char *choices_text(const struct declaration *input, struct arena *arena) {
  const char *text = "";
  for (int i = 0; i < input->choice_count; i++)
    text = arena_printf(arena, "%s%s%g (%s)", text, i ? " or " : "", input->choices[i].value,
                        input->choices[i].name);
  return text;
}

static void put_numbers(const struct declaration *input, lxw_data_validation *rule) {
  rule->validate = input->integer ? LXW_VALIDATION_TYPE_INTEGER : LXW_VALIDATION_TYPE_DECIMAL;
  rule->minimum_number = rule->value_number = input->has_min ? lowest(input) : -DBL_MAX;
  rule->criteria = LXW_VALIDATION_CRITERIA_GREATER_THAN_OR_EQUAL_TO;
  if (input->has_min && input->min_exclusive) {
    rule->criteria = LXW_VALIDATION_CRITERIA_GREATER_THAN;
    rule->value_number = cell_number(input->min, &input->unit);
  }
  if (!input->has_max)
    return;
  rule->maximum_number = cell_number(input->max, &input->unit);
  rule->criteria = LXW_VALIDATION_CRITERIA_BETWEEN;
}

static void put_choices(const struct declaration *input, lxw_data_validation *rule,
                        struct arena *arena) {
  char **list = arena_array(arena, (size_t)input->choice_count + 1, sizeof *list);
  for (int i = 0; i < input->choice_count; i++)
    list[i] = arena_printf(arena, "%.*g", CHOICE_DIGITS, input->choices[i].value);
  rule->validate = LXW_VALIDATION_TYPE_LIST;
  rule->value_list = list;
}

struct input_limits limits_range(const struct book *book, int declaration) {
  const struct declaration input = limited(book, declaration);
  struct input_limits limits = {
      .least = input.has_min ? cell_number(input.min, &input.unit) : -INFINITY,
      .most = input.has_max ? cell_number(input.max, &input.unit) : INFINITY,
      .above = input.has_min && input.min_exclusive,
      .whole = input.integer};
  if (!input.choice_count)
    return limits;
  limits = (struct input_limits){.least = INFINITY, .most = -INFINITY, .whole = input.integer};
  for (int i = 0; i < input.choice_count; i++) {
    limits.least = fmin(limits.least, input.choices[i].value);
    limits.most = fmax(limits.most, input.choices[i].value);
  }
  limits.either = input.choice_count == 2 && limits.least == 0 && limits.most == 1;
  return limits;
}

lxw_data_validation *limits_of(const struct book *book, int declaration) {
  const struct declaration input = limited(book, declaration);
  struct arena *arena = book->arena;
  lxw_data_validation *rule = arena_array(arena, 1, sizeof *rule);
  rule->error_title = "Not possible here";
  const char *allowed;
  if (input.choice_count) {
    put_choices(&input, rule, arena);
    allowed = choices_text(&input, arena);
  } else {
    put_numbers(&input, rule);
    allowed = limits_text(&input, arena);
  }
  const char *message = arena_printf(arena, "%s: %s.", input.label, allowed);
  rule->error_message = (char *)safe_text(message, MAX_MESSAGE, arena);
  return rule;
}
