#include "model/imports/latencies.h"

#include "base/texts.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

// ---- what is no latency

static bool has_zero(const struct serving_latency *latency) {
  const double values[] = {latency->mean_s, latency->p50_s, latency->p90_s, latency->p95_s,
                           latency->p99_s};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    if (values[i] == 0)
      return true;
  return false;
}

static void leave_out(struct serving_latency *latency) {
  *latency = serving_rung_unknown().ttft;
}

void latencies_forget(const struct import_reading *reading, struct serving_rung *rung) {
  const struct {
    struct serving_latency *latency;
    bool is_none;
    const char *name;
  } none[] = {{&rung->ttft, has_zero(&rung->ttft), "TTFT"},
              {&rung->tpot, has_zero(&rung->tpot), "TPOT"},
              {&rung->chunk_gap, rung->chunk_gap.mean_s == 0, "the gap between chunks"}};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    if (!none[i].is_none || (i > 0 && rung->output_tokens <= 1))
      continue;
    leave_out(none[i].latency);
    texts_add(&reading->imported->unsaid, reading->arena, "%s (0 in the file)", none[i].name);
  }
}

// ---- one latency

struct statistics {
  const char *name;
  const struct serving_latency *latency;
};

// Rounding of what tools write with two decimals, in milliseconds.
static const double rounding_s = 2e-5;

// A mean and a median are no further apart than the standard deviation, and of latencies, none of
// which is below 0, a share of 1 - p is at least the percentile p.
static int check_mean(const struct import_reading *reading, const struct statistics *of) {
  const struct serving_latency *latency = of->latency;
  const double mean = latency->mean_s;
  const struct {
    double share, value;
    const char *name;
  } percentiles[] = {{0.5, latency->p50_s, "P50"},
                     {0.1, latency->p90_s, "P90"},
                     {0.05, latency->p95_s, "P95"},
                     {0.01, latency->p99_s, "P99"}};
  if (fabs(mean - latency->p50_s) > 1.02 * latency->std_s + rounding_s)
    return reading_error(reading,
                         "contradicts itself: the mean %s is %.6g s and the median %.6g s, further "
                         "apart than the standard deviation, %.6g s: check the latency units",
                         of->name, mean, latency->p50_s, latency->std_s);
  for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
    if (mean < 0.98 * percentiles[i].share * percentiles[i].value - rounding_s)
      return reading_error(reading,
                           "contradicts itself: the mean %s is %.6g s, too little for a %s of "
                           "%.6g s: check the latency units",
                           of->name, mean, percentiles[i].name, percentiles[i].value);
  if (mean > LATENCIES_DIFFER * latency->p99_s + rounding_s)
    return reading_error(reading,
                         "contradicts itself: the mean %s is %.6g s, and its P99 only %.6g s: "
                         "check the latency units",
                         of->name, mean, latency->p99_s);
  return 0;
}

