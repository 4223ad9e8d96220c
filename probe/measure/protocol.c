#include "probe/measure/protocol.h"

#include "base/clock.h"
#include "base/source.h"

#include <math.h>

enum { MAX_STEPS = 200 };

static const double look_s = 0.1;

void protocol_use(struct protocol *protocol, struct meter_set *set) {
  protocol->meter = &set->device;
  protocol->host = &set->host;
  protocol->telemetry = set->telemetry;
  protocol->telemetry_count = set->telemetry_count;
}

void protocol_say(const struct protocol *protocol, const char *label, const char *what) {
  if (protocol->progress)
    protocol->progress(arena_printf(protocol->arena, "%s: %s", label, what));
}

enum protocol_outcome protocol_fail(const struct protocol *protocol, const struct trial *trial,
                                    const char *what, enum decode_status status) {
  struct diagnostics *diagnostics = protocol->diagnostics;
  diagnostics->machine_failed = diagnostics->machine_failed || status != DECODE_UNSUPPORTED;
  diagnostics_error(diagnostics, nowhere, "%s: %s: %s", trial_text(trial, diagnostics->arena), what,
                    device_failure(protocol->device->backend, status, diagnostics->arena));
  return PROTOCOL_FAILED;
}

int protocol_steps(double seconds, double step_s) {
  return (int)fmin(fmax(ceil(seconds / step_s), 1), MAX_STEPS);
}

struct energy_watch protocol_watch(const struct protocol *protocol) {
  return (struct energy_watch){
      .clock = protocol->clock,
      .meter = protocol->meter,
      .host = protocol->host,
      .telemetry = protocol->telemetry,
      .telemetry_count = protocol->telemetry_count,
      .seconds = protocol->energy_s,
      .arena = protocol->arena,
  };
}

void protocol_idle(struct protocol *protocol) {
  struct energy_watch watch = protocol_watch(protocol);
  watch.telemetry_count = 0;
  watch.seconds = PROTOCOL_ENERGY_S;
  const bool has_host = protocol->host && protocol->host->kind;
  protocol->idle_power_w = protocol->host_idle_power_w = NAN;
  protocol->idle_readings = (struct measurement_window){0};
  if (!protocol->meter->kind && !has_host)
    return;
  if (protocol->progress)
    protocol->progress("idle power");
  if (energy_watch_start(&watch))
    return;
  do {
    clock_sleep(protocol->clock, look_s);
  } while (!energy_watch_is_over(&watch) && !*protocol->stop);
  energy_watch_stop(&watch);
  protocol->idle_power_w = watch.use.power_w;
  protocol->idle_readings = watch.use.readings;
  protocol->host_idle_power_w = watch.host_use.power_w;
}
