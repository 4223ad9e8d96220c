#include "probe/options/values.h"

#include "base/digits.h"
#include "model/cost/quantity.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

const char *value_int(const char *text, const char *ends, long low, long high, const char *option,
                      struct argp_state *state, int *out) {
  uint64_t value = 0;
  const char *end = whole_number(text, (uint64_t)low, (uint64_t)high, &value);
  if (!end || !strchr(ends, *end))
    argp_error(state, "expected --%s to be whole numbers from %ld to %ld, found '%s'", option, low,
               high, text);
  *out = (int)value;
  return end;
}

void value_list(const char *text, long high, const char *option, struct argp_state *state,
                struct number_list *out) {
  *out = (struct number_list){{0}, 0};
  for (const char *at = text;; at++) {
    int value;
    at = value_int(at + strspn(at, " "), ",", 1, high, option, state, &value);
    for (size_t i = 0; i < out->count; i++)
      if (out->values[i] == value)
        argp_error(state, "--%s names %d twice", option, value);
    if (out->count == MAX_LIST_VALUES)
      argp_error(state, "--%s takes at most %d values", option, MAX_LIST_VALUES);
    out->values[out->count++] = value;
    if (!*at)
      return;
  }
}

double value_seconds(const char *text, const char *option, double low, struct argp_state *state) {
  double value = 0;
  const size_t length = number_prefix(text, &value);
  const char *unit = text + length + strspn(text + length, " ");
  if (!strcmp(unit, "min"))
    value *= 60;
  else if (strcmp(unit, "") != 0 && strcmp(unit, "s") != 0)
    value = 0;
  if (!length || !(value >= low) || value > 86400)
    argp_error(state, "expected --%s from %g s to a day, such as '10 s' or '5min', found '%s'",
               option, low, text);
  return value;
}

uint64_t value_seed(const char *text, struct argp_state *state) {
  uint64_t value = 0;
  if (!is_whole_number(text, 0, INT64_MAX, &value))
    argp_error(state, "expected --seed to be a whole number from 0 to 2^63 - 1, found '%s'", text);
  return value;
}
