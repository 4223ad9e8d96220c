#include "model/scenario/sources/hardware.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/evidence/carbon.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/naming.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/record_device.h"
#include "model/records/served_choice.h"
#include "model/records/serving.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
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

// ": state 'api_discount'" of a discount on hardware; "" if a provider has nothing like the input.
static const char *api_hint(const struct resolving *resolving, const char *name) {
  struct arena *arena = resolving->diagnostics->arena;
  const char *instead = arena_printf(arena, "api_%s", name);
  return model_find(resolving->scenario->model, instead) < 0
             ? ""
             : arena_printf(arena, ": state '%s'", instead);
}

static void leave_out_hardware(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const int with = model->declarations[d].absent_with;
    if (with < 0 || figures[with]->origin == ORIGIN_NONE)
      continue;
    if (figure_is_of_option(figures[d]))
      diagnostics_error(resolving->diagnostics, figures[d]->place,
                        "option '%s' buys tokens from a provider: '%s' has no effect there%s",
                        resolving->option->id, model->declarations[d].name,
                        api_hint(resolving, model->declarations[d].name));
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
                         figure_found(offer->accelerators, offer->count_place, GRADE_QUOTED,
                                      offer_reference(offer, resolving->arena), offer->date));
  }
}

// A term that an offer may lack: its input, and where struct offer has its place.
static const struct offered_term {
  const char *input;
  size_t place;
} offered_terms[] = {
    {"warranty", offsetof(struct offer, warranty_place)},
    {"delay_damages", offsetof(struct offer, damages_places[OFFER_DAMAGES])},
    {"tier_discount", offsetof(struct offer, tier_kind_place)},
};

// An input that one case has, all have: an offer without a warranty has one of no time beside
// another case's offer with one, and one without damages for a delay has none.
static void apply_offered_term(struct resolving *resolving, const struct offered_term *term) {
  const struct scenario *scenario = resolving->scenario;
  const int input = model_find(scenario->model, term->input);
  const struct scenario_offer *with = NULL;
  struct place place = {.source = NULL};
  for (size_t c = 0; input >= 0 && c < scenario->case_count && !place.source; c++) {
    with = option_offer(scenario, resolving->option, c);
    if (with && figure_is_given(resolving_figures(resolving, c)[input]))
      place = *(const struct place *)((const char *)with->offer + term->place);
  }
  if (place.source)
    resolving_fill(resolving, input,
                   figure_found(0, place, GRADE_ASSUMED,
                                arena_printf(resolving->arena, "only in the offer %s",
                                             offer_reference(with->offer, resolving->arena)),
                                ""));
}

static int apply_accelerator(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct option *option = resolving->option;
  settle_offered_accelerator(resolving);
  apply_offered_count(resolving);
  for (size_t t = 0; t < sizeof offered_terms / sizeof offered_terms[0]; t++)
    apply_offered_term(resolving, &offered_terms[t]);
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_ACCELERATOR);
  if (!key) {
    if (!scenario_meant(scenario, "accelerator"))
      diagnostics_error(
          resolving->diagnostics, option->place,
          "option '%s' needs 'accelerator' (an id of 'pertoken catalog accelerators')", option->id);
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
  if (table && row < 0 && isdigit((unsigned char)key->value[0]))
    diagnostics_error(resolving->diagnostics, key->value_place,
                      "'price' names a row of the catalogue; an amount is 'list_price = %s'",
                      key->value);
  else if (table && row < 0)
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
  if (!strcmp(table_cell(table, (size_t)row, "unit"), "USD per hour")) {
    diagnostics_error(
        resolving->diagnostics, key->value_place,
        "price '%s' is a rent per hour (%s), and 'price' is of a purchase: give it as "
        "'rental_rate', paid around the clock, or 'on_demand_rate', for the hours in "
        "use, with its source and date",
        key->value, basis);
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

// Pretends that an unknown accelerator gave its inputs: its own error is enough.
static void pretend_accelerator(struct resolving *resolving) {
  static const char *const inputs[] = {"accelerators_per_node", "load_power", "throughput"};
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    resolving_pretend(resolving, inputs[i]);
}

// Refuses what a case's offer lacks, unlike the base case's: it would count as 0.
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
    if (selection_of(&resolving->selections, SELECT_PRICE))
      resolving_pretend(resolving, "list_price");
    return -1;
  }
  apply_price(resolving);
  refuse_lacking(resolving);
  return 0;
}
