#include "model/cost/quantity.h"

#include "model/cost/number_hint.h"
#include "model/cost/typed_unit.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t spaces(const char *text) {
  return strspn(text, " \t");
}

size_t number_prefix(const char *text, double *value) {
  size_t digits = strspn(text, "0123456789"), at = digits;
  if (text[at] == '.') {
    size_t decimals = strspn(text + at + 1, "0123456789");
    digits += decimals;
    at += 1 + decimals;
  }
  if (!digits)
    return 0;
  if (text[at] == 'e' || text[at] == 'E') {
    size_t sign = at + 1 + (text[at + 1] == '+' || text[at + 1] == '-');
    size_t exponent = strspn(text + sign, "0123456789");
    if (exponent)
      at = sign + exponent;
  }
  char buffer[64];
  if (at >= sizeof buffer)
    return 0;
  memcpy(buffer, text, at);
  buffer[at] = 0;
  *value = strtod(buffer, NULL);
  return isfinite(*value) ? at : 0;
}

static const char *example_of(const struct unit *expected, struct arena *arena) {
  if (!strcmp(expected->text, "-"))
    return "a plain number";
  if (expected->counts)
    return arena_printf(arena, "a count such as '8 %s'", expected->text);
  return arena_printf(arena, "a quantity such as '%s %s'", expected->percents ? "5" : "100",
                      expected->text);
}

// The unit that a hint gives the number of a text: its own, or for none and for cents the expected.
static struct number_unit unit_of_hint(const char *text, const struct unit *expected,
                                       struct arena *arena) {
  const char *rest = number_end(text);
  const bool is_bare = !*rest && (expected->counts || !strcmp(expected->text, "-"));
  const size_t word = strcspn(rest, "/ ");
  if (unit_is_cents(arena_copy_n(arena, rest, word)))
    return (struct number_unit){arena_printf(arena, " %s", expected->text), 0.01, false};
  const char *unit = *rest ? rest : expected->text;
  return (struct number_unit){is_bare ? "" : arena_printf(arena, " %s", unit), 1,
                              !*rest && expected->percents};
}

// The unit that a number is in: what follows it, or the currency before it with what follows.
static const char *unit_around(const char *currency, const char *rest, struct arena *arena) {
  if (!currency)
    return rest;
  return arena_printf(arena, "%s%s%s", currency, isalpha((unsigned char)*rest) ? " " : "", rest);
}

// The same text with a currency that begins it behind the number: "30,000 USD" for "$30,000".
static const char *number_first(const char *text, struct arena *arena) {
  size_t length;
  double ignored = 1;
  const char *code = typed_unit_currency(text, &length);
  if (!code)
    return text;
  const char *number = text + length + spaces(text + length), *end = number_end(number);
  const size_t length_of_multiple = typed_unit_multiple(end, true, &ignored);
  const char *rest = end + length_of_multiple;
  while (!length_of_multiple && end > number && end[-1] == ' ')
    end--;
  const char *multiple = arena_copy_n(arena, rest - length_of_multiple, length_of_multiple);
  return arena_printf(arena, "%.*s%s %s", (int)(end - number), number, multiple,
                      unit_around(code, rest, arena));
}

static const char *hint_of(const char *text, const struct unit *expected, struct arena *arena) {
  const char *meant = number_first(text, arena);
  const struct number_unit unit = unit_of_hint(meant, expected, arena);
  return number_hint(meant, &unit, arena);
}

static int wrong_number(const char *text, struct place place, const struct unit *expected,
                        struct diagnostics *diagnostics) {
  struct arena *arena = diagnostics->arena;
  diagnostics_error(diagnostics, place, "expected %s, not '%s'%s", example_of(expected, arena),
                    text, hint_of(text, expected, arena));
  return -1;
}

static bool names_count(const char *unit, const char *count) {
  const size_t length = strlen(count);
  for (const char *at = strstr(unit, count); at; at = strstr(at + 1, count))
    if ((at == unit || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[length]))
      return true;
  return false;
}

// "token/s/node" where a figure per gpu is expected: the dimensions agree, the figures do not.
static bool counts_differ(const struct unit *unit, const struct unit *expected) {
  static const char *const counts[] = {"gpu", "node", "FTE"};
  bool stranger = false, known = false;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    const bool wanted = names_count(expected->text, counts[i]);
    stranger |= names_count(unit->text, counts[i]) && !wanted;
    known |= wanted;
  }
  return stranger && known;
}

