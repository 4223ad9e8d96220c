#include "model/questions/comparison.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct flows {
  const double *values;
  int count;
};

// Net present value by Horner's rule.
static double present_value(double rate, void *context) {
  const struct flows *flows = context;
  double value = 0;
  for (int t = flows->count - 1; t >= 0; t--)
    value = value / (1 + rate) + flows->values[t];
  return value;
}

static double root_between(const struct flows *flows, double low, double high) {
  enum { MAX_STEPS = 200 };
  gsl_function problem = {.function = present_value, .params = (void *)flows};
  gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
  double root = NAN;
  if (solver && gsl_root_fsolver_set(solver, &problem, low, high) == GSL_SUCCESS)
    for (int i = 0; i < MAX_STEPS; i++) {
      if (gsl_root_fsolver_iterate(solver) != GSL_SUCCESS)
        break;
      root = gsl_root_fsolver_root(solver);
      if (gsl_root_test_interval(gsl_root_fsolver_x_lower(solver), gsl_root_fsolver_x_upper(solver),
                                 0, 1e-15) == GSL_SUCCESS)
        break;
    }
  if (solver)
    gsl_root_fsolver_free(solver);
  return root;
}

double internal_rate(const double *flows, int count) {
  enum { MAX_DOUBLINGS = 60 };
  struct flows all = {flows, count};
  if (count < 2 || !(flows[0] < 0) || !(present_value(0, &all) > 0))
    return NAN;
  gsl_set_error_handler_off();
  double high = 1;
  for (int i = 0; i < MAX_DOUBLINGS && present_value(high, &all) > 0; i++)
    high *= 2;
  return present_value(high, &all) > 0 ? NAN : root_between(&all, 0, high);
}

double payback_time(const double *flows, const double *lengths, int count) {
  double sum = count > 0 ? flows[0] : 0, time = 0, payback = NAN;
  bool is_owed = sum < 0;
  for (int t = 1; t < count; t++) {
    if (is_owed && sum + flows[t] >= 0)
      payback = time - lengths[t] * sum / flows[t];
    sum += flows[t];
    time += lengths[t];
    is_owed = sum < 0;
  }
  return is_owed || !(count > 0 && flows[0] < 0) ? NAN : payback;
}

// The amounts of both options side by side.
struct cash_pair {
  const struct scenario *scenario;
  const struct option *baseline, *option;
  double scale;
  struct arena *arena;
};

// The baseline's amount less the option's, in each period.
static double *difference_of(const struct cash_pair *pair, int series) {
  int periods = pair->scenario->periods;
  double *values = arena_array(pair->arena, (size_t)periods, sizeof *values);
  for (int t = 0; t < periods; t++)
    values[t] = option_value(pair->scenario, pair->baseline, series, t) -
                option_value(pair->scenario, pair->option, series, t) * pair->scale;
  return values;
}

static double sum_of(const double *values, int count) {
  double sum = 0;
  for (int t = 0; t < count; t++)
    sum += values[t];
  return sum;
}

static double *times(const struct cash_pair *pair, const double *values, int direction) {
  int periods = pair->scenario->periods;
  double *turned = arena_array(pair->arena, (size_t)periods, sizeof *turned);
  for (int t = 0; t < periods; t++)
    turned[t] = direction * values[t];
  return turned;
}

static double *running(const struct cash_pair *pair, const double *values) {
  int periods = pair->scenario->periods;
  double *sums = arena_array(pair->arena, (size_t)periods, sizeof *sums);
  for (int t = 0; t < periods; t++)
    sums[t] = (t ? sums[t - 1] : 0) + values[t];
  return sums;
}

static double *lengths_of(const struct cash_pair *pair, int period) {
  int periods = pair->scenario->periods;
  double *lengths = arena_array(pair->arena, (size_t)periods, sizeof *lengths);
  for (int t = 0; t < periods; t++)
    lengths[t] = option_value(pair->scenario, pair->option, period, t);
  return lengths;
}

static double rate_per_year(const struct scenario *scenario, double rate) {
  const double year_h = conversion_table[CONVERT_HOURS_PER_YEAR].value;
  return pow(1 + rate, year_h / scenario->period_h) - 1;
}

static enum outlay judge(const struct comparison *comparison) {
  if (!(comparison->extra_outlay > 0))
    return OUTLAY_NONE;
  if (comparison->direction * comparison->npv_saved > 0)
    return OUTLAY_PAYS;
  return comparison->direction * comparison->saved_total > 0 ? OUTLAY_UNDISCOUNTED : OUTLAY_LOST;
}

const struct comparison *comparison_ask(const struct scenario *scenario,
                                        const struct option *option, struct arena *arena) {
  const struct model *model = scenario->model;
  const struct option *baseline = &scenario->options[scenario->baseline];
  enum { NEEDED = 5 };
  static const char *const needed[NEEDED] = {"cash", "discounted_cash", "tokens_total", "period",
                                             "period_length"};
  int d[NEEDED];
  for (int i = 0; i < NEEDED; i++) {
    d[i] = model_find(model, needed[i]);
    if (d[i] < 0 || !option_has(option, d[i]) || !option_has(baseline, d[i]))
      return NULL;
  }
  struct cash_pair pair = {scenario, baseline, option, 0, arena};
  pair.scale = option_value(scenario, baseline, d[2], 0) / option_value(scenario, option, d[2], 0);
  int periods = scenario->periods;
  const double *lengths = lengths_of(&pair, d[3]), *discounted = difference_of(&pair, d[1]);
  struct comparison *made = arena_alloc(arena, sizeof *made);
  *made = (struct comparison){.scenario = scenario, .option = option, .scale = pair.scale};
  made->saved = difference_of(&pair, d[0]);
  made->direction = made->saved[0] > 0 ? -1 : 1;
  made->flow = times(&pair, made->saved, made->direction);
  made->cumulative = running(&pair, made->flow);
  made->discounted_flow = times(&pair, discounted, made->direction);
  made->discounted_cumulative = running(&pair, made->discounted_flow);
  made->extra_outlay = -made->flow[0];
  made->saved_total = sum_of(made->saved, periods);
  made->npv_saved = sum_of(discounted, periods);
  made->outlay = judge(made);
  made->irr_per_period = internal_rate(made->flow, periods);
  made->irr = rate_per_year(scenario, made->irr_per_period);
  made->payback = payback_time(made->flow, lengths, periods);
  made->discounted_payback = payback_time(made->discounted_flow, lengths, periods);
  return made;
}
