#include "model/scenario/sources/hardware.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/evidence/carbon.h"
#include "model/evidence/catalog.h"
#include "model/evidence/evidence.h"
#include "model/evidence/grade.h"
#include "model/evidence/like_run.h"
#include "model/evidence/naming.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/record_device.h"
#include "model/records/served.h"
#include "model/records/served_choice.h"
#include "model/records/serving.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/sources.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// ---- a token API

static long find_api(const struct resolving *resolving, const struct ini_key *key,
                     const struct table **table) {
  const struct ini_key *model =
      selection_of(&resolving->selections, SELECT_WORKLOAD + WORKLOAD_MODEL);
  *table = catalog_table(resolving->scenario->catalog, CATALOG_API_PRICES);
  const long row = *table ? catalog_find(*table, key->value) : -1;
  if (*table && row < 0)
    diagnostics_error(resolving->diagnostics, key->value_place,
                      "unknown API price '%s'; see 'pertoken catalog api_prices'", key->value);
  if (row < 0 || !model || !*model->value)
    return row;
  const char *of = table_cell(*table, (size_t)row, "model");
  if (strcmp(of, model->value) != 0) {
    diagnostics_error(resolving->diagnostics, key->value_place,
                      "API price '%s' is for '%s', not for '%s'", key->value, of, model->value);
    return -1;
  }
  return row;
}

static void take_api(const struct resolving *resolving, const struct table *table, size_t row,
                     const struct figure **figures) {
  static const char *const columns[SELECTION_API_PRICES] = {
      "input_usd_per_mtok", "cached_input_usd_per_mtok", "output_usd_per_mtok"};
  const struct model *model = resolving->scenario->model;
  for (size_t i = 0; i < SELECTION_API_PRICES; i++) {
    const int d = model_find(model, selection_api_prices[i]);
    struct figure figure;
    if (d < 0 || figure_is_of_option(figures[d]) ||
        !resolving_cell(table, row, columns[i], &figure))
      continue;
    figure.value *= unit_factor(&model->declarations[d].unit);
    figure.in_usd = model->declarations[d].in_usd >= 0;
    figures[d] = resolving_keep(resolving, figure);
  }
}

static void leave_out_hardware(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const int with = model->declarations[d].absent_with;
    if (with < 0 || figures[with]->origin == ORIGIN_NONE)
      continue;
    if (figure_is_of_option(figures[d]))
      diagnostics_error(resolving->diagnostics, figures[d]->place,
                        "option '%s' buys tokens from a provider: '%s' has no effect there",
                        resolving->option->id, model->declarations[d].name);
    figures[d] = &figure_none;
  }
}

static void refuse_selections(const struct resolving *resolving) {
  for (int key = 0; key < SELECT_WORKLOAD; key++) {
    const struct ini_key *said = selection_of(&resolving->selections, key);
    if (said && *said->value && key != SELECT_API && key != SELECT_PRODUCTION &&
        key != SELECT_TOKENS_OF)
      diagnostics_error(resolving->diagnostics, said->place,
                        "option '%s' buys tokens from a provider: '%s' has no effect there",
                        resolving->option->id, selection_key_name(key));
  }
}

void hardware_api(const struct resolving *resolving, const struct figure **figures) {
  struct option *option = resolving->option;
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_API);
  const int price = model_find(resolving->scenario->model, "output_price");
  const bool is_base = figures == resolving_figures(resolving, 0);
  const struct table *table;
  long row = -1;
  if (price < 0)
    return;
  if (key && is_base && figures[price]->origin == ORIGIN_OPTION &&
      figures[price]->place.source == key->place.source)
    diagnostics_error(resolving->diagnostics, key->place,
                      "option '%s' has both 'api' and 'output_price': give one", option->id);
  if (key)
    row = find_api(resolving, key, &table);
  if (row >= 0) {
    take_api(resolving, table, (size_t)row, figures);
    option->provider = table_cell(table, (size_t)row, "provider");
  }
  if (figures[price]->origin == ORIGIN_NONE && !key)
    return;
  option->provider = option->provider ? option->provider : "";
  option->accelerator_name = arena_printf(resolving->arena, "%s%stoken API, provider's precision",
                                          option->provider, *option->provider ? " " : "");
  leave_out_hardware(resolving, figures);
  if (is_base)
    refuse_selections(resolving);
}

