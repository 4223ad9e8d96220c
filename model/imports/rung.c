#include "model/imports/rung.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/evidence/workload.h"
#include "model/imports/latencies.h"
#include "model/telemetry/utc.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LAST_TIME_S 253402300800. // the year 10000

// ---- percentiles of too few requests

static double *percentile_of(struct serving_latency *latency, size_t which, int *percentile) {
  static const int percentiles[] = {90, 95, 99};
  double *const values[] = {&latency->p90_s, &latency->p95_s, &latency->p99_s};
  *percentile = percentiles[which];
  return values[which];
}

static void leave_out_early(struct serving_latency *latency, double samples) {
  for (size_t i = 0; i < 3; i++) {
    int percentile;
    double *value = percentile_of(latency, i, &percentile);
    if (isnan(samples) || samples < serving_samples(percentile))
      *value = NAN;
  }
}

// ---- rates

static bool is_near(double a, double b, double share) {
  return fabs(a - b) <= share * fmax(fabs(a), fabs(b));
}

// Tools round what they write, at the coarsest to two decimals, or divide by a time that they
// measured a little later.
#define TOTALS_AGREE 0.02

static int check_rate(const struct import_reading *reading, const struct serving_rung *rung,
                      const struct rung_totals *totals) {
  const double expected = totals->output_tokens / rung->window_s;
  const double whole = (totals->output_tokens + totals->input_tokens) / rung->window_s;
  if (!(rung->output_tokens_per_s > 0) || !isfinite(rung->output_tokens_per_s))
    return reading_error(reading, "no output token rate above 0");
  if (isnan(expected) || is_near(rung->output_tokens_per_s, expected, TOTALS_AGREE))
    return 0;
  if (is_near(rung->output_tokens_per_s, whole, TOTALS_AGREE))
    return reading_error(reading,
                         "the output token rate includes input tokens: %.6g per second are %.6g in "
                         "and %.6g out in %.6g s",
                         rung->output_tokens_per_s, totals->input_tokens, totals->output_tokens,
                         rung->window_s);
  return reading_error(reading,
                       "contradicts itself: %.6g output tokens per second, but %.6g of them in "
                       "%.6g s are %.6g per second",
                       rung->output_tokens_per_s, totals->output_tokens, rung->window_s, expected);
}

static int fill_input_rate(const struct import_reading *reading, struct serving_rung *rung,
                           const struct rung_totals *totals) {
  if (!isnan(rung->input_tokens_per_s))
    return 0;
  rung->input_tokens_per_s = totals->input_tokens / rung->window_s;
  if (isnan(totals->total_tokens_per_s))
    return 0;
  if (totals->total_tokens_per_s < rung->output_tokens_per_s)
    return reading_error(reading,
                         "contradicts itself: %.6g tokens per second in and out, of them %.6g out",
                         totals->total_tokens_per_s, rung->output_tokens_per_s);
  rung->input_tokens_per_s = totals->total_tokens_per_s - rung->output_tokens_per_s;
  return 0;
}

// ---- the load that was set

// A limit of the requests in flight, beside a rate, may be what decided when they were sent.
static void doubt_rate(const struct import_reading *reading, struct serving_rung *rung) {
  const double in_flight = rung->request_rate * latencies_in_flight_s(rung);
  if (isnan(rung->request_rate) || isnan(reading->max_concurrency) ||
      2 * in_flight + 10 <= reading->max_concurrency)
    return;
  texts_add(&reading->imported->remarks, reading->arena,
            "load unknown: at %.6g requests/s, the limit of %.6g in flight may have held some back",
            rung->request_rate, reading->max_concurrency);
  rung->load = LOAD_UNKNOWN;
  rung->request_rate = NAN;
}

// A closed loop of fewer requests than it allows in flight never has that many.
static void doubt_concurrency(const struct import_reading *reading, struct serving_rung *rung) {
  const double sent = rung->completed + (isnan(reading->unfinished) ? 0 : reading->unfinished);
  if (rung->load != LOAD_CLOSED || !(sent < rung->concurrency))
    return;
  texts_add(&reading->imported->remarks, reading->arena,
            "load unknown: %.6g requests cannot be %.6g in flight", sent, rung->concurrency);
  rung->load = LOAD_UNKNOWN;
  rung->concurrency = NAN;
}

// ---- what is refused, left out or not stated

