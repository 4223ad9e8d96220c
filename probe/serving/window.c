#include "probe/serving/window.h"

#include "base/statistics.h"
#include "model/telemetry/utc.h"
#include "probe/serving/gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct window {
  const struct load *load;
  const struct load_result *result;
  double from_s, until_s;
};

static double length_s(const struct window *window) {
  return window->until_s - window->from_s;
}

static bool counts(const struct window *window, const struct load_sample *sample) {
  const double at_s = window->load->kind == LOAD_CLOSED ? sample->end_s : sample->scheduled_s;
  return at_s > window->from_s && at_s <= window->until_s;
}

static bool counts_well(const struct window *window, const struct load_sample *sample) {
  return counts(window, sample) && !sample->failure && !isnan(sample->end_s);
}

// ---- of one request

static double ttft_s(const struct load *load, const struct load_sample *sample) {
  return sample->first_s - load_sample_start(load, sample);
}

static double end_to_end_s(const struct load *load, const struct load_sample *sample) {
  return sample->end_s - load_sample_start(load, sample);
}

// An answer that was finished before it was sent may arrive in several pieces.
static bool came_at_once(const struct load_sample *sample) {
  const double text_s = sample->last_s - sample->first_s;
  return sample->receipts < 2 ||
         (text_s < AT_ONCE_TOKEN_S * (double)sample->usage.completion_tokens &&
          text_s < AT_ONCE_SHARE * (sample->last_s - sample->sent_s));
}

// NAN: it has one token, all came at once, or how many came as text is unknown.
static double tpot_s(const struct load *load, const struct load_sample *sample) {
  (void)load;
  return sample->usage.completion_tokens > 1 && !sample->usage.hides_tokens && !came_at_once(sample)
             ? (sample->last_s - sample->first_s) / (double)(sample->usage.completion_tokens - 1)
             : NAN;
}

// The share of its answer that came in the window.
static double share_in(const struct window *window, const struct load_sample *sample) {
  if (sample->chunks > 0)
    return (double)sample->window_chunks / (double)sample->chunks;
  return sample->end_s > window->from_s && sample->end_s <= window->until_s;
}

static double output_in(const struct window *window, const struct load_sample *sample) {
  const double tokens = (double)sample->usage.completion_tokens;
  return sample->failure || tokens < 0 ? 0 : tokens * share_in(window, sample);
}

// A prompt counts with its answer: how much of the time before that was waiting is unknown.
static double input_in(const struct window *window, const struct load_sample *sample) {
  const double tokens = (double)sample->usage.prompt_tokens;
  return sample->failure || tokens < 0 ? 0 : tokens * share_in(window, sample);
}

// ---- latencies

// NAN for too few; a single value says nothing about a percentile.
static double percentile_of(const double *ascending, size_t count, int percentile) {
  return count > 0 && count >= (size_t)serving_samples(percentile)
             ? quantile(ascending, count, percentile / 100.)
             : NAN;
}

