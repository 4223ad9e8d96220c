#include "model/plan/terms.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/date.h"
#include "model/questions/portfolio.h"
#include "model/questions/question.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/sections.h"

#include <math.h>
#include <string.h>

struct reader {
  const struct scenario *scenario;
  struct plan_terms *terms;
  struct place *places; // of its budgets
  struct arena *arena;
  struct diagnostics *diagnostics;
};

double plan_growth(const struct plan_terms *terms, double rate, double time_h) {
  return pow(1 + rate * terms->year_h, time_h / terms->year_h);
}

double plan_discount(const struct plan_terms *terms, double time_h) {
  return 1 / plan_growth(terms, terms->wacc, time_h);
}

// Days since 1 March of year 0 of the Gregorian calendar, with years that begin in March.
static long day_number(const char *text) {
  struct date date = {0};
  date_parse(text, &date);
  const long year = date.month > 2 ? date.year : date.year - 1;
  const long month = (date.month + 9) % 12;
  return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date.day - 1;
}

// An input that must be the same for all options.
static int read_common(const struct reader *reader, const char *name, double *out) {
  const struct scenario *scenario = reader->scenario;
  const int input = model_require(scenario->model, name, reader->diagnostics);
  if (input < 0)
    return -1;
  for (size_t o = 1; o < scenario->option_count; o++)
    if (question_refuse_different(scenario, scenario->options, &scenario->options[o], name,
                                  scenario->options[o].place, reader->diagnostics))
      return -1;
  *out = option_value(scenario, scenario->options, input, 0);
  return 0;
}

static int read_periods(const struct reader *reader) {
  struct plan_terms *terms = reader->terms;
  double horizon;
  if (terms->from_date_h < 0) {
    diagnostics_error(reader->diagnostics, terms->place,
                      "the first period begins on %s, before the scenario's date, %s: nothing can "
                      "be ordered for it any more; set a later 'start' under [scenario]",
                      reader->scenario->start, reader->scenario->date);
    return -1;
  }
  if (read_common(reader, "horizon", &horizon) || read_common(reader, "wacc", &terms->wacc))
    return -1;
  const double periods = horizon / terms->period_h;
  if (fabs(periods - round(periods)) > 1e-9) {
    diagnostics_error(reader->diagnostics, terms->place,
                      "the horizon is %.6g periods: a plan needs a whole number of them", periods);
    return -1;
  }
  if (periods > PLAN_MOST_PERIODS) {
    diagnostics_error(reader->diagnostics, terms->place,
                      "%.0f periods are too many to plan, at most %d: set a longer 'period' under "
                      "[scenario]",
                      periods, PLAN_MOST_PERIODS);
    return -1;
  }
  terms->periods = (int)round(periods);
  terms->years = arena_array(reader->arena, (size_t)terms->periods, sizeof *terms->years);
  for (int t = 0; t < terms->periods; t++)
    terms->years[t] = (int)arithmetic_floor(plan_elapsed(terms, t) / terms->year_h);
  terms->year_count = terms->years[terms->periods - 1] + 1;
  return 0;
}

static void check_above_zero(const struct reader *reader, const struct ini_key *key, double value,
                             const char *otherwise) {
  if (!(value > 0))
    diagnostics_error(reader->diagnostics, key->value_place, "%s", otherwise);
}

static struct place place_within(const struct ini_key *key, const char *text) {
  struct place place = key->value_place;
  place.column += (int)(text - key->value);
  return place;
}

// Reads one amount of "20e6, 30e6 USD", at `text`: all take the unit of the last.
static int read_budget(const struct reader *reader, const struct ini_key *key, const char *text,
                       const char *unit, double *budget) {
  const struct scenario *scenario = reader->scenario;
  const size_t length = strcspn(text, ",");
  const char *amount = arena_copy_n(reader->arena, text, length);
  if (text[length] == ',')
    amount = arena_printf(reader->arena, "%s %s", amount, unit);
  if (option_money_parse(scenario, &scenario->options[scenario->baseline], amount,
                         place_within(key, text), "USD", budget, reader->diagnostics))
    return -1;
  if (*budget > 0)
    return 0;
  diagnostics_error(reader->diagnostics, place_within(key, text), "a budget must be above zero");
  return -1;
}