// ---- the accelerator and its price

// The unit that holds accelerators, and the unit of sale if that is not a server: a rack, a card.
// Rent is per accelerator.
static void apply_units(struct resolving *resolving, const struct table *table, size_t row) {
  const struct model *model = resolving->scenario->model;
  const int per_node = model_find(model, "accelerators_per_node");
  const int unit = model_find(model, "purchase_unit");
  struct figure node = {.value = 0}, sold;
  if (resolving_cell(table, row, "gpus_per_node", &node))
    resolving_fill(resolving, per_node, node);
  if (resolving->option->rented)
    resolving_fill(resolving, unit,
                   (struct figure){.origin = ORIGIN_RENT,
                                   .value = 1,
                                   .grade = GRADE_ASSUMED,
                                   .source = "rented one by one",
                                   .date = ""});
  else if (resolving_cell(table, row, "purchase_unit", &sold) && sold.value != node.value)
    resolving_fill(resolving, unit, sold);
}

// The carbon of manufacturing, if the grid's intensity is given.
static void apply_carbon(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct figure figure;
  if (!resolving_has(resolving, model_find(scenario->model, "grid_intensity")))
    return;
  const struct table *table = catalog_glance(scenario->catalog, CATALOG_CARBON);
  const long row = table ? carbon_of_accelerator(table, resolving->option->accelerator) : -1;
  if (row < 0 || !resolving_cell(table, (size_t)row, "per_gpu_value", &figure))
    return;
  figure.value *= conversion_table[CONVERT_THOUSAND].value; // of kg
  resolving_fill(resolving, model_find(scenario->model, "embodied_carbon"), figure);
}

static void refuse_other_accelerator(const struct resolving *resolving,
                                     const struct scenario_offer *quote) {
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_ACCELERATOR);
  const struct offer *offer = quote->offer;
  long row;
  const struct naming named = naming_find_row(resolving->scenario->catalog, CATALOG_ACCELERATORS,
                                              key->value, &row, resolving->arena);
  if (named.word && strcmp(named.word, offer->accelerator) != 0)
    diagnostics_error(resolving->diagnostics, quote->place,
                      "the offer %s is for '%s', but option '%s' has '%s'", offer->reference,
                      offer->accelerator, resolving->option->id, named.word);
}

// The offer's accelerator if the option names none; an offer for a different one, in any case, is
// an error.
static void settle_offered_accelerator(struct resolving *resolving) {
  const struct scenario_offer *base = option_offer(resolving->scenario, resolving->option, 0);
  struct ini_key *key = &resolving->selections.keys[SELECT_ACCELERATOR];
  if (base && !key->name)
    *key = (struct ini_key){"accelerator", base->offer->accelerator, base->offer->accelerator_place,
                            base->offer->accelerator_place};
  for (size_t c = 0; c < resolving->scenario->case_count && key->name; c++) {
    const struct scenario_offer *quote = option_offer(resolving->scenario, resolving->option, c);
    if (quote && (!c || quote != base))
      refuse_other_accelerator(resolving, quote);
  }
}

// The number offered in each case, if neither a number nor a demand is stated.
static void apply_offered_count(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int count = model_find(scenario->model, "accelerators");
  if (count < 0 || resolving_has(resolving, model_find(scenario->model, "demand")))
    return;
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct scenario_offer *quote = option_offer(scenario, resolving->option, c);
    const struct figure **at = &resolving_figures(resolving, c)[count];
    if (!quote || (*at)->origin != ORIGIN_NONE)
      continue;
    const struct offer *offer = quote->offer;
    *at = resolving_keep(resolving,
                         (struct figure){.origin = ORIGIN_CATALOGUE,
                                         .value = offer->accelerators,
                                         .place = offer->count_place,
                                         .grade = GRADE_QUOTED,
                                         .source = offer_reference(offer, resolving->arena),
                                         .date = offer->date});
  }
}

