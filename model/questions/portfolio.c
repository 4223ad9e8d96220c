#include "model/questions/portfolio.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/chance/distribution.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/optimise/allocation_problem.h"
#include "model/questions/question.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/sections.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

const char *const demand_key_names[DEMAND_KEYS] = {
    [DEMAND_MODEL] = "model",
    [DEMAND_PRECISION] = "precision",
    [DEMAND_SCENARIO] = "scenario",
    [DEMAND_BATCH] = "batch",
    [DEMAND_INTERACTIVITY] = "interactivity",
};

const char *const demand_input_names[DEMAND_INPUTS] = {
    [DEMAND_INPUT_TOKENS] = "input_tokens",
    [DEMAND_OUTPUT_TOKENS] = "output_tokens",
};

const char *const demand_option_key_names[DEMAND_OPTION_KEYS] = {
    [DEMAND_THROUGHPUT] = "throughput",
    [DEMAND_EVIDENCE] = "evidence",
    [DEMAND_RECORD] = "record",
    [DEMAND_LOAD_POWER] = "load_power",
};

static const char *const share_names[SHARE_KINDS] = {
    [SHARE_TOKENS] = "tokens", [SHARE_ACCELERATORS] = "accelerators", [SHARE_COST] = "cost"};

enum { MAX_TIME_YEARS = 100, MAX_GROWTH = 100 };

// A distribution of growth must leave at least a thousandth of the tokens in a year.
#define MIN_KEPT 0.999

struct portfolio_reader {
  const struct scenario *scenario;
  struct portfolio *portfolio;
  const char **vendors;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int find_word(const char *word, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcasecmp(word, words[i]))
      return (int)i;
  return -1;
}

// The option with an id, or -1 after an error at `place`.
static int find_option(const struct portfolio_reader *reader, const char *id, struct place place) {
  const int option = scenario_option(reader->scenario, id);
  if (option < 0)
    scenario_unknown_option(reader->scenario, id, place, reader->diagnostics);
  return option;
}

static double not_below_zero(const struct portfolio_reader *reader, const struct ini_key *key,
                             double value, const char *at_zero) {
  if (value < 0)
    diagnostics_error(reader->diagnostics, key->value_place, "%s cannot be negative: %s", key->name,
                      key->value);
  else if (value == 0)
    diagnostics_error(reader->diagnostics, key->value_place, "%s", at_zero);
  return value;
}

// Amounts in USD are converted at the baseline's exchange rate.
static double read_money(const struct portfolio_reader *reader, const struct ini_key *key,
                         const char *at_zero) {
  const struct scenario *scenario = reader->scenario;
  double value;
  if (option_money_parse(scenario, &scenario->options[scenario->baseline], key->value,
                         key->value_place, "USD", &value, reader->diagnostics))
    return NAN;
  return not_below_zero(reader, key, value, at_zero);
}

// A quantity that is not negative; zero has its own message.
static double read_amount(const struct portfolio_reader *reader, const char *kind,
                          const struct ini_key *key, const char *at_zero) {
  double value;
  return section_number(kind, key, &value, reader->diagnostics)
             ? NAN
             : not_below_zero(reader, key, value, at_zero);
}

static bool read_yes(const struct portfolio_reader *reader, const struct ini_key *key) {
  static const char *const words[] = {"no", "yes"};
  const int found = find_word(key->value, words, 2);
  if (found < 0)
    diagnostics_error(reader->diagnostics, key->value_place, "expected yes or no, not '%s'",
                      key->value);
  return found > 0;
}

static double read_ready(const struct portfolio_reader *reader, const struct ini_key *key) {
  static const char *const words[] = {"no", "yes"};
  const int found = find_word(key->value, words, 2);
  double share;
  if (found >= 0)
    return found;
  if (!strchr(key->value, '%')) {
    diagnostics_error(reader->diagnostics, key->value_place,
                      "expected yes, no or a share such as 60 %%, not '%s'", key->value);
    return 0;
  }
  if (quantity_parse(key->value, key->value_place, &unit_percent, &share, reader->diagnostics))
    return 0;
  if (!(share > 0 && share <= 1))
    diagnostics_error(reader->diagnostics, key->value_place,
                      "a readiness share must be above 0 %% and at most 100 %%, not %s",
                      key->value);
  return share;
}