static const char *why_refused(const struct serving_rung *rung, struct arena *arena) {
  if (rung->failed > 0)
    return arena_printf(arena, "%.0f request%s failed", rung->failed, rung->failed == 1 ? "" : "s");
  if (rung->cached_share > 0.01)
    return arena_printf(arena, "%.3g %% of the input tokens came from a cache",
                        100 * rung->cached_share);
  return rung->completed == 0 ? "no request was completed" : "";
}

// A mean length of accepted tokens above 1 proves what chunks of several tokens only suggest.
static void say_speculation(const struct import_reading *reading, const struct serving_rung *rung) {
  struct imported *imported = reading->imported;
  const double chunk = rung->chunk_gap.mean_s / rung->tpot.mean_s;
  if (!*imported->speculation && rung->accepted_length > 1.01)
    imported->speculation = WORKLOAD_UNNAMED;
  if (!*imported->speculation && chunk > SERVING_CHUNK_TOKENS)
    texts_add(&imported->unsaid, reading->arena,
              "whether speculative decoding was used, as its chunks hold %.2g tokens", chunk);
}

static bool has_late_percentiles(const struct serving_rung *rung) {
  const struct serving_latency *latencies[] = {&rung->ttft, &rung->tpot, &rung->end_to_end};
  for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++)
    if (!isnan(latencies[i]->p90_s) || !isnan(latencies[i]->p95_s) || !isnan(latencies[i]->p99_s))
      return true;
  return false;
}

// Percentiles may be stated of too few requests, or of an unknown number.
static void leave_out_percentiles(const struct import_reading *reading, struct serving_rung *rung) {
  struct serving_latency *const latencies[] = {&rung->ttft, &rung->tpot, &rung->end_to_end,
                                               &rung->chunk_gap};
  if (reading->imported->stops_early)
    return;
  if (isnan(rung->completed) && has_late_percentiles(rung))
    texts_add(&reading->imported->unsaid, reading->arena,
              "how many requests its percentiles are of (P90 and above are left out)");
  for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++)
    leave_out_early(latencies[i], rung->completed);
}

static void settle_goodput(const struct import_reading *reading, struct serving_rung *rung) {
  if (isnan(rung->goodput_per_s) || !isnan(rung->slo_ttft_s) || !isnan(rung->slo_tpot_s))
    return;
  texts_add(&reading->imported->unsaid, reading->arena,
            "the limits of its goodput (which is left out)");
  rung->goodput_per_s = NAN;
}

static void say_failures(const struct import_reading *reading, const struct serving_rung *rung) {
  struct imported *imported = reading->imported;
  if (isnan(rung->failed) && !isnan(rung->completed) && imported->basis == BASIS_SERVING)
    texts_add(&imported->unsaid, reading->arena, "how many requests failed");
}

static void append_rung(const struct import_reading *reading, const struct serving_rung *rung) {
  struct imported *imported = reading->imported;
  imported->rungs = arena_room(reading->arena, imported->rungs, imported->count, sizeof *rung);
  imported->windows =
      arena_room(reading->arena, imported->windows, imported->count, sizeof *imported->windows);
  imported->windows[imported->count] = reading->window;
  imported->rungs[imported->count++] = *rung;
}

// ---- failures

// The number of requests with an error; NAN without a list of them.
static double count_errors(const json_t *errors) {
  const json_t *error;
  size_t i;
  double count = json_array_size(errors) ? 0 : NAN;
  json_array_foreach(errors, i, error) {
    count += json_string_length(error) > 0;
  }
  return count;
}

static void settle_unanswered(const struct import_reading *reading, struct serving_rung *rung,
                              double prompts) {
  const double missing = prompts - rung->completed - (isnan(rung->failed) ? 0 : rung->failed);
  if (missing > 0 && isnan(rung->failed))
    rung->refused = arena_printf(reading->arena,
                                 "%.0f of %.0f prompts have no answer, and the file does not say "
                                 "whether they failed or the data set had fewer",
                                 missing, prompts);
  else if (missing > 0)
    texts_add(&reading->imported->remarks, reading->arena,
              "its data set had %.0f of the %.0f prompts asked for", prompts - missing, prompts);
  else if (!isnan(missing) && isnan(rung->failed))
    rung->failed = 0;
}

