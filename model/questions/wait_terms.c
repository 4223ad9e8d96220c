#include "model/questions/wait_terms.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/digits.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/cost/usable.h"
#include "model/questions/delivery_slip.h"
#include "model/questions/question.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/reading/sections.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_DRAWS = 4096, MAX_DRAWS = 1 << 20, USUAL_SEED = 1 };

static const struct {
  const char *name;
  double usual;
  bool above_zero;
} wait_keys[WAIT_KEYS] = {
    [WAIT_THROUGHPUT] = {"throughput", 1, true},
    [WAIT_POWER] = {"power", 1, true},
    [WAIT_PRICE] = {"price", 1, false},
    [WAIT_DECLINE] = {"price_decline", 0, false},
    [WAIT_SLIP] = {"slip", 0, false},
    [WAIT_AVAILABLE] = {"available", 0, false},
    [WAIT_RENT] = {"meanwhile", 0, false},
};

struct terms_reading {
  const struct scenario *scenario;
  const struct ini_section *section;
  struct wait_terms *terms;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

const char *wait_key_name(enum wait_key key) {
  return wait_keys[key].name;
}

static int read_certain(struct terms_reading *reading, const struct ini_key *key, const char *unit,
                        bool above_zero, double *out) {
  struct unit of;
  if (unit_parse(unit, key->value_place, &of, reading->arena, reading->diagnostics) ||
      quantity_parse(key->value, key->value_place, &of, out, reading->diagnostics))
    return -1;
  if (*out > 0 || (*out == 0 && !above_zero))
    return question_check_size(key, *out, reading->diagnostics);
  diagnostics_error(reading->diagnostics, key->value_place,
                    above_zero ? "%s must be above zero, not %s" : "%s cannot be negative: %s",
                    key->name, key->value);
  return -1;
}

static int read_belief(struct terms_reading *reading, enum wait_key which) {
  const struct ini_key *key = ini_find(reading->section, wait_keys[which].name);
  const char *unit = which == WAIT_RENT ? model_unit_text(reading->scenario->model, "USD/Mtok")
                                        : section_unit("wait", wait_keys[which].name);
  struct wait_belief *belief = &reading->terms->beliefs[which];
  struct declaration input = {
      .name = wait_keys[which].name, .has_min = true, .min_exclusive = wait_keys[which].above_zero};
  *belief = (struct wait_belief){.certain = true, .value = wait_keys[which].usual};
  if (!key)
    return 0;
  if (which == WAIT_SLIP && !strcmp(key->value, "from data")) {
    belief->certain = false;
    return slip_from_data(reading->scenario, key->value_place, &belief->distribution,
                          &reading->terms->slip_words, reading->arena, reading->diagnostics);
  }
  if (!isalpha((unsigned char)*key->value))
    return read_certain(reading, key, unit, wait_keys[which].above_zero, &belief->value);
  belief->certain = false;
  return question_belief(key, unit, &input, &belief->distribution, reading->arena,
                         reading->diagnostics);
}

// Months from now to the order: whole ones, before the horizon ends.
static int read_months(struct terms_reading *reading) {
  const struct ini_key *key = ini_find(reading->section, "months");
  const struct scenario *scenario = reading->scenario;
  const double horizon = option_value(scenario, &scenario->options[reading->terms->option],
                                      model_find(scenario->model, "horizon"), 0);
  if (!key) {
    diagnostics_error(reading->diagnostics, reading->section->place,
                      "[wait %s] needs 'months', as in months = 6", reading->section->argument);
    return -1;
  }
  uint64_t months = 0;
  const char *unit = whole_number(key->value, 0, UINT32_MAX, &months);
  unit = unit ? unit + strspn(unit, " ") : "?";
  if (*unit && strcmp(unit, "month") != 0 && strcmp(unit, "months") != 0) {
    diagnostics_error(reading->diagnostics, key->value_place,
                      "expected a whole number of months%s, not '%s'",
                      *key->value == '-' ? ", as an order cannot be in the past" : "", key->value);
    return -1;
  }
  if ((double)months * HOURS_PER_MONTH >= horizon) {
    diagnostics_error(reading->diagnostics, key->value_place,
                      "the horizon ends after %u months: there is no time left to buy for",
                      (unsigned)months);
    return -1;
  }
  reading->terms->months = (double)months;
  return 0;
}

static int read_count(struct terms_reading *reading, const char *name, uint32_t most,
                      uint64_t *out) {
  const struct ini_key *key = ini_find(reading->section, name);
  if (!key || is_whole_number(key->value, 1, most, out))
    return 0;
  diagnostics_error(reading->diagnostics, key->value_place,
                    "expected a whole number from 1 to %u, not '%s'", most, key->value);
  return -1;
}

// A ramp would shrink the rate that the alternatives are sized for, and be served by none of them.
static int refuse_changing(const struct terms_reading *reading, const struct option *of,
                           struct place place) {
  if (question_refuse_changing(reading->scenario, of, place, reading->diagnostics))
    return -1;
  if (!question_ramps(reading->scenario, of))
    return 0;
  diagnostics_error(reading->diagnostics, place,
                    "option '%s' has a 'ramp': what is bought, ordered or rented here serves in "
                    "full from its first day",
                    of->id);
  return -1;
}

// The input of the option from which costs by year follow: a list, or a rate; NULL: an item of the
// user's own.
static const struct declaration *input_by_year(const struct model *model,
                                               const struct option *option) {
  static const char *const rates[] = {"inflation", "price_decline", "throughput_gain",
                                      "demand_growth"};
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].year_count && option_has(option, model->declarations[d].years[0]))
      return &model->declarations[d];
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    const int d = model_find(model, rates[i]);
    if (d >= 0 && option_has(option, d))
      return &model->declarations[d];
  }
  return NULL;
}

