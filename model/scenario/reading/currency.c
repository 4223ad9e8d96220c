#include "model/scenario/reading/currency.h"

#include "base/ini.h"
#include "base/source.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/sections.h"

#include <string.h>

// The catalogue gives no rates: a figure with this origin only stands in for a missing one.
#define PRETENDED ORIGIN_CATALOGUE

const char *currency_read(struct reading *reading) {
  const struct ini_key *key = reading_head_key(reading, "currency");
  if (!key)
    return "USD";
  reading->scenario->currency_place = key->place;
  const int found = currency_find(key->value);
  if (found >= 0)
    return currency_codes[found];
  const char *nearest = nearest_name(key->value, currency_codes, CURRENCIES);
  diagnostics_error(reading->diagnostics, key->value_place,
                    "unknown currency '%s': expected a code of ISO 4217 such as EUR%s", key->value,
                    did_you_mean(nearest, reading->arena));
  return nearest;
}

bool currency_is_rate(const char *key) {
  static const char rate[] = "exchange_rate";
  const size_t length = sizeof rate - 1;
  return !strncmp(key, rate, length) && (!key[length] || key[length] == '.');
}

// Requires the rate's source in the file that chooses the currency. What-ifs, with --set or in a
// file that inherits the currency, may change the rate without stating one.
static void check_source(const struct scenario *scenario, const struct figure *rate,
                         struct diagnostics *diagnostics) {
  const bool what_if =
      origin_layers[rate->origin].is_set || rate->place.source != scenario->currency_place.source;
  if (!what_if && (!*rate->source || !*rate->date))
    diagnostics_error(diagnostics, rate->place,
                      "an exchange rate needs its source and date: give exchange_rate.source and "
                      "exchange_rate.date");
}

// The exchange rate of an option; NULL if its offer could not be read: nothing else of it was
// either.
static const struct figure *rate_of(const struct scenario *scenario, size_t option) {
  return scenario->options[option].figures[model_find(scenario->model, "exchange_rate")];
}

static bool is_first_there(const struct scenario *scenario, size_t option) {
  const struct place place = rate_of(scenario, option)->place;
  for (size_t o = 0; o < option; o++)
    if (rate_of(scenario, o) && rate_of(scenario, o)->place.source == place.source &&
        rate_of(scenario, o)->place.line == place.line)
      return false;
  return true;
}

void currency_check(const struct scenario *scenario, struct diagnostics *diagnostics) {
  const struct model *model = scenario->model;
  bool missing = false;
  if (!scenario->currency_place.source || model_find(model, "exchange_rate") < 0)
    return;
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!rate_of(scenario, o))
      continue;
    const bool none = rate_of(scenario, o)->origin == PRETENDED;
    missing |= none;
    if (!none && is_first_there(scenario, o))
      check_source(scenario, rate_of(scenario, o), diagnostics);
  }
  if (missing)
    diagnostics_error(diagnostics, scenario->currency_place,
                      "a report in %s needs an exchange rate: give 'exchange_rate = ... USD/%s', "
                      "exchange_rate.source and exchange_rate.date",
                      model->currency, model->currency);
}

// The first case that states the amount in USD, or -1.
static long case_in_usd(const struct resolving *resolving, int declaration) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    if (resolving_figures(resolving, c)[declaration]->in_usd)
      return (long)c;
  return -1;
}

// Whether the amounts of an input are in one currency in all cases, as one formula serves them all;
// zero is zero in any currency.
static bool is_in_one_currency(const struct resolving *resolving, int declaration, long usd) {
  const struct scenario *scenario = resolving->scenario;
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct figure *figure = resolving_figures(resolving, c)[declaration];
    if (figure->in_usd || figure->value == 0)
      continue;
    const size_t which = c ? c : (size_t)usd;
    diagnostics_error(
        resolving->diagnostics, resolving_figures(resolving, which)[declaration]->place,
        "case '%s' gives '%s' of option '%s' in a different currency than case '%s': use either "
        "USD or %s in both",
        scenario->cases[which], scenario->model->declarations[declaration].name,
        resolving->option->id, scenario->cases[c ? (size_t)usd : 0], scenario->model->currency);
    return false;
  }
  return true;
}

// A rate has a source, but is an assumption all the same, not a claim. For a missing one, a
// stand-in keeps others from reporting what currency_check reports.
static void settle_rate(const struct resolving *resolving) {
  const int rate = model_find(resolving->scenario->model, "exchange_rate");
  for (size_t c = 0; c < resolving->scenario->case_count && rate >= 0; c++) {
    const struct figure **figure = &resolving_figures(resolving, c)[rate];
    struct figure settled = **figure;
    if (settled.origin == ORIGIN_NONE)
      settled = (struct figure){.origin = PRETENDED, .value = 1, .source = "", .date = ""};
    else if (settled.grade == GRADE_CLAIM)
      settled.grade = GRADE_ASSUMED;
    else
      continue;
    *figure = resolving_keep(resolving, settled);
  }
}

static void move_to_usd(const struct resolving *resolving, int declaration, int in_usd) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    struct figure moved = *figures[declaration];
    moved.in_usd = true;
    figures[in_usd] =
        figures[declaration]->in_usd ? figures[declaration] : resolving_keep(resolving, moved);
    figures[declaration] = &figure_none;
  }
}

void currency_settle(const struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  settle_rate(resolving);
  for (int d = 0; d < model->count; d++) {
    const int in_usd = model->declarations[d].in_usd;
    const long usd = in_usd < 0 ? -1 : case_in_usd(resolving, d);
    if (usd >= 0 && is_in_one_currency(resolving, d, usd))
      move_to_usd(resolving, d, in_usd);
  }
}

int option_stated(const struct option *option, int declaration) {
  return graph_stated(option->graph, declaration);
}

int option_moved(const struct option *option, int declaration) {
  const int scale = declaration < 0 ? -1 : option->graph->model->declarations[declaration].scale;
  return scale >= 0 && option->graph->state[scale] == GRAPH_INPUT
             ? scale
             : option_stated(option, declaration);
}

double option_exchange_rate(const struct scenario *scenario, const struct option *option) {
  const int rate = model_find(scenario->model, "exchange_rate");
  const bool foreign = strcmp(scenario->model->currency, "USD") != 0;
  return foreign && rate >= 0 && option_has(option, rate) ? option_value(scenario, option, rate, 0)
                                                          : 1;
}

int option_money_parse(const struct scenario *scenario, const struct option *option,
                       const char *text, struct place place, const char *usd_unit, double *value,
                       struct diagnostics *diagnostics) {
  const bool in_usd = text_has_currency(text, "USD");
  struct unit unit;
  if (unit_parse(in_usd ? usd_unit : model_unit_text(scenario->model, usd_unit), place, &unit,
                 diagnostics->arena, diagnostics) ||
      quantity_parse(text, place, &unit, value, diagnostics))
    return -1;
  if (in_usd)
    *value /= option_exchange_rate(scenario, option);
  return 0;
}