static int check_means(const struct import_reading *reading, const struct serving_rung *rung) {
  const struct statistics all[] = {{"TTFT", &rung->ttft},
                                   {"TPOT", &rung->tpot},
                                   {"gap between chunks", &rung->chunk_gap},
                                   {"time end to end", &rung->end_to_end}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (check_mean(reading, &all[i]))
      return -1;
  return 0;
}

// ---- a request

double latencies_in_flight_s(const struct serving_rung *rung) {
  return isnan(rung->end_to_end.mean_s)
             ? rung->ttft.mean_s + (rung->output_tokens - 1) * rung->tpot.mean_s
             : rung->end_to_end.mean_s;
}

static bool differ(double a, double b, double slack) {
  return fabs(a - b) > slack && (a > LATENCIES_DIFFER * b || b > LATENCIES_DIFFER * a);
}

// Without a TTFT, all of a request may be what comes after the first token.
static int check_request(const struct import_reading *reading, const struct serving_rung *rung) {
  const double whole = rung->end_to_end.mean_s, first = rung->ttft.mean_s;
  const double after = whole - (isnan(first) ? 0 : first);
  const double steps = (rung->output_tokens - 1) * rung->tpot.mean_s;
  const double slack = 1e-3 * whole + 1e-3;
  if (first > 1.02 * whole + slack)
    return reading_error(reading,
                         "contradicts itself: the mean TTFT is %.6g s, but a request takes %.6g s "
                         "end to end: check the latency units",
                         first, whole);
  if (!(rung->output_tokens > 1) || !differ(after, steps, slack) || (isnan(first) && steps < after))
    return 0;
  return reading_error(reading,
                       "contradicts itself: %.6g s from token to token would be %.6g s for the "
                       "%.6g tokens after a request's first, but they take %.6g s: check the "
                       "latency units",
                       rung->tpot.mean_s, steps, rung->output_tokens - 1, after);
}

// ---- a load

static double requests_per_s(const struct serving_rung *rung) {
  return isnan(rung->window_s) ? rung->output_tokens_per_s / rung->output_tokens
                               : rung->completed / rung->window_s;
}

// The fewest requests in flight, on average, of a closed loop that drains at its end. One that was
// stopped with more in flight than it had answered does not tell.
static double least_in_flight(const struct serving_rung *rung) {
  const double share = 1 / (1 + LATENCIES_SLOWEST * rung->concurrency / rung->completed);
  return rung->concurrency * fmin(1. / LATENCIES_DIFFER, share); // not of NAN, if unknown
}

static int check_load(const struct import_reading *reading, const struct serving_rung *rung) {
  const double seconds = latencies_in_flight_s(rung), rate = requests_per_s(rung);
  const double most =
      rung->concurrency * (isnan(rung->end_to_end.mean_s) ? LATENCIES_DIFFER : 1 + LATENCIES_OVER);
  const double in_flight = rate * seconds;
  const bool is_off = in_flight > most ||
                      (in_flight < least_in_flight(rung) && !(rung->completed < rung->concurrency));
  if (rung->load == LOAD_CLOSED && is_off)
    return reading_error(reading,
                         "contradicts itself: %.6g requests per second of %.6g s each would be "
                         "%.6g in flight, not %.6g: check the latency units",
                         rate, seconds, in_flight, rung->concurrency);
  if (seconds > LATENCIES_DIFFER * rung->window_s)
    return reading_error(reading,
                         "contradicts itself: a request takes %.6g s, but the run took %.6g s: "
                         "check the latency units",
                         seconds, rung->window_s);
  return 0;
}

// What the client itself counted in flight, against the same law.
static int check_counted(const struct import_reading *reading, const struct serving_rung *rung) {
  const double in_flight = requests_per_s(rung) * latencies_in_flight_s(rung);
  if (!differ(in_flight, rung->mean_concurrency, 1))
    return 0;
  return reading_error(reading,
                       "contradicts itself: %.6g requests per second of %.6g s each would be %.6g "
                       "in flight, but it counted %.6g: check the latency units",
                       requests_per_s(rung), latencies_in_flight_s(rung), in_flight,
                       rung->mean_concurrency);
}

// ---- what no server has

static void doubt_tpot(const struct import_reading *reading, struct serving_rung *rung) {
  const double each = rung->tpot.mean_s;
  if (!(each > 0 && each < LATENCIES_LEAST_TPOT_S) || rung->output_tokens <= 1)
    return;
  texts_add(&reading->imported->remarks, reading->arena,
            "TPOT left out: %.3g s is %.0f token/s for one request, so its text came all at once, "
            "or its unit is another",
            each, 1 / each);
  leave_out(&rung->tpot);
}

static void doubt_ttft(const struct import_reading *reading, struct serving_rung *rung) {
  const double first = rung->ttft.mean_s, each = rung->tpot.mean_s;
  if (!(first > 0 && first < LATENCIES_LEAST_TTFT * each))
    return;
  texts_add(&reading->imported->remarks, reading->arena,
            "TTFT left out: %.3g s until the first token, and %.3g s for each other: it is of no "
            "token, or its unit is another",
            first, each);
  leave_out(&rung->ttft);
}

int latencies_settle(const struct import_reading *reading, struct serving_rung *rung) {
  if (check_means(reading, rung) || check_request(reading, rung) || check_load(reading, rung) ||
      check_counted(reading, rung))
    return -1;
  if (isnan(rung->mean_concurrency))
    rung->mean_concurrency = requests_per_s(rung) * rung->end_to_end.mean_s;
  doubt_tpot(reading, rung);
  doubt_ttft(reading, rung);
  return 0;
}
