#include "model/catalog/row_rules.h"

#include "model/catalog/columns.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// The share by which figures may differ if each of them is rounded.
#define ROUNDING 5e-3

// A figure, with its low and high on either side.
static const char *const orders[CATALOG_TABLES][3] = {
    [CATALOG_PRICES] = {"price_low", "price_point", "price_high"},
    [CATALOG_POWER] = {"low", "value", "high"},
    [CATALOG_OVERHEADS] = {"low", "value", "high"},
    [CATALOG_TYPICAL_VALUES] = {"low", "mid", "high"},
};

// each times count is all; a blank count is one. Without `all`, the middle of low and high counts.
struct product {
  const char *each, *count, *all;
  const char *low, *high;
};

static const struct product products[CATALOG_TABLES] = {
    [CATALOG_THROUGHPUT] = {"tokens_per_s_per_gpu", "num_gpus", "tokens_per_s_total", NULL, NULL},
    [CATALOG_PRICES] = {"usd_per_gpu_equivalent", "gpus_in_item", "price_point", "price_low",
                        "price_high"},
    [CATALOG_POWER] = {"per_gpu_value", "gpus", "value", NULL, NULL},
    [CATALOG_CARBON] = {"per_gpu_value", "gpus", "value", NULL, NULL},
    [CATALOG_BANDWIDTH] = {"efficiency", "peak", "achieved", NULL, NULL},
};

// A missing column, which is reported elsewhere, is as blank.
static const char *cell_of(const struct table *table, size_t row, const char *column) {
  const int number = table_column(table, column);
  return number < 0 ? "" : table->cells[row * table->columns + (size_t)number];
}

static bool number_of(const struct table *table, size_t row, const char *column, double *out) {
  return csv_number(cell_of(table, row, column), out);
}

static void check_order(const struct table *table, size_t row, struct diagnostics *diagnostics) {
  const char *const *columns = orders[table->kind], *below = NULL;
  double last = -INFINITY, value;
  for (int i = 0; i < 3; i++) {
    if (!number_of(table, row, columns[i], &value))
      continue;
    if (value < last)
      diagnostics_error(diagnostics, table_place(table, row, columns[i]),
                        "'%s', %s, is below '%s', %s", columns[i], cell_of(table, row, columns[i]),
                        below, cell_of(table, row, below));
    below = columns[i];
    last = value;
  }
}

// The prefix of `all`, whose unit is otherwise that of `each`.
static double prefix_of(const struct table *table, size_t row) {
  static const struct {
    const char *unit;
    double factor;
  } prefixes[] = {{"kW", 1e3}, {"MW", 1e6}};
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
    if (!strcmp(cell_of(table, row, "unit"), prefixes[i].unit))
      return prefixes[i].factor;
  return 1;
}

// The units of other lengths of time have none in common with a column per hour.
static bool is_comparable(const struct table *table, size_t row) {
  static const char *const others[] = {"minute", "day", "week", "month", "year"};
  const char *unit = cell_of(table, row, "unit");
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (strstr(unit, others[i]))
      return false;
  return true;
}

// By how much the exact figure may differ from a stated one with decimals; a figure without
// decimals counts as exact.
static double rounded_by(const char *text) {
  const char *point = strchr(text, '.');
  return point ? 0.5 * pow(10, -(double)strspn(point + 1, "0123456789")) : 0;
}

// The stated total of a row, in the unit of `each`; NAN if it states none.
static double all_of(const struct table *table, size_t row) {
  const struct product *product = &products[table->kind];
  double value, low, high;
  if (number_of(table, row, product->all, &value))
    return value * prefix_of(table, row);
  if (!product->low || !number_of(table, row, product->low, &low) ||
      !number_of(table, row, product->high, &high))
    return NAN;
  return (low + high) / 2;
}

// What the parts of a row amount to: each times count; NAN if it does not state each.
static double product_of(const struct table *table, size_t row) {
  const struct product *product = &products[table->kind];
  double each, count = 1;
  if (!number_of(table, row, product->each, &each))
    return NAN;
  number_of(table, row, product->count, &count);
  return each * count;
}

// By how much the product and its stated value may differ, either because each is stated with so
// many decimals or because unlike figures are rounded.
static double tolerance_of(const struct table *table, size_t row, double all) {
  const struct product *product = &products[table->kind];
  double count = 1;
  number_of(table, row, product->count, &count);
  const double stated = rounded_by(cell_of(table, row, product->each)) * count +
                        rounded_by(cell_of(table, row, product->all)) * prefix_of(table, row);
  return fmax(ROUNDING * fabs(all), stated * (1 + 1e-9));
}

static bool is_in_usd(const struct table *table, size_t row) {
  const char *currency = cell_of(table, row, "currency");
  return !*currency || !strcmp(currency, "USD");
}

static void check_product(const struct table *table, size_t row, struct diagnostics *diagnostics) {
  const struct product *product = &products[table->kind];
  const double all = all_of(table, row), found = product_of(table, row);
  const char *count = cell_of(table, row, product->count);
  if (is_in_usd(table, row) && is_comparable(table, row) &&
      fabs(found - all) > tolerance_of(table, row, all))
    diagnostics_error(diagnostics, table_place(table, row, product->each),
                      "'%s' times '%s', %s x %s, is %.6g, and the row states %.6g", product->each,
                      product->count, cell_of(table, row, product->each), *count ? count : "1",
                      found, all);
}

double row_rules_exchange(const struct table *prices, size_t row) {
  return is_in_usd(prices, row) ? NAN : product_of(prices, row) / all_of(prices, row);
}

void row_rules_check(const struct table *table, struct diagnostics *diagnostics) {
  for (size_t row = 0; row < table->rows; row++) {
    if (orders[table->kind][0])
      check_order(table, row, diagnostics);
    if (products[table->kind].each)
      check_product(table, row, diagnostics);
  }
}
