#include "probe/measure/energy_load.h"

#include "base/arena.h"
#include "base/clock.h"
#include "kernels/decode.h"
#include "probe/measure/energy_watch.h"
#include "probe/measure/pace.h"
#include "probe/meters/meter.h"
#include "probe/meters/telemetry.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static const double chunk_s = 0.1;

struct load {
  const struct protocol *protocol;
  struct decode_state *state;
  int steps; // of a chunk
  const char *label;
  struct pace *pace; // of the chunks; NULL: nobody asks
};

struct energy_load energy_load_unknown(void) {
  return (struct energy_load){
      .use = energy_unknown,
      .host_use = energy_unknown,
      .wall = {"", NAN},
      .soak_s = NAN,
      .step_s = NAN,
  };
}

static enum decode_status run_chunk(const struct load *load) {
  const double start_s = clock_now(load->protocol->clock);
  const enum decode_status status = load->protocol->device->backend->run(load->state, load->steps);
  if (status == DECODE_OK && load->pace)
    pace_keep(load->pace, start_s, clock_now(load->protocol->clock));
  return status;
}

static bool is_there(const struct meter *meter) {
  return meter && meter->kind && !*meter->why;
}

static bool has_anything_to_watch(const struct protocol *protocol) {
  if (!(protocol->energy_s > 0))
    return false;
  for (size_t i = 0; i < protocol->telemetry_count; i++)
    if (protocol->telemetry[i].kind)
      return true;
  return is_there(protocol->meter) || is_there(protocol->host) ||
         (wall_is_to_be_asked(protocol->wall) && wall_can_be_asked(protocol->wall));
}

static void say(const struct load *load, const char *what, double seconds) {
  protocol_say(load->protocol, load->label,
               arena_printf(load->protocol->arena, "%s, %.0f s", what, seconds));
}

enum decode_status energy_load_soak(const struct protocol *protocol, struct decode_state *state,
                                    double step_s, const char *label, struct energy_load *out) {
  const struct load load = {protocol, state, protocol_steps(chunk_s, step_s), label, NULL};
  const double start = clock_now(protocol->clock);
  enum decode_status status = DECODE_OK;
  if (protocol->soak_s > 0)
    say(&load, "soaking", protocol->soak_s);
  out->soak_s = 0;
  while (status == DECODE_OK && out->soak_s < protocol->soak_s && !*protocol->stop) {
    status = run_chunk(&load);
    out->soak_s = clock_now(protocol->clock) - start;
  }
  return status;
}

// Runs chunks until the watch is over, and asks for wall power halfway.
static enum decode_status load_watched(const struct load *load, struct energy_watch *watch,
                                       struct wall *wall, bool *asked) {
  const struct protocol *protocol = load->protocol;
  const double middle = clock_now(protocol->clock) + protocol->energy_s / 2;
  enum decode_status status = DECODE_OK;
  while (status == DECODE_OK && !energy_watch_is_over(watch) && !*protocol->stop) {
    if (wall_is_to_be_asked(protocol->wall) && !*asked && clock_now(protocol->clock) >= middle) {
      wall_ask(wall, protocol->wall);
      *asked = true;
    }
    status = run_chunk(load);
  }
  return status;
}

// The machine's controller may answer after the watch is over: until then the load goes on.
static enum decode_status answer_under_load(const struct load *load, enum decode_status status,
                                            struct wall *wall, struct wall_reading *out) {
  const struct protocol *protocol = load->protocol;
  const double end_s = clock_now(protocol->clock) + WALL_LIMIT_S;
  while (status == DECODE_OK && !wall_has_answered(wall) && clock_now(protocol->clock) < end_s &&
         !*protocol->stop)
    status = run_chunk(load);
  *out = wall_answer(wall, WALL_LIMIT_S, protocol->arena);
  return status;
}

static enum decode_status meter_load(const struct load *load, struct energy_load *out) {
  const struct protocol *protocol = load->protocol;
  struct wall wall;
  bool asked = false;
  struct energy_watch watch = protocol_watch(protocol);
  watch.on_thread = protocol->on_thread;
  say(load, "energy", protocol->energy_s);
  enum decode_status status = run_chunk(load); // the watch begins under load
  if (status != DECODE_OK || energy_watch_start(&watch))
    return status;
  status = load_watched(load, &watch, &wall, &asked);
  energy_watch_stop(&watch);
  out->use = watch.use;
  out->host_use = watch.host_use;
  out->step_s = 1 / pace_in(load->pace, watch.use.start_s, watch.use.end_s);
  out->telemetry = telemetry_sums(protocol->telemetry, protocol->telemetry_count, protocol->arena);
  return asked ? answer_under_load(load, status, &wall, &out->wall) : status;
}

enum decode_status energy_load_run(const struct protocol *protocol, struct decode_state *state,
                                   double step_s, const char *label, struct energy_load *out) {
  const int steps = protocol_steps(chunk_s, step_s);
  struct arena chunks = {NULL}; // the watch has the protocol's
  struct pace pace = {.units = steps, .arena = &chunks};
  const struct load load = {protocol, state, steps, label, &pace};
  out->telemetry =
      telemetry_unwatched(protocol->telemetry, protocol->telemetry_count, protocol->arena);
  if (protocol->wall && !wall_is_to_be_asked(protocol->wall))
    out->wall = wall_typed(protocol->wall, protocol->arena);
  if (!has_anything_to_watch(protocol))
    return DECODE_OK;
  const enum decode_status status = meter_load(&load, out);
  arena_free(&chunks);
  return status;
}
