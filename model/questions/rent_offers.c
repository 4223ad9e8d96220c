#include "model/questions/rent_offers.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/questions/question.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

struct asking {
  const struct scenario *scenario;
  const struct ini_section *section; // NULL: a comparison of the scenario's options
  struct rent_offers *offers;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static const struct term {
  const char *key, *title;
  enum rent_hours hours;
  double years;         // of commitment at a time
  const char *bases[5]; // matching values of price_basis
} terms[] = {
    {"on_demand",
     "on demand, hours used",
     RENT_HOURS_USED,
     0,
     {"on_demand", "market", "index", NULL}},
    {"spot", "spot, hours used", RENT_HOURS_USED, 0, {"spot", NULL}},
    {"one_year", "one year", RENT_AROUND_THE_CLOCK, 1, {"reserved_1y", NULL}},
    {"three_years", "three years", RENT_AROUND_THE_CLOCK, 3, {"reserved_3y", NULL}},
    {"reserved",
     "reserved, term unstated",
     RENT_AROUND_THE_CLOCK,
     0,
     {"reserved_from", "committed_from", NULL}},
};

enum { TERMS = sizeof terms / sizeof terms[0] };

static bool is_in_usd(const struct scenario *scenario) {
  return !strcmp(scenario->model->currency, "USD");
}

// The unit of the rent in the report's currency, or of its twin in USD.
static const struct unit *rate_unit(const struct scenario *scenario, bool in_usd) {
  const struct declaration *declarations = scenario->model->declarations;
  const struct declaration *rate = &declarations[model_find(scenario->model, "rental_rate")];
  return in_usd && rate->in_usd >= 0 ? &declarations[rate->in_usd].unit : &rate->unit;
}

// Takes the stated rate. in_usd: whether it is in USD in a report that is not.
static void take_rate(const struct asking *asking, bool in_usd, double said,
                      struct rent_offer *offer) {
  const struct scenario *scenario = asking->scenario;
  const int option = offer->option < 0 ? asking->offers->own : offer->option;
  const double exchange_rate = option_exchange_rate(scenario, &scenario->options[option]);
  offer->in_usd = in_usd;
  offer->rate = in_usd ? said / exchange_rate : said;
  offer->typed = quantity_text(said, rate_unit(scenario, in_usd), asking->arena);
}

static void add_offer(const struct asking *asking, struct rent_offer offer) {
  struct rent_offers *offers = asking->offers;
  offers->list = arena_room(asking->arena, offers->list, offers->count, sizeof *offers->list);
  offers->list[offers->count++] = offer;
}

static bool is_spot(const struct term *term) {
  return !strcmp(term->key, "spot");
}

static bool is_basis_of(const struct term *term, const char *basis) {
  for (size_t i = 0; term->bases[i]; i++)
    if (!strcmp(term->bases[i], basis))
      return true;
  return false;
}

// "3-year rental, 25% upfront": 0.25.
static double upfront_share(const char *item) {
  const char *begin = strstr(item, "% upfront");
  if (!begin)
    return 0;
  while (begin > item && strchr("0123456789.", begin[-1]))
    begin--;
  return strtod(begin, NULL) / 100;
}

// A row of prices: for the owned accelerator, per hour, with this term.
static int offer_of_row(const struct asking *asking, const struct term *term,
                        const struct ini_key *key, const struct table *table, size_t row,
                        struct rent_offer *offer) {
  const char *accelerator = asking->scenario->options[asking->offers->own].accelerator;
  const char *of = table_cell(table, row, "accelerator");
  const char *basis = table_cell(table, row, "price_basis");
  double rate;
  if (strcmp(of, accelerator) != 0) {
    diagnostics_error(asking->diagnostics, key->value_place, "price '%s' is for '%s', not for '%s'",
                      key->value, *of ? of : "no accelerator", accelerator);
    return -1;
  }
  if (!is_basis_of(term, basis) || strcmp(table_cell(table, row, "unit"), "USD per hour") != 0 ||
      !table_number(table, row, "usd_per_gpu_equivalent", &rate)) {
    diagnostics_error(asking->diagnostics, key->value_place,
                      "price '%s' (%s) is not an hourly rent for %s%s", key->value, basis,
                      term->key, strcmp(basis, "spot") != 0 ? "" : ": state it as 'spot'");
    return -1;
  }
  take_rate(asking, !is_in_usd(asking->scenario), rate, offer);
  offer->grade = catalog_grade(table, row);
  offer->date = table_cell(table, row, "as_of");
  offer->upfront = upfront_share(table_cell(table, row, "item"));
  const bool is_plain = !strcmp(basis, term->key);
  offer->origin =
      arena_printf(asking->arena, "%s, %s%s%s", key->value, table_cell(table, row, "provider"),
                   is_plain ? "" : ", ", is_plain ? "" : basis);
  offer->source =
      arena_printf(asking->arena, "%s: %s, %s (%s)", key->value, table_cell(table, row, "provider"),
                   table_cell(table, row, "item"), table_cell(table, row, "source_title"));
  return 0;
}

static const char *attribute(const struct asking *asking, const char *key, const char *name) {
  const struct ini_key *found =
      ini_find(asking->section, arena_printf(asking->arena, "%s.%s", key, name));
  return found ? found->value : "";
}

static int read_rate(const struct asking *asking, const struct ini_key *key,
                     struct rent_offer *offer) {
  const struct scenario *scenario = asking->scenario;
  const bool in_usd = !is_in_usd(scenario) && text_has_currency(key->value, "USD");
  double rate;
  if (quantity_parse(key->value, key->value_place, rate_unit(scenario, in_usd), &rate,
                     asking->diagnostics))
    return -1;
  take_rate(asking, in_usd, rate, offer);
  if (rate > 0)
    return question_check_size(key, rate, asking->diagnostics);
  diagnostics_error(asking->diagnostics, key->value_place, "%s must be above 0, not %s", key->name,
                    key->value);
  return -1;
}

// Reads the hours repeated after interruptions, as a share of the useful ones; 0 unless stated.
static int read_interruption(const struct asking *asking, double *share) {
  const struct ini_key *key = ini_find(asking->section, "interruption");
  if (!key)
    return 0;
  if (section_number("rent", key, share, asking->diagnostics))
    return -1;
  if (*share >= 0)
    return question_check_size(key, *share, asking->diagnostics);
  diagnostics_error(asking->diagnostics, key->value_place,
                    "interruption must be at least 0 %%, not %s", key->value);
  return -1;
}

static int offer_of_key(const struct asking *asking, const struct term *term,
                        const struct ini_key *key) {
  const struct table *table = catalog_table(asking->scenario->catalog, CATALOG_PRICES);
  const long row = table ? catalog_find(table, key->value) : -1;
  struct rent_offer offer = {.name = term->key,
                             .title = term->title,
                             .hours = term->hours,
                             .term = term->years * HOURS_PER_YEAR,
                             .uninterrupted =
                                 is_spot(term) && !ini_find(asking->section, "interruption"),
                             .option = -1};
  if (is_spot(term) && read_interruption(asking, &offer.interruption))
    return -1;
  if (row >= 0) {
    if (offer_of_row(asking, term, key, table, (size_t)row, &offer))
      return -1;
  } else if (read_rate(asking, key, &offer))
    return -1;
  else {
    offer.source = attribute(asking, term->key, "source");
    offer.date = attribute(asking, term->key, "date");
    offer.origin = offer.source;
    offer.grade = *offer.source ? GRADE_CLAIM : GRADE_ASSUMED;
  }
  add_offer(asking, offer);
  return 0;
}

// A rented option as in the cost model; if that is around the clock, also what it would cost for
// the hours used.
static void add_cloud(const struct asking *asking, size_t o) {
  const struct scenario *scenario = asking->scenario;
  const struct option *option = &scenario->options[o];
  const int rate = option_price(scenario, option), stated = option_stated(option, rate);
  const bool on_demand = rate == model_find(scenario->model, "on_demand_rate");
  const struct figure *figure = option_figure(scenario, option, scenario->selected, stated);
  struct rent_offer offer = {.name = option->id,
                             .title = "always",
                             .option = (int)o,
                             .grade = figure->grade,
                             .source = figure->source,
                             .origin = figure->source,
                             .date = figure->date};
  take_rate(asking, stated != rate, option_value(scenario, option, stated, 0), &offer);
  if (!on_demand)
    add_offer(asking, offer);
  offer.name = arena_printf(asking->arena, on_demand ? "%s" : "%s_used", option->id);
  offer.title = "hours used";
  offer.hours = RENT_HOURS_USED;
  offer.hypothetical = !on_demand;
  add_offer(asking, offer);
}

static bool can_compare(const struct scenario *scenario, int owned, size_t cloud,
                        struct arena *arena) {
  const struct option *own = &scenario->options[owned], *rented = &scenario->options[cloud];
  return !question_changing(scenario, own) && !question_changing(scenario, rented) &&
         !workload_difference(&own->workload, &rented->workload, arena);
}

// Two options with different horizons serve different tokens.
static int check_horizon(const struct asking *asking, size_t cloud, struct place place) {
  const struct option *options = asking->scenario->options;
  return question_refuse_different(asking->scenario, &options[asking->offers->own], &options[cloud],
                                   "horizon", place, asking->diagnostics);
}

// Whether the option is an offer: rented, at a single rate.
static bool is_offer(const struct scenario *scenario, size_t o) {
  static const char *const shares[] = {"reserved_share", "spot_share"};
  const struct option *option = &scenario->options[o];
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const int d = model_find(scenario->model, shares[i]);
    if (d >= 0 && option_has(option, d))
      return false;
  }
  return option->rented;
}

