#include "model/scenario/reading/shorthand.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/evidence/carbon.h"
#include "model/evidence/catalog.h"
#include "model/evidence/day.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// grid = REGION sets grid_intensity.
static void take_grid(struct reading *reading, struct layer layer, const struct ini_key *key) {
  struct scenario *scenario = reading->scenario;
  const struct table *table = catalog_table(scenario->catalog, CATALOG_CARBON);
  const int intensity = model_find(scenario->model, "grid_intensity");
  const char *nearest = NULL;
  struct figure figure;
  const long row = table ? carbon_of_grid(table, key->value, &nearest, reading->arena) : -1;
  if (table && row < 0)
    diagnostics_error(reading->diagnostics, key->value_place,
                      "unknown grid '%s'%s; see 'pertoken catalog carbon'", key->value,
                      did_you_mean(nearest, reading->arena));
  if (row < 0)
    figure = (struct figure){.place = key->value_place, .source = "", .date = ""};
  else {
    resolving_cell(table, (size_t)row, "value", &figure);
    figure.value *= unit_factor(&scenario->model->declarations[intensity].unit);
    figure.source =
        arena_printf(reading->arena, "%s (%s): %s", table_cell(table, (size_t)row, "subject"),
                     table_cell(table, (size_t)row, "region"), figure.source);
  }
  inputs_take(reading->inputs, layer, intensity, figure, key, reading->diagnostics);
}

// day_profile = consumer sets the 24 shares.
static void take_day(struct reading *reading, struct layer layer, const struct ini_key *key) {
  struct scenario *scenario = reading->scenario;
  const int first = model_find(scenario->model, "day_share_1");
  struct day day;
  struct figure figure = {
      .place = key->value_place, .grade = GRADE_ASSUMED, .source = "", .date = ""};
  day_read(key->value, key->value_place, scenario->catalog, &day, reading->arena,
           reading->diagnostics);
  const struct table *table = catalog_glance(scenario->catalog, CATALOG_DAY_PROFILES);
  if (day.row >= 0)
    resolving_cell(table, (size_t)day.row, "share_1", &figure);
  for (int hour = 0; hour < HOURS_OF_DAY; hour++) {
    figure.value = day.share[hour];
    figure.place = key->value_place;
    inputs_take(reading->inputs, layer, first + hour, figure, key, reading->diagnostics);
  }
}

// Assigns an input of the offer, unless the layer sets it itself; another offer in its place does
// not count.
static void assign_offered(const struct reading *reading, struct layer layer,
                           const struct offer_input *input, const struct offer *offer) {
  const struct ini_key key = {input->name, input->text, input->place, input->place};
  const char *reference = offer_reference(offer, reading->arena);
  if (input->parts)
    reference = arena_printf(reading->arena, "%s (%s)", reference, input->parts);
  const struct ini_key quote = {"quote",
                                arena_printf(reading->arena, "%s %s", reference, offer->date),
                                input->place, input->place};
  const int declaration = model_find(reading->scenario->model, input->name);
  const struct figure *said =
      declaration < 0 ? NULL : inputs_said(reading->inputs, layer, declaration);
  if (declaration < 0 || (said && !scenario_offer_of(reading->scenario, said)))
    return;
  if (!said)
    inputs_refuse_provenance(reading->inputs, layer, declaration, reading->diagnostics);
  inputs_assign(reading->inputs, layer, input->name, &key, reading->diagnostics);
  inputs_assign(reading->inputs, layer, arena_printf(reading->arena, "%s.quote", input->name),
                &quote, reading->diagnostics);
}

static void add_offer(const struct reading *reading, struct layer layer, const struct offer *offer,
                      struct place place) {
  struct scenario *scenario = reading->scenario;
  scenario->offers =
      arena_room(reading->arena, scenario->offers, scenario->offer_count, sizeof *scenario->offers);
  scenario->offers[scenario->offer_count++] =
      (struct scenario_offer){layer.origin, layer.option, layer.which_case, offer, place};
}

// quote = FILE sets the inputs of a vendor's prices and terms.
static void take_offer(struct reading *reading, struct layer layer, const struct ini_key *key) {
  struct arena *arena = reading->arena;
  if (layer.option < 0) {
    diagnostics_error(reading->diagnostics, key->place,
                      "an offer applies to one option: '%s' belongs in [option ID]", key->name);
    return;
  }
  const char *path = source_beside(key->value_place.source->name, key->value, arena);
  const bool is_there = access(path, R_OK) == 0;
  const struct offer *offer =
      is_there ? offer_read(path, reading->scenario->catalog, arena, reading->diagnostics) : NULL;
  if (!is_there)
    diagnostics_error(reading->diagnostics, key->value_place, "the offer '%s' cannot be opened: %s",
                      key->value, strerror(errno));
  reading->scenario->options[layer.option].lacks_offer |= !offer;
  if (!offer)
    return;
  add_offer(reading, layer, offer, key->value_place);
  struct offer_input inputs[OFFER_INPUTS];
  const size_t count = offer_inputs(offer, inputs, arena);
  for (size_t i = 0; i < count; i++)
    assign_offered(reading, layer, &inputs[i], offer);
}

const struct shorthand shorthands[SHORTHANDS] = {{"grid", "grid_intensity", false, take_grid},
                                                 {"day_profile", "day_share_1", false, take_day},
                                                 {"quote", "list_price", true, take_offer}};

const struct shorthand *shorthand_find(const struct reading *reading, const char *key) {
  for (size_t i = 0; i < SHORTHANDS; i++)
    if (!strcmp(shorthands[i].key, key) &&
        model_find(reading->scenario->model, shorthands[i].input) >= 0)
      return &shorthands[i];
  return NULL;
}
