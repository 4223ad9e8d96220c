#include "probe/measure/together.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "kernels/decode.h"
#include "probe/devices/device.h"
#include "probe/measure/energy_watch.h"
#include "probe/measure/pace.h"
#include "probe/measure/trial.h"
#include "probe/meters/telemetry.h"
#include "probe/meters/wall.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

static const double chunk_s = 0.1;
static const double warm_s = 2; // without a soak
static const double look_s = 0.05;

struct decoder {
  const struct clock *clock;
  const struct device *device;
  const char *variant;
  struct decode_state *state;
  int steps; // of a chunk
  atomic_bool *over;
  struct pace pace;
  atomic_bool warm; // a first chunk is done
  enum decode_status status;
  const char *why; // of a failure: the backend keeps its words per thread
  struct arena arena;
  pthread_t thread;
};

static void *work(void *argument) {
  struct decoder *decoder = argument;
  while (decoder->status == DECODE_OK && !atomic_load(decoder->over)) {
    const double start_s = clock_now(decoder->clock);
    decoder->status = decoder->device->backend->run(decoder->state, decoder->steps);
    if (decoder->status == DECODE_OK)
      pace_keep(&decoder->pace, start_s, clock_now(decoder->clock));
    atomic_store(&decoder->warm, true);
  }
  if (decoder->status != DECODE_OK)
    decoder->why = device_failure(decoder->device->backend, decoder->status, &decoder->arena);
  return NULL;
}

// ---- the devices

struct group {
  const struct protocol *protocol;
  const struct trial *trial;
  struct decoder *decoders;
  size_t count, started;
  atomic_bool over;
};

static enum protocol_outcome fail(const struct group *group, const struct device *device,
                                  const char *why) {
  struct diagnostics *diagnostics = group->protocol->diagnostics;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "%s on %zu devices at once: %s:%d: %s",
                    trial_text(group->trial, diagnostics->arena), group->count,
                    device->backend->name, device->index, why);
  return PROTOCOL_FAILED;
}

static enum protocol_outcome load_models(const struct group *group) {
  const struct trial *trial = group->trial;
  struct decode_request request = trial_request(trial, trial_deepest(trial));
  for (size_t i = 0; i < group->count && !*group->protocol->stop; i++) {
    struct decoder *decoder = &group->decoders[i];
    const struct decode_backend *backend = decoder->device->backend;
    request.variant = decoder->variant;
    decoder->state = backend->create(decoder->device->index, &request, &decoder->status);
    if (!decoder->state)
      return fail(group, decoder->device,
                  device_failure(backend, decoder->status, group->protocol->arena));
  }
  return *group->protocol->stop ? PROTOCOL_STOPPED : PROTOCOL_DONE;
}

static enum protocol_outcome start(struct group *group) {
  for (; group->started < group->count; group->started++) {
    struct decoder *decoder = &group->decoders[group->started];
    if (pthread_create(&decoder->thread, NULL, work, decoder))
      return fail(group, decoder->device, "no thread could be started");
  }
  return PROTOCOL_DONE;
}

static void stop(struct group *group) {
  atomic_store(&group->over, true);
  for (size_t i = 0; i < group->started; i++)
    pthread_join(group->decoders[i].thread, NULL);
}

// Frees everything; the first device that failed is reported.
static enum protocol_outcome dismiss(struct group *group, enum protocol_outcome outcome) {
  for (size_t i = 0; i < group->count; i++) {
    struct decoder *decoder = &group->decoders[i];
    if (outcome == PROTOCOL_DONE && decoder->status != DECODE_OK)
      outcome = fail(group, decoder->device, decoder->why);
    if (decoder->state)
      decoder->device->backend->destroy(decoder->state);
    arena_free(&decoder->arena);
  }
  return outcome;
}

// ---- the window

static bool all_warm(const struct group *group) {
  for (size_t i = 0; i < group->count; i++)
    if (!atomic_load(&group->decoders[i].warm))
      return false;
  return true;
}

static void warm_up(const struct group *group) {
  const struct protocol *protocol = group->protocol;
  const double end_s = clock_now(protocol->clock) + fmax(warm_s, protocol->soak_s);
  while (!*protocol->stop && (!all_warm(group) || clock_now(protocol->clock) < end_s))
    clock_sleep(protocol->clock, look_s);
}