// An input that one case has, all have: an offer without a warranty has one of no time beside
// another case's offer with one.
static void apply_offered_warranty(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int warranty = model_find(scenario->model, "warranty");
  const struct scenario_offer *with = NULL;
  for (size_t c = 0; c < scenario->case_count && !with; c++) {
    const struct scenario_offer *quote = option_offer(scenario, resolving->option, c);
    with = quote && !isnan(quote->offer->warranty_h) ? quote : NULL;
  }
  if (with)
    resolving_fill(
        resolving, warranty,
        (struct figure){.origin = ORIGIN_CATALOGUE,
                        .place = with->offer->warranty_place,
                        .grade = GRADE_ASSUMED,
                        .source = arena_printf(resolving->arena, "only in the offer %s",
                                               offer_reference(with->offer, resolving->arena)),
                        .date = ""});
}

static int apply_accelerator(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct option *option = resolving->option;
  settle_offered_accelerator(resolving);
  apply_offered_count(resolving);
  apply_offered_warranty(resolving);
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
  const struct serving_record *served = served_of_accelerator(scenario->records, key->value);
  if (served && !strcmp(key->value, "cpu")) {
    if (*served->device)
      option->accelerator_name = served->device;
    return 0;
  }
  long row;
  const struct naming naming =
      naming_find_row(scenario->catalog, CATALOG_ACCELERATORS, key->value, &row, resolving->arena);
  if (naming.why)
    diagnostics_error(resolving->diagnostics, key->value_place, "%s", naming.why);
  if (!naming.word)
    return -1;
  option->accelerator = naming.word;
  if (naming.note)
    texts_add(&option->readings, resolving->arena, "%s", naming.note);
  const struct table *table = catalog_table(scenario->catalog, CATALOG_ACCELERATORS);
  option->accelerator_name = table_cell(table, (size_t)row, "name");
  apply_units(resolving, table, (size_t)row);
  apply_carbon(resolving);
  struct figure figure;
  if (resolving_cell(table, (size_t)row, "tdp_w", &figure)) {
    figure.grade = GRADE_PROJECTED; // TDP stands in for measured watts
    resolving_fill(resolving, model_find(scenario->model, "load_power"), figure);
  }
  return 0;
}

// Counts a part as included in every case that takes the row's price; a price that is typed instead
// may not include it. Returns a statement of it beside the row's price, or NULL.
static const struct figure *include_part(struct resolving *resolving, int part, int list_price,
                                         const struct figure *included) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    if (figures[list_price]->origin != ORIGIN_NONE)
      continue;
    if (figures[part]->origin != ORIGIN_NONE)
      return figures[part];
    figures[part] = included;
  }
  return NULL;
}

// A server's price includes the server, and a rack's also the network: they must be neither paid
// twice nor reported as missing.
static int settle_parts(struct resolving *resolving, const struct ini_key *key,
                        const char *category, int list_price, struct figure price) {
  static const char *const parts[] = {"node_price", "network_price"};
  const size_t count = !strcmp(category, "rack") ? 2 : !strcmp(category, "server") ? 1 : 0;
  int result = 0;
  price.value = 0;
  price.in_usd = false;
  price.source = arena_printf(resolving->arena, "included in the price %s", key->value);
  price.part_of = "list_price";
  const struct figure *included = resolving_keep(resolving, price);
  for (size_t i = 0; i < count; i++) {
    const int part = model_find(resolving->scenario->model, parts[i]);
    const struct figure *stated =
        part < 0 ? NULL : include_part(resolving, part, list_price, included);
    if (!stated)
      continue;
    diagnostics_error(resolving->diagnostics, stated->place,
                      "price '%s' of option '%s' is for a whole %s, which includes '%s'",
                      key->value, resolving->option->id, category, parts[i]);
    result = -1;
  }
  return result;
}

