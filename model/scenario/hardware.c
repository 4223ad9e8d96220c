#include "model/scenario/hardware.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/measurement.h"
#include "model/evidence/recorded.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <stdbool.h>
#include <string.h>

static int apply_accelerator(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct option *option = resolving->option;
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_ACCELERATOR);
  if (!key) {
    diagnostics_error(resolving->diagnostics, option->place,
                      "option '%s' needs 'accelerator' (an id of 'pertoken catalog accelerators')",
                      option->id);
    return -1;
  }
  option->accelerator = option->accelerator_name = key->value;
  const struct measurement_record *record = records_of_backend(scenario->records, key->value);
  if (record) {
    option->accelerator_name = record->device.name;
    return 0;
  }
  const long row = selection_row(scenario->catalog, CATALOG_ACCELERATORS, "accelerator", key,
                                 resolving->arena, resolving->diagnostics);
  if (row < 0)
    return -1;
  const struct table *table = catalog_table(scenario->catalog, CATALOG_ACCELERATORS);
  option->accelerator_name = table_cell(table, (size_t)row, "name");
  struct figure figure;
  if (resolving_cell(table, (size_t)row, "gpus_per_node", &figure))
    resolving_fill(resolving, model_find(scenario->model, "accelerators_per_node"), figure);
  if (resolving_cell(table, (size_t)row, "tdp_w", &figure)) {
    figure.grade = GRADE_PROJECTED; // TDP stands in for measured watts
    resolving_fill(resolving, model_find(scenario->model, "load_power"), figure);
  }
  return 0;
}

// A server's price contains the server, a rack's also the network: they are not to be paid twice,
// and not to be missed.
static int settle_parts(struct resolving *resolving, const struct ini_key *key,
                        const char *category, struct figure price) {
  static const char *const parts[] = {"node_price", "network_price"};
  const size_t count = !strcmp(category, "rack") ? 2 : !strcmp(category, "server") ? 1 : 0;
  int result = 0;
  for (size_t i = 0; i < count; i++) {
    const int d = model_find(resolving->scenario->model, parts[i]);
    if (!resolving_has(resolving, d)) {
      price.value = 0;
      price.in_usd = false;
      price.source = arena_printf(resolving->arena, "included in the price %s", key->value);
      resolving_fill(resolving, d, price);
      continue;
    }
    diagnostics_error(resolving->diagnostics, resolving->option->figures[d]->place,
                      "price '%s' of option '%s' is for a whole %s, which includes '%s'",
                      key->value, resolving->option->id, category, parts[i]);
    result = -1;
  }
  return result;
}

static int take_price(struct resolving *resolving, const struct ini_key *key, int list_price) {
  const struct scenario *scenario = resolving->scenario;
  const char *accelerator = resolving->option->accelerator;
  const long row = selection_row(scenario->catalog, CATALOG_PRICES, "price", key, resolving->arena,
                                 resolving->diagnostics);
  if (row < 0)
    return 0;
  const struct table *table = catalog_table(scenario->catalog, CATALOG_PRICES);
  const char *of = table_cell(table, (size_t)row, "accelerator");
  const char *basis = table_cell(table, (size_t)row, "price_basis");
  struct figure figure;
  if (strcmp(of, accelerator) != 0) {
    diagnostics_error(resolving->diagnostics, key->value_place,
                      "price '%s' is for '%s', not for '%s'", key->value,
                      *of ? of : "no accelerator", accelerator);
    return -1;
  }
  if (strcmp(basis, "purchase") != 0 ||
      !resolving_cell(table, (size_t)row, "usd_per_gpu_equivalent", &figure)) {
    diagnostics_error(resolving->diagnostics, key->value_place,
                      "price '%s' is not a purchase price per accelerator (%s)", key->value, basis);
    return -1;
  }
  figure.in_usd = scenario->model->declarations[list_price].in_usd >= 0;
  resolving_fill(resolving, list_price, figure);
  return settle_parts(resolving, key, table_cell(table, (size_t)row, "category"), figure);
}

static void apply_price(struct resolving *resolving) {
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_PRICE);
  const int list_price = model_find(resolving->scenario->model, "list_price");
  if (!key || list_price < 0)
    return;
  if (resolving->option->figures[list_price]->origin == ORIGIN_OPTION)
    diagnostics_error(resolving->diagnostics, key->place,
                      "option '%s' has both 'price' and 'list_price': give one",
                      resolving->option->id);
  else if (take_price(resolving, key, list_price))
    resolving_pretend(resolving, "list_price");
}

int hardware_apply(struct resolving *resolving) {
  if (apply_accelerator(resolving))
    return -1;
  apply_price(resolving);
  return 0;
}