// Wall power is asked for once, halfway.
struct asking {
  const struct wall_options *options;
  struct wall wall;
  double middle_s; // of the clock
  bool begun;
};

static void ask_wall(struct asking *asking, double now_s) {
  if (asking->begun || now_s < asking->middle_s || !wall_is_to_be_asked(asking->options))
    return;
  wall_ask(&asking->wall, asking->options);
  asking->begun = true;
}

static double wall_power(struct asking *asking, struct arena *arena) {
  if (asking->begun)
    return wall_answer(&asking->wall, WALL_LIMIT_S, arena).watts;
  return asking->options ? asking->options->typed_w : NAN;
}

// Meters for energy_s, from the edge of the counter at which the watch begins, or from now.
static void watch(const struct group *group, struct together *out, double *start_s, double *end_s) {
  const struct protocol *protocol = group->protocol;
  struct energy_watch watch = protocol_watch(protocol);
  const bool watched = !energy_watch_start(&watch);
  bool over;
  *start_s = clock_now(protocol->clock);
  struct asking asking = {.options = protocol->wall, .middle_s = *start_s + protocol->energy_s / 2};
  do {
    clock_sleep(protocol->clock, look_s);
    over = !watched || energy_watch_is_over(&watch);
    *end_s = clock_now(protocol->clock);
    ask_wall(&asking, *end_s);
  } while (!*protocol->stop && (!over || *end_s - *start_s < protocol->energy_s));
  if (watched)
    energy_watch_stop(&watch);
  out->load_power_w = watched ? watch.use.power_w : NAN;
  out->host_load_power_w = watched ? watch.host_use.power_w : NAN;
  out->telemetry =
      watched
          ? telemetry_sums(protocol->telemetry, protocol->telemetry_count, protocol->arena)
          : telemetry_unwatched(protocol->telemetry, protocol->telemetry_count, protocol->arena);
  out->wall_power_w = wall_power(&asking, protocol->arena);
}

static void tell(const struct group *group, double start_s, double end_s, struct together *out) {
  out->window_s = end_s - start_s;
  out->total = 0;
  for (size_t i = 0; i < group->count; i++) {
    const double rate = group->trial->batch * pace_in(&group->decoders[i].pace, start_s, end_s);
    out->tokens_per_s[i] = rate;
    out->total += rate;
    out->slowest = i ? fmin(out->slowest, rate) : rate;
    out->fastest = i ? fmax(out->fastest, rate) : rate;
  }
}

enum protocol_outcome together_measure(const struct protocol *protocol,
                                       const struct device *devices, size_t count,
                                       const struct trial *trial, struct measurement *const *alone,
                                       struct together *out) {
  struct group group = {.protocol = protocol,
                        .trial = trial,
                        .decoders = arena_array(protocol->arena, count, sizeof *group.decoders),
                        .count = count};
  double start_s = 0, end_s = 0;
  out->tokens_per_s = arena_array(protocol->arena, count, sizeof *out->tokens_per_s);
  for (size_t i = 0; i < count; i++) {
    struct decoder *decoder = &group.decoders[i];
    *decoder = (struct decoder){.clock = protocol->clock,
                                .device = &devices[i],
                                .variant = alone[i]->step_form.variant,
                                .steps = protocol_steps(chunk_s, alone[i]->step_seconds),
                                .over = &group.over};
    decoder->pace = (struct pace){.units = decoder->steps, .arena = &decoder->arena};
  }
  protocol_say(protocol, trial_text(trial, protocol->arena),
               arena_printf(protocol->arena, "%zu devices together", count));
  enum protocol_outcome outcome = load_models(&group);
  if (outcome == PROTOCOL_DONE)
    outcome = start(&group);
  if (outcome == PROTOCOL_DONE) {
    warm_up(&group);
    watch(&group, out, &start_s, &end_s);
    outcome = *protocol->stop ? PROTOCOL_STOPPED : PROTOCOL_DONE;
  }
  stop(&group);
  if (outcome == PROTOCOL_DONE)
    tell(&group, start_s, end_s, out);
  return dismiss(&group, outcome);
}