static void wrong_unit(const struct unit *unit, struct place place, const struct unit *expected,
                       struct diagnostics *diagnostics) {
  const int wanted = dimension_currency(expected->dimension);
  const int typed = dimension_currency(unit->dimension);
  const struct dimension both = dimension_multiply(unit->dimension, expected->dimension, 1);
  const bool turned = dimension_is_one(both) && !dimension_is_one(expected->dimension) &&
                      !expected->percents; // "3 yr" is no share per year at all
  if (wanted < 0 || typed < 0 || wanted == typed || turned)
    diagnostics_error(diagnostics, place, "wrong unit '%s': expected %s%s", unit->text,
                      example_of(expected, diagnostics->arena),
                      turned ? ", which is 1 divided by that" : "");
  else
    diagnostics_error(diagnostics, place, "amounts here are in %s, not %s: convert them first%s",
                      currency_codes[wanted], currency_codes[typed],
                      wanted != BASE_USD ? ""
                                         : arena_printf(diagnostics->arena,
                                                        ", or set 'currency = %s' in [scenario]",
                                                        currency_codes[typed]));
}

// "20 ct/kWh is 0.2 USD/kWh" in the currency of what is expected; NULL if it is not in cents.
static const char *cents_hint(double number, const char *unit, const struct unit *expected,
                              struct arena *arena) {
  enum { DIGITS_SHOWN = 15 };
  const int currency = dimension_currency(expected->dimension);
  const size_t word = strcspn(unit, " /");
  if (currency < 0 || !unit_is_cents(arena_copy_n(arena, unit, word)))
    return NULL;
  return arena_printf(arena, "unknown unit '%.*s': %.*g %s is %.*g %s%s", (int)word, unit,
                      DIGITS_SHOWN, number, unit, DIGITS_SHOWN, number / 100,
                      currency_codes[currency], unit + word);
}

const char *quantity_spelled_out(const char *text, struct arena *arena) {
  char *copy = arena_copy(arena, unit_as_typed(text, arena)), *to = copy;
  for (const char *from = copy; *from; from++)
    if (*from != ' ' && *from != '\t')
      *to++ = *from;
  *to = '\0';
  return copy;
}

// A place in a unit that is read in other words, or that the text has not in one piece, means
// nothing in the typed one, so such an error points at the start.
static int typed_unit_parse(const char *typed, bool in_one_piece, struct place place,
                            const struct unit *expected, struct unit *unit,
                            struct diagnostics *diagnostics) {
  struct arena *arena = diagnostics->arena;
  const char *text = unit_as_typed(typed, arena), *example = example_of(expected, arena);
  struct diagnostics quiet = {.arena = arena};
  if (text == typed && in_one_piece)
    return unit_parse_for(typed, place, example, unit, arena, diagnostics);
  if (!unit_parse_for(text, place, example, unit, arena, &quiet))
    return 0;
  diagnostics_error(diagnostics, place, "%s", quiet.list[0].message);
  return -1;
}

// An amount of money that nobody writes to a thousandth; rates per hour, kWh or token have such.
static bool is_amount(const struct unit *unit) {
  const signed char *power = unit->dimension.power;
  const bool by_year = !power[BASE_H] || unit->conversion.power[CONVERT_HOURS_PER_YEAR];
  return dimension_money(unit->dimension) == 1 && !power[BASE_TOKEN] && !power[BASE_L] && by_year &&
         !(power[BASE_W] && power[BASE_H]);
}

// Whether the number may have a point between its thousands: "30.000 USD" is thirty, or thirty
// thousand.
static bool may_be_thousands(const char *number, size_t length, const struct unit *expected) {
  enum { DECIMALS = 3 };
  const char *unit = number + length + spaces(number + length);
  const size_t whole = strspn(number, "0123456789");
  const bool is_count = expected->counts && strcmp(expected->text, "-") != 0;
  const bool is_power = *expected->text == 'W' && *unit == 'W';
  return (is_count || is_power || is_amount(expected)) && whole >= 1 && whole <= DECIMALS &&
         *number != '0' && length == whole + 1 + DECIMALS && number[whole] == '.' &&
         strspn(number + whole + 1, "0123456789") == DECIMALS && number[length - 1] == '0';
}

static int report_thousands(const char *text, const char *number, size_t length, struct place place,
                            struct diagnostics *diagnostics) {
  const char *after = number + length;
  const double less = strtod(number, NULL), more = 1000 * less;
  diagnostics_error(diagnostics, place,
                    "'%s' may mean %.15g or %.15g: write '%.15g%s' or '%.15g%s'", text, more, less,
                    more, after, less, after);
  return -1;
}

static int check_unit(const struct unit *unit, struct place place, const struct unit *expected,
                      struct diagnostics *diagnostics) {
  const bool shares_differ =
      dimension_is_one(unit->dimension) && unit->percents != expected->percents;
  if (dimension_equal(unit->dimension, expected->dimension) && !shares_differ &&
      !counts_differ(unit, expected))
    return 0;
  wrong_unit(unit, place, expected, diagnostics);
  return -1;
}

