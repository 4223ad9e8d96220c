// units: the units of quantities, "USD/kWh", and the dimensional algebra behind them.
//
// Everything is computed in base units: W, h, B, token, L, g and one for each currency, so that
// only an exchange rate (1.10 USD/EUR) leads from one currency to another. A year is 8760 h, a
// month a twelfth of it. gpu, node, FTE and request are counts, with dimension 1. A percentage is a
// fraction inside and `%` at the edges.
#ifndef PERTOKEN_MODEL_COST_UNITS_H
#define PERTOKEN_MODEL_COST_UNITS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

// Currencies come first, by their ISO 4217 codes.
enum base_unit {
  BASE_USD,
  BASE_EUR,
  BASE_GBP,
  BASE_CHF,
  BASE_JPY,
  BASE_CNY,
  BASE_INR,
  BASE_KRW,
  BASE_TWD,
  BASE_HKD,
  BASE_SGD,
  BASE_AUD,
  BASE_NZD,
  BASE_CAD,
  BASE_SEK,
  BASE_NOK,
  BASE_DKK,
  BASE_ISK,
  BASE_PLN,
  BASE_CZK,
  BASE_HUF,
  BASE_RON,
  BASE_TRY,
  BASE_ILS,
  BASE_AED,
  BASE_SAR,
  BASE_QAR,
  BASE_KWD,
  BASE_ZAR,
  BASE_BRL,
  BASE_MXN,
  BASE_CLP,
  BASE_THB,
  BASE_MYR,
  BASE_IDR,
  BASE_VND,
  BASE_PHP,
  CURRENCIES,
  BASE_W = CURRENCIES,
  BASE_H,
  BASE_B,
  BASE_TOKEN,
  BASE_L,
  BASE_G,
  BASE_UNITS
};

extern const char *const currency_codes[CURRENCIES];

// Powers of the base units.
struct dimension {
  signed char power[BASE_UNITS];
};

// The constants from which every conversion is multiplied, so that a spreadsheet can show a
// conversion as named cells instead of a bare number.
enum conversion_constant {
  CONVERT_HOURS_PER_YEAR,
  CONVERT_MONTHS_PER_YEAR,
  CONVERT_HOURS_PER_DAY,
  CONVERT_DAYS_PER_WEEK,
  CONVERT_MINUTES_PER_HOUR,
  CONVERT_SECONDS_PER_HOUR,
  CONVERT_THOUSAND,
  CONVERT_MILLION,
  CONVERT_BILLION,
  CONVERT_KIBI,
  CONVERT_LITRES_PER_M3,
  CONVERT_CONSTANTS
};

// Converts a rate per second to base units, whose time is the hour, and back. Evidence counts by
// the second; it is converted here.
double rate_per_hour(double per_second);
double rate_per_second(double per_hour);
// A duration in base units.
double hours_from_seconds(double seconds);

struct conversion {
  signed char power[CONVERT_CONSTANTS];
};

struct conversion_info {
  const char *name;  // hours_per_year
  const char *label; // Hours per year
  double value;
};

extern const struct conversion_info conversion_table[CONVERT_CONSTANTS];

#define HOURS_PER_YEAR  8760.0
#define HOURS_PER_MONTH (HOURS_PER_YEAR / 12)

struct unit {
  const char *text; // as written: "USD/kWh"
  struct dimension dimension;
  // Base units in one of this unit, without the 1/100 of a %: a cell that holds a fraction in a %
  // format is worth `conversion` base units.
  struct conversion conversion;
  int percents; // power of %
  bool counts;  // dimension 1, as a count (gpu) or plain ("-"): a bare number is complete
};

// "%" and "-".
extern const struct unit unit_percent, unit_plain;

// Parses "USD/kW/month", "%/yr", "1/h", "-", "gpu". Errors: unknown symbol (with the nearest known
// one), stray text.
int unit_parse(const char *text, struct place place, struct unit *unit, struct arena *arena,
               struct diagnostics *diagnostics);

// The same where one like `expected`, "a quantity such as '100 USD'", is: an error about a word
// that means nothing says so.
int unit_parse_for(const char *text, struct place place, const char *expected, struct unit *unit,
                   struct arena *arena, struct diagnostics *diagnostics);

// A unit that the program itself names, and so is valid: "token/s", "-". In the arena.
const struct unit *unit_constant(const char *text, struct arena *arena);

// The longest unit at the start of `text`, which must begin with a unit symbol. Returns its length,
// or 0 if there is none. `year` and `t` are not factors of a unit: in "5 USD * year" it is the
// number of the year.
size_t unit_prefix(const char *text, struct unit *unit, struct arena *arena);

// Whether the word means hundredths of a currency, which are no unit: "cents", "ct".
bool unit_is_cents(const char *word);

// Whether this is the name of a unit, so that a line item cannot have it.
bool unit_is_symbol(const char *name);

// Base units in one of this unit as typed (0.01 for %).
double unit_factor(const struct unit *unit);

// Base units in one of what a spreadsheet cell holds (1 for %).
double unit_cell_factor(const struct unit *unit);

// A conversion as a number; then the product (sign 1) or quotient (sign -1) of two.
double conversion_value(struct conversion conversion);
struct conversion conversion_multiply(struct conversion a, struct conversion b, int sign);
bool conversion_is_one(struct conversion conversion);

// The product (sign 1) or quotient (sign -1) of two.
struct dimension dimension_multiply(struct dimension a, struct dimension b, int sign);
bool dimension_equal(struct dimension a, struct dimension b);
bool dimension_is_one(struct dimension dimension);

// The dimension in base units, "USD/token"; "a plain number" if it has none. In the arena.
const char *dimension_text(struct dimension dimension, struct arena *arena);

// The power of money in it, in any currency: 0 for an exchange rate.
int dimension_money(struct dimension dimension);

// The first currency in it, an index into currency_codes; -1: none.
int dimension_currency(struct dimension dimension);

// Whether the dimension is money, or money per one base unit (USD/token), in any currency.
bool dimension_is_money(struct dimension dimension);
bool dimension_is_money_per(struct dimension dimension, enum base_unit per);

// A sign that people write for a currency. A sign comes after those that end in it.
struct currency_sign {
  const char *sign, *code;
};

enum { CURRENCY_SIGNS = 4 };
extern const struct currency_sign currency_signs[CURRENCY_SIGNS];

// The index of a code or a sign in currency_codes, or -1.
int currency_find(const char *code);

// Whether the code or its sign occurs in the text as a word: "0.08 USD/kWh" and "0.08 $/kWh" have
// USD.
bool text_has_currency(const char *text, const char *code);

// The text with one currency's code replaced by another's. Both have three letters, so columns keep
// their positions.
const char *text_in_currency(const char *text, const char *from, const char *to,
                             struct arena *arena);

// The highest power of a base unit; far below where its sums would overflow.
enum { MAX_UNIT_POWER = 12 };

#endif