static const char *offer_kind(const struct option *option) {
  return option->provider ? "a token API" : option->rented ? "rented at several rates" : "owned";
}

static int read_cloud(const struct asking *asking) {
  const struct scenario *scenario = asking->scenario;
  const struct ini_key *key = ini_find(asking->section, "cloud");
  if (!key)
    return 0;
  const int cloud = question_option(scenario, asking->section, "cloud", asking->diagnostics);
  if (cloud < 0 ||
      question_refuse_changing(scenario, &scenario->options[cloud], key->value_place,
                               asking->diagnostics) ||
      check_horizon(asking, (size_t)cloud, key->value_place))
    return -1;
  if (is_offer(scenario, (size_t)cloud)) {
    add_cloud(asking, (size_t)cloud);
    return 0;
  }
  diagnostics_error(asking->diagnostics, key->value_place,
                    "option '%s' is %s: 'cloud' must name an option rented at a single rate",
                    key->value, offer_kind(&scenario->options[cloud]));
  return -1;
}

static int sole_owned(const struct scenario *scenario) {
  int own = -1;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (option_is_owned(&scenario->options[o]))
      own = own < 0 ? (int)o : (int)scenario->option_count;
  return own < (int)scenario->option_count ? own : -1;
}

static int read_own(const struct asking *asking) {
  const struct scenario *scenario = asking->scenario;
  const struct ini_key *key = ini_find(asking->section, "own");
  const int sole = sole_owned(scenario);
  if (!key && sole >= 0) {
    asking->offers->own = sole;
    return question_refuse_changing(scenario, &scenario->options[sole], asking->section->place,
                                    asking->diagnostics);
  }
  asking->offers->own = question_option(scenario, asking->section, "own", asking->diagnostics);
  if (!key || asking->offers->own < 0)
    return -1;
  const struct option *own = &scenario->options[asking->offers->own];
  if (option_is_owned(own))
    return question_refuse_changing(scenario, own, key->value_place, asking->diagnostics);
  diagnostics_error(asking->diagnostics, key->value_place,
                    "option '%s' is %s: 'own' must name an owned option", key->value,
                    own->provider ? "a token API" : "rented");
  return -1;
}