int quantity_parse_typed(const char *text, struct place place, const struct unit *expected,
                         double *value, struct unit *typed, struct diagnostics *diagnostics) {
  struct arena *arena = diagnostics->arena;
  const char *start = text + spaces(text);
  const double sign = *start == '-' ? -1 : 1;
  if (*start == '-' || *start == '+')
    start += 1 + spaces(start + 1);
  size_t before = 0;
  const char *currency = typed_unit_currency(start, &before);
  const char *number = currency ? start + before + spaces(start + before) : start;
  const size_t length = number_prefix(number, value);
  if (!length)
    return wrong_number(text, place, expected, diagnostics);
  *value *= sign;
  const size_t multiple = typed_unit_multiple(number + length, currency != NULL, value);
  const char *rest = number + length + multiple;
  rest += spaces(rest);
  if (*rest && strchr(",.'_0123456789", *rest))
    return wrong_number(text, place, expected, diagnostics);
  if (!multiple && may_be_thousands(number, length, expected))
    return report_thousands(text, number, length, place, diagnostics);
  const char *unit_text = unit_around(currency, rest, arena);
  *typed = *unit_constant("-", arena);
  if (!*unit_text) {
    if (expected->counts)
      return 0;
    diagnostics_error(diagnostics, place, "'%s' has no unit: expected %s", text,
                      example_of(expected, arena));
    return -1;
  }
  struct place unit_place = place;
  unit_place.column += (int)((currency ? start : rest) - text);
  const char *cents = cents_hint(*value, unit_text, expected, arena);
  if (cents) {
    diagnostics_error(diagnostics, unit_place, "%s", cents);
    return -1;
  }
  if (typed_unit_parse(unit_text, !currency, unit_place, expected, typed, diagnostics) ||
      check_unit(typed, unit_place, expected, diagnostics))
    return -1;
  *value *= unit_factor(typed);
  if (isfinite(*value))
    return 0;
  return wrong_number(text, place, expected, diagnostics);
}

int quantity_parse(const char *text, struct place place, const struct unit *expected, double *value,
                   struct diagnostics *diagnostics) {
  struct unit typed;
  return quantity_parse_typed(text, place, expected, value, &typed, diagnostics);
}

// What follows the number, and its multiple, at the start of a text; NULL without a number.
static const char *behind_number(const char *text) {
  double ignored;
  text += spaces(text);
  text += *text == '-' || *text == '+';
  text += spaces(text);
  const size_t length = number_prefix(text, &ignored);
  text += length;
  return length ? text + typed_unit_multiple(text, false, &ignored) : NULL;
}

// The last is parsed first: it has the others' unit, whose errors belong where it is typed.
int quantity_parse_series(const char *text, const char *between, struct place place,
                          const struct unit *expected, double *values, size_t count,
                          struct diagnostics *diagnostics) {
  const char *last = text;
  size_t found = 1;
  for (const char *at; (at = strstr(last, between)); found++)
    last = at + strlen(between);
  if (found != count)
    return 1;
  last += spaces(last);
  struct place at = place;
  at.column += (int)(last - text);
  if (quantity_parse(last, at, expected, &values[count - 1], diagnostics))
    return -1;
  const char *unit = behind_number(last);
  for (size_t i = 0; i + 1 < count; i++) {
    const size_t length = (size_t)(strstr(text, between) - text);
    const char *part = arena_copy_n(diagnostics->arena, text, length), *rest = behind_number(part);
    if (unit && rest && !rest[spaces(rest)])
      part = arena_printf(diagnostics->arena, "%s %s", part, unit);
    if (quantity_parse(part, place, expected, &values[i], diagnostics))
      return -1;
    place.column += (int)(length + strlen(between));
    text += length + strlen(between);
  }
  return 0;
}

// The fewest digits that read back to the same value, except for the last bit of the conversion.
static char *shortest_number(double value, double factor, struct arena *arena) {
  double shown = value / factor;
  char *number = NULL;
  for (int digits = 15; digits <= 17; digits++) {
    number = arena_printf(arena, "%.*g", digits, shown);
    if (fabs(strtod(number, NULL) * factor - value) <= 4e-16 * fabs(value))
      break;
  }
  return number;
}

// "0.000001" for "1e-06": people read points, not exponents, as far as they can count the zeros.
static const char *written_out(const char *number, struct arena *arena) {
  enum { MOST_ZEROS = 9 };
  const char *exponent = strstr(number, "e-");
  const long zeros = exponent ? strtol(exponent + 2, NULL, 10) : 0;
  const size_t digits = strspn(number + strcspn(number, "123456789"), "0123456789.");
  return zeros && zeros <= MOST_ZEROS
             ? arena_printf(arena, "%.*f", (int)(zeros + (long)digits - (digits > 1 ? 2 : 1)),
                            strtod(number, NULL))
             : number;
}

const char *quantity_text(double value, const struct unit *unit, struct arena *arena) {
  const char *number = written_out(shortest_number(value, unit_factor(unit), arena), arena);
  bool plain = !strcmp(unit->text, "-") || !*unit->text;
  return plain ? number : arena_printf(arena, "%s %s", number, unit->text);
}

const char *quantity_rounded(double value, const struct unit *unit, int digits,
                             struct arena *arena) {
  const double factor = unit_factor(unit);
  const char *number = arena_printf(arena, "%.*e", digits - 1, value / factor);
  return quantity_text(strtod(number, NULL) * factor, unit, arena);
}
