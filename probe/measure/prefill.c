#include "probe/measure/prefill.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "kernels/family.h"
#include "kernels/integers.h"
#include "kernels/reference/check.h"
#include "kernels/share.h"
#include "model/records/timing.h"
#include "probe/measure/energy_watch.h"
#include "probe/measure/pace.h"
#include "probe/measure/verify.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { MIN_SAMPLES = 3, MIXED_SAMPLES = 7 };
enum { VERIFIED_POSITIONS = 40, VERIFIED_CHUNK = 24, SHORT_CHUNK = 128 };

// Chunks of a half, an eighth and a thirty-second of the trial's: sizes that a server may mix.
static const int mixed_parts[] = {2, 8, 32};

static const int *prompt_tokens(const struct protocol *protocol, int count, int vocab) {
  int *tokens = arena_array(protocol->arena, (size_t)count, sizeof *tokens);
  for (int i = 0; i < count; i++)
    tokens[i] = (int)(((int64_t)i * 7919 + 1) % vocab);
  return tokens;
}

static enum decode_status take_prompt(const struct decode_backend *backend,
                                      struct decode_state *state, const int *tokens, int count,
                                      int chunk) {
  enum decode_status status = DECODE_OK;
  for (int first = 0; first < count && status == DECODE_OK; first += chunk) {
    const struct decode_prompt prompt = {
        .first = first, .count = least(chunk, count - first), .tokens = tokens + first};
    status = backend->prefill(state, &prompt);
  }
  return status;
}

// ---- verification

static enum decode_status decode_prompt(const struct decode_backend *backend,
                                        struct decode_state *state, const int *tokens, int count,
                                        int *row_tokens, int rows) {
  enum decode_status status = DECODE_OK;
  for (int i = 0; i < count && status == DECODE_OK; i++) {
    for (int row = 0; row < rows; row++)
      row_tokens[row] = tokens[i];
    status = backend->set_position(state, i);
    if (status == DECODE_OK)
      status = backend->set_tokens(state, row_tokens);
    if (status == DECODE_OK)
      status = backend->run(state, 1);
  }
  return status;
}

// norm(a - b) / norm(b); infinite if one is not finite.
static double distance(const float *a, const float *b, int count) {
  double off = 0, norm = 0;
  for (int i = 0; i < count; i++) {
    off += pow((double)a[i] - (double)b[i], 2);
    norm += (double)b[i] * (double)b[i];
  }
  return isfinite(off) && norm > 0 ? sqrt(off / norm) : INFINITY;
}

// The last chunk again, beside a step of the other rows that repeats their last one, after a step
// from another token. DECODE_UNSUPPORTED, with the logits left as they are, if the backend does not
// combine them.
static enum decode_status repeat_beside(const struct decode_backend *backend,
                                        struct decode_state *state,
                                        const struct decode_request *request, const int *tokens,
                                        int count, int *row_tokens) {
  const int last = (count - 1) / request->chunk * request->chunk;
  const struct decode_prompt prompt = {
      .first = last, .count = count - last, .tokens = tokens + last, .beside = true};
  enum decode_status status = backend->prefill(state, &prompt);
  if (status != DECODE_OK)
    return status;
  const int from[] = {tokens[0], tokens[count - 1]};
  for (int step = 0; step < 2 && status == DECODE_OK; step++) {
    for (int row = 0; row < request->batch; row++)
      row_tokens[row] = from[step];
    status = backend->set_tokens(state, row_tokens);
    if (status == DECODE_OK)
      status = step == 0 ? backend->run(state, 1) : backend->prefill(state, &prompt);
  }
  return status;
}

// The largest distance between two results' rows, which all had the same prompt.
static double largest_distance(const float *a, const float *b, int rows, int vocab) {
  double largest = 0;
  for (int row = 0; row < rows; row++) {
    const size_t first = (size_t)row * (size_t)vocab;
    largest = fmax(largest, distance(a + first, b + first, vocab));
  }
  return largest;
}