// Refuses costs by year, or by other steps: these count from each purchase, so a later purchase
// would get the costs of an earlier time.
static int refuse_years(const struct terms_reading *reading, const struct option *of,
                        struct place place) {
  const struct model *model = reading->scenario->model;
  if (refuse_changing(reading, of, place))
    return -1;
  if (!model_follows_year(model, of->graph->state, model_find(model, "tco")))
    return 0;
  const struct declaration *input = input_by_year(model, of);
  const char *words = input ? arena_printf(reading->arena, "%s, from '%s'",
                                           step_words(input->step_h, reading->arena), input->name)
                            : "by year";
  diagnostics_error(reading->diagnostics, place,
                    "option '%s' has costs %s, which are not defined for a later purchase", of->id,
                    words);
  return -1;
}

// Refuses options that differ in the input: both choices are over one horizon and discounted at one
// rate, in every draw.
static int refuse_different(const struct terms_reading *reading, size_t other, const char *input,
                            struct place place) {
  const struct scenario *scenario = reading->scenario;
  const struct option *one = &scenario->options[reading->terms->option];
  const struct option *against = &scenario->options[other];
  if (question_refuse_different(scenario, one, against, input, place, reading->diagnostics))
    return -1;
  const int d = model_find(scenario->model, input);
  if (option_range(scenario, one, d) == option_range(scenario, against, d))
    return 0;
  diagnostics_error(reading->diagnostics, place,
                    "options '%s' and '%s' differ in the range of '%s', which must be the same "
                    "here",
                    one->id, against->id, input);
  return -1;
}

static int refuse_rented(struct terms_reading *reading, size_t option, struct place place,
                         const char *what) {
  const struct option *of = &reading->scenario->options[option];
  if (option_is_owned(of))
    return refuse_years(reading, of, place);
  diagnostics_error(reading->diagnostics, place, "%s '%s' is %s: there is no purchase to time",
                    what, of->id, of->provider ? "a token API" : "rented");
  return -1;
}

