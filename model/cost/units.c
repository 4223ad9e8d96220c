#include "model/cost/units.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const struct unit unit_percent = {.text = "%", .percents = 1};
const struct unit unit_plain = {.text = "-", .counts = true};

const struct conversion_info conversion_table[CONVERT_CONSTANTS] = {
    [CONVERT_HOURS_PER_YEAR] = {"hours_per_year", "Hours per year", HOURS_PER_YEAR},
    [CONVERT_MONTHS_PER_YEAR] = {"months_per_year", "Months per year", 12},
    [CONVERT_HOURS_PER_DAY] = {"hours_per_day", "Hours per day", 24},
    [CONVERT_DAYS_PER_WEEK] = {"days_per_week", "Days per week", 7},
    [CONVERT_MINUTES_PER_HOUR] = {"minutes_per_hour", "Minutes per hour", 60},
    [CONVERT_SECONDS_PER_HOUR] = {"seconds_per_hour", "Seconds per hour", 3600},
    [CONVERT_THOUSAND] = {"thousand", "Thousand (k)", 1e3},
    [CONVERT_MILLION] = {"million", "Million (M)", 1e6},
    [CONVERT_BILLION] = {"billion", "Billion (G)", 1e9},
    [CONVERT_KIBI] = {"kibi", "Binary thousand (Ki)", 1024},
    [CONVERT_LITRES_PER_M3] = {"litres_per_m3", "Liters per cubic meter", 1000},
};

double rate_per_hour(double per_second) {
  return per_second * conversion_table[CONVERT_SECONDS_PER_HOUR].value;
}

double rate_per_second(double per_hour) {
  return per_hour / conversion_table[CONVERT_SECONDS_PER_HOUR].value;
}

double hours_from_seconds(double seconds) {
  return seconds / conversion_table[CONVERT_SECONDS_PER_HOUR].value;
}

struct symbol {
  const char *name;
  signed char dimension[BASE_UNITS];
  struct conversion conversion;
  signed char percents;
};

#define POWER                                                                                      \
  { [BASE_W] = 1 }
#define TIME                                                                                       \
  { [BASE_H] = 1 }
#define WORK                                                                                       \
  { [BASE_W] = 1, [BASE_H] = 1 }
#define BYTES                                                                                      \
  { [BASE_B] = 1 }
#define TOKEN                                                                                      \
  { [BASE_TOKEN] = 1 }
#define WATER                                                                                      \
  { [BASE_L] = 1 }
#define MASS                                                                                       \
  { [BASE_G] = 1 }
#define NONE                                                                                       \
  { 0 }