// Token by token, then in chunks, in one state.
static enum decode_status compare_ways(const struct decode_backend *backend,
                                       struct decode_state *state,
                                       const struct decode_request *request, const int *tokens,
                                       struct prefill_verdict *out, struct arena *arena) {
  const size_t rows = (size_t)request->batch, logits = rows * (size_t)out->vocab;
  float *decoded = arena_array(arena, logits, sizeof *decoded);
  float *prefilled = arena_array(arena, logits, sizeof *prefilled);
  int *row_tokens = arena_array(arena, rows, sizeof *row_tokens);
  enum decode_status status =
      decode_prompt(backend, state, tokens, out->positions, row_tokens, request->batch);
  if (status == DECODE_OK)
    status = backend->logits(state, decoded);
  if (status == DECODE_OK)
    status = take_prompt(backend, state, tokens, out->positions, request->chunk);
  if (status == DECODE_OK)
    status = backend->logits(state, prefilled);
  if (status != DECODE_OK)
    return status;
  out->error = distance(prefilled, decoded, out->vocab);
  if (request->batch < 2 || request->routing != ROUTING_MODEL)
    return DECODE_OK;
  status = repeat_beside(backend, state, request, tokens, out->positions, row_tokens);
  if (status == DECODE_UNSUPPORTED)
    return DECODE_OK;
  if (status == DECODE_OK)
    status = backend->logits(state, prefilled);
  out->compared = request->batch;
  out->error = fmax(out->error, largest_distance(prefilled, decoded, request->batch, out->vocab));
  return status;
}

// A chunk as long as those that are timed, and the same positions in short ones. Experts come from
// a table, as a router's outputs nearly tie.
static enum decode_status compare_lengths(const struct protocol *protocol,
                                          const struct decode_request *asked, int longest,
                                          struct prefill_verdict *out) {
  const struct decode_backend *backend = protocol->device->backend;
  const size_t logits = (size_t)asked->batch * (size_t)out->vocab;
  float *shortly = arena_array(protocol->arena, logits, sizeof *shortly);
  float *at_once = arena_array(protocol->arena, logits, sizeof *at_once);
  const int *tokens = prompt_tokens(protocol, longest, out->vocab);
  struct decode_request request = *asked;
  enum decode_status status;
  request.chunk = longest;
  if (request.shape.experts.count > 0 && request.routing == ROUTING_MODEL)
    request.routing = ROUTING_UNIFORM;
  struct decode_state *state = backend->create(protocol->device->index, &request, &status);
  if (!state)
    return status;
  const int shorter = longest > SHORT_CHUNK ? SHORT_CHUNK : out->chunk;
  status = take_prompt(backend, state, tokens, longest, shorter);
  if (status == DECODE_OK)
    status = backend->logits(state, shortly);
  if (status == DECODE_OK)
    status = take_prompt(backend, state, tokens, longest, longest);
  if (status == DECODE_OK)
    status = backend->logits(state, at_once);
  backend->destroy(state);
  out->longest = longest;
  out->error = fmax(out->error, distance(at_once, shortly, out->vocab));
  return status;
}

enum decode_status prefill_verify(const struct protocol *protocol, const struct trial *trial,
                                  struct prefill_verdict *out) {
  const struct decode_backend *backend = protocol->device->backend;
  const struct decode_request whole = trial_request(trial, trial_deepest(trial));
  struct decode_request request = verify_plan(&whole).request;
  const int count = least(VERIFIED_POSITIONS, request.context);
  request.chunk = least(VERIFIED_CHUNK, least(whole.chunk, count));
  *out = (struct prefill_verdict){
      .layers = request.shape.layers,
      .rows = request.batch,
      .positions = count,
      .chunk = request.chunk,
      .longest = request.chunk,
      .vocab = request.shape.vocab,
      .compared = 1,
      .tolerance = reference_tolerance(&request.types),
  };
  enum decode_status status;
  struct decode_state *state = backend->create(protocol->device->index, &request, &status);
  if (!state)
    return status;
  const int *tokens = prompt_tokens(protocol, count, out->vocab);
  status = compare_ways(backend, state, &request, tokens, out, protocol->arena);
  backend->destroy(state);
  const int longest = least(whole.chunk, request.context);
  if (status == DECODE_OK && longest > request.chunk && !*protocol->stop)
    status = compare_lengths(protocol, &request, longest, out);
  out->passed = out->error <= out->tolerance;
  return status;
}

// ---- prompts alone