// A time after the start, or between two days: not negative.
static double read_time(const struct portfolio_reader *reader, const char *kind,
                        const struct ini_key *key) {
  double time;
  if (!reader->portfolio->planned)
    reader->portfolio->planned = key;
  if (section_number(kind, key, &time, reader->diagnostics))
    return 0;
  if (!(time >= 0 && time <= MAX_TIME_YEARS * HOURS_PER_YEAR))
    diagnostics_error(reader->diagnostics, key->value_place, "%s must be from 0 to %d yr, not %s",
                      key->name, MAX_TIME_YEARS, key->value);
  return time;
}

// A distribution, as in [range], of a quantity that stays from `least` to `most`; its mean, or NAN
// after an error.
static double read_belief(const struct portfolio_reader *reader, const char *kind,
                          const struct ini_key *key, double least, double most,
                          const struct distribution **out) {
  struct distribution *belief = arena_alloc(reader->arena, sizeof *belief);
  struct declaration input = {
      .name = key->name, .has_min = true, .min = least, .has_max = true, .max = most};
  reader->portfolio->planned = key;
  if (question_belief(key, section_unit(kind, key->name), &input, belief, reader->arena,
                      reader->diagnostics))
    return NAN;
  *out = belief;
  return distribution_mean(belief);
}

// Reads the growth of tokens, which must be more than the loss of all of them in a year.
static double read_growth(const struct portfolio_reader *reader, const struct ini_key *key,
                          const struct distribution **belief) {
  double growth;
  if (isalpha((unsigned char)*key->value))
    return read_belief(reader, "demand", key, -MIN_KEPT / HOURS_PER_YEAR,
                       MAX_GROWTH / HOURS_PER_YEAR, belief);
  if (!reader->portfolio->planned)
    reader->portfolio->planned = key;
  if (section_number("demand", key, &growth, reader->diagnostics))
    return 0;
  const double yearly = growth * HOURS_PER_YEAR;
  if (!(yearly > -1 && yearly <= MAX_GROWTH))
    diagnostics_error(reader->diagnostics, key->value_place,
                      "growth must be between -100 %%/yr and %d %%/yr, not %s", 100 * MAX_GROWTH,
                      key->value);
  return growth;
}

// A key of the form KEY.OPTION.
static void read_option_key(const struct portfolio_reader *reader, struct demand *demand,
                            const struct ini_key *key) {
  const char *point = strchr(key->name, '.');
  const char *name = arena_copy_n(reader->arena, key->name, (size_t)(point - key->name));
  const int which = find_word(name, demand_option_key_names, DEMAND_OPTION_KEYS);
  const bool when = !strcmp(name, "ready_from");
  const int option = find_option(reader, point + 1, key->place);
  if (option < 0)
    return;
  if (when)
    demand->ready_from[option] = read_time(reader, "demand", key);
  else if (which < 0)
    demand->ready[option] = read_ready(reader, key);
  else
    demand->option_keys[option][which] = key;
}

static void read_plain_key(const struct portfolio_reader *reader, struct demand *demand,
                           const struct ini_section *section, const struct ini_key *key) {
  const int which = find_word(key->name, demand_key_names, DEMAND_KEYS);
  const int input = find_word(key->name, demand_input_names, DEMAND_INPUTS);
  if (which >= 0)
    demand->keys[which] = key;
  else if (input >= 0)
    demand->inputs[input] = key;
  else if (!strcmp(key->name, "tokens"))
    demand->tokens = read_amount(reader, "demand", key, "a demand must be above zero tokens");
  else if (!strcmp(key->name, "growth"))
    demand->growth = read_growth(reader, key, &demand->growths);
  else if (!strcmp(key->name, "context"))
    question_count(section, key->name, &demand->context, reader->diagnostics);
  else if (!strcmp(key->name, "nodes_per_replica"))
    question_count(section, key->name, &demand->nodes, reader->diagnostics);
  else if (!strcmp(key->name, "split"))
    demand->whole = !read_yes(reader, key);
  else if (!strcmp(key->name, "kv"))
    demand->kv = question_precision(key, reader->diagnostics);
}