static int take_price(struct resolving *resolving, const struct ini_key *key, int list_price) {
  const struct scenario *scenario = resolving->scenario;
  const char *accelerator = resolving->option->accelerator;
  const struct table *table = catalog_table(scenario->catalog, CATALOG_PRICES);
  const long row = table ? catalog_find(table, key->value) : -1;
  if (table && row < 0)
    diagnostics_error(resolving->diagnostics, key->value_place,
                      "unknown price '%s'; see 'pertoken catalog prices'", key->value);
  if (row < 0)
    return -1;
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
  const int result =
      settle_parts(resolving, key, table_cell(table, (size_t)row, "category"), list_price, figure);
  resolving_fill(resolving, list_price, figure);
  return result;
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

// What an unknown accelerator would have given: its own error is enough.
static void pretend_accelerator(struct resolving *resolving) {
  static const char *const inputs[] = {"accelerators_per_node", "load_power", "throughput"};
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    resolving_pretend(resolving, inputs[i]);
}

// What a case's offer lacks, unlike that of the base case, would count as 0.
static void refuse_lacking(const struct resolving *resolving) {
  static const char *const needed[] = {"list_price", "accelerators_per_node"};
  const struct scenario *scenario = resolving->scenario;
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
    const int d = model_find(scenario->model, needed[i]);
    for (size_t c = 1; c < scenario->case_count && resolving_has(resolving, d); c++) {
      const struct scenario_offer *quote = option_offer(scenario, resolving->option, c);
      if (!quote || resolving_figures(resolving, c)[d]->origin != ORIGIN_NONE)
        continue;
      diagnostics_error(resolving->diagnostics, quote->place,
                        "the offer %s, unlike that of the base case, gives no '%s': give '%s.%s' "
                        "in case '%s'",
                        quote->offer->reference, needed[i], resolving->option->id, needed[i],
                        scenario->cases[c]);
      return;
    }
  }
}

int hardware_apply(struct resolving *resolving) {
  if (apply_accelerator(resolving)) {
    pretend_accelerator(resolving);
    return -1;
  }
  apply_price(resolving);
  refuse_lacking(resolving);
  return 0;
}

// ---- watts that were not stated

static struct figure watts_figure(const struct evidence *from, double value, const char *column,
                                  const char *source) {
  return (struct figure){.origin = ORIGIN_CATALOGUE,
                         .value = value,
                         .place = table_place(from->table, from->row, column),
                         .grade = from->grade,
                         .source = source,
                         .date = from->date};
}

bool hardware_is_tdp(const struct scenario *scenario, const struct figure *load) {
  const struct table *accelerators = catalog_glance(scenario->catalog, CATALOG_ACCELERATORS);
  return accelerators && load->origin == ORIGIN_CATALOGUE &&
         load->place.source == accelerators->source;
}

// Neither stated, nor from a record or an offer.
static bool are_open(const struct resolving *resolving, const struct figure *load) {
  return load->origin == ORIGIN_NONE || hardware_is_tdp(resolving->scenario, load);
}

// In every case in which they are open.
static void fill_watts(struct resolving *resolving, struct figure figure) {
  const int load_power = model_find(resolving->scenario->model, "load_power");
  const struct figure *kept = resolving_keep(resolving, figure);
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **load = &resolving_figures(resolving, c)[load_power];
    if (are_open(resolving, *load))
      *load = kept;
  }
}

static void take_watts(struct resolving *resolving, const struct evidence *from, enum grade grade) {
  const char *source = arena_printf(resolving->arena, "%s: mean power of its accelerators, %s",
                                    from->id, from->power_source);
  struct figure figure = watts_figure(from, from->load_power_w, "avg_gpu_power_w_total", source);
  figure.grade = grade;
  fill_watts(resolving, figure);
}

