// Units, and quantities as people type them.
#include "tests/support/fixture.h"

#include "model/cost/quantity.h"
#include "model/cost/units.h"

#include <math.h>

static const struct {
  const char *text, *unit;
  double base;
} good[] = {
    {"35000 USD", "USD/gpu", 35000},
    {"0.08 USD/kWh", "USD/kWh", 0.08e-3},
    {"80 USD/MWh", "USD/kWh", 0.08e-3},
    {"4202 token/s", "token/s/gpu", 4202.0 * 3600},
    {"1 Mtok/yr", "Mtok/yr", 1e6 / 8760},
    {"14 %", "%", 0.14},
    {"7 % p.a.", "%/yr", 0.07 / 8760},
    {"0.19 EUR per kWh", "EUR/kWh", 0.19e-3},
    {"165 USD per kW per month", "USD/kW/month", 0.165 / 730},
    {"165 USD/kW/mo", "USD/kW/month", 0.165 / 730},
    {"12000 tokens/s/GPU", "token/s/gpu", 12000.0 * 3600},
    {"32 GPUs", "gpu", 32},
    {"4 nodes", "node", 4},
    {"1.2 Ttok/yr", "Mtok/yr", 1.2e12 / 8760},
    {"700 watts", "W", 700},
    {"70%", "%", 0.7},
    {"-5 %/yr", "%/yr", -0.05 / 8760},
    {"+5 %/yr", "%/yr", 0.05 / 8760},
    {"800", "gpu", 800},
    {"800 gpu", "gpu", 800},
    {"8 gpu/node", "gpu/node", 8},
    {"2 FTE", "FTE", 2},
    {"1.25", "-", 1.25},
    {"3 yr", "yr", 26280},
    {"36 months", "yr", 26280},
    {"1 kW", "W/gpu", 1000},
    {"12 USD/kW/month", "USD/kW/month", 12.0 / 1000 / 730},
    {"144 USD/kW/yr", "USD/kW/month", 12.0 / 1000 / 730},
    {"3600 J", "kWh", 1},
    {"2 GiB", "B", 2147483648.0},
    {"1 m3", "L", 1000},
    {"1.5e3 W", "W", 1500},
    {".5 USD", "USD", 0.5},
    {"12 JPY/kWh", "JPY/kWh", 12e-3},
    {"1.1 USD/EUR", "USD/EUR", 1.1},
    {"  7   USD  ", "USD", 7},
    {"342 g/kWh", "g/kWh", 0.342},
    {"0.342 t/MWh", "g/kWh", 0.342},
    {"164 kg", "kg/gpu", 164e3},
    {"80 USD / t", "USD/t", 80e-6},
    {"5 pct / y", "%/yr", 0.05 / 8760},
    {"100 $/FTE/y", "USD/FTE/yr", 100. / 8760},
    {"$60k", "USD/node", 60000},
    {"$ 60 k", "USD/node", 60000},
    {"60 k$", "USD/node", 60000},
    {"60 kUSD", "USD/node", 60000},
    {"60K USD", "USD/node", 60000},
    {"-$5", "USD", -5},
    {"USD 30000.5", "USD", 30000.5},
    {"\xE2\x82\xAC 1.2M", "EUR", 1.2e6},
    {"$2B", "USD", 2e9},
    {"1.2 million dollars", "USD", 1.2e6},
    {"1.2 Mio. EUR", "EUR", 1.2e6},
    {"0.5 MEUR", "EUR", 0.5e6},
    {"12 KRW", "KRW", 12},
    {"12 kKRW", "KRW", 12000},
    {"$10M/MW", "USD/kW", 10},
    {"$2.50/GPU-hr", "USD/gpu/h", 2.5},
    {"2.50 USD per GPU-hour", "USD/gpu/h", 2.5},
    {"12 USD/kW-month", "USD/kW/month", 12.0 / 1000 / 730},
    {"0.08 USD/kilowatt-hour", "USD/kWh", 0.08e-3},
    {"60000 EUR/server", "EUR/node", 60000},
    {"4247 USD per accelerator", "USD/gpu", 4247},
    {"0.6 USD/1M tokens", "USD/Mtok", 0.6e-6},
    {"$0.60 per million tokens", "USD/Mtok", 0.6e-6},
    {"0.0006 USD/1K tokens", "USD/Mtok", 0.6e-6},
    {"0.6 USD/MTok", "USD/Mtok", 0.6e-6},
    {"50 B token/month", "token/yr", 50e9 / 730},
    {"2.5T tokens/yr", "Mtok/yr", 2.5e12 / 8760},
    {"7 billion tokens per day", "Mtok/yr", 7e9 / 24},
    {"4000 tokens per second per GPU", "token/s/gpu", 4000.0 * 3600},
    {"4000 tps", "token/s/gpu", 4000.0 * 3600},
    {"500 Mtok/week", "Mtok/yr", 500e6 / 168},
    {"12 weeks", "month", 12 * 168},
    {"90 d", "month", 90 * 24},
    {"3 yrs", "yr", 26280},
    {"3 a", "yr", 26280},
    {"4 % a year", "%/yr", 0.04 / 8760},
    {"4 %/a", "%/yr", 0.04 / 8760},
    {"4 % per annum", "%/yr", 0.04 / 8760},
    {"70 per cent", "%", 0.7},
    {"280000 USD per engineer per year", "USD/FTE/yr", 280000. / 8760},
    {"400 gCO2e/kWh", "g/kWh", 0.4},
    {"0.4 kg CO2/kWh", "g/kWh", 0.4},
    {"2 USD/m\xC2\xB3", "USD/m3", 2e-3},
    {"5 B", "B", 5},
    {"2 B per token", "B/token", 2},
    {"2.495 USD/gpu/h", "USD/gpu/h", 2.495},
    {"2.490 USD/gpu/h", "USD/gpu/h", 2.49},
    {"0.120 USD/kWh", "USD/kWh", 0.12e-3},
    {"1.250", "-", 1.25},
    {"12.345 USD", "USD", 12.345},
    {"1e300", "gpu", 1e300},
    {"2e+10 USD", "USD", 2e10},
    {"1.200 kW", "W/gpu", 1200},
};

