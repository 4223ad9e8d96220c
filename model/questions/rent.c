#include "model/questions/rent.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/questions/question.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <string.h>

// One option, or its rented twin, evaluated in one column.
struct fleet {
  const struct scenario *scenario;
  const struct option *option;
  struct evaluation *evaluation;
  double base_accelerators, base_capacity, base_utilization;
};

static int item(const struct scenario *scenario, const char *name) {
  return model_find(scenario->model, name);
}

static double value(const struct fleet *fleet, const char *name) {
  const int d = item(fleet->scenario, name);
  return d >= 0 && fleet->evaluation->graph->state[d] != GRAPH_ABSENT
             ? evaluation_at(fleet->evaluation, d, 0)[0]
             : NAN;
}

static void set(const struct fleet *fleet, const char *name, double to) {
  const int d = item(fleet->scenario, name);
  if (d >= 0 && fleet->evaluation->graph->state[d] == GRAPH_INPUT)
    evaluation_at(fleet->evaluation, d, 0)[0] = to;
}

static double period_value(const struct fleet *fleet, const char *name, int period) {
  const int d = item(fleet->scenario, name);
  return d < 0 ? NAN : evaluation_at(fleet->evaluation, d, period)[0];
}

static double sum(const struct fleet *fleet, const char *name) {
  double total = 0;
  for (int t = 0; t < fleet->scenario->periods; t++)
    total += period_value(fleet, name, t);
  return total;
}

// The option with its accelerators as a number, so that no demand resizes it; `rented`: with a rent
// instead of a price, of the same accelerators.
static int fleet_new(struct fleet *fleet, const struct scenario *scenario,
                     const struct option *option, bool rented, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct model *model = scenario->model;
  const size_t count = (size_t)model->count;
  const int rate = item(scenario, "rental_rate"), accelerators = item(scenario, "accelerators");
  const bool twin = rented && !option->rented;
  enum given *given = arena_array(arena, count, sizeof *given);
  double *values = arena_array(arena, count, sizeof *values);
  for (int d = 0; d < model->count; d++) {
    const struct figure *figure = option_figure(scenario, option, scenario->selected, d);
    const bool stated = figure->origin > ORIGIN_RENT || figure->in_usd;
    given[d] = figure->year_count ? GIVEN_LIST : stated ? GIVEN_VALUE : GIVEN_NOT;
    values[d] = option_has(option, d) ? option_value(scenario, option, d, 0) : 0;
    if (figure->origin != ORIGIN_RENT && !(twin && model->declarations[d].in_rent))
      continue;
    given[d] = GIVEN_NEUTRAL;
    values[d] = figure->origin == ORIGIN_RENT ? figure->value : 0;
  }
  given[accelerators] = GIVEN_VALUE;
  if (rented)
    values[item(scenario, "on_demand_rate")] = 0; // an offer has a rate of its own
  if (twin)
    given[rate] = GIVEN_VALUE;
  const struct graph *graph =
      graph_build(model, option->id, option->place, given, arena, diagnostics);
  if (!graph)
    return -1;
  *fleet = (struct fleet){.scenario = scenario,
                          .option = option,
                          .evaluation = evaluation_new(graph, scenario->periods, 1, arena)};
  for (int d = 0; d < model->count; d++)
    if (graph->state[d] == GRAPH_INPUT)
      evaluation_at(fleet->evaluation, d, 0)[0] = values[d];
  evaluate(fleet->evaluation);
  fleet->base_accelerators = value(fleet, "accelerators");
  fleet->base_capacity = sum(fleet, "capacity");
  fleet->base_utilization = value(fleet, "utilization");
  return 0;
}

static void set_utilization(const struct fleet *fleet, double utilization) {
  set(fleet, "utilization", utilization);
  evaluate(fleet->evaluation);
}

// ---- one offer

struct renting {
  const struct fleet *own;
  struct fleet rented;
  struct rent_cost *cost;
  double rental_per_token; // USD
};

static double ceil_to(double number, double multiple) {
  return ceil(round(1e9 * number / multiple) / 1e9) * multiple;
}

// How many are rented for the owned option's tokens.
static double accelerators_for(const struct renting *renting, double tokens) {
  const struct fleet *rented = &renting->rented;
  if (renting->cost->offer.option < 0)
    return rented->base_accelerators;
  return ceil_to(tokens / rented->base_capacity * rented->base_accelerators,
                 value(rented, "purchase_unit"));
}