static int read_options(struct terms_reading *reading) {
  const struct scenario *scenario = reading->scenario;
  struct wait_terms *terms = reading->terms;
  const struct ini_key *successor = ini_find(reading->section, "successor");
  const int found = scenario_option(scenario, reading->section->argument);
  if (found < 0) {
    const char *id = reading->section->argument;
    diagnostics_error(reading->diagnostics, reading->section->place,
                      "[wait %s] names no option that could be bought now%s", id,
                      scenario_option_hint(scenario, id, reading->arena));
    return -1;
  }
  terms->option = terms->successor = (size_t)found;
  terms->has_successor = successor != NULL;
  if (refuse_rented(reading, terms->option, reading->section->place, "option"))
    return -1;
  if (!successor)
    return 0;
  const int next = scenario_option(scenario, successor->value);
  if (next >= 0) {
    terms->successor = (size_t)next;
    return refuse_rented(reading, terms->successor, successor->value_place, "the successor") ||
                   refuse_different(reading, terms->successor, "horizon", successor->value_place) ||
                   refuse_different(reading, terms->successor, "wacc", successor->value_place)
               ? -1
               : 0;
  }
  diagnostics_error(reading->diagnostics, successor->value_place,
                    "there are no data for the successor '%s': add an [option %s] with its price "
                    "and throughput, or give factors on those of '%s'",
                    successor->value, successor->value, reading->section->argument);
  return -1;
}

static int read_meanwhile(struct terms_reading *reading) {
  const struct ini_key *key = ini_find(reading->section, "meanwhile");
  const struct scenario *scenario = reading->scenario;
  reading->terms->meanwhile = -1;
  if (!key) {
    diagnostics_error(reading->diagnostics, reading->section->place,
                      "[wait %s] needs 'meanwhile': a rented option or a price in %s/Mtok, for "
                      "the tokens until the delivery",
                      reading->section->argument, scenario->model->currency);
    return -1;
  }
  const int option = scenario_option(scenario, key->value);
  if (option >= 0) {
    reading->terms->meanwhile = option;
    reading->terms->beliefs[WAIT_RENT] = (struct wait_belief){.certain = true};
    if (scenario->options[option].rented)
      return refuse_changing(reading, &scenario->options[option], key->value_place) ||
                     refuse_different(reading, (size_t)option, "wacc", key->value_place)
                 ? -1
                 : 0;
    if (scenario->options[option].provider)
      diagnostics_error(reading->diagnostics, key->value_place,
                        "'%s' is a token API: give its price, such as 'meanwhile = 0.90 %s/Mtok'",
                        key->value, scenario->model->currency);
    else
      diagnostics_error(reading->diagnostics, key->value_place,
                        "'%s' is bought, not rented: it cannot bridge the time until a delivery",
                        key->value);
    return -1;
  }
  if (!isalpha((unsigned char)*key->value) || strchr(key->value, '('))
    return read_belief(reading, WAIT_RENT);
  diagnostics_error(reading->diagnostics, key->value_place,
                    "'%s' is neither an option nor a price such as 0.90 %s/Mtok", key->value,
                    scenario->model->currency);
  return -1;
}

static int read_all(struct terms_reading *reading) {
  const size_t errors = reading->diagnostics->errors;
  uint64_t draws = USUAL_DRAWS, seed = USUAL_SEED;
  if (read_options(reading))
    return -1;
  for (int key = 0; key < WAIT_RENT; key++)
    read_belief(reading, (enum wait_key)key);
  read_months(reading);
  read_meanwhile(reading);
  read_count(reading, "draws", MAX_DRAWS, &draws);
  read_count(reading, "seed", UINT32_MAX, &seed);
  reading->terms->draws = draws;
  reading->terms->seed = seed;
  return reading->diagnostics->errors == errors ? 0 : -1;
}

int wait_terms_read(const struct scenario *scenario, const struct ini_section *section,
                    struct wait_terms *terms, struct arena *arena,
                    struct diagnostics *diagnostics) {
  struct terms_reading reading = {scenario, section, terms, arena, diagnostics};
  *terms = (struct wait_terms){.slip_words = ""};
  return read_all(&reading);
}