static void test_good(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    struct unit unit;
    double value = NAN;
    unit_parse(good[i].unit, nowhere, &unit, &fixture.arena, &fixture.diagnostics);
    char *text = arena_copy(&fixture.arena, good[i].text);
    quantity_parse(text, nowhere, &unit, &value, &fixture.diagnostics);
    expect_error(&fixture, good[i].text, "");
    expect_near(value, good[i].base, 1e-15, good[i].text);
  }
  fixture_end(&fixture);
}

static const struct {
  const char *text, *between, *unit;
  int failed;
  double first, last;
  const char *error;
} series[] = {
    {"10:30:5 %", ":", "%", 0, 0.1, 0.05, ""},
    {"10 % : 30%:5%", ":", "%", 0, 0.1, 0.05, ""},
    {"-1:1:2", ":", "-", 0, -1, 2, ""},
    {"1k:2:3 USD", ":", "USD", 0, 1000, 3, ""},
    {"$20k:$30k:$5k", ":", "USD", 0, 20000, 5000, ""},
    {"1 .. 2..3 kW", "..", "W", 0, 1000, 3000, ""},
    {"200 W .. 2..3 kW", "..", "W", 0, 200, 3000, ""},
    {"10:30 %", ":", "%", 1, 0, 0, ""},
    {"1:2:3:4 %", ":", "%", 1, 0, 0, ""},
    {"1:2:3", ":", "%", -1, 0, 0, "5: '3' has no unit"},
    {"1:2:3 token/s/node", ":", "token/s/gpu", -1, 0, 0, "7: wrong unit 'token/s/node'"},
    {"1 gpu:2:3 %", ":", "%", -1, 0, 0, "3: wrong unit 'gpu'"},
    {"1:0x2:3 %", ":", "%", -1, 0, 0, "4: unknown unit 'x2'"},
    {"1::3 %", ":", "%", -1, 0, 0, "3: expected a quantity such as '5 %', not ''"},
};

static void test_series(void **state) {
  (void)state;
  enum { COUNT = 3 };
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
    const struct place place = source_text_start("a", series[i].text, &fixture.arena);
    struct unit unit;
    double values[COUNT] = {NAN, NAN, NAN};
    unit_parse(series[i].unit, nowhere, &unit, &fixture.arena, &fixture.diagnostics);
    assert_int_equal(quantity_parse_series(series[i].text, series[i].between, place, &unit, values,
                                           COUNT, &fixture.diagnostics),
                     series[i].failed);
    expect_error(&fixture, series[i].text, series[i].error);
    if (series[i].failed)
      continue;
    expect_near(values[0], series[i].first, 1e-15, series[i].text);
    expect_near(values[COUNT - 1], series[i].last, 1e-15, series[i].text);
  }
  fixture_end(&fixture);
}

