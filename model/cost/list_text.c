#include "model/cost/list_text.h"

#include "model/cost/quantity.h"
#include "model/cost/typed_unit.h"
#include "model/cost/units.h"

#include <string.h>

static bool separates(const char *at) {
  return *at == ',' && (!at[1] || strchr(" \t,", at[1]));
}

// The length of a list's value: up to the next comma outside brackets.
static size_t value_length(const char *text) {
  size_t length = 0;
  for (int depth = 0; text[length] && (depth > 0 || !separates(text + length)); length++)
    depth += (text[length] == '(') - (text[length] == ')');
  return length;
}

bool text_is_list(const char *text) {
  return text[value_length(text)] != 0;
}

bool text_is_tiers(const char *text) {
  return strstr(text, " from ") != NULL;
}

// The text after a number, or NULL if the text is something else.
static const char *behind_number(const char *text) {
  double ignored;
  text += *text == '-' || *text == '+';
  text += strspn(text, " \t");
  const size_t length = number_prefix(text, &ignored);
  text += length;
  text += typed_unit_multiple(text, false, &ignored);
  return length ? text + strspn(text, " \t") : NULL;
}

// The unit of a value, also of several words ("USD per kWh"), or "".
static const char *unit_of(const char *text, struct arena *arena) {
  const char *unit = behind_number(text);
  if (!unit || !*unit || strchr(",._0123456789", *unit))
    return "";
  const char *own = quantity_spelled_out(unit, arena);
  struct unit ignored;
  return !strpbrk(unit, " +-*()^") || !own[unit_prefix(own, &ignored, arena)] ? unit : "";
}

static bool has_no_unit(const char *text) {
  const char *unit = behind_number(text);
  return unit && !*unit;
}

const struct list_value *list_split(const char *text, struct place place, size_t *count,
                                    struct arena *arena) {
  struct list_value *values = arena_array(arena, strlen(text) + 1, sizeof *values);
  const char *at = text;
  *count = 0;
  for (bool more = true; more;) {
    at += strspn(at, " \t");
    size_t length = value_length(at), shown = length;
    while (shown && strchr(" \t", at[shown - 1]))
      shown--;
    struct list_value *value = &values[(*count)++];
    *value = (struct list_value){arena_copy_n(arena, at, shown), place};
    value->place.column += (int)(at - text);
    more = at[length] == ',';
    at += length + more;
  }
  const char *unit = unit_of(values[*count - 1].text, arena);
  for (size_t i = 0; i + 1 < *count && *unit; i++)
    if (has_no_unit(values[i].text))
      values[i].text = arena_printf(arena, "%s %s", values[i].text, unit);
  return values;
}