// A product counts two for each weight and position, the head for the last position only; attention
// counts what each position sees.
double prefill_operations(const struct device *device, const struct decode_request *asked,
                          int count) {
  struct decode_request request = *asked;
  const struct share share = {&request.shape, &request.types, 0, request.ranks};
  const struct decode_shape shape = share_shape(&share);
  const double head = 2.0 * shape.vocab * shape.hidden;
  struct decode_cost cost = {0};
  double seen = 0, whole = 0;
  request.batch = 1;
  device->backend->cost(device->index, &request, &cost);
  for (int layer = 0; layer < shape.layers; layer++) {
    const int window = family_layer(&shape, layer).window;
    const double most = window > 0 ? window : request.context;
    const double rising = fmin(count, most); // positions that see everything before them
    whole += fmin(request.context, most);
    seen += rising * (rising + 1) / 2 + (count - rising) * most;
  }
  // A query head's operations for one position: its score, and its part of the sum (decode.h).
  const double score = shape.latent.rank > 0
                           ? 2.0 * shape.heads * (2 * shape.latent.rank + shape.latent.rope_dim)
                           : 4.0 * shape.heads * shape.head_dim;
  return count * ((double)cost.operations - whole * score - head) + seen * score + head;
}

static void keep(const struct protocol *protocol, double **samples, size_t *count, double value) {
  *samples = arena_room(protocol->arena, *samples, *count, sizeof **samples);
  (*samples)[(*count)++] = value;
}

static enum decode_status sample_prompt(const struct protocol *protocol, struct decode_state *state,
                                        const int *tokens, struct measurement_prefill *out) {
  const struct decode_backend *backend = protocol->device->backend;
  double *samples = NULL;
  size_t count = 0;
  enum decode_status status = // does what is done once for each size
      take_prompt(backend, state, tokens, out->positions, out->chunk);
  const double end = clock_now(protocol->clock) + protocol->time_s;
  while (status == DECODE_OK && !*protocol->stop &&
         (count < MIN_SAMPLES || clock_now(protocol->clock) < end)) {
    const double start = clock_now(protocol->clock);
    status = take_prompt(backend, state, tokens, out->positions, out->chunk);
    keep(protocol, &samples, &count, clock_now(protocol->clock) - start);
  }
  if (count == 0)
    return status; // stopped, or failed
  out->samples = samples;
  out->sample_count = count;
  timing_tell_prompt(out, protocol->arena);
  return status;
}

// One prompt after another under the device's meter.
static enum decode_status meter_prompt(const struct protocol *protocol, struct decode_state *state,
                                       const int *tokens, struct measurement_prefill *out) {
  const struct decode_backend *backend = protocol->device->backend;
  enum decode_status status = DECODE_OK;
  out->load_power_w = out->joules_per_token = out->window_tokens_per_s = NAN;
  if (!protocol->meter || !protocol->meter->kind || *protocol->meter->why)
    return DECODE_OK;
  struct arena chunks = {NULL};
  struct pace prompts = {.units = out->positions, .arena = &chunks};
  struct energy_watch watch = protocol_watch(protocol);
  watch.on_thread = protocol->on_thread;
  if (energy_watch_start(&watch))
    return DECODE_OK;
  while (status == DECODE_OK && !energy_watch_is_over(&watch) && !*protocol->stop) {
    const double start_s = clock_now(protocol->clock);
    status = take_prompt(backend, state, tokens, out->positions, out->chunk);
    pace_keep(&prompts, start_s, clock_now(protocol->clock));
  }
  energy_watch_stop(&watch);
  out->load_power_w = watch.use.power_w;
  out->window_tokens_per_s = pace_in(&prompts, watch.use.start_s, watch.use.end_s);
  out->joules_per_token = watch.use.power_w / out->window_tokens_per_s;
  arena_free(&chunks);
  return status;
}

// ---- a chunk together with steps

static double median_of(const double *samples) {
  double sorted[MIXED_SAMPLES];
  return summarise(samples, MIXED_SAMPLES, sorted).median;
}

