#include "model/cost/quantity.h"

#include "model/cost/number_hint.h"

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
    return "a count";
  return arena_printf(arena, "a quantity such as '%s %s'", expected->percents ? "5" : "100",
                      expected->text);
}

// What people type for the names in a unit: "$/kWh", "EUR per kWh", "percent", "% p.a.", "gpus".
static const char *name_as_typed(const char *word, size_t length) {
  static const struct {
    const char *typed, *name;
  } words[] = {{"percent", "%"},    {"pct", "%"},
               {"y", "yr"},         {"per", "/"},
               {"p.a.", "/yr"},     {"pa", "/yr"},
               {"mo", "month"},     {"GPU", "gpu"},
               {"GPUs", "gpu"},     {"gpus", "gpu"},
               {"nodes", "node"},   {"tokens", "token"},
               {"Tokens", "token"}, {"requests", "request"},
               {"FTEs", "FTE"},     {"watt", "W"},
               {"Watt", "W"},       {"watts", "W"}};
  for (size_t i = 0; i < CURRENCY_SIGNS; i++)
    if (strlen(currency_signs[i].sign) == length && !strncmp(word, currency_signs[i].sign, length))
      return currency_signs[i].code;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i].typed) == length && !strncmp(word, words[i].typed, length))
      return words[i].name;
  return NULL;
}

// The text itself if it has none of these.
static const char *unit_as_typed(const char *text, struct arena *arena) {
  const char *named = "";
  bool found = false;
  for (const char *word = text; *word;) {
    const size_t length = strcspn(word, " /*^"), end = length + !!word[length];
    const char *name = name_as_typed(word, length);
    found |= name != NULL;
    named = name ? arena_printf(arena, "%s%s%.*s", named, name, (int)(end - length), word + length)
                 : arena_printf(arena, "%s%.*s", named, (int)end, word);
    word += end;
  }
  return found ? named : text;
}

// The unit that a hint gives the number of a text: its own, or for none and for words the expected.
static struct number_unit unit_of_hint(const char *text, const struct unit *expected,
                                       struct arena *arena) {
  struct unit unit;
  const char *rest = unit_as_typed(number_end(text), arena);
  const bool is_bare = !*rest && (expected->counts || !strcmp(expected->text, "-"));
  const size_t length = unit_prefix(rest, &unit, arena), word = strcspn(rest, "/ ");
  if (is_bare || (length && !rest[length]))
    return (struct number_unit){*rest ? arena_printf(arena, " %s", rest) : "", 1, false};
  return (struct number_unit){arena_printf(arena, " %s", expected->text),
                              unit_is_cents(arena_copy_n(arena, rest, word)) ? 0.01 : 1,
                              !*rest && expected->percents};
}

static const char *hint_of(const char *text, const struct unit *expected, struct arena *arena) {
  const struct number_unit unit = unit_of_hint(text, expected, arena);
  return number_hint(text, &unit, arena);
}

// The code of the currency that the text begins with, and its length; NULL: none.
static const char *leading_currency(const char *text, size_t *length) {
  for (size_t i = 0; i < CURRENCY_SIGNS; i++)
    if (!strncmp(text, currency_signs[i].sign, *length = strlen(currency_signs[i].sign)))
      return currency_signs[i].code;
  *length = 3;
  for (size_t i = 0; i < CURRENCIES; i++)
    if (!strncmp(text, currency_codes[i], *length))
      return currency_codes[i];
  return NULL;
}

// " (the number comes first: write '30000 USD')", or what else is wrong with the number after a
// currency, or "".
static const char *order_hint(const char *text, const struct unit *expected, struct arena *arena) {
  size_t length;
  double value;
  const char *code = leading_currency(text, &length);
  if (!code)
    return "";
  const char *number = text + length + spaces(text + length);
  const size_t before = strcspn(number, "/"), digits = number_prefix(number, &value);
  const char *meant = arena_printf(arena, "%.*s %s%s", (int)before, number, code, number + before);
  return !digits            ? ""
         : digits == before ? arena_printf(arena, " (the number comes first: write '%s')", meant)
                            : hint_of(meant, expected, arena);
}

static int wrong_number(const char *text, struct place place, const struct unit *expected,
                        struct diagnostics *diagnostics) {
  struct arena *arena = diagnostics->arena;
  diagnostics_error(diagnostics, place, "expected %s, not '%s'%s%s", example_of(expected, arena),
                    text, hint_of(text, expected, arena), order_hint(text, expected, arena));
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

// "250k", "1.5M": a number with a multiple, at the end of the text or before a unit of its own.
static size_t multiple_prefix(const char *text, double *value) {
  const double multiple = *text == 'k' ? 1e3 : *text == 'M' ? 1e6 : 0;
  if (multiple == 0 || isalnum((unsigned char)text[1]) || text[1] == '_')
    return 0;
  *value *= multiple;
  return 1;
}

// A place in the rewritten text means nothing in the typed one, so such an error points at the
// start.
static int typed_unit_parse(const char *typed, struct place place, struct unit *unit,
                            struct arena *arena, struct diagnostics *diagnostics) {
  const char *text = unit_as_typed(typed, arena);
  struct diagnostics quiet = {.arena = arena};
  if (text == typed)
    return unit_parse(typed, place, unit, arena, diagnostics);
  if (!unit_parse(text, place, unit, arena, &quiet))
    return 0;
  diagnostics_error(diagnostics, place, "unknown unit '%s'", typed);
  return -1;
}

int quantity_parse(const char *text, struct place place, const struct unit *expected, double *value,
                   struct diagnostics *diagnostics) {
  struct arena *arena = diagnostics->arena;
  const char *start = text + spaces(text);
  double sign = *start == '-' ? -1 : 1;
  if (*start == '-' || *start == '+')
    start += 1 + spaces(start + 1);
  size_t length = number_prefix(start, value);
  if (!length)
    return wrong_number(text, place, expected, diagnostics);
  *value *= sign;
  length += multiple_prefix(start + length, value);
  const char *rest = start + length + spaces(start + length);
  if (*rest && strchr(",.'_0123456789", *rest))
    return wrong_number(text, place, expected, diagnostics);
  if (!*rest) {
    if (expected->counts)
      return 0;
    diagnostics_error(diagnostics, place, "'%s' has no unit: expected %s", text,
                      example_of(expected, arena));
    return -1;
  }
  struct unit unit;
  struct place unit_place = place;
  unit_place.column += (int)(rest - text);
  if (typed_unit_parse(rest, unit_place, &unit, arena, diagnostics))
    return -1;
  bool shares_differ = dimension_is_one(unit.dimension) && unit.percents != expected->percents;
  if (!dimension_equal(unit.dimension, expected->dimension) || shares_differ ||
      counts_differ(&unit, expected)) {
    wrong_unit(&unit, unit_place, expected, diagnostics);
    return -1;
  }
  *value *= unit_factor(&unit);
  if (isfinite(*value))
    return 0;
  return wrong_number(text, place, expected, diagnostics);
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

const char *quantity_text(double value, const struct unit *unit, struct arena *arena) {
  char *number = shortest_number(value, unit_factor(unit), arena);
  bool plain = !strcmp(unit->text, "-") || !*unit->text;
  return plain ? number : arena_printf(arena, "%s %s", number, unit->text);
}