// Sorts the values.
static struct serving_latency latency_of(double *values, size_t count) {
  double sum = 0, squares = 0;
  sort_ascending(values, count);
  for (size_t i = 0; i < count; i++)
    sum += values[i];
  const double mean = count ? sum / (double)count : NAN;
  for (size_t i = 0; i < count; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  return (struct serving_latency){.mean_s = mean,
                                  .p50_s = percentile_of(values, count, 50),
                                  .p90_s = percentile_of(values, count, 90),
                                  .p95_s = percentile_of(values, count, 95),
                                  .p99_s = percentile_of(values, count, 99),
                                  .std_s = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN};
}

static struct serving_latency latency(const struct window *window,
                                      double (*of)(const struct load *,
                                                   const struct load_sample *)) {
  const struct load_result *result = window->result;
  double *values = calloc(result->count + 1, sizeof *values);
  size_t count = 0;
  for (size_t i = 0; i < result->count; i++) {
    const double value = of(window->load, &result->samples[i]);
    if (counts_well(window, &result->samples[i]) && !isnan(value))
      values[count++] = value;
  }
  const struct serving_latency found = latency_of(values, count);
  free(values);
  return found;
}

// Gaps of one request are alike, so the request counts as the sample.
static double gap_percentile(const struct gaps *gaps, size_t requests, int percentile) {
  return requests >= (size_t)serving_samples(percentile) ? gaps_quantile(gaps, percentile / 100.)
                                                         : NAN;
}

static struct serving_latency gap_latency(const struct gaps *gaps, size_t requests) {
  return (struct serving_latency){.mean_s = gaps_mean(gaps),
                                  .p50_s = gap_percentile(gaps, requests, 50),
                                  .p90_s = gap_percentile(gaps, requests, 90),
                                  .p95_s = gap_percentile(gaps, requests, 95),
                                  .p99_s = gap_percentile(gaps, requests, 99),
                                  .std_s = gaps_deviation(gaps)};
}

// ---- the rung

// A TPOT that is unknown is not met; a single token has none.
static bool keeps(const struct load *load, const struct load_sample *sample, struct slo slo) {
  return (isnan(slo.ttft_s) || ttft_s(load, sample) <= slo.ttft_s) &&
         (isnan(slo.tpot_s) || sample->usage.completion_tokens <= 1 ||
          tpot_s(load, sample) <= slo.tpot_s);
}

// Sums over the requests that are at least partly in the window.
struct sums {
  double output, input, busy_s;       // in the window
  double input_tokens, output_tokens; // of the requests that count
  double cached_tokens;
  double completed, good, with_tpot;
  bool knows_cached;
};

static void add(struct sums *sums, const struct window *window, const struct load_sample *sample,
                struct slo slo) {
  const double end_s = isnan(sample->end_s) ? window->until_s : sample->end_s;
  sums->busy_s +=
      isnan(sample->sent_s)
          ? 0
          : fmax(fmin(end_s, window->until_s) - fmax(sample->sent_s, window->from_s), 0);
  sums->output += output_in(window, sample);
  sums->input += input_in(window, sample);
  if (!counts_well(window, sample))
    return;
  sums->completed++;
  sums->good += keeps(window->load, sample, slo);
  sums->with_tpot += !isnan(tpot_s(window->load, sample));
  sums->input_tokens += fmax((double)sample->usage.prompt_tokens, 0);
  sums->output_tokens += fmax((double)sample->usage.completion_tokens, 0);
  sums->cached_tokens += fmax((double)sample->usage.cached_tokens, 0);
  sums->knows_cached |= sample->usage.cached_tokens >= 0;
}

// Whether enough requests have a TPOT to speak for the rung.
static bool tells_tpot(const struct sums *sums) {
  return sums->with_tpot >= SERVING_TOLD * sums->completed;
}

static void set_rates(struct serving_rung *rung, const struct sums *sums, struct slo slo) {
  const bool has_slo = !isnan(slo.ttft_s) || !isnan(slo.tpot_s);
  const bool judges = has_slo && (isnan(slo.tpot_s) || tells_tpot(sums));
  rung->completed = sums->completed;
  rung->mean_concurrency = sums->busy_s / rung->window_s;
  rung->input_tokens = sums->completed > 0 ? sums->input_tokens / sums->completed : NAN;
  rung->output_tokens = sums->completed > 0 ? sums->output_tokens / sums->completed : NAN;
  rung->cached_share =
      sums->knows_cached && sums->input_tokens > 0 ? sums->cached_tokens / sums->input_tokens : NAN;
  rung->output_tokens_per_s = sums->output / rung->window_s;
  rung->input_tokens_per_s = sums->input / rung->window_s;
  rung->goodput_per_s = judges ? sums->good / rung->window_s : NAN;
}

bool window_rung(const struct load *load, const struct load_result *result, struct slo slo,
                 struct serving_rung *rung, struct arena *arena) {
  const struct window window = {load, result, result->window_from_s, result->window_until_s};
  const bool is_closed = load->kind == LOAD_CLOSED;
  if (!(length_s(&window) > 0))
    return false;
  struct sums sums = {0};
  for (size_t i = 0; i < result->count; i++)
    add(&sums, &window, &result->samples[i], slo);
  *rung = serving_rung_unknown();
  rung->load = load->kind;
  rung->concurrency = is_closed ? (double)load->concurrency : NAN;
  rung->request_rate = is_closed ? NAN : load->rate_per_s;
  rung->window_s = length_s(&window);
  rung->failed = (double)result->failed;
  rung->ttft = latency(&window, ttft_s);
  if (tells_tpot(&sums))
    rung->tpot = latency(&window, tpot_s);
  rung->tpot_requests = sums.with_tpot;
  rung->end_to_end = latency(&window, end_to_end_s);
  rung->chunk_gap = gap_latency(&result->gaps, (size_t)sums.completed);
  rung->slo_ttft_s = slo.ttft_s;
  rung->slo_tpot_s = slo.tpot_s;
  rung->client_cpu_share = result->cpu_s / length_s(&window);
  rung->started = utc_text(window.from_s + result->utc_offset_s, arena);
  rung->finished = utc_text(window.until_s + result->utc_offset_s, arena);
  set_rates(rung, &sums, slo);
  return true;
}

static void widen(long *least, long *most, long value, bool is_first) {
  *least = is_first || value < *least ? value : *least;
  *most = is_first || value > *most ? value : *most;
}

static void count_request(struct window_requests *found, const struct load_sample *sample) {
  const struct usage *usage = &sample->usage;
  const bool is_first = found->completed == found->without_usage;
  found->completed++;
  found->without_cached += usage->cached_tokens < 0;
  found->without_text += sample->chunks == 0;
  if (usage->completion_tokens < 0 || usage->prompt_tokens < 0) {
    found->without_usage++;
    return;
  }
  widen(&found->least_input, &found->most_input, usage->prompt_tokens, is_first);
  widen(&found->least_output, &found->most_output, usage->completion_tokens, is_first);
  found->streamed_tokens += sample->chunks ? (double)usage->completion_tokens : 0;
  found->chunks += (double)sample->chunks;
}

struct window_requests window_requests(const struct load *load, const struct load_result *result) {
  const struct window window = {load, result, result->window_from_s, result->window_until_s};
  struct window_requests found = {0};
  for (size_t i = 0; i < result->count; i++)
    if (counts_well(&window, &result->samples[i]))
      count_request(&found, &result->samples[i]);
  return found;
}