// The last amount first, whose unit the others take; then year by year, where the last amount holds
// from then on.
static void read_budgets(const struct reader *reader, const struct ini_key *key) {
  const char *last = strrchr(key->value, ','), *text = key->value;
  double budget;
  for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
    if (comma[1] != ' ') {
      diagnostics_error(reader->diagnostics, place_within(key, comma),
                        "write numbers without commas, and lists with a comma and a space");
      return;
    }
  last = last ? last + 1 + strspn(last + 1, " ") : text;
  const char *unit = last + strcspn(last, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (read_budget(reader, key, last, unit, &budget))
    return;
  for (int year = 0; year < reader->terms->year_count; year++) {
    if (read_budget(reader, key, text, unit, &reader->terms->budgets[year]))
      return;
    reader->places[year] = place_within(key, text);
    if (year + 1 == reader->terms->year_count && text != last)
      diagnostics_warning(reader->diagnostics, place_within(key, text),
                          "the horizon ends with this year: later budgets have no effect");
    if (text != last)
      text += strcspn(text, ",") + 2;
    text += strspn(text, " ");
  }
}

static void read_site_power(const struct reader *reader, const struct ini_key *key) {
  if (!section_number("plan", key, &reader->terms->site_power, reader->diagnostics))
    check_above_zero(reader, key, reader->terms->site_power, "a site's power must be above zero");
}

static void read_section(const struct reader *reader, const struct ini_section *section) {
  const struct ini_key *budget = ini_find(section, "yearly_budget");
  const struct ini_key *power = ini_find(section, "site_power");
  const struct ini_key *time = ini_find(section, "time");
  const struct ini_key *draws = ini_find(section, "draws");
  if (budget)
    read_budgets(reader, budget);
  if (power)
    read_site_power(reader, power);
  if (time && !question_count(section, "time", &reader->terms->time_s, reader->diagnostics) &&
      reader->terms->time_s > PLAN_MOST_TIME_S)
    diagnostics_error(reader->diagnostics, time->value_place,
                      "the search for a plan may take at most a day");
  if (draws && !question_count(section, "draws", &reader->terms->draws, reader->diagnostics) &&
      (reader->terms->draws < PLAN_FEWEST_DRAWS || reader->terms->draws > PLAN_MOST_DRAWS))
    diagnostics_error(reader->diagnostics, draws->value_place, "draws are from %d to %d, not %s",
                      PLAN_FEWEST_DRAWS, PLAN_MOST_DRAWS, draws->value);
  question_count(section, "seed", &reader->terms->seed, reader->diagnostics);
}

const struct plan_terms *plan_terms_read(const struct scenario *scenario, struct arena *arena,
                                         struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct ini_section *section = question_section(scenario, "plan", NULL);
  struct plan_terms *terms = arena_alloc(arena, sizeof *terms);
  const double hours_a_day = 24;
  *terms = (struct plan_terms){
      .place = section ? section->place : (struct place){.source = scenario->source},
      .period_h = scenario->period_h,
      .year_h = HOURS_PER_YEAR,
      .from_date_h =
          hours_a_day * (double)(day_number(scenario->start) - day_number(scenario->date)),
      .site_power = INFINITY,
      .time_s = PLAN_TIME_S,
      .draws = PLAN_DRAWS,
      .seed = 1};
  struct reader reader = {scenario, terms, NULL, arena, diagnostics};
  if (read_periods(&reader))
    return NULL;
  terms->budgets = arena_array(arena, (size_t)terms->year_count, sizeof *terms->budgets);
  terms->budget_places = reader.places =
      arena_array(arena, (size_t)terms->year_count, sizeof *reader.places);
  for (int year = 0; year < terms->year_count; year++)
    terms->budgets[year] = INFINITY;
  if (section)
    read_section(&reader, section);
  return diagnostics->errors == errors ? terms : NULL;
}

// ---- when

int plan_first_period(const struct plan_terms *terms, const struct portfolio *portfolio,
                      size_t option) {
  int t = 0;
  while (t < terms->periods &&
         (!arithmetic_reaches(plan_elapsed(terms, t), portfolio->available[option]) ||
          !arithmetic_reaches(terms->from_date_h + plan_elapsed(terms, t),
                              portfolio->lead_time[option])))
    t++;
  return t;
}

double plan_tokens(const struct plan_terms *terms, const struct demand *demand, int period) {
  return demand->tokens * terms->period_h *
         plan_growth(terms, demand->growth, plan_elapsed(terms, period));
}

bool plan_is_ready(const struct plan_terms *terms, const struct demand *demand, size_t option,
                   int period) {
  return demand->ready[option] > 0 &&
         arithmetic_reaches(plan_elapsed(terms, period), demand->ready_from[option]);
}
