#include "probe/serving/rung.h"

#include "probe/serving/counters.h"
#include "probe/serving/engine.h"
#include "probe/serving/stream.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Margin on the number of requests: request_s may be that of a first request, on a cold server.
static const double margin = 4;
static const double longest_ramp_s = 30;

// ---- the load

static double ramp_s(const struct rung_order *order) {
  return fmin(order->request_s, longest_ramp_s);
}

// An open loop's window: long enough for as many requests as a P90 takes.
static double open_window_s(const struct rung_order *order) {
  return fmax(order->window_s, (double)serving_samples(90) / order->rate_per_s);
}

size_t rung_most_requests(const struct rung_order *order) {
  const double c = (double)order->concurrency;
  const double turns = (ramp_s(order) + order->window_s) / order->request_s;
  return (size_t)(order->load == LOAD_CLOSED
                      ? c * (2 + margin * fmax(STEADY_COMPLETIONS, ceil(turns)))
                      : margin * order->rate_per_s * (ramp_s(order) + open_window_s(order)) +
                            RUNG_MOST_IN_FLIGHT);
}

// Prompts that no other rung has had, nor any other run.
static uint64_t seed_of(const struct rung_order *order) {
  const uint64_t mark =
      order->load == LOAD_CLOSED ? order->concurrency : (uint64_t)(1e6 * order->rate_per_s) << 16;
  return (order->prompt->seed + 0x9e3779b97f4a7c15 * mark) >> 11;
}

static struct load load_of(const struct rung_order *order, struct prompt *prompt) {
  const bool is_closed = order->load == LOAD_CLOSED;
  return (struct load){
      .server = order->server,
      .path = prompt_path(prompt->form),
      .body = prompt_body,
      .body_context = prompt,
      .kind = order->load,
      .concurrency = is_closed ? order->concurrency : RUNG_MOST_IN_FLIGHT,
      .rate_per_s = order->rate_per_s,
      .seed = prompt->seed,
      .ramp_s = ramp_s(order),
      .window_s = order->window_s,
      .window_requests =
          is_closed ? STEADY_COMPLETIONS * order->concurrency : (size_t)serving_samples(90),
      .limit_s = order->limit_s,
      .silence_s = order->limit_s,
      .request_s = order->limit_s,
      .most_requests = rung_most_requests(order),
      .most_failed = 0, // one is enough to refuse the rung
      .stop = order->stop,
      .told = order->told,
      .told_context = order->told_context,
  };
}

// ---- reasons for refusal

struct hearing {
  const struct rung_order *order;
  const struct load_result *result;
  const struct serving_rung *rung;
  struct window_requests requests;
  double cached_share; // by the server's counters
  struct arena *arena;
};

static const char *failed(const struct hearing *hearing) {
  const struct load_result *result = hearing->result;
  if (!result->failed)
    return NULL;
  return arena_printf(hearing->arena, "requests failed: %s", result->first_failure);
}

static const char *unfinished(const struct hearing *hearing) {
  return hearing->result->unfinished;
}

static const char *uncounted(const struct hearing *hearing) {
  const struct window_requests *requests = &hearing->requests;
  if (!requests->without_usage)
    return NULL;
  return arena_printf(hearing->arena, "the server reported no usage for %zu of %zu requests",
                      requests->without_usage, requests->completed);
}

static bool is_off(long least, long most, double asked, double share) {
  const double slack = fmax(share * asked, 1); // a token that begins every text is not ours
  return (double)least < asked - slack || (double)most > asked + slack;
}

static const char *other_lengths(const struct hearing *hearing) {
  const struct window_requests *requests = &hearing->requests;
  const struct prompt *prompt = hearing->order->prompt;
  const double share = prompt->form == PROMPT_IDS ? RUNG_LENGTH_OFF : RUNG_WORDS_OFF;
  if (is_off(requests->least_input, requests->most_input, (double)prompt->input_tokens, share))
    return arena_printf(hearing->arena, "prompts had %ld to %ld tokens instead of %ld",
                        requests->least_input, requests->most_input, prompt->input_tokens);
  if (is_off(requests->least_output, requests->most_output, (double)prompt->output_tokens,
             RUNG_LENGTH_OFF))
    return arena_printf(hearing->arena, "answers had %ld to %ld tokens instead of %ld",
                        requests->least_output, requests->most_output, prompt->output_tokens);
  return NULL;
}

static const char *cached(const struct hearing *hearing) {
  const double share = fmax(hearing->rung->cached_share, hearing->cached_share);
  return share > RUNG_MOST_CACHED
             ? arena_printf(hearing->arena,
                            "%.1f %% of the prompts' tokens came from the server's cache",
                            100 * share)
             : NULL;
}

static const char *client_bound(const struct hearing *hearing) {
  const double share = hearing->rung->client_cpu_share;
  return share > RUNG_CLIENT_BOUND
             ? arena_printf(
                   hearing->arena,
                   "the client used %.0f %% of a core, so it may have slowed the server down",
                   100 * share)
             : NULL;
}

