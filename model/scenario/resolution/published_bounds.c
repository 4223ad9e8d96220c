#include "model/scenario/resolution/published_bounds.h"

#include "base/arena.h"
#include "base/csv.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/scenario/reading/currency.h"

#include <stdbool.h>
#include <string.h>

// The place of an input in the catalogue: rows in which `column` is `value`.
static const struct place_in_catalogue {
  const char *input;
  enum catalog_table table;
  const char *column, *value, *figure, *unit_column, *unit;
  double scale;      // base units per unit of the figure
  const char *whose; // a column with the option's accelerator or model; NULL: any
  const char *of;
} places[] = {
    {"list_price", CATALOG_PRICES, "price_basis", "purchase", "usd_per_gpu_equivalent", "currency",
     "USD", 1, "accelerator", "purchase prices"},
    {"rental_rate", CATALOG_PRICES, "category", "cloud", "usd_per_gpu_equivalent", "currency",
     "USD", 1, "accelerator", "rents"},
    {"on_demand_rate", CATALOG_PRICES, "category", "cloud", "usd_per_gpu_equivalent", "currency",
     "USD", 1, "accelerator", "rents"},
    {"spot_rate", CATALOG_PRICES, "category", "cloud", "usd_per_gpu_equivalent", "currency", "USD",
     1, "accelerator", "rents"},
    {"burst_rate", CATALOG_PRICES, "category", "cloud", "usd_per_gpu_equivalent", "currency", "USD",
     1, "accelerator", "rents"},
    {"electricity_price", CATALOG_POWER, "category", "electricity_price", "value", "unit",
     "US cents/kWh", 0.01 / 1000, NULL, "average electricity prices"},
    {"pue", CATALOG_POWER, "category", "pue", "value", "unit", "ratio", 1, NULL,
     "published PUE figures"},
    {"output_price", CATALOG_API_PRICES, "kind", "list_price", "output_usd_per_mtok", "kind",
     "list_price", 1e-6, "model", "API prices of output tokens"},
    {"input_price", CATALOG_API_PRICES, "kind", "list_price", "input_usd_per_mtok", "kind",
     "list_price", 1e-6, "model", "API prices of input tokens"},
    {"cached_input_price", CATALOG_API_PRICES, "kind", "list_price", "cached_input_usd_per_mtok",
     "kind", "list_price", 1e-6, "model", "API prices of input tokens, from a cache or not"},
    {"cached_input_price", CATALOG_API_PRICES, "kind", "list_price", "input_usd_per_mtok", "kind",
     "list_price", 1e-6, "model", "API prices of input tokens, from a cache or not"},
    {"burst_price", CATALOG_API_PRICES, "kind", "list_price", "output_usd_per_mtok", "kind",
     "list_price", 1e-6, "model", "API prices of output tokens"},
};

// The row of typical values for an input.
static const struct typical {
  const char *input, *id;
  double scale; // of the input's unit, per unit of the row
  const char *of;
} typical[] = {
    {"support", "support_contract", 1, "support contracts"},
    {"failure_rate", "gpu_interruptions_training", 1, "interruptions of training by a GPU"},
    {"spares", "gpu_overprovision_spares", 1, "shares of spares"},
    {"network_price", "network_cost_per_gpu", 1, "network costs"},
    {"colo_rate", "colo_rent_wholesale", 1, "colocation rents"},
    {"demand_charge", "demand_charge", 1, "demand charges"},
    {"build_price", "dc_construction", 1000, "construction costs"},
    {"water_use", "wue", 1, "water usage effectiveness"},
    {"loan_rate", "gpu_debt_rate", 1, "rates of loans on GPUs"},
};

static bool is(const struct table *table, size_t row, const char *column, const char *value) {
  return !strcmp(table_cell(table, row, column), value);
}

static bool is_trusted(const struct table *table, size_t row) {
  const enum grade grade = catalog_grade(table, row);
  return grade == GRADE_BENCHMARK || grade == GRADE_PUBLISHED;
}

static void widen(struct published *published, double value, const char *id) {
  if (!published->count || value < published->low) {
    published->low = value;
    published->low_id = id;
  }
  if (!published->count || value > published->high) {
    published->high = value;
    published->high_id = id;
  }
  published->count++;
}

static const char *const *workload_of(const struct scenario *scenario, size_t option) {
  return scenario->options[option].workload.values;
}

static const char *scenario_of(const char *const *workload) {
  return *workload[WORKLOAD_SCENARIO] ? workload[WORKLOAD_SCENARIO] : "offline";
}

// A row with output tokens of the workload, without a doubt. If the workload names no scenario,
// offline: the tokens of a server or of interactive users are not comparable.
static bool is_throughput(const struct table *table, size_t row, const char *accelerator,
                          const char *const *workload) {
  const char *precision = workload[WORKLOAD_PRECISION];
  return is(table, row, "accelerator", accelerator) &&
         is(table, row, "model", workload[WORKLOAD_MODEL]) &&
         (!*precision || is(table, row, "precision", precision)) &&
         is(table, row, "scenario", scenario_of(workload)) &&
         is(table, row, "token_basis", "output") && !*table_cell(table, row, "doubt") &&
         is_trusted(table, row);
}

static const char *throughput_of(const struct scenario *scenario, size_t option) {
  const char *const *workload = workload_of(scenario, option);
  const char *precision = workload[WORKLOAD_PRECISION];
  return arena_printf(scenario->model->arena, "output tokens of %s%s%s, %s",
                      workload[WORKLOAD_MODEL], *precision ? ", " : "", precision,
                      scenario_of(workload));
}