static double host_watts(const struct resolving *resolving, size_t which_case) {
  const int host = model_find(resolving->scenario->model, "host_power");
  const struct figure *figure =
      host < 0 ? &figure_none : resolving_figures(resolving, which_case)[host];
  return figure->origin == ORIGIN_NONE ? 0 : figure->value;
}

static void refuse_host(const struct resolving *resolving, size_t which_case, double node_power_w) {
  const struct model *model = resolving->scenario->model;
  const int host = model_find(model, "host_power");
  const struct unit *unit = &model->declarations[host].unit;
  diagnostics_error(resolving->diagnostics, resolving_figures(resolving, which_case)[host]->place,
                    "case '%s' gives option '%s' a 'host_power' of %s, but its whole node drew %s",
                    resolving->scenario->cases[which_case], resolving->option->id,
                    quantity_text(host_watts(resolving, which_case), unit, resolving->arena),
                    quantity_text(node_power_w, unit, resolving->arena));
}

static void take_node_in(const struct resolving *resolving, size_t which_case, double node_power_w,
                         struct figure node) {
  const struct model *model = resolving->scenario->model;
  const int load_power = model_find(model, "load_power"), host = model_find(model, "host_power");
  const struct figure **figures = resolving_figures(resolving, which_case);
  const double stated = host_watts(resolving, which_case);
  struct figure load = node, within = node;
  load.value = node_power_w - stated;
  if (stated > 0)
    load.source = arena_printf(resolving->arena, "%s, less host_power", node.source);
  figures[load_power] = resolving_keep(resolving, load);
  if (host < 0)
    return;
  within.value = 0;
  within.source = arena_printf(resolving->arena, "included in the node's power: %s", node.source);
  within.part_of = "load_power";
  if (figures[host]->origin != ORIGIN_NONE)
    within = *figures[host];
  if (!*within.source) {
    within.source = "deducted from the node's power";
    within.part_of = "load_power";
  }
  within.contained = true;
  figures[host] = resolving_keep(resolving, within);
}

// A whole node's watts include the host's: those stated in a case are subtracted, otherwise the
// host's are not paid again. False if the node draws no more than that; an error if only in a case.
static bool take_node(struct resolving *resolving, double node_power_w, struct figure node) {
  const int load_power = model_find(resolving->scenario->model, "load_power");
  if (!(node_power_w > host_watts(resolving, 0)))
    return false;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    if (!are_open(resolving, resolving_figures(resolving, c)[load_power]))
      continue;
    else if (node_power_w > host_watts(resolving, c))
      take_node_in(resolving, c, node_power_w, node);
    else
      refuse_host(resolving, c, node_power_w);
  return true;
}

static bool take_like(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct option *option = resolving->option;
  const int throughput = model_find(scenario->model, "throughput");
  struct like_run run = {.throughputs = catalog_glance(scenario->catalog, CATALOG_THROUGHPUT),
                         .models = catalog_glance(scenario->catalog, CATALOG_MODELS),
                         .accelerator = option->accelerator,
                         .precision = option->workload.values[WORKLOAD_PRECISION]};
  struct evidence like;
  if (!run.throughputs || !run.models || !*run.precision || !resolving_has(resolving, throughput))
    return false;
  const struct evidence *row = option->watts_of; // a throughput typed over it leaves its watts
  run.tokens_per_s = row ? row->tokens_per_s : rate_per_second(option->figures[throughput]->value);
  run.active_b = row ? like_run_active_of_row(&run, row->row)
                     : like_run_active(run.models, option->workload.values[WORKLOAD_MODEL]);
  if (!like_run_find(&run, &like))
    return false;
  take_watts(resolving, &like, GRADE_PROJECTED);
  option->power_doubt = arena_printf(resolving->arena,
                                     "power under load, %.4g W/gpu, is from a similar run, %s (%s, "
                                     "%s, %.6g token/s), as none was measured with the throughput",
                                     like.load_power_w, like.id,
                                     table_cell(like.table, like.row, "model_as_published"),
                                     run.precision, evidence_rate(like.table, like.row));
  return true;
}