// Steps alone, the chunk alone and both in one pass, in turn, so that a machine that slows down
// slows all three.
static enum decode_status measure_mixed(const struct protocol *protocol, struct decode_state *state,
                                        const int *tokens, struct measurement_mixed *out) {
  const struct decode_backend *backend = protocol->device->backend;
  const struct clock *clock = protocol->clock;
  struct decode_prompt prompt = {.count = out->chunk, .tokens = tokens};
  double steps[MIXED_SAMPLES], alone[MIXED_SAMPLES], mixed[MIXED_SAMPLES];
  enum decode_status status = DECODE_OK;
  for (int i = -1; i < MIXED_SAMPLES && status == DECODE_OK; i++) { // -1 warms up
    const double start = clock_now(clock);
    status = backend->run(state, 1);
    const double stepped = clock_now(clock);
    prompt.beside = false;
    if (status == DECODE_OK)
      status = backend->prefill(state, &prompt);
    const double taken = clock_now(clock);
    prompt.beside = true;
    if (status == DECODE_OK)
      status = backend->prefill(state, &prompt);
    if (i < 0)
      continue;
    steps[i] = stepped - start;
    alone[i] = taken - stepped;
    mixed[i] = clock_now(clock) - taken;
  }
  if (status != DECODE_OK)
    return status;
  out->steps_s = median_of(steps);
  out->chunk_s = median_of(alone);
  out->mixed_s = median_of(mixed);
  out->sum_error = (out->steps_s + out->chunk_s) / out->mixed_s - 1;
  return DECODE_OK;
}

static enum decode_status measure_all_mixed(const struct protocol *protocol,
                                            const struct trial *trial, struct decode_state *state,
                                            const int *tokens, struct measurement *out) {
  enum { PARTS = sizeof mixed_parts / sizeof mixed_parts[0] };
  const int chunk = trial_request(trial, trial_deepest(trial)).chunk;
  struct measurement_mixed *mixed = arena_array(protocol->arena, PARTS, sizeof *mixed);
  enum decode_status status = DECODE_OK;
  out->mixed = mixed;
  for (size_t i = 0; i < PARTS && chunk >= mixed_parts[i] && status == DECODE_OK; i++) {
    if (*protocol->stop)
      break;
    mixed[i] =
        (struct measurement_mixed){.rows = trial->batch - 1, .chunk = chunk / mixed_parts[i]};
    status = measure_mixed(protocol, state, tokens, &mixed[i]);
    if (status == DECODE_UNSUPPORTED) // the backend takes no steps together with a prompt
      return DECODE_OK;
    out->mixed_count += status == DECODE_OK;
  }
  return status;
}

enum decode_status prefill_measure(const struct protocol *protocol, const struct trial *trial,
                                   struct decode_state *state, struct measurement *out) {
  const struct decode_backend *backend = protocol->device->backend;
  const struct decode_request request = trial_request(trial, trial_deepest(trial));
  struct measurement_prefill *list =
      arena_array(protocol->arena, trial->prefill_count, sizeof *list);
  const int *tokens = prompt_tokens(protocol, request.context, request.shape.vocab);
  double rate;
  enum decode_status status =
      backend->matrix_rate(protocol->device->index, &request.types, request.threads, &rate);
  if (status != DECODE_OK)
    rate = NAN;
  status = DECODE_OK;
  out->prefills = list;
  for (size_t i = 0; i < trial->prefill_count && status == DECODE_OK && !*protocol->stop; i++) {
    struct measurement_prefill *prefill = &list[i];
    *prefill = (struct measurement_prefill){.positions = trial->prefills[i],
                                            .chunk = least(request.chunk, trial->prefills[i]),
                                            .matrix_rate = rate};
    protocol_say(protocol, trial_text(trial, protocol->arena),
                 arena_printf(protocol->arena, "prefill of %d", prefill->positions));
    status = sample_prompt(protocol, state, tokens, prefill);
    if (status == DECODE_OK)
      status = meter_prompt(protocol, state, tokens, prefill);
    // Asked after the products, because a library may turn out not to take one of them.
    prefill->library = arena_copy(protocol->arena, backend->prefill_library(state));
    prefill->matrix_share = prefill_operations(protocol->device, &request, prefill->positions) /
                            prefill->seconds / rate;
    out->prefill_count += status == DECODE_OK;
  }
  if (status == DECODE_OK && trial->batch > 1 && !*protocol->stop)
    status = measure_all_mixed(protocol, trial, state, tokens, out);
  return status;
}