// A throughput is either stated, or looked up in one place.
static void check_evidence(const struct portfolio_reader *reader, const struct demand *demand) {
  for (size_t o = 0; o < reader->scenario->option_count; o++) {
    const struct ini_key *const *keys = demand->option_keys[o];
    const struct ini_key *first = NULL;
    for (int k = DEMAND_THROUGHPUT; k <= DEMAND_RECORD; k++) {
      if (first && keys[k])
        diagnostics_error(reader->diagnostics, keys[k]->place,
                          "demand '%s' has both '%s' and '%s': give one of them", demand->name,
                          first->name, keys[k]->name);
      first = first ? first : keys[k];
    }
  }
}

static void read_demand(const struct portfolio_reader *reader, const struct ini_section *section) {
  const size_t options = reader->scenario->option_count;
  struct demand *demand = &reader->portfolio->demands[reader->portfolio->demand_count++];
  *demand = (struct demand){.name = section->argument, .place = section->place, .kv = ""};
  demand->option_keys = arena_array(reader->arena, options + 1, sizeof *demand->option_keys);
  demand->ready = arena_array(reader->arena, options + 1, sizeof *demand->ready);
  demand->ready_from = arena_array(reader->arena, options + 1, sizeof *demand->ready_from);
  for (size_t o = 0; o < options; o++) {
    demand->ready[o] = 1;
    demand->ready_from[o] = 0;
  }
  for (size_t k = 0; k < section->key_count; k++) {
    const struct ini_key *key = &section->keys[k];
    if (strchr(key->name, '.'))
      read_option_key(reader, demand, key);
    else
      read_plain_key(reader, demand, section, key);
  }
  check_evidence(reader, demand);
  if (!ini_find(section, "tokens"))
    diagnostics_error(reader->diagnostics, section->place,
                      "[demand %s] needs 'tokens', as in tokens = 2e12 token/month",
                      section->argument);
}

static const char *lower(const char *text, struct arena *arena) {
  char *copy = arena_copy(arena, text);
  for (size_t i = 0; copy[i]; i++)
    copy[i] = (char)tolower((unsigned char)copy[i]);
  return copy;
}

static int vendor_of(struct portfolio_reader *reader, const char *name) {
  struct portfolio *portfolio = reader->portfolio;
  const int found = find_word(name, reader->vendors, (size_t)portfolio->vendor_count);
  if (found >= 0)
    return found;
  reader->vendors[portfolio->vendor_count] = lower(name, reader->arena);
  return portfolio->vendor_count++;
}

// A device that is known only from a record has no vendor in the catalogue.
static const char *catalogue_vendor(const struct portfolio_reader *reader, size_t o) {
  const struct table *table = catalog_table(reader->scenario->catalog, CATALOG_ACCELERATORS);
  const long row = table ? catalog_find(table, reader->scenario->options[o].accelerator) : -1;
  return row < 0 ? "other" : table_cell(table, (size_t)row, "vendor");
}

static void read_stock(const struct portfolio_reader *reader, int option,
                       const struct ini_key *key) {
  const struct scenario *scenario = reader->scenario;
  const int sold = model_find(scenario->model, "purchase_unit");
  const double unit = option_value(scenario, &scenario->options[option], sold, 0);
  const double stock =
      read_amount(reader, "supply", key,
                  arena_printf(reader->arena, "a stock of zero serves nothing: omit option '%s'",
                               scenario->options[option].id));
  reader->portfolio->stock[option] = stock;
  if (stock > 0 && stock < unit)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "a stock of %s is less than one purchase unit of %g accelerators", key->value,
                      unit);
}

static double read_delay(struct portfolio_reader *reader, int option, const struct ini_key *key) {
  const double most = MAX_TIME_YEARS * HOURS_PER_YEAR;
  if (!isalpha((unsigned char)*key->value))
    return read_time(reader, "supply", key);
  return read_belief(reader, "supply", key, 0, most, &reader->portfolio->delays[option]);
}