// The first that applies is reported.
static const char *(*const refusals[])(const struct hearing *) = {
    failed, unfinished, uncounted, other_lengths, cached, client_bound,
};

static const char *refusal_of(const struct hearing *hearing) {
  const char *why = NULL;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0] && !why; i++)
    why = refusals[i](hearing);
  return why ? why : "";
}

// ---- the rung

// Keeps the load and its description, but no figure that anybody could use.
static void strip(const struct rung_order *order, struct serving_rung *rung) {
  const struct serving_rung was = *rung;
  *rung = serving_rung_unknown();
  rung->load = order->load;
  rung->concurrency = order->load == LOAD_CLOSED ? (double)order->concurrency : NAN;
  rung->request_rate = order->load == LOAD_CLOSED ? NAN : order->rate_per_s;
  rung->asked_input_tokens = (double)order->prompt->input_tokens;
  rung->asked_output_tokens = (double)order->prompt->output_tokens;
  rung->slo_ttft_s = order->slo.ttft_s;
  rung->slo_tpot_s = order->slo.tpot_s;
  rung->seed = was.seed;
  rung->refused = was.refused;
  rung->power.source = "none: the rung is refused";
  rung->server_counters = was.server_counters;
  rung->started = was.started;
  rung->finished = was.finished;
  rung->completed = was.completed;
  rung->failed = was.failed;
  rung->window_s = was.window_s;
  rung->input_tokens = was.input_tokens;
  rung->output_tokens = was.output_tokens;
  rung->cached_share = was.cached_share;
  rung->client_cpu_share = was.client_cpu_share;
}

static struct server_counters counters_of(const struct server *server, const char **failure,
                                          struct arena *arena) {
  const struct server_answer answer = server_get(server, "/metrics", ANSWERS_S, arena);
  *failure = answer.failure;
  return counters_read(answer.failure ? "" : answer.body, answer.failure ? 0 : answer.size);
}

static struct client_counts counted(const struct load_result *result) {
  struct client_counts counts = {0, 0};
  for (size_t i = 0; i < result->count; i++) {
    const struct usage *usage = &result->samples[i].usage;
    counts.input_tokens += usage->prompt_tokens > 0 ? (double)usage->prompt_tokens : 0;
    counts.output_tokens += usage->completion_tokens > 0 ? (double)usage->completion_tokens : 0;
  }
  return counts;
}

// Requests in flight when an open loop ends are broken off, and their tokens are never reported.
static bool all_ended(const struct load_result *result) {
  return result->completed == result->count;
}

static const char *cross_check(const struct server_counters *before,
                               const struct server_counters *after, const char *failure,
                               const struct load_result *result, struct arena *arena) {
  const struct client_counts client = counted(result);
  if (failure)
    return arena_printf(arena, "none: GET /metrics: %s", failure);
  if (!all_ended(result))
    return "none: requests were aborted, which the server counts";
  return counters_compare(before, after, &client, arena);
}

static void fill(const struct rung_order *order, const struct load_result *result,
                 const struct load *load, struct serving_rung *rung, struct arena *arena) {
  if (!window_rung(load, result, order->slo, rung, arena)) {
    *rung = serving_rung_unknown();
    rung->completed = (double)result->completed;
    rung->failed = (double)result->failed;
  }
  rung->asked_input_tokens = (double)order->prompt->input_tokens;
  rung->asked_output_tokens = (double)order->prompt->output_tokens;
  rung->seed = load->seed;
}

enum rung_end rung_run(const struct rung_order *order, struct serving_rung *rung,
                       double *chunk_tokens, struct arena *arena, struct diagnostics *diagnostics) {
  struct prompt prompt = *order->prompt;
  prompt.seed = seed_of(order);
  const struct load load = load_of(order, &prompt);
  struct serving_power unmetered = serving_rung_unknown().power;
  unmetered.source = "none: no meter on the server's host";
  const char *failure;
  struct load_result result;
  const struct server_counters before = counters_of(order->server, &failure, arena);
  if (order->meter)
    order->meter->begin(order->meter->context);
  if (load_run(&load, &result, arena, diagnostics))
    return RUNG_FAILED;
  const struct serving_power power =
      order->meter ? order->meter->end(order->meter->context, result.window_from_s,
                                       result.window_until_s, result.utc_offset_s)
                   : unmetered;
  if (*order->stop)
    return RUNG_STOPPED;
  fill(order, &result, &load, rung, arena);
  const struct server_counters after = counters_of(order->server, &failure, arena);
  rung->server_counters = cross_check(&before, &after, failure, &result, arena);
  rung->accepted_length = counters_accepted_length(&before, &after);
  rung->power = power;
  const struct hearing hearing = {
      order, &result, rung, window_requests(&load, &result), counters_cached_share(&before, &after),
      arena};
  *chunk_tokens = hearing.requests.streamed_tokens / hearing.requests.chunks;
  rung->refused = refusal_of(&hearing);
  if (!*rung->refused)
    return RUNG_DONE;
  strip(order, rung);
  return result.failed && !server_get(order->server, "/v1/models", ANSWERS_S, arena).status
             ? RUNG_GONE
             : RUNG_DONE;
}
