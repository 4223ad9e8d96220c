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

// Amounts at their times, in h.
struct flows {
  const double *values, *times;
  int count;
};

static double years(double time) {
  return time / HOURS_PER_YEAR;
}

// The rate is continuous, per year: a flow's factor is exp(-rate * years).
static double present_value(double rate, void *context) {
  const struct flows *flows = context;
  double value = 0;
  for (int t = 0; t < flows->count; t++)
    value += flows->values[t] * exp(-rate * years(flows->times[t]));
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

double internal_rate(const double *flows, const double *times, int count) {
  enum { MAX_DOUBLINGS = 60 };
  struct flows all = {flows, times, count};
  if (count < 2 || !(flows[0] < 0) || !(present_value(0, &all) > 0))
    return NAN;
  gsl_set_error_handler_off();
  double high = 1;
  for (int i = 0; i < MAX_DOUBLINGS && present_value(high, &all) > 0; i++)
    high *= 2;
  return present_value(high, &all) > 0 ? NAN : expm1(root_between(&all, 0, high));
}

double payback_time(const double *flows, const double *times, int count) {
  double sum = count > 0 ? flows[0] : 0, payback = NAN;
  bool is_owed = sum < 0;
  for (int t = 1; t < count; t++) {
    if (is_owed && sum + flows[t] >= 0)
      payback = times[t - 1] - (times[t] - times[t - 1]) * sum / flows[t];
    sum += flows[t];
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

static double *turned(const struct cash_pair *pair, const double *values, int direction) {
  int periods = pair->scenario->periods;
  double *amounts = arena_array(pair->arena, (size_t)periods, sizeof *amounts);
  for (int t = 0; t < periods; t++)
    amounts[t] = direction * values[t];
  return amounts;
}

static double *running(const struct cash_pair *pair, const double *values) {
  int periods = pair->scenario->periods;
  double *sums = arena_array(pair->arena, (size_t)periods, sizeof *sums);
  for (int t = 0; t < periods; t++)
    sums[t] = (t ? sums[t - 1] : 0) + values[t];
  return sums;
}

// An option's amounts are paid at the ends of its periods, and the last one ends at its horizon: if
// the two differ, the later end counts.
static double *times_of(const struct cash_pair *pair, int end) {
  int periods = pair->scenario->periods;
  double *ends = arena_array(pair->arena, (size_t)periods, sizeof *ends);
  for (int t = 0; t < periods; t++)
    ends[t] = fmax(option_value(pair->scenario, pair->baseline, end, t),
                   option_value(pair->scenario, pair->option, end, t));
  return ends;
}

// The differences discounted, all at one rate: with one for each option, the more expensive
// purchase could pay merely because its amounts are discounted more.
static double *discounted(const struct cash_pair *pair, int wacc, const double *values,
                          const double *ends) {
  int periods = pair->scenario->periods;
  const double rate = option_value(pair->scenario, pair->baseline, wacc, 0);
  const double growth = 1 + rate * HOURS_PER_YEAR;
  double *amounts = arena_array(pair->arena, (size_t)periods, sizeof *amounts);
  for (int t = 0; t < periods; t++)
    amounts[t] = values[t] / pow(growth, years(ends[t]));
  return amounts;
}

static enum outlay judge(const struct comparison *comparison) {
  if (!(comparison->extra_outlay > 0))
    return OUTLAY_NONE;
  if (comparison->direction * comparison->npv_saved > 0)
    return OUTLAY_PAYS;
  return comparison->direction * comparison->saved_total > 0 ? OUTLAY_UNDISCOUNTED : OUTLAY_LOST;
}

static void find_returns(struct comparison *made, int periods) {
  made->irr = internal_rate(made->flow, made->times, periods);
  made->payback = payback_time(made->flow, made->times, periods);
  made->discounted_payback = payback_time(made->discounted_flow, made->times, periods);
}

const struct comparison *comparison_ask(const struct scenario *scenario,
                                        const struct option *option, struct arena *arena) {
  const struct model *model = scenario->model;
  const struct option *baseline = &scenario->options[scenario->baseline];
  enum { CASH, TOKENS, END, WACC, NEEDED };
  static const char *const needed[NEEDED] = {"cash", "tokens_total", "end", "wacc"};
  int d[NEEDED];
  for (int i = 0; i < NEEDED; i++) {
    d[i] = model_find(model, needed[i]);
    if (d[i] < 0 || !option_has(option, d[i]) || !option_has(baseline, d[i]))
      return NULL;
  }
  struct cash_pair pair = {scenario, baseline, option, 0, arena};
  pair.scale =
      option_value(scenario, baseline, d[TOKENS], 0) / option_value(scenario, option, d[TOKENS], 0);
  int periods = scenario->periods;
  struct comparison *made = arena_alloc(arena, sizeof *made);
  *made = (struct comparison){.scenario = scenario, .option = option, .scale = pair.scale};
  made->times = times_of(&pair, d[END]);
  made->saved = difference_of(&pair, d[CASH]);
  made->direction = made->saved[0] > 0 ? -1 : 1;
  made->flow = turned(&pair, made->saved, made->direction);
  made->cumulative = running(&pair, made->flow);
  made->discounted_flow = discounted(&pair, d[WACC], made->flow, made->times);
  made->discounted_cumulative = running(&pair, made->discounted_flow);
  made->extra_outlay = -made->flow[0];
  made->saved_total = sum_of(made->saved, periods);
  made->npv_saved = made->direction * sum_of(made->discounted_flow, periods);
  made->outlay = judge(made);
  const double purchase = fmax(option_value(scenario, baseline, d[CASH], 0),
                               option_value(scenario, option, d[CASH], 0) * pair.scale);
  made->outlay_share = purchase > 0 ? made->extra_outlay / purchase : 0;
  made->is_minor = made->outlay_share > 0 && made->outlay_share < COMPARISON_LEAST_SHARE;
  made->irr = made->payback = made->discounted_payback = NAN;
  if (!made->is_minor)
    find_returns(made, periods);
  return made;
}