#define BY(constant, exponent)                                                                     \
  {                                                                                                \
    { [CONVERT_##constant] = (exponent) }                                                          \
  }

static const struct symbol symbols[] = {
    {"W", POWER, {{0}}, 0},
    {"kW", POWER, BY(THOUSAND, 1), 0},
    {"MW", POWER, BY(MILLION, 1), 0},
    {"Wh", WORK, {{0}}, 0},
    {"kWh", WORK, BY(THOUSAND, 1), 0},
    {"MWh", WORK, BY(MILLION, 1), 0},
    {"GWh", WORK, BY(BILLION, 1), 0},
    {"J", WORK, BY(SECONDS_PER_HOUR, -1), 0},
    {"s", TIME, BY(SECONDS_PER_HOUR, -1), 0},
    {"ms", TIME, {{[CONVERT_SECONDS_PER_HOUR] = -1, [CONVERT_THOUSAND] = -1}}, 0},
    {"min", TIME, BY(MINUTES_PER_HOUR, -1), 0},
    {"h", TIME, {{0}}, 0},
    {"hour", TIME, {{0}}, 0},
    {"hours", TIME, {{0}}, 0},
    {"day", TIME, BY(HOURS_PER_DAY, 1), 0},
    {"days", TIME, BY(HOURS_PER_DAY, 1), 0},
    {"week", TIME, {{[CONVERT_HOURS_PER_DAY] = 1, [CONVERT_DAYS_PER_WEEK] = 1}}, 0},
    {"weeks", TIME, {{[CONVERT_HOURS_PER_DAY] = 1, [CONVERT_DAYS_PER_WEEK] = 1}}, 0},
    {"month", TIME, {{[CONVERT_HOURS_PER_YEAR] = 1, [CONVERT_MONTHS_PER_YEAR] = -1}}, 0},
    {"months", TIME, {{[CONVERT_HOURS_PER_YEAR] = 1, [CONVERT_MONTHS_PER_YEAR] = -1}}, 0},
    {"yr", TIME, BY(HOURS_PER_YEAR, 1), 0},
    {"year", TIME, BY(HOURS_PER_YEAR, 1), 0},
    {"years", TIME, BY(HOURS_PER_YEAR, 1), 0},
    {"B", BYTES, {{0}}, 0},
    {"kB", BYTES, BY(THOUSAND, 1), 0},
    {"MB", BYTES, BY(MILLION, 1), 0},
    {"GB", BYTES, BY(BILLION, 1), 0},
    {"KiB", BYTES, BY(KIBI, 1), 0},
    {"MiB", BYTES, BY(KIBI, 2), 0},
    {"GiB", BYTES, BY(KIBI, 3), 0},
    {"token", TOKEN, {{0}}, 0},
    {"tok", TOKEN, {{0}}, 0},
    {"ktok", TOKEN, BY(THOUSAND, 1), 0},
    {"Mtok", TOKEN, BY(MILLION, 1), 0},
    {"Gtok", TOKEN, BY(BILLION, 1), 0},
    {"Ttok", TOKEN, {{[CONVERT_BILLION] = 1, [CONVERT_THOUSAND] = 1}}, 0},
    {"L", WATER, {{0}}, 0},
    {"m3", WATER, BY(LITRES_PER_M3, 1), 0},
    {"g", MASS, {{0}}, 0},
    {"kg", MASS, BY(THOUSAND, 1), 0},
    {"t", MASS, BY(MILLION, 1), 0},
    {"%", NONE, {{0}}, 1},
    {"gpu", NONE, {{0}}, 0},
    {"node", NONE, {{0}}, 0},
    {"FTE", NONE, {{0}}, 0},
    {"request", NONE, {{0}}, 0},
};

enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };

const char *const currency_codes[CURRENCIES] = {
    [BASE_USD] = "USD", [BASE_EUR] = "EUR", [BASE_GBP] = "GBP", [BASE_CHF] = "CHF",
    [BASE_JPY] = "JPY", [BASE_CNY] = "CNY", [BASE_INR] = "INR", [BASE_KRW] = "KRW",
    [BASE_TWD] = "TWD", [BASE_HKD] = "HKD", [BASE_SGD] = "SGD", [BASE_AUD] = "AUD",
    [BASE_NZD] = "NZD", [BASE_CAD] = "CAD", [BASE_SEK] = "SEK", [BASE_NOK] = "NOK",
    [BASE_DKK] = "DKK", [BASE_ISK] = "ISK", [BASE_PLN] = "PLN", [BASE_CZK] = "CZK",
    [BASE_HUF] = "HUF", [BASE_RON] = "RON", [BASE_TRY] = "TRY", [BASE_ILS] = "ILS",
    [BASE_AED] = "AED", [BASE_SAR] = "SAR", [BASE_QAR] = "QAR", [BASE_KWD] = "KWD",
    [BASE_ZAR] = "ZAR", [BASE_BRL] = "BRL", [BASE_MXN] = "MXN", [BASE_CLP] = "CLP",
    [BASE_THB] = "THB", [BASE_MYR] = "MYR", [BASE_IDR] = "IDR", [BASE_VND] = "VND",
    [BASE_PHP] = "PHP",
};

static const char *base_name(int base) {
  static const char *const others[] = {"W", "h", "B", "token", "L", "g"};
  return base < CURRENCIES ? currency_codes[base] : others[base - CURRENCIES];
}

static size_t symbol_length(const char *text) {
  if (*text == '%')
    return 1;
  size_t length = 0;
  while (isalnum((unsigned char)text[length]) || text[length] == '_')
    length++;
  return isalpha((unsigned char)*text) ? length : 0;
}

static bool is_named(const char *symbol, const char *name, size_t length) {
  return strlen(symbol) == length && !strncmp(symbol, name, length);
}

// Finds the unit of that name. Returns false if there is none.
static bool symbol_find(const char *name, size_t length, struct symbol *symbol) {
  for (int i = 0; i < CURRENCIES; i++)
    if (is_named(currency_codes[i], name, length)) {
      *symbol = (struct symbol){.name = currency_codes[i]};
      symbol->dimension[i] = 1;
      return true;
    }
  for (size_t i = 0; i < SYMBOLS; i++)
    if (is_named(symbols[i].name, name, length)) {
      *symbol = symbols[i];
      return true;
    }
  return false;
}

bool unit_is_symbol(const char *name) {
  struct symbol symbol;
  return symbol_find(name, strlen(name), &symbol);
}

static void unit_apply(struct unit *unit, const struct symbol *symbol, int sign) {
  for (int i = 0; i < BASE_UNITS; i++)
    unit->dimension.power[i] =
        (signed char)(unit->dimension.power[i] + sign * symbol->dimension[i]);
  unit->conversion = conversion_multiply(unit->conversion, symbol->conversion, sign);
  unit->percents += sign * symbol->percents;
}

static size_t spaces(const char *text) {
  return strspn(text, " \t");
}

// The unit that a text begins with: "min", but not the function in "min(2, 3)".
static size_t scan_symbol(const char *text, struct symbol *symbol) {
  const size_t length = symbol_length(text);
  const bool is_call = text[length + spaces(text + length)] == '(';
  return length && !is_call && symbol_find(text, length, symbol) ? length : 0;
}

// Whether the word is a formula's number of the year or of the period, as in "5 USD * year" and "1
// yr * t".
static bool is_of_time(const char *text, size_t length) {
  return is_named("year", text, length) || is_named("t", text, length);
}

// No unit here has as many as seven factors; the limit keeps the powers far from overflow.
enum { MAX_FACTORS = 7 };

static size_t scan_unit(const char *text, struct unit *unit) {
  struct symbol symbol;
  size_t at = 0, length = scan_symbol(text, &symbol);
  if (*text == '1' && text[1 + spaces(text + 1)] == '/')
    at = 1;
  else if (length) {
    unit_apply(unit, &symbol, 1);
    at = length;
  } else
    return 0;
  for (int factors = 1; factors < MAX_FACTORS; factors++) {
    size_t next = at + spaces(text + at);
    char operator= text[next];
    if (operator!= '/' && operator!= '*')
      break;
    next += 1 + spaces(text + next + 1);
    length = scan_symbol(text + next, &symbol);
    if (!length || (operator== '*' && is_of_time(text + next, length)))
      break;
    unit_apply(unit, &symbol, operator== '/' ? -1 : 1);
    at = next + length;
  }
  return at;
}

size_t unit_prefix(const char *text, struct unit *unit, struct arena *arena) {
  *unit = (struct unit){0};
  size_t length = scan_unit(text, unit);
  if (length) {
    unit->text = arena_copy_n(arena, text, length);
    unit->counts = dimension_is_one(unit->dimension) && !unit->percents;
  }
  return length;
}

const struct unit *unit_constant(const char *text, struct arena *arena) {
  struct unit *unit = arena_alloc(arena, sizeof *unit);
  if (!unit_prefix(text, unit, arena))
    unit->counts = true;
  unit->text = arena_copy(arena, text);
  return unit;
}

bool unit_is_cents(const char *word) {
  static const char *const names[] = {"c", "ct", "cts", "cent", "cents", "\xC2\xA2"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!strcmp(word, names[i]))
      return true;
  return false;
}

// Words to write instead of one that resembles no name, or that has more than one meaning.
static const char *other_words(const char *word) {
  static const char *const instead[][2] = {
      {"m", "'month', 'm3', or 'M' for millions"},
      {"MM", "'M' for millions"},
      {"VA", "'W', the power factor included"},
      {"kVA", "'kW', the power factor included"},
      {"MVA", "'MW', the power factor included"},
      {"TEUR", "'kEUR' for thousands"},
      {"TUSD", "'kUSD' for thousands"},
      {"quarter", "'3 month'"},
      {"quarters", "months, three to a quarter"},
      {"rack", "'node', or the figure of one accelerator"},
      {"GPUh", "'gpu/h'"},
  };
  for (size_t i = 0; i < sizeof instead / sizeof instead[0]; i++)
    if (!strcmp(instead[i][0], word))
      return instead[i][1];
  return NULL;
}

// Suggests the nearest name for a word that is not a unit, or says what is expected.
static void unknown_unit(const char *text, struct place place, const char *expected,
                         struct diagnostics *diagnostics) {
  const char *names[SYMBOLS + CURRENCIES];
  for (size_t i = 0; i < SYMBOLS; i++)
    names[i] = symbols[i].name;
  memcpy(names + SYMBOLS, currency_codes, sizeof currency_codes);
  size_t length = symbol_length(text);
  char *word = arena_copy_n(diagnostics->arena, text, length ? length : strlen(text));
  const char *nearest = nearest_name(word, names, SYMBOLS + CURRENCIES);
  // Almost any other name is near a word of so few letters.
  if (nearest && strlen(word) < 3 && strcasecmp(word, nearest) != 0)
    nearest = NULL;
  const char *instead = other_words(word);
  if (instead)
    diagnostics_error(diagnostics, place, "unknown unit '%s': write %s", word, instead);
  else if (*text == '#')
    diagnostics_error(diagnostics, place, "a comment after a value begins with ' ;', not '#'");
  else if (unit_is_cents(word))
    diagnostics_error(diagnostics, place, "unknown unit '%s': 20 cents are 0.20 of the currency",
                      word);
  else if (nearest && !strcmp(nearest, word))
    diagnostics_error(diagnostics, place, "'%s' cannot follow there: units combine with * and /",
                      word);
  else if (nearest)
    diagnostics_error(diagnostics, place, "unknown unit '%s'; did you mean '%s'?", word, nearest);
  else if (expected)
    diagnostics_error(diagnostics, place, "unknown unit '%s': expected %s", word, expected);
  else
    diagnostics_error(diagnostics, place, "unknown unit '%s'", word);
}

int unit_parse(const char *text, struct place place, struct unit *unit, struct arena *arena,
               struct diagnostics *diagnostics) {
  return unit_parse_for(text, place, NULL, unit, arena, diagnostics);
}

int unit_parse_for(const char *text, struct place place, const char *expected, struct unit *unit,
                   struct arena *arena, struct diagnostics *diagnostics) {
  *unit = (struct unit){.text = arena_copy(arena, text), .counts = true};
  if (!strcmp(text, "-"))
    return 0;
  size_t length = unit_prefix(text, unit, arena);
  size_t rest = length + spaces(text + length);
  if (length && !text[rest]) {
    unit->text = arena_copy(arena, text);
    return 0;
  }
  const size_t begin = rest;
  while (text[rest] == '/' || text[rest] == '*' || text[rest] == ' ')
    rest++;
  place.column += (int)rest;
  if (!text[rest])
    diagnostics_error(
        diagnostics, place,
        "a unit is missing after '%s': expected a unit such as 'token/s' or 'USD/kWh'", text);
  else if (!begin && rest && unit_is_symbol(text + rest))
    diagnostics_error(
        diagnostics, place,
        "a unit is missing before '%s': expected a unit such as 'token/s' or 'USD/kWh'", text);
  else
    unknown_unit(text + rest, place, expected, diagnostics);
  return -1;
}

double conversion_value(struct conversion conversion) {
  double above = 1, below = 1;
  for (int i = 0; i < CONVERT_CONSTANTS; i++) {
    for (int k = 0; k < conversion.power[i]; k++)
      above *= conversion_table[i].value;
    for (int k = 0; k < -conversion.power[i]; k++)
      below *= conversion_table[i].value;
  }
  return above / below;
}

struct conversion conversion_multiply(struct conversion a, struct conversion b, int sign) {
  for (int i = 0; i < CONVERT_CONSTANTS; i++)
    a.power[i] = (signed char)(a.power[i] + sign * b.power[i]);
  return a;
}

bool conversion_is_one(struct conversion conversion) {
  static const struct conversion one;
  return !memcmp(&conversion, &one, sizeof one);
}

double unit_cell_factor(const struct unit *unit) {
  return conversion_value(unit->conversion);
}

double unit_factor(const struct unit *unit) {
  double factor = unit_cell_factor(unit);
  for (int k = 0; k < unit->percents; k++)
    factor /= 100;
  for (int k = 0; k < -unit->percents; k++)
    factor *= 100;
  return factor;
}

struct dimension dimension_multiply(struct dimension a, struct dimension b, int sign) {
  for (int i = 0; i < BASE_UNITS; i++)
    a.power[i] = (signed char)(a.power[i] + sign * b.power[i]);
  return a;
}

bool dimension_equal(struct dimension a, struct dimension b) {
  return !memcmp(&a, &b, sizeof a);
}

bool dimension_is_one(struct dimension dimension) {
  return dimension_equal(dimension, (struct dimension){{0}});
}

const char *dimension_text(struct dimension dimension, struct arena *arena) {
  const char *text = "";
  for (int sign = 1; sign >= -1; sign -= 2)
    for (int i = 0; i < BASE_UNITS; i++)
      for (int k = 0; k < sign * dimension.power[i]; k++) {
        const char *join = sign > 0 ? (*text ? "*" : "") : (*text ? "/" : "1/");
        text = arena_printf(arena, "%s%s%s", text, join, base_name(i));
      }
  return *text ? text : "a plain number";
}

int dimension_money(struct dimension dimension) {
  int power = 0;
  for (int i = 0; i < CURRENCIES; i++)
    power += dimension.power[i];
  return power;
}

int dimension_currency(struct dimension dimension) {
  for (int i = 0; i < CURRENCIES; i++)
    if (dimension.power[i])
      return i;
  return -1;
}

static bool is_one_currency_times(struct dimension dimension, struct dimension rest) {
  const int currency = dimension_currency(dimension);
  if (currency < 0 || dimension.power[currency] != 1)
    return false;
  dimension.power[currency] = 0;
  return dimension_equal(dimension, rest);
}

bool dimension_is_money(struct dimension dimension) {
  return is_one_currency_times(dimension, (struct dimension){{0}});
}

bool dimension_is_money_per(struct dimension dimension, enum base_unit per) {
  struct dimension rest = {{0}};
  rest.power[per] = -1;
  return is_one_currency_times(dimension, rest);
}

const struct currency_sign currency_signs[CURRENCY_SIGNS] = {
    {"US$", "USD"}, {"$", "USD"}, {"\xE2\x82\xAC", "EUR"}, {"\xC2\xA3", "GBP"}};

int currency_find(const char *code) {
  for (int i = 0; i < CURRENCY_SIGNS; i++)
    if (!strcmp(currency_signs[i].sign, code))
      code = currency_signs[i].code;
  for (int i = 0; i < CURRENCIES; i++)
    if (!strcmp(currency_codes[i], code))
      return i;
  return -1;
}

static const char *find_currency(const char *text, const char *code) {
  const size_t length = strlen(code);
  for (const char *at = strstr(text, code); at; at = strstr(at + 1, code)) {
    const bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
    if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
      return at;
  }
  return NULL;
}

bool text_has_currency(const char *text, const char *code) {
  bool has = find_currency(text, code) != NULL;
  for (int i = 0; i < CURRENCY_SIGNS && !has; i++)
    has = !strcmp(currency_signs[i].code, code) && strstr(text, currency_signs[i].sign);
  return has;
}

const char *text_in_currency(const char *text, const char *from, const char *to,
                             struct arena *arena) {
  const char *at = find_currency(text, from);
  if (!at || !strcmp(from, to))
    return text;
  char *copy = arena_copy(arena, text);
  for (; at; at = find_currency(at + 1, from))
    for (size_t i = 0; to[i]; i++)
      copy[(size_t)(at - text) + i] = to[i];
  return copy;
}
