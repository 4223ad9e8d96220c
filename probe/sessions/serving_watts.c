#include "probe/sessions/serving_watts.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/records/url.h"
#include "model/telemetry/clock_state.h"
#include "model/telemetry/power_formats.h"
#include "model/telemetry/power_join.h"
#include "model/telemetry/power_read.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"
#include "probe/measure/power_log.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// A server under load draws at least this much more than before. If a port is forwarded to another
// host, its server appears to run here, but the load does not.
static const double least_rise = 0.03;

// A record's times are whole seconds.
static const double time_step_s = 1;

// ---- this host's own meters

static void start(struct serving_watts *watts) {
  watts->clock_before = clock_state_read();
  if (!url_is_of_this_host(watts->url) && !watts->devices) {
    watts->why = "the server runs on another host: run 'pertoken probe meter' there meanwhile, and "
                 "name its file with --power";
    return;
  }
  const bool is_cpu = !strcmp(watts->accelerator, "cpu");
  const struct power_log_request request = {.devices = watts->devices ? watts->devices
                                                       : is_cpu       ? "cpu"
                                                                      : "all",
                                            .every_s = POWER_LOG_EVERY_S,
                                            .roots = watts->roots,
                                            .clock = watts->clock};
  watts->why = power_log_start(&request, &watts->log, watts->arena);
  if (!watts->log)
    return;
  watts->idle_start_s = power_log_utc(watts->log, clock_now(watts->clock)) + 2 * POWER_LOG_EVERY_S;
  clock_sleep(watts->clock, SERVING_IDLE_S);
  // The load's first reading must not be interpolated into the idle window.
  watts->idle_end_s = power_log_utc(watts->log, clock_now(watts->clock)) - 2 * POWER_LOG_EVERY_S;
}

static void begin(void *context) {
  struct serving_watts *watts = context;
  if (!watts->log && !watts->why)
    start(watts);
}

// A result without power has how far off this host's clock may be, for joining power later.
static struct serving_power unmetered(const struct serving_watts *watts) {
  const struct clock_state now = clock_state_read();
  struct serving_power power = power_join_none(watts->why, watts->arena);
  power.clock_offset_s = clock_state_bound(&watts->clock_before, &now);
  return power;
}

static struct serving_power end(void *context, double from_s, double until_s, double utc_offset_s) {
  struct serving_watts *watts = context;
  (void)utc_offset_s; // the log's own offset goes with its readings
  if (!watts->log)
    return unmetered(watts);
  clock_sleep(watts->clock, 2 * POWER_LOG_EVERY_S); // a reading after the window's end
  const struct power_series series = power_log_series(watts->log, watts->arena);
  const struct power_join join = {.series = &series,
                                  .start_s = power_log_utc(watts->log, from_s),
                                  .end_s = power_log_utc(watts->log, until_s),
                                  .idle_start_s = watts->idle_start_s,
                                  .idle_end_s = watts->idle_end_s,
                                  .accelerators = watts->accelerators,
                                  .one_clock = true,
                                  .stated_offset_s = NAN};
  const struct serving_power power = power_join(&join, watts->arena);
  if (power.load_power_w < (1 + least_rise) * power.idle_power_w)
    return power_join_none(arena_printf(watts->arena,
                                        "this host draws %.4g W under load and %.4g W before it: "
                                        "the server seems to run elsewhere",
                                        power.load_power_w, power.idle_power_w),
                           watts->arena);
  return power;
}

struct rung_meter serving_watts_meter(struct serving_watts *watts) {
  return (struct rung_meter){watts, begin, end};
}

void serving_watts_stop(struct serving_watts *watts) {
  if (watts->log)
    power_log_stop(watts->log);
  watts->log = NULL;
}

// ---- another host's file

static struct clock_state state_of(double bound_s) {
  return (struct clock_state){.synchronised = !isnan(bound_s),
                              .max_error_s = bound_s + time_step_s,
                              .est_error_s = NAN,
                              .utc_minus_monotonic_s = 0};
}

static bool join_rung(struct serving_rung *rung, int accelerators,
                      const struct power_series *series, double offset_s, struct arena *arena) {
  struct power_join join = {.series = series,
                            .idle_start_s = NAN,
                            .idle_end_s = NAN,
                            .accelerators = accelerators,
                            .stated_offset_s = offset_s + time_step_s,
                            .clock = state_of(rung->power.clock_offset_s),
                            .clock_after = state_of(rung->power.clock_offset_s)};
  if (!utc_parse(rung->started, &join.start_s) || !utc_parse(rung->finished, &join.end_s))
    return false;
  const double own_bound_s = rung->power.clock_offset_s;
  rung->power = power_join(&join, arena);
  const bool has_watts = !isnan(rung->power.load_power_w);
  if (!has_watts) // another file may fit
    rung->power.clock_offset_s = own_bound_s;
  return has_watts;
}

int serving_watts_join(struct serving_record *record, const char *path, const char *devices,
                       double offset_s, struct arena *arena, struct diagnostics *diagnostics) {
  struct power_series *series = power_read(path, &power_read_nothing_said, arena, diagnostics);
  struct power_series chosen;
  int joined = 0;
  if (!series)
    return -1;
  const char *why = devices ? power_series_select(series, devices, &chosen, arena) : NULL;
  if (why) {
    diagnostics_error(diagnostics, (struct place){series->source, 0, 0}, "%s", why);
    return -1;
  }
  for (size_t i = 0; i < record->count; i++)
    if (!*record->rungs[i].refused && isnan(record->rungs[i].power.load_power_w))
      joined += join_rung(&record->rungs[i], record->accelerators, devices ? &chosen : series,
                          offset_s, arena);
  return joined;
}