void rung_set_failed(const struct import_reading *reading, struct serving_rung *rung,
                     const json_t *value) {
  const size_t listed = json_array_size(json_below(value, "input_lens"));
  const double counts[] = {number_below(reading, value, "failed"),
                           count_errors(json_below(value, "errors")),
                           listed ? (double)listed - rung->completed : NAN};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    if (!isnan(counts[i]))
      rung->failed = fmax(rung->failed, fmax(0, counts[i]));
  settle_unanswered(reading, rung, number_below(reading, value, "num_prompts"));
}

// ---- energy

// Whether those seconds are the rung's window. They may differ by what the client's requests to the
// server before and after the run take, which may be queued there.
static bool is_window_of(const struct serving_rung *rung, double seconds) {
  return fabs(seconds - rung->window_s) <= 1 + 0.02 * rung->window_s;
}

void rung_set_energy(const struct import_reading *reading, struct serving_rung *rung,
                     double seconds) {
  const double energy_j = number_below(reading, reading->part->json, "energy/total_energy_j");
  struct serving_power *power = &rung->power;
  if (!(energy_j > 0))
    return;
  if (!is_window_of(rung, seconds)) {
    power->source = arena_printf(reading->arena,
                                 "none: the energy is over %.6g s, but the rates are over %.6g s",
                                 seconds, rung->window_s);
    return;
  }
  power->source = "TensorRT-LLM, the GPUs' energy over the run";
  power->remark = "GPUs of other hosts are taken to draw as much as those of the first";
  power->covers = COVERS_ACCELERATORS;
  power->devices = reading->imported->accelerators > 0 ? reading->imported->accelerators : 0;
  power->energy_j = energy_j;
  power->window_s = seconds;
  power->load_power_w = energy_j / seconds;
}

// ---- loads

static bool is_without_bound(const json_t *rate) {
  return !rate || (json_is_string(rate) && !strcmp(json_string_value(rate), "inf"));
}

void rung_set_load(struct import_reading *reading, struct serving_rung *rung, const json_t *value) {
  const double concurrency = number_below(reading, value, "max_concurrency");
  const json_t *rate = json_below(value, "request_rate");
  const double burstiness = number_below(reading, value, "burstiness");
  if (json_below(value, "ramp_up_strategy")) { // request_rate is "inf" all the same
    texts_add(&reading->imported->remarks, reading->arena,
              "load unknown: the request rate rose during the run");
    return;
  }
  if (is_without_bound(rate)) {
    rung->load = isnan(concurrency) ? LOAD_BURST : LOAD_CLOSED;
    rung->concurrency = concurrency;
  } else if (json_is_number(rate) && (isnan(burstiness) || burstiness == 1)) {
    rung->load = LOAD_POISSON;
    rung->request_rate = json_number_value(rate);
    reading->max_concurrency = concurrency;
  }
}

// ---- the whole

static const char *time_text(double time_s, struct arena *arena) {
  return time_s >= 0 && time_s < LAST_TIME_S ? utc_text(time_s, arena) : "";
}

int rung_add(struct import_reading *reading, struct serving_rung *rung,
             const struct rung_totals *totals) {
  if (!*rung->refused)
    rung->refused = why_refused(rung, reading->arena);
  if (!*rung->refused && reading->imported->basis == BASIS_SERVING &&
      (check_rate(reading, rung, totals) || fill_input_rate(reading, rung, totals)))
    return -1;
  if (isnan(rung->input_tokens))
    rung->input_tokens = totals->input_tokens / rung->completed;
  if (isnan(rung->output_tokens))
    rung->output_tokens = totals->output_tokens / rung->completed;
  latencies_forget(reading, rung);
  doubt_rate(reading, rung);
  if (!*rung->refused) {
    doubt_concurrency(reading, rung);
    if (latencies_settle(reading, rung))
      return -1;
  }
  leave_out_percentiles(reading, rung);
  if (!*rung->power.source)
    rung->power.source = "none: the file has no watts";
  rung->started = time_text(reading->window.start_s, reading->arena);
  rung->finished = time_text(reading->window.end_s, reading->arena);
  if (*rung->started && !reading->imported->count)
    reading->imported->date = arena_printf(reading->arena, "%.10s", rung->started);
  const char *wrong = serving_wrong_rung(rung, reading->imported->basis, reading->arena);
  if (wrong)
    return reading_error(reading, "%s", wrong);
  settle_goodput(reading, rung);
  say_speculation(reading, rung);
  say_failures(reading, rung);
  append_rung(reading, rung);
  reading->window = (struct imported_window){NAN, NAN};
  reading->max_concurrency = reading->unfinished = NAN;
  return 0;
}