// From the server's record: its node's watts if measured, else its accelerators'.
static bool take_served(struct resolving *resolving, const struct served *served) {
  const struct model *model = resolving->scenario->model;
  struct figure figure = {.origin = ORIGIN_CATALOGUE,
                          .place = served->place,
                          .grade = served->power_grade,
                          .source = served->power_source,
                          .date = served->date};
  if (isfinite(served->node_power_w))
    return take_node(resolving, served->node_power_w, figure);
  if (!isfinite(served->load_power_w))
    return false;
  figure.value = served->load_power_w;
  fill_watts(resolving, figure);
  figure.value = served->idle_power_w;
  if (isfinite(figure.value))
    resolving_fill(resolving, model_find(model, "idle_power"), figure);
  return true;
}

// For a row run at a power limit without measured watts: it drew no more than the limit.
static bool take_limit(struct resolving *resolving, const struct evidence *own) {
  struct option *option = resolving->option;
  if (!selection_of(&resolving->selections, SELECT_POWER_LIMIT) || !isfinite(own->power_limit_w))
    return false;
  struct figure figure =
      watts_figure(own, own->power_limit_w, "power_limit_w",
                   arena_printf(resolving->arena, "%s: its power limit, %s", own->id, own->source));
  figure.grade = GRADE_PROJECTED;
  fill_watts(resolving, figure);
  option->power_doubt =
      arena_printf(resolving->arena,
                   "power under load is the limit at which %s ran, %g W/gpu, as none was measured",
                   own->id, own->power_limit_w);
  return true;
}

// From the row itself: its accelerators' watts, else its node's, else its limit.
static bool take_own(struct resolving *resolving) {
  const struct evidence *own = resolving->option->watts_of;
  if (resolving->option->served_watts)
    return take_served(resolving, resolving->option->served_watts);
  if (!own)
    return false;
  if (!isfinite(own->load_power_w) && !isfinite(own->node_power_w))
    return take_limit(resolving, own);
  if (!isfinite(own->load_power_w))
    return take_node(resolving, own->node_power_w,
                     watts_figure(own, 0, "system_power_w",
                                  arena_printf(resolving->arena, "%s: power of the whole node, %s",
                                               own->id, own->source)));
  take_watts(resolving, own, own->power_grade);
  return true;
}

static void note_found(const struct resolving *resolving) {
  const struct option *option = resolving->option;
  sources_found_for_lengths(resolving,
                            option->served_watts ? option->served_watts->rungs->record->grade
                                                 : option->watts_of->grade,
                            "power");
}

// Where the first case that leaves it open has it, or NULL: one offer may guarantee watts, another
// none.
static const struct figure **open_load(const struct resolving *resolving, int load_power) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **load = &resolving_figures(resolving, c)[load_power];
    if (are_open(resolving, *load))
      return load;
  }
  return NULL;
}

void hardware_power(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct option *option = resolving->option;
  const int load_power = model_find(scenario->model, "load_power");
  if (!catalog_glance(scenario->catalog, CATALOG_ACCELERATORS) || load_power < 0)
    return;
  const struct figure **load = open_load(resolving, load_power);
  if (!load)
    return;
  if (take_own(resolving))
    note_found(resolving);
  else if (!take_like(resolving) && hardware_is_tdp(scenario, *load))
    option->power_doubt = arena_printf(
        resolving->arena,
        "power under load is the TDP, %s: no measurement available; actual draw is likely lower",
        quantity_text((*load)->value, &scenario->model->declarations[load_power].unit,
                      resolving->arena));
  option->doubted_power = *option->power_doubt ? *load : NULL;
}