// Accelerator-hours that are paid for.
static double paid_hours(const struct renting *renting, double tokens) {
  const struct rent_offer *offer = &renting->cost->offer;
  const struct fleet *rented = &renting->rented;
  const double horizon = value(rented, "horizon");
  if (offer->hours == RENT_HOURS_USED) {
    const double share = value(rented, "utilization") * value(rented, "availability");
    return tokens / (value(rented, "tokens_per_gpu") / share);
  }
  return renting->cost->accelerators * (offer->term > 0 ? ceil_to(horizon, offer->term) : horizon);
}

static void evaluate_rented(struct renting *renting, double tokens) {
  struct rent_cost *cost = renting->cost;
  const struct fleet *rented = &renting->rented;
  const double horizon = value(rented, "horizon");
  cost->accelerators = accelerators_for(renting, tokens);
  cost->paid = paid_hours(renting, tokens);
  cost->rental = cost->paid * cost->offer.rate;
  set(rented, "accelerators", cost->accelerators);
  set(rented, "rental_rate", cost->rental / (cost->accelerators * horizon));
  evaluate(rented->evaluation);
  cost->cost = value(rented, "tco");
  cost->beside = cost->cost - cost->rental;
  // What two roundings leave of nothing is nothing.
  if (fabs(cost->beside) < 1e-12 * cost->cost)
    cost->beside = 0;
  renting->rental_per_token = cost->rental / tokens;
}

// What the rent of a period costs: on demand it follows the tokens.
static double rental_in(const struct renting *renting, int period) {
  const struct rent_cost *cost = renting->cost;
  return cost->offer.hours == RENT_HOURS_USED
             ? renting->rental_per_token * period_value(renting->own, "tokens", period)
             : cost->accelerators * cost->offer.rate *
                   period_value(&renting->rented, "period", period);
}

// What is left to pay of a term when the horizon ends.
static double rental_left(const struct renting *renting) {
  const struct rent_cost *cost = renting->cost;
  return cost->offer.term > 0 ? cost->rental - cost->accelerators * cost->offer.rate *
                                                   value(&renting->rented, "horizon")
                              : 0;
}

// The cost model's rent is even over the horizon: its discounted cash with the rent when it falls
// due.
static double discounted_cash(const struct renting *renting) {
  double total = sum(&renting->rented, "discounted_cash");
  for (int t = 0; t < renting->own->scenario->periods; t++) {
    const double left = period_value(&renting->rented, "last", t) * rental_left(renting);
    total += (rental_in(renting, t) + left - period_value(&renting->rented, "rental_cost", t)) *
             period_value(&renting->rented, "discount_factor", t);
  }
  return total;
}

static void compare_costs(const struct renting *renting, const struct rent_answer *answer) {
  struct rent_cost *cost = renting->cost;
  cost->cost_per_mtok = cost->cost / answer->tokens;
  cost->levelised = discounted_cash(renting) / sum(renting->own, "discounted_tokens");
  const double share = value(&renting->rented, "prefill_share");
  const double inputs =
      answer->tokens * value(renting->own, "input_tokens") / value(renting->own, "output_tokens");
  cost->per_input = cost->cost * share / inputs;
  cost->per_output = cost->cost * (1 - share) / answer->tokens;
  cost->saving = 1 - answer->tco / cost->cost;
  cost->saving_levelised = 1 - answer->levelised / cost->levelised;
  cost->break_even_rate = (answer->tco - cost->beside) / cost->paid;
}

// What owning costs more than renting within a period, in cash that is paid as time goes by.
static double extra_cash(const struct renting *renting, int period) {
  return period_value(renting->own, "opex", period) -
         (period_value(&renting->rented, "opex", period) -
          period_value(&renting->rented, "rental_cost", period) + rental_in(renting, period));
}