static const struct {
  const char *text, *unit, *error;
} bad[] = {
    {"35000", "USD", "has no unit: expected a quantity such as '100 USD'"},
    {"0.7", "%", "has no unit: expected a quantity such as '5 %'"},
    {"35,000 USD", "USD", "decimals: write '35000 USD' or '35 USD')"},
    {"3,000 cents", "USD/node", "decimals: write '30 USD/node' or '0.03 USD/node')"},
    {"7,5 ct/kWh", "EUR/kWh", "decimals: write '0.075 EUR/kWh')"},
    {"3,000 dollars", "USD", "decimals: write '3000 dollars' or '3 dollars')"},
    {"3,000", "USD", "decimals: write '3000 USD' or '3 USD')"},
    {"3,000", "gpu", "decimals: write '3000' or '3')"},
    {"35.000,50 USD", "USD", "decimals: write '35000.5 USD')"},
    {"1,234,567.8 USD", "USD", "decimals: write '1234567.8 USD')"},
    {"1.234.567 USD", "USD", "decimals: write '1234567 USD')"},
    {"2 000 USD", "USD", "decimals: write '2000 USD')"},
    {"2 000,5 USD", "USD", "decimals: write '2000.5 USD')"},
    {"2'000.5 USD", "USD", "decimals: write '2000.5 USD')"},
    {"0,08 USD/kWh", "USD/kWh", "decimals: write '0.08 USD/kWh')"},
    {"0,250 USD/kWh", "USD/kWh", "decimals: write '0.25 USD/kWh')"},
    {"30000,5 USD", "USD", "decimals: write '30000.5 USD')"},
    {"1,23,4 USD", "USD", "a point for decimals)"},
    {"$30,000", "USD", "decimals: write '30000 USD' or '30 USD')"},
    {"$1,2M", "USD", "decimals: write '1.2 M USD')"},
    {"1,2 M USD", "USD", "decimals: write '1.2 M USD')"},
    {"$60,000 per GPU", "USD/gpu", "decimals: write '60000 USD per GPU' or '60 USD per GPU')"},
    {"\xE2\x82\xAC 30000", "USD", "1: amounts here are in USD, not EUR"},
    {"30.000 USD", "USD/node",
     "1: '30.000 USD' may mean 30000 or 30: write '30000 USD' or '30 USD'"},
    {"27.500 USD/gpu", "USD/gpu", "write '27500 USD/gpu' or '27.5 USD/gpu'"},
    {"280.000 USD/yr", "USD/FTE/yr", "write '280000 USD/yr' or '280 USD/yr'"},
    {"1.000", "gpu", "may mean 1000 or 1: write '1000' or '1'"},
    {"1.000 W", "W/gpu", "write '1000 W' or '1 W'"},
    {"0,12", "%", "decimals: write '0.12 %' or '12 %')"},
    {"12,5", "%", "decimals: write '12.5 %')"},
    {"0,12 %", "%", "decimals: write '0.12 %')"},
    {"3,20 $/h", "EUR/h", "decimals: write '3.2 $/h')"},
    {"3 yr", "%/yr", "3: wrong unit 'yr': expected a quantity such as '5 %/yr'\n"},
    {"\xE2\x82\xAC 0,08/kWh", "EUR/kWh", "decimals: write '0.08 EUR/kWh')"},
    {"20 ct/kWh", "USD/kWh", "4: unknown unit 'ct': 20 ct/kWh is 0.2 USD/kWh"},
    {"8 \xC2\xA2/MWh", "EUR/kWh", "is 0.08 EUR/MWh"},
    {"8 ct", "gpu", "unknown unit 'ct': 20 cents are 0.20 of the currency"},
    {"30 TEUR", "EUR", "unknown unit 'TEUR': write 'kEUR' for thousands"},
    {"30 T\xE2\x82\xAC", "EUR", "unknown unit 'T"},
    {"1.2m USD", "USD", "unknown unit 'm': write 'month', 'm3', or 'M' for millions"},
    {"0.3 kVA", "W", "unknown unit 'kVA': write 'kW'"},
    {"5000 USD/rack/month", "USD/kW/month", "unknown unit 'rack': write 'node'"},
    {"12 quarters", "yr", "unknown unit 'quarters': write months"},
    {"60 k", "USD", "'60 k' has no unit: expected a quantity such as '100 USD'"},
    {"60000 USD each", "USD/node",
     "11: unknown unit 'each': expected a quantity such as '100 USD/node'"},
    {"0.08 $/kwh", "USD/kWh", "6: unknown unit 'kwh'; did you mean 'kWh'?"},
    {"2.50 USD/GPU*h", "USD/gpu/h", "wrong unit 'USD/gpu*h': expected a quantity"},
    {"30000 USD EUR", "USD", "'EUR' cannot follow there"},
    {"$5 EUR", "USD", "1: 'EUR' cannot follow there"},
    {"$5 /xyz", "USD", "1: unknown unit 'xyz'"},
    {"3 yr # life", "yr", "a comment after a value begins with ' ;', not '#'"},
    {"3 u", "yr", "unknown unit 'u'"},
    {"3 yr .", "yr", "unknown unit '.'"},
    {"35000 EUR", "USD", "7: amounts here are in USD, not EUR: convert them first, or set"},
    {"35000 USD", "EUR/gpu", "7: amounts here are in EUR, not USD: convert them first"},
    {"0.9 EUR/USD", "USD/EUR",
     "'EUR/USD': expected a quantity such as '100 USD/EUR', which is 1 divided by that"},
    {"50 kW token", "token/yr", "7: 'token' cannot follow there: units combine with * and /"},
    {"12 %%", "%", "5: '%' cannot follow there"},
    {"1 ABC", "USD", "unknown unit 'ABC'"},
    {"35000 usd", "USD", "unknown unit 'usd'; did you mean 'USD'?"},
    {"0.08 USD/kwh", "USD/kWh", "did you mean 'kWh'?"},
    {"0.08 USD", "USD/kWh", "wrong unit 'USD': expected a quantity such as '100 USD/kWh'"},
    {"14 %", "-", "wrong unit '%'"},
    {"5 kg", "L", "wrong unit 'kg'"},
    {"5 Kg", "kg", "did you mean 'kg'?"},
    {"1 gpu", "%", "wrong unit 'gpu'"},
    {"nan", "USD", "expected a quantity"},
    {"inf USD", "USD", "expected a quantity"},
    {"-inf USD", "USD", "expected a quantity"},
    {"1e999 USD", "USD", "expected a quantity"},
    {"0x10 USD", "USD", "unknown unit 'x10'"},
    {"", "USD", "expected a quantity"},
    {"USD", "USD", "expected a quantity"},
    {"1 2 USD", "USD", "expected a quantity"},
    {"1..2 USD", "USD", "expected a quantity"},
    {"5 USD/", "USD", "a unit is missing after 'USD/'"},
    {"5 /h", "USD/h", "4: a unit is missing before '/h': expected a unit such as 'token/s'"},
    {"5 /", "USD", "a unit is missing after '/'"},
    {"5 /hh", "USD/h", "unknown unit 'hh'"},
    {"5 USD/gpu/gpu/gpu/gpu/gpu/gpu/gpu/gpu", "USD", "'gpu' cannot follow there"},
};

