// terms: the [plan] section of a portfolio, and the calendar that the plan follows.
//
//   [plan]
//     yearly_budget   for purchases in each year: "20e6, 30e6 USD"; the last amount holds on
//     site_power      the site's maximum power: "3 MW"; by default, no limit
//     time            seconds for the search, 30 by default
//     draws, seed     for uncertainty, 40 and 1 by default
#ifndef PERTOKEN_MODEL_PLAN_TERMS_H
#define PERTOKEN_MODEL_PLAN_TERMS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/questions/portfolio.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

struct plan_terms {
  struct place place; // of [plan]
  int periods;        // of the horizon, from 0
  double period_h, year_h;
  double wacc;                       // 1/h
  double from_date_h;                // from the scenario's date to its start
  double *budgets;                   // [year_count] USD; INFINITY: none
  const struct place *budget_places; // [year_count], if they are given
  int *years;                        // [periods], each period's year from 0
  int year_count;
  double site_power; // W; INFINITY: no limit
  double time_s;
  double draws, seed;
};

enum {
  PLAN_TIME_S = 30,
  PLAN_MOST_TIME_S = 86400,
  PLAN_DRAWS = 40,
  PLAN_FEWEST_DRAWS = 10,
  PLAN_MOST_DRAWS = 4096,
  PLAN_MOST_PERIODS = 60
};

// Reads [plan]. NULL after errors: unknown keys; options with different horizons or wacc; a horizon
// that is not a whole number of periods, or has too many; a start before the date; amounts at or
// below zero.
const struct plan_terms *plan_terms_read(const struct scenario *scenario, struct arena *arena,
                                         struct diagnostics *diagnostics);

// The hours from the start to the beginning of a period.
static inline double plan_elapsed(const struct plan_terms *terms, int period) {
  return period * terms->period_h;
}

// The factor of growth, (1 + rate)^time.
double plan_growth(const struct plan_terms *terms, double rate, double time_h);

// The value at the start of a payment that many hours later.
double plan_discount(const struct plan_terms *terms, double time_h);

// The first period for which an option is available, from 0; `periods` for none.
int plan_first_period(const struct plan_terms *terms, const struct portfolio *portfolio,
                      size_t option);

// The tokens of a demand in a period, and whether an option's software runs it then.
double plan_tokens(const struct plan_terms *terms, const struct demand *demand, int period);
bool plan_is_ready(const struct plan_terms *terms, const struct demand *demand, size_t option,
                   int period);

#endif