static void read_lead_time(const struct portfolio_reader *reader, int option,
                           const struct ini_key *key) {
  reader->portfolio->lead_time[option] = read_time(reader, "supply", key);
  reader->portfolio->lead_time_places[option] = key->value_place;
}

// The option's own lead time, if its [supply] states none.
static void take_lead_time(const struct portfolio_reader *reader, size_t o) {
  const struct scenario *scenario = reader->scenario;
  const struct option *option = &scenario->options[o];
  const int lead_time = model_find(scenario->model, "lead_time");
  if (lead_time < 0 || !option_has(option, lead_time))
    return;
  reader->portfolio->lead_time[o] = option_value(scenario, option, lead_time, 0);
  reader->portfolio->lead_time_places[o] =
      option_figure(scenario, option, scenario->selected, lead_time)->place;
}

static void read_term(struct portfolio_reader *reader, int option, const struct ini_key *key) {
  const struct option *rented = &reader->scenario->options[option];
  reader->portfolio->term[option] = read_time(reader, "supply", key);
  if (!rented->rented)
    diagnostics_error(reader->diagnostics, key->place,
                      "option '%s' is not rented, so it has no term", rented->id);
}

static void read_supply(struct portfolio_reader *reader, const struct ini_section *section) {
  const int option = find_option(reader, section->argument, section->place);
  double delay = 0;
  for (size_t k = 0; k < section->key_count && option >= 0; k++) {
    const struct ini_key *key = &section->keys[k];
    if (!strcmp(key->name, "stock"))
      read_stock(reader, option, key);
    else if (!strcmp(key->name, "lead_time"))
      read_lead_time(reader, option, key);
    else if (!strcmp(key->name, "available"))
      reader->portfolio->available[option] = read_time(reader, "supply", key);
    else if (!strcmp(key->name, "delay"))
      delay = read_delay(reader, option, key);
    else if (!strcmp(key->name, "term"))
      read_term(reader, option, key);
    else if (!strcmp(key->name, "vendor"))
      reader->portfolio->vendor[option] = vendor_of(reader, key->value);
  }
  if (option >= 0)
    reader->portfolio->available[option] += delay;
}

static void read_minimum_share(struct portfolio_reader *reader, const struct ini_key *key) {
  struct portfolio *portfolio = reader->portfolio;
  const char *name = strchr(key->name, '.') + 1;
  const int vendor = find_word(name, reader->vendors, (size_t)portfolio->vendor_count);
  double share;
  if (section_number("portfolio", key, &share, reader->diagnostics))
    return;
  if (vendor < 0)
    diagnostics_error(
        reader->diagnostics, key->place, "no option belongs to vendor '%s'%s", name,
        name_hint(name, reader->vendors, (size_t)portfolio->vendor_count, reader->arena));
  else if (share < 0 || share > 1)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "a share must be from 0 %% to 100 %%, not %s", key->value);
  else
    portfolio->minimum_shares[vendor] = share;
}

static void read_capex_budget(const struct portfolio_reader *reader, const struct ini_key *key,
                              const char *at_zero) {
  reader->portfolio->capex_budget = read_money(reader, key, at_zero);
  reader->portfolio->capex_place = key->value_place;
}

static void read_share_of(struct portfolio_reader *reader, const struct ini_key *key) {
  const int share_of = find_word(key->value, share_names, SHARE_KINDS);
  if (share_of < 0)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "expected tokens, accelerators or cost, not '%s'", key->value);
  else
    reader->portfolio->share_of = (enum allocation_share)share_of;
}

static void read_portfolio_key(struct portfolio_reader *reader, const struct ini_key *key) {
  static const char nothing[] = "a budget must be above zero";
  if (!strncmp(key->name, "minimum_share.", strlen("minimum_share.")))
    read_minimum_share(reader, key);
  else if (!strcmp(key->name, "budget"))
    reader->portfolio->budget = read_money(reader, key, nothing);
  else if (!strcmp(key->name, "capex_budget"))
    read_capex_budget(reader, key, nothing);
  else if (!strcmp(key->name, "share_of"))
    read_share_of(reader, key);
}

