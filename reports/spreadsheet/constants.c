#include "reports/spreadsheet/constants.h"
#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit conversion_units[CONVERT_CONSTANTS] = {
    [CONVERT_HOURS_PER_YEAR] = {.text = "h/yr"},
    [CONVERT_MONTHS_PER_YEAR] = {.text = "month/yr"},
    [CONVERT_HOURS_PER_DAY] = {.text = "h/day"},
    [CONVERT_DAYS_PER_WEEK] = {.text = "day/week"},
    [CONVERT_MINUTES_PER_HOUR] = {.text = "min/h"},
    [CONVERT_SECONDS_PER_HOUR] = {.text = "s/h"},
    [CONVERT_THOUSAND] = {.text = "-"},
    [CONVERT_MILLION] = {.text = "-"},
    [CONVERT_BILLION] = {.text = "-"},
    [CONVERT_KIBI] = {.text = "-"},
    [CONVERT_LITRES_PER_M3] = {.text = "L/m3"},
};

// The list begins with the conversions, in the order of their enum.
enum { PLACE_ROUNDING = CONVERT_CONSTANTS, PLACE_TOLERANCE, FIRST_LITERAL };

double cell_number(double value, const struct unit *unit) {
  double exact = value / unit_cell_factor(unit);
  char digits[40];
  snprintf(digits, sizeof digits, "%.15g", exact);
  double clean = strtod(digits, NULL);
  return fabs(clean - exact) <= 4 * DBL_EPSILON * fabs(exact) ? clean : exact;
}

static struct constant *append(struct constants *constants, struct constant constant) {
  if (constants->count == constants->capacity) {
    size_t capacity = constants->capacity ? 2 * constants->capacity : 32;
    constants->list = arena_grow(constants->arena, constants->list, constants->count, capacity,
                                 sizeof *constants->list);
    constants->capacity = capacity;
  }
  constants->list[constants->count] = constant;
  return &constants->list[constants->count++];
}

static void reserve(struct constants *constants, const char *text, const char *label, double value,
                    const struct unit *unit) {
  const char *meaning = arena_printf(constants->arena, "the constant '%s'", label);
  struct name *name = names_add(constants->names, text, meaning);
  append(constants, (struct constant){name, label, value, unit});
}

void constants_begin(struct constants *constants, struct names *names, struct arena *arena) {
  *constants = (struct constants){.arena = arena, .names = names};
  for (int c = 0; c < CONVERT_CONSTANTS; c++)
    reserve(constants, arena_printf(arena, "pt_%s", conversion_table[c].name),
            conversion_table[c].label, conversion_table[c].value, &conversion_units[c]);
  reserve(constants, "pt_rounding_digits", "Decimals kept before rounding up", CEIL_DECIMALS,
          &unit_plain);
  reserve(constants, "pt_tolerance", "Relative tolerance of the checks", CHECK_TOLERANCE,
          &unit_plain);
}

static struct name *conversion_name(const struct constants *constants,
                                    enum conversion_constant which) {
  return constants->list[which].name;
}

struct name *constants_rounding(const struct constants *constants) {
  return constants->list[PLACE_ROUNDING].name;
}

struct name *constants_tolerance(const struct constants *constants) {
  return constants->list[PLACE_TOLERANCE].name;
}

double constants_tolerance_value(const struct constants *constants) {
  return constants->list[PLACE_TOLERANCE].value;
}

struct name *constants_literal(struct constants *constants, const char *item, const char *label,
                               const char *typed, double value, const struct unit *unit) {
  double number = cell_number(value, unit);
  const char *unit_text = *unit->text ? unit->text : unit_plain.text;
  for (size_t i = FIRST_LITERAL; i < constants->count; i++)
    if (constants->list[i].value == number && !strcmp(constants->list[i].unit->text, unit_text))
      return constants->list[i].name;
  struct arena *arena = constants->arena;
  const char *full = arena_printf(arena, "%s: %s", label, typed);
  struct name *name = names_add_numbered(constants->names, arena_printf(arena, "pt_%s", item),
                                         arena_printf(arena, "the constant '%s'", full));
  append(constants, (struct constant){name, full, number, *unit->text ? unit : &unit_plain});
  return name;
}

const char *conversion_factors(struct conversion excess, const struct constants *constants,
                               struct arena *arena) {
  const char *text = "";
  for (int sign = 1; sign >= -1; sign -= 2)
    for (int c = 0; c < CONVERT_CONSTANTS; c++)
      for (int k = 0; k < sign * excess.power[c]; k++) {
        const struct name *name = conversion_name(constants, (enum conversion_constant)c);
        text = arena_printf(arena, "%s%s%s", text, sign > 0 ? "*" : "/", name->text);
      }
  return text;
}

void conversion_use(struct conversion excess, const struct constants *constants) {
  for (int c = 0; c < CONVERT_CONSTANTS; c++)
    if (excess.power[c])
      conversion_name(constants, (enum conversion_constant)c)->used = true;
}