// Capex at the purchase, then each period's cash evenly, the rest of a term at the end: the first
// moment at which owning has cost no more.
static void find_month(const struct renting *renting) {
  struct rent_cost *cost = renting->cost;
  double gap = value(renting->own, "capex") - value(&renting->rented, "capex"), elapsed = 0;
  cost->break_even_month = gap <= 0 ? 0 : NAN;
  for (int t = 1; t < renting->own->scenario->periods && !isfinite(cost->break_even_month); t++) {
    const double length = period_value(renting->own, "period", t);
    const double change = extra_cash(renting, t);
    if (length > 0 && gap + change <= 0)
      cost->break_even_month = elapsed + length * gap / -change;
    gap += change;
    elapsed += length;
  }
  if (isnan(cost->break_even_month) && gap - rental_left(renting) <= 0)
    cost->break_even_month = elapsed;
}

// Owning at a utilization against renting for the same tokens.
static double gap_at(const struct renting *renting, double utilization) {
  set_utilization(renting->own, utilization);
  return value(renting->own, "tco") - renting->cost->beside -
         renting->rental_per_token * value(renting->own, "tokens_total");
}

static double bisect(const struct renting *renting, double low, double high) {
  const bool rises = gap_at(renting, low) < 0;
  for (int i = 0; i < 100 && high - low > 1e-15; i++) {
    const double middle = (low + high) / 2;
    if ((gap_at(renting, middle) < 0) == rises)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

static void search_utilization(const struct renting *renting) {
  enum { POINTS = 256 };
  struct rent_cost *cost = renting->cost;
  double last = gap_at(renting, 1. / POINTS / POINTS);
  for (int i = 1; i <= POINTS; i++) {
    const double gap = gap_at(renting, (double)i / POINTS);
    if (last > 0 && gap <= 0) {
      cost->break_even_utilization =
          bisect(renting, fmax(i - 1, 1. / POINTS) / POINTS, (double)i / POINTS);
      return;
    }
    last = gap;
  }
}

// What of the owned option's cost grows with its load, at the base utilization; NAN where the cost
// is not affine in it.
static double cost_of_use(const struct fleet *own) {
  const double base = own->base_utilization;
  double costs[3];
  for (int i = 0; i < 3; i++) {
    set_utilization(own, base * (i + 2) / 4);
    costs[i] = value(own, "tco");
  }
  const bool is_affine = fabs(costs[0] + costs[2] - 2 * costs[1]) <= 1e-11 * fabs(costs[2]);
  const double use = 2 * (costs[2] - costs[0]);
  return !is_affine ? NAN : fabs(use) <= 1e-11 * fabs(costs[2]) ? 0 : use;
}

static void find_utilization(const struct renting *renting, const struct rent_answer *answer) {
  struct rent_cost *cost = renting->cost;
  cost->break_even_utilization = NAN;
  cost->is_closed = !isnan(answer->use);
  if (cost->is_closed)
    cost->break_even_utilization = renting->own->base_utilization *
                                   (answer->tco - answer->use - cost->beside) /
                                   (cost->rental - answer->use);
  else
    search_utilization(renting);
  const double nearly = 1e-9;
  const bool inside = cost->break_even_utilization > 0 && cost->break_even_utilization <= 1;
  cost->owning_always = !inside && gap_at(renting, nearly) <= 0 && gap_at(renting, 1) <= 0;
  cost->owning_never = !inside && !cost->owning_always;
  if (cost->rental <= answer->use)
    cost->break_even_utilization = NAN;
  set_utilization(renting->own, renting->own->base_utilization);
}

static int answer_offer(const struct scenario *scenario, const struct fleet *own,
                        const struct rent_answer *answer, struct rent_cost *cost,
                        struct arena *arena, struct diagnostics *diagnostics) {
  struct renting renting = {.own = own, .cost = cost};
  const struct option *option =
      cost->offer.option < 0 ? own->option : &scenario->options[cost->offer.option];
  if (fleet_new(&renting.rented, scenario, option, true, arena, diagnostics))
    return -1;
  evaluate_rented(&renting, answer->tokens);
  compare_costs(&renting, answer);
  find_month(&renting);
  find_utilization(&renting, answer);
  return 0;
}

static int answer_question(const struct scenario *scenario, struct rent_answer *answer,
                           struct arena *arena, struct diagnostics *diagnostics) {
  struct fleet own;
  if (fleet_new(&own, scenario, &scenario->options[answer->own], false, arena, diagnostics))
    return -1;
  answer->tco = value(&own, "tco");
  answer->tokens = value(&own, "tokens_total");
  answer->cost_per_mtok = answer->tco / answer->tokens;
  answer->levelised = sum(&own, "discounted_cash") / sum(&own, "discounted_tokens");
  answer->hours = value(&own, "accelerators") * value(&own, "horizon");
  answer->has_split = isfinite(value(&own, "prefill_share"));
  answer->use = cost_of_use(&own);
  set_utilization(&own, own.base_utilization);
  for (size_t i = 0; i < answer->count; i++)
    if (answer_offer(scenario, &own, answer, &answer->costs[i], arena, diagnostics))
      return -1;
  return 0;
}

// ---- what is asked

struct asking {
  const struct scenario *scenario;
  const struct ini_section *section; // NULL: the options ask
  struct rent_answer *answer;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static const struct term {
  const char *key, *title;
  enum rent_hours hours;
  double years;         // committed to at a time
  const char *bases[5]; // price_basis that fits
} terms[] = {
    {"on_demand",
     "on demand, hours used",
     RENT_HOURS_USED,
     0,
     {"on_demand", "spot", "market", "index", NULL}},
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

// Of the rent in the report's currency, or of the same in USD.
static const struct unit *rate_unit(const struct scenario *scenario, bool in_usd) {
  const struct declaration *declarations = scenario->model->declarations;
  const struct declaration *rate = &declarations[item(scenario, "rental_rate")];
  return in_usd && rate->in_usd >= 0 ? &declarations[rate->in_usd].unit : &rate->unit;
}

// in_usd: where that is not the report's currency.
static void take_rate(const struct asking *asking, bool in_usd, double said,
                      struct rent_offer *offer) {
  const struct scenario *scenario = asking->scenario;
  const struct option *own = &scenario->options[asking->answer->own];
  offer->in_usd = in_usd;
  offer->rate = in_usd ? said / option_exchange_rate(scenario, own) : said;
  offer->typed = quantity_text(said, rate_unit(scenario, in_usd), asking->arena);
}

static void add_offer(const struct asking *asking, struct rent_offer offer) {
  struct rent_answer *answer = asking->answer;
  answer->costs = arena_grow(asking->arena, answer->costs, answer->count, answer->count + 1,
                             sizeof *answer->costs);
  answer->costs[answer->count++].offer = offer;
}

static bool is_basis_of(const struct term *term, const char *basis) {
  for (size_t i = 0; term->bases[i]; i++)
    if (!strcmp(term->bases[i], basis))
      return true;
  return false;
}

// A row of prices: of the owned accelerator, per hour, for such a term.
static int offer_of_row(const struct asking *asking, const struct term *term,
                        const struct ini_key *key, const struct table *table, size_t row,
                        struct rent_offer *offer) {
  const char *accelerator = asking->scenario->options[asking->answer->own].accelerator;
  const char *of = table_cell(table, row, "accelerator");
  const char *basis = table_cell(table, row, "price_basis");
  double rate;
  if (strcmp(of, accelerator) != 0) {
    diagnostics_error(asking->diagnostics, key->value_place, "price '%s' is of '%s', not of '%s'",
                      key->value, *of ? of : "no accelerator", accelerator);
    return -1;
  }
  if (!is_basis_of(term, basis) || strcmp(table_cell(table, row, "unit"), "USD per hour") != 0 ||
      !table_number(table, row, "usd_per_gpu_equivalent", &rate)) {
    diagnostics_error(asking->diagnostics, key->value_place,
                      "price '%s' (%s) is no hourly rent for %s", key->value, basis, term->key);
    return -1;
  }
  take_rate(asking, !is_in_usd(asking->scenario), rate, offer);
  offer->grade = catalog_grade(table, row);
  offer->date = table_cell(table, row, "as_of");
  const bool is_plain = !strcmp(basis, "on_demand");
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

static int offer_of_key(const struct asking *asking, const struct term *term,
                        const struct ini_key *key) {
  const double year_h = conversion_table[CONVERT_HOURS_PER_YEAR].value;
  const struct table *table = catalog_table(asking->scenario->catalog, CATALOG_PRICES);
  const long row = table ? catalog_find(table, key->value) : -1;
  struct rent_offer offer = {.name = term->key,
                             .title = term->title,
                             .hours = term->hours,
                             .term = term->years * year_h,
                             .option = -1};
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

// A rented option, around the clock as the cost model has it, and for the hours used.
static void add_cloud(const struct asking *asking, size_t o) {
  const struct scenario *scenario = asking->scenario;
  const struct option *option = &scenario->options[o];
  const int rate = option_price(scenario, option);
  const bool on_demand = rate == item(scenario, "on_demand_rate");
  const struct figure *figure =
      option_figure(scenario, option, scenario->selected, option_stated(option, rate));
  struct rent_offer offer = {.name = option->id,
                             .title = arena_printf(asking->arena, "%s, always", option->id),
                             .option = (int)o,
                             .grade = figure->grade,
                             .source = figure->source,
                             .origin = figure->source,
                             .date = figure->date};
  take_rate(asking, false, option_value(scenario, option, rate, 0), &offer);
  if (!on_demand)
    add_offer(asking, offer);
  offer.name = arena_printf(asking->arena, on_demand ? "%s" : "%s_used", option->id);
  offer.title = arena_printf(asking->arena, "%s, hours used", option->id);
  offer.hours = RENT_HOURS_USED;
  add_offer(asking, offer);
}

static const char *difference(const struct scenario *scenario, int own, size_t cloud,
                              struct arena *arena) {
  const size_t both[] = {(size_t)own, cloud};
  for (size_t i = 0; i < 2; i++)
    if (question_changing(scenario, &scenario->options[both[i]]))
      return "a fleet that changes from year to year, or with the hour of the day";
  return workload_difference(&scenario->options[own].workload, &scenario->options[cloud].workload,
                             arena);
}

// A pair with unlike horizons has unlike tokens.
static int check_horizon(const struct asking *asking, size_t cloud, struct place place) {
  const struct scenario *scenario = asking->scenario;
  const int horizon = item(scenario, "horizon");
  const struct option *own = &scenario->options[asking->answer->own];
  if (option_value(scenario, own, horizon, 0) ==
      option_value(scenario, &scenario->options[cloud], horizon, 0))
    return 0;
  diagnostics_error(asking->diagnostics, place, "'%s' and '%s' have different horizons", own->id,
                    scenario->options[cloud].id);
  return -1;
}

// Rented, and not at several rates at once.
static bool is_offer(const struct scenario *scenario, size_t o) {
  static const char *const shares[] = {"reserved_share", "spot_share"};
  const struct option *option = &scenario->options[o];
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const int d = item(scenario, shares[i]);
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
                    "option '%s' is %s: cloud wants one that is rented at one rate", key->value,
                    offer_kind(&scenario->options[cloud]));
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
    asking->answer->own = sole;
    return question_refuse_changing(scenario, &scenario->options[sole], asking->section->place,
                                    asking->diagnostics);
  }
  asking->answer->own = question_option(scenario, asking->section, "own", asking->diagnostics);
  if (!key || asking->answer->own < 0)
    return -1;
  const struct option *own = &scenario->options[asking->answer->own];
  if (option_is_owned(own))
    return question_refuse_changing(scenario, own, key->value_place, asking->diagnostics);
  diagnostics_error(asking->diagnostics, key->value_place,
                    "option '%s' is %s: own wants an owned one", key->value,
                    own->provider ? "a token API" : "rented");
  return -1;
}

static int read_section(const struct asking *asking) {
  static const char *const keys[] = {"own",      "cloud",       "on_demand",
                                     "one_year", "three_years", "reserved"};
  struct diagnostics *diagnostics = asking->diagnostics;
  const size_t errors = diagnostics->errors;
  question_check_keys(asking->section, keys, sizeof keys / sizeof keys[0], diagnostics);
  if (read_own(asking))
    return -1;
  for (size_t i = 0; i < TERMS; i++) {
    const struct ini_key *key = ini_find(asking->section, terms[i].key);
    if (key)
      offer_of_key(asking, &terms[i], key);
  }
  read_cloud(asking);
  if (diagnostics->errors == errors && !asking->answer->count)
    diagnostics_error(diagnostics, asking->section->place,
                      "[rent %s] has nothing to set owning against: give on_demand, one_year, "
                      "three_years or reserved (a rate, or a row of 'pertoken catalog prices'), or "
                      "cloud = ID of a rented option",
                      asking->section->argument);
  return diagnostics->errors == errors ? 0 : -1;
}

static int read_options(const struct asking *asking) {
  const struct scenario *scenario = asking->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (is_offer(scenario, o) && !difference(scenario, asking->answer->own, o, asking->arena)) {
      if (check_horizon(asking, o, scenario->options[o].place))
        return -1;
      add_cloud(asking, o);
    }
  return 0;
}

static bool has_pair(const struct scenario *scenario, int own) {
  struct arena scratch = {NULL};
  bool found = false;
  for (size_t o = 0; o < scenario->option_count && option_is_owned(&scenario->options[own]); o++)
    found |= is_offer(scenario, o) && !difference(scenario, own, o, &scratch);
  arena_free(&scratch);
  return found;
}

static const char *const needed_items[] = {"rental_rate",
                                           "accelerators",
                                           "purchase_unit",
                                           "utilization",
                                           "availability",
                                           "tokens_per_gpu",
                                           "tokens_total",
                                           "tco",
                                           "discounted_tokens",
                                           "capex",
                                           "opex",
                                           "period",
                                           "discounted_cash",
                                           "discount_factor",
                                           "rental_cost",
                                           "tokens",
                                           "last",
                                           "horizon"};

enum { NEEDED_ITEMS = sizeof needed_items / sizeof needed_items[0] };

static void refuse_name(const struct scenario *scenario, const char *only, size_t most,
                        bool has_sections, struct diagnostics *diagnostics) {
  const char *names = "";
  for (size_t i = 0; i < most; i++) {
    const bool is_one =
        has_sections ? !strcmp(scenario->questions[i].kind, "rent") : has_pair(scenario, (int)i);
    if (is_one)
      names =
          arena_printf(diagnostics->arena, "%s%s%s", names, *names ? ", " : "",
                       has_sections ? scenario->questions[i].argument : scenario->options[i].id);
  }
  diagnostics_error(diagnostics, (struct place){0}, "no question '%s' of rent, there is: %s", only,
                    names);
}

static int check_model(const struct scenario *scenario, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  for (size_t i = 0; i < NEEDED_ITEMS; i++)
    model_require(scenario->model, needed_items[i], diagnostics);
  return diagnostics->errors == errors ? 0 : -1;
}

// Nobody asks a cost model of the user's own that knows no rent.
bool rent_is_asked(const struct scenario *scenario) {
  bool asked = false;
  if (question_section(scenario, "rent", NULL))
    return true;
  for (size_t o = 0; o < scenario->option_count; o++)
    asked |= has_pair(scenario, (int)o);
  for (size_t i = 0; i < NEEDED_ITEMS; i++)
    asked &= item(scenario, needed_items[i]) >= 0;
  return asked;
}

static int answer_one(const struct asking *asking, const char *only, struct rent_answers *answers) {
  struct rent_answer *answer = asking->answer;
  if (only && strcmp(only, answer->name) != 0)
    return 0;
  if (asking->section ? read_section(asking) : read_options(asking))
    return -1;
  if (answer_question(asking->scenario, answer, asking->arena, asking->diagnostics))
    return -1;
  answers->list[answers->count++] = *answer;
  return 0;
}

const struct rent_answers *rent_ask(const struct scenario *scenario, const char *only,
                                    struct arena *arena, struct diagnostics *diagnostics) {
  const bool has_sections = question_section(scenario, "rent", NULL) != NULL;
  const size_t most = has_sections ? scenario->question_count : scenario->option_count;
  const size_t errors = diagnostics->errors;
  struct rent_answers *answers = arena_alloc(arena, sizeof *answers);
  answers->list = arena_array(arena, most + 1, sizeof *answers->list);
  if (check_model(scenario, diagnostics))
    return NULL;
  for (size_t i = 0; i < most; i++) {
    const struct ini_section *section = has_sections ? &scenario->questions[i] : NULL;
    if (section ? strcmp(section->kind, "rent") != 0 : !has_pair(scenario, (int)i))
      continue;
    struct rent_answer answer = {.own = (int)i,
                                 .name = section ? section->argument : scenario->options[i].id};
    const struct asking asking = {scenario, section, &answer, arena, diagnostics};
    answer_one(&asking, only, answers);
  }
  if (only && !answers->count && diagnostics->errors == errors)
    refuse_name(scenario, only, most, has_sections, diagnostics);
  return diagnostics->errors == errors ? answers : NULL;
}