static void check_shares(const struct portfolio_reader *reader, const struct ini_section *section) {
  const struct portfolio *portfolio = reader->portfolio;
  double sum = 0;
  for (int v = 0; v < portfolio->vendor_count; v++)
    sum += portfolio->minimum_shares[v];
  if (sum > 1 + 1e-12)
    diagnostics_error(reader->diagnostics, section->place,
                      "the minimum shares of the vendors add up to %.4g %%", 100 * sum);
}

static struct portfolio *new_portfolio(const struct scenario *scenario, struct arena *arena) {
  const size_t options = scenario->option_count;
  struct portfolio *portfolio = arena_alloc(arena, sizeof *portfolio);
  *portfolio = (struct portfolio){
      .scenario = scenario,
      .demands = arena_array(arena, scenario->question_count + 1, sizeof *portfolio->demands),
      .stock = arena_array(arena, options + 1, sizeof *portfolio->stock),
      .lead_time = arena_array(arena, options + 1, sizeof *portfolio->lead_time),
      .lead_time_places = arena_array(arena, options + 1, sizeof *portfolio->lead_time_places),
      .available = arena_array(arena, options + 1, sizeof *portfolio->available),
      .term = arena_array(arena, options + 1, sizeof *portfolio->term),
      .delays = arena_array(arena, options + 1, sizeof(const struct distribution *)),
      .vendor = arena_array(arena, options + 1, sizeof *portfolio->vendor),
      .minimum_shares = arena_array(arena, 2 * options + 1, sizeof *portfolio->minimum_shares),
      .budget = INFINITY,
      .capex_budget = INFINITY};
  for (size_t o = 0; o < options; o++) {
    portfolio->stock[o] = INFINITY;
    portfolio->lead_time[o] = portfolio->available[o] = portfolio->term[o] = 0;
    portfolio->delays[o] = NULL;
  }
  return portfolio;
}

static void read_kind(struct portfolio_reader *reader, const char *kind) {
  for (size_t i = 0; i < reader->scenario->question_count; i++) {
    const struct ini_section *section = &reader->scenario->questions[i];
    if (strcmp(section->kind, kind) != 0)
      continue;
    if (!strcmp(kind, "demand"))
      read_demand(reader, section);
    else if (!strcmp(kind, "supply"))
      read_supply(reader, section);
    else {
      for (size_t k = 0; k < section->key_count; k++)
        read_portfolio_key(reader, &section->keys[k]);
      check_shares(reader, section);
    }
  }
}

const struct portfolio *portfolio_read(const struct scenario *scenario, struct arena *arena,
                                       struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct portfolio_reader reader = {
      .scenario = scenario,
      .portfolio = new_portfolio(scenario, arena),
      .vendors = arena_array(arena, 2 * scenario->option_count + 1, sizeof *reader.vendors),
      .arena = arena,
      .diagnostics = diagnostics};
  for (size_t o = 0; o < scenario->option_count; o++) {
    reader.portfolio->vendor[o] = vendor_of(&reader, catalogue_vendor(&reader, o));
    take_lead_time(&reader, o);
  }
  read_kind(&reader, "supply");
  read_kind(&reader, "portfolio");
  read_kind(&reader, "demand");
  reader.portfolio->vendors = reader.vendors;
  if (!reader.portfolio->demand_count)
    diagnostics_error(diagnostics, (struct place){.source = scenario->source},
                      "there is no [demand NAME] to serve");
  return diagnostics->errors == errors ? reader.portfolio : NULL;
}

const char *portfolio_barrier(const struct scenario *scenario, const struct option *option) {
  const int demand = model_find(scenario->model, "demand");
  if (question_ramps(scenario, option))
    return "has a 'ramp': what a portfolio takes serves in full from its first day";
  if (!option->provider && demand >= 0 && option_has(option, demand))
    return "has a 'demand': what a portfolio serves is in its [demand NAME]";
  return NULL;
}