static void test_bad(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct unit unit;
    double value;
    unit_parse(bad[i].unit, nowhere, &unit, &fixture.arena, &fixture.diagnostics);
    struct place place = {NULL, 1, 1};
    assert_int_equal(quantity_parse(bad[i].text, place, &unit, &value, &fixture.diagnostics), -1);
    expect_error(&fixture, bad[i].text, bad[i].error);
    fixture_end(&fixture);
  }
}

// A conversion shown as named constants has the same value as the units.
static void test_conversions(void **state) {
  (void)state;
  static const char *const units[] = {"USD/kW/month", "token/s", "Mtok/yr", "J/token",
                                      "L/kWh",        "USD/m3",  "GiB",     "%/yr",
                                      "USD/h",        "t",       "g/Mtok",  "kg/gpu"};
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    struct unit unit;
    unit_parse(units[i], nowhere, &unit, &fixture.arena, &fixture.diagnostics);
    double percent = unit.percents ? 0.01 : 1;
    expect_near(unit_factor(&unit), unit_cell_factor(&unit) * percent, 1e-15, units[i]);
    struct conversion none = conversion_multiply(unit.conversion, unit.conversion, -1);
    assert_true(conversion_is_one(none));
  }
  expect_error(&fixture, "units", "");
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good),
      cmocka_unit_test(test_series),
      cmocka_unit_test(test_bad),
      cmocka_unit_test(test_conversions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