static int read_section(const struct asking *asking) {
  struct diagnostics *diagnostics = asking->diagnostics;
  const size_t errors = diagnostics->errors;
  if (read_own(asking))
    return -1;
  for (size_t i = 0; i < TERMS; i++) {
    const struct ini_key *key = ini_find(asking->section, terms[i].key);
    if (key)
      offer_of_key(asking, &terms[i], key);
  }
  read_cloud(asking);
  const struct ini_key *interruption = ini_find(asking->section, "interruption");
  if (interruption && !ini_find(asking->section, "spot"))
    diagnostics_error(diagnostics, interruption->place, "'interruption' needs 'spot' beside it");
  if (diagnostics->errors == errors && !asking->offers->count)
    diagnostics_error(
        diagnostics, asking->section->place,
        "[rent %s] has nothing to compare owning with: give on_demand, spot, "
        "one_year, three_years or reserved (a rate, or a row of 'pertoken catalog prices'), or "
        "cloud = ID of a rented option",
        asking->section->argument);
  return diagnostics->errors == errors ? 0 : -1;
}

static int read_options(const struct asking *asking) {
  const struct scenario *scenario = asking->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (is_offer(scenario, o) && can_compare(scenario, asking->offers->own, o, asking->arena)) {
      if (check_horizon(asking, o, scenario->options[o].place))
        return -1;
      add_cloud(asking, o);
    }
  return 0;
}

bool rent_offers_exist(const struct scenario *scenario, int own) {
  struct arena scratch = {NULL};
  bool found = false;
  for (size_t o = 0; o < scenario->option_count && option_is_owned(&scenario->options[own]); o++)
    found |= is_offer(scenario, o) && can_compare(scenario, own, o, &scratch);
  arena_free(&scratch);
  return found;
}

// Why an option is not compared with any: "is rented at several rates"; NULL if it may be.
static const char *bar_of(const struct scenario *scenario, size_t o, struct arena *arena) {
  const struct option *option = &scenario->options[o];
  if (option->rented && !is_offer(scenario, o))
    return "is rented at several rates";
  return option->rented || option_is_owned(option) ? question_change_words(scenario, option, arena)
                                                   : NULL;
}

static bool has_both(const struct scenario *scenario) {
  bool owned = false, rented = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    owned |= option_is_owned(&scenario->options[o]);
    rented |= scenario->options[o].rented;
  }
  return owned && rented;
}

void rent_offers_aside(const struct scenario *scenario, int own, struct texts *aside,
                       struct arena *arena) {
  for (size_t o = 0; has_both(scenario) && o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const char *bar = bar_of(scenario, o, arena);
    const char *difference =
        own < 0 || bar || !option->rented
            ? NULL
            : workload_difference(&scenario->options[own].workload, &option->workload, arena);
    if (bar)
      texts_add(aside, arena, "%s %s", option->label, bar);
    else if (difference)
      texts_add(aside, arena, "%s has another workload than %s: %s", option->label,
                scenario->options[own].label, difference);
  }
}

int rent_offers_read(const struct scenario *scenario, const struct ini_section *section,
                     struct rent_offers *offers, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct asking asking = {scenario, section, offers, arena, diagnostics};
  return section ? read_section(&asking) : read_options(&asking);
}