static bool published_throughput(const struct scenario *scenario, size_t option,
                                 struct published *out) {
  const char *const *workload = workload_of(scenario, option);
  const struct table *table = catalog_table(scenario->catalog, CATALOG_THROUGHPUT);
  const char *accelerator = scenario->options[option].accelerator;
  double value;
  if (!table || !*workload[WORKLOAD_MODEL])
    return false;
  // Most rows are of other accelerators: the column is looked up once, as every option asks.
  const size_t whose = (size_t)table_column(table, "accelerator");
  for (size_t r = 0; r < table->rows; r++)
    if (!strcmp(table->cells[r * table->columns + whose], accelerator) &&
        is_throughput(table, r, accelerator, workload) &&
        table_number(table, r, "tokens_per_s_per_gpu", &value))
      widen(out, rate_per_hour(value), table_cell(table, r, "id"));
  out->of = throughput_of(scenario, option);
  return out->count;
}

static const char *one_of(const struct scenario *scenario, size_t option, const char *column) {
  return !strcmp(column, "model") ? workload_of(scenario, option)[WORKLOAD_MODEL]
                                  : scenario->options[option].accelerator;
}

static void widen_by_row(struct published *out, const struct table *table, size_t row,
                         double scale) {
  static const char *const columns[] = {"low", "mid", "high"};
  double value;
  for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
    if (table_number(table, row, columns[c], &value))
      widen(out, value * scale, table_cell(table, row, "id"));
}

// Finds the bounds in the typical values. `scale`: base units in one of the input's unit.
static bool published_typical(const struct scenario *scenario, const char *input, double scale,
                              enum grade weakest, struct published *out) {
  const struct table *table = catalog_table(scenario->catalog, CATALOG_TYPICAL_VALUES);
  for (size_t i = 0; table && i < sizeof typical / sizeof typical[0]; i++) {
    const long row = strcmp(typical[i].input, input) ? -1 : catalog_find(table, typical[i].id);
    if (row < 0 || catalog_grade(table, (size_t)row) > weakest)
      continue;
    widen_by_row(out, table, (size_t)row, scale * typical[i].scale);
    out->of = typical[i].of;
  }
  return out->count;
}

// Widens the bounds by the rows of one place. `rate`: USD per unit of the currency in which the
// bounds are wanted.
static void widen_by_place(const struct scenario *scenario, size_t option,
                           const struct place_in_catalogue *place, double rate, enum grade weakest,
                           struct published *out) {
  const struct table *table = catalog_table(scenario->catalog, place->table);
  double value;
  for (size_t r = 0; table && r < table->rows; r++)
    if (is(table, r, place->column, place->value) &&
        is(table, r, place->unit_column, place->unit) && catalog_grade(table, r) <= weakest &&
        (!place->whose || is(table, r, place->whose, one_of(scenario, option, place->whose))) &&
        table_number(table, r, place->figure, &value))
      widen(out, value * place->scale / rate, table_cell(table, r, "id"));
  out->of = place->of;
}

bool published_input(const struct scenario *scenario, size_t option, int declaration,
                     enum grade weakest, struct published *out) {
  const struct declaration *declarations = scenario->model->declarations;
  const int named = model_named(scenario->model, declaration);
  const bool is_money = dimension_money(declarations[declaration].unit.dimension) == 1;
  const char *input = declarations[named].name;
  const double rate = is_money && named == declaration
                          ? option_exchange_rate(scenario, &scenario->options[option])
                          : 1;
  *out = (struct published){0};
  if (!strcmp(input, "throughput"))
    return published_throughput(scenario, option, out);
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (!strcmp(places[i].input, input))
      widen_by_place(scenario, option, &places[i], rate, weakest, out);
  if (out->of)
    return out->count;
  return published_typical(scenario, input, unit_factor(&declarations[declaration].unit) / rate,
                           weakest, out);
}

static bool same_benchmark(const struct table *table, size_t a, size_t b) {
  static const char *const columns[] = {"model_as_published", "precision", "scenario",
                                        "source_title"};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (strcmp(table_cell(table, a, columns[i]), table_cell(table, b, columns[i])) != 0)
      return false;
  return true;
}

// Whether no other row for its accelerator and benchmark is better.
static bool is_best(const struct table *table, size_t row) {
  const double own = table_number_or(table, row, "tokens_per_s_per_gpu", 0);
  double other;
  for (size_t r = 0; r < table->rows; r++)
    if (same_benchmark(table, r, row) &&
        is(table, r, "accelerator", table_cell(table, row, "accelerator")) &&
        is(table, r, "token_basis", "output") && !*table_cell(table, r, "doubt") &&
        table_number(table, r, "tokens_per_s_per_gpu", &other) &&
        (other > own || (other == own && r < row)))
      return false;
  return own > 0;
}

bool published_ratio(const struct scenario *scenario, size_t option, size_t over,
                     struct published *out) {
  const struct table *table = catalog_table(scenario->catalog, CATALOG_THROUGHPUT);
  const char *const *workload = workload_of(scenario, option);
  *out = (struct published){0};
  if (!table || !*workload[WORKLOAD_MODEL])
    return false;
  for (size_t a = 0; a < table->rows; a++) {
    if (!is_throughput(table, a, scenario->options[option].accelerator, workload) ||
        !is_best(table, a))
      continue;
    for (size_t b = 0; b < table->rows; b++) {
      double above, below;
      if (is_throughput(table, b, scenario->options[over].accelerator, workload) &&
          same_benchmark(table, a, b) && is_best(table, b) &&
          table_number(table, a, "tokens_per_s_per_gpu", &above) &&
          table_number(table, b, "tokens_per_s_per_gpu", &below))
        widen(out, above / below,
              arena_printf(scenario->model->arena, "%s/%s", table_cell(table, a, "id"),
                           table_cell(table, b, "id")));
    }
  }
  out->of = throughput_of(scenario, option);
  return out->count;
}
