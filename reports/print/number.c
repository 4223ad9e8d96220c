#include "reports/print/number.h"

#include "model/cost/arithmetic.h"
#include "model/cost/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DECIMALS = 9, EXACT_DIGITS = 15 };

// A change below this, in percent, is rounding in the last digits of a double.
static const double no_change = 1e-4;

const char *number_counted(double count, const char *noun, struct arena *arena) {
  return arena_printf(arena, "%s %s%s", number_fixed(count, 0, arena), noun, count == 1 ? "" : "s");
}

const char *number_grouped(const char *text, struct arena *arena) {
  const size_t sign = text[0] == '-', digits = strspn(text + sign, "0123456789");
  char *out = arena_alloc(arena, strlen(text) + digits / 3 + 1), *next = out;
  for (size_t i = 0; text[i]; i++) {
    const size_t before = i - sign;
    if (i > sign && before < digits && (digits - before) % 3 == 0)
      *next++ = ',';
    *next++ = text[i];
  }
  return out;
}

static bool shows_zero(const char *text) {
  return strspn(text, "-0.") == strlen(text);
}

const char *number_fixed(double value, int decimals, struct arena *arena) {
  const char *text = arena_printf(arena, "%.*f", decimals, arithmetic_round(value, decimals));
  if (text[0] == '-' && shows_zero(text))
    text++;
  return number_grouped(text, arena);
}

const char *number_significant(double value, int digits, struct arena *arena) {
  static const double very_large = 1e15;
  const char *text = arena_printf(arena, "%.*g", digits, value + 0.0);
  const bool is_written_out = fabs(value) >= 1 && fabs(value) < very_large && strchr(text, 'e');
  return number_grouped(is_written_out ? arena_printf(arena, "%.0f", strtod(text, NULL)) : text,
                        arena);
}

const char *number_change(double a, double b, struct arena *arena) {
  if (a == 0)
    return b == 0 ? "0.0 %" : "-";
  const double percent = 100 * (b - a) / fabs(a);
  const char *text = number_fixed(percent, 1, arena);
  if (fabs(percent) < no_change)
    return "0.0 %";
  if (shows_zero(text))
    text = number_significant(percent, 1, arena);
  return arena_printf(arena, "%s%s %%", percent > 0 ? "+" : "", text);
}

double number_in_unit(double value, const struct unit *unit) {
  const double factor = unit_factor(unit), quotient = value / factor + 0.0;
  char text[64];
  snprintf(text, sizeof text, "%.*g", EXACT_DIGITS, quotient);
  const double shorter = strtod(text, NULL);
  return shorter * factor == value ? shorter + 0.0 : quotient;
}

const char *number_of_figure(const struct figure *figure, const struct unit *unit,
                             struct arena *arena) {
  const char *text = quantity_text(figure->value, unit, arena);
  double number;
  const bool shorter = figure->text && number_prefix(figure->text, &number) > 0 &&
                       number_prefix(figure->text, &number) < number_prefix(text, &number);
  return shorter ? figure->text : text;
}

// The exponent of the first digit: 0 for 1 to 9, 3 for thousands, -1 for tenths.
static int magnitude(double value) {
  return value > 0 ? (int)floor(log10(value)) : 0;
}

static int clamp_decimals(int decimals) {
  return decimals < 0 ? 0 : decimals > MAX_DECIMALS ? MAX_DECIMALS : decimals;
}

static int wanted_decimals(const struct unit *unit, double smallest, double largest) {
  if (dimension_is_money_per(unit->dimension, BASE_TOKEN)) {
    const int digits_of_smallest = 2 - magnitude(smallest), usual = smallest < 100 ? 4 : 2;
    return clamp_decimals(digits_of_smallest > usual ? digits_of_smallest : usual);
  }
  if (dimension_is_money(unit->dimension))
    return largest < 1e3 ? 2 : 0;
  if (unit->percents == 1)
    return 1;
  return clamp_decimals(4 - magnitude(largest));
}

// Whether the last decimal is 0 in every value.
static bool one_too_many(const struct scale *scale, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char text[400];
    const int length = snprintf(text, sizeof text, "%.*f", scale->decimals,
                                arithmetic_round(values[i] / scale->factor, scale->decimals));
    if (length < 1 || text[length - 1] != '0')
      return false;
  }
  return true;
}

static bool is_price(const struct unit *unit) {
  return dimension_is_money_per(unit->dimension, BASE_TOKEN);
}

static void choose_token_unit(struct scale *scale, double largest) {
  static const struct {
    double from, factor;
    const char *unit;
  } steps[] = {{1e12, 1e12, "T tokens"}, {1e9, 1e9, "G tokens"}, {1e6, 1e6, "M tokens"}};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    if (largest < steps[i].from)
      continue;
    scale->factor = steps[i].factor;
    scale->unit = steps[i].unit;
    return;
  }
}

struct scale number_scale(const struct unit *unit, const double *values, size_t count,
                          struct arena *arena) {
  static const struct dimension tokens = {.power = {[BASE_TOKEN] = 1}};
  struct scale scale = {.factor = unit_factor(unit), .unit = arena_copy(arena, unit->text)};
  if (!strcmp(scale.unit, "-"))
    scale.unit = "";
  double largest = 0, smallest = INFINITY;
  for (size_t i = 0; i < count; i++) {
    const double size = fabs(values[i]);
    largest = fmax(largest, size);
    if (size > 0)
      smallest = fmin(smallest, size);
  }
  if (dimension_equal(unit->dimension, tokens) && unit->percents == 0)
    choose_token_unit(&scale, largest);
  if (largest == 0)
    smallest = 0;
  scale.decimals = wanted_decimals(unit, smallest / scale.factor, largest / scale.factor);
  while (scale.decimals > 0 && !is_price(unit) && one_too_many(&scale, values, count))
    scale.decimals--;
  return scale;
}

// A small value among large ones keeps two digits, so that it does not read as zero.
static int kept_decimals(double shown, int decimals) {
  const double size = fabs(shown), smallest = 1e-4;
  const bool vanishes = arithmetic_round(size, decimals) == 0;
  return vanishes && size >= smallest ? 1 - magnitude(size) : decimals;
}

int number_percent_decimals(double percent, int decimals) {
  static const double least_lack = 1e-6;
  while (percent < 100 - least_lack && decimals < MAX_DECIMALS &&
         arithmetic_round(percent, decimals) >= 100)
    decimals++;
  return decimals;
}

const char *number_percent(double share, struct arena *arena) {
  return number_fixed(100 * share, number_percent_decimals(100 * share, 1), arena);
}

const char *number_scaled(double value, struct scale scale, struct arena *arena) {
  const double shown = value / scale.factor;
  const int decimals = kept_decimals(shown, scale.decimals);
  if (shown > 0 && strstr(scale.unit, " tokens") && arithmetic_round(shown, decimals) == 0)
    return arena_printf(arena, "<%s", number_fixed(pow(10, -decimals), decimals, arena));
  return number_fixed(
      shown, strcmp(scale.unit, "%") ? decimals : number_percent_decimals(shown, decimals), arena);
}
