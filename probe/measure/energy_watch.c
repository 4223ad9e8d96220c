#include "probe/measure/energy_watch.h"

#include "base/clock.h"
#include "probe/meters/meter.h"

#include <stdbool.h>
#include <stddef.h>

static const double sample_every_s = 0.1;
static const double look_every_s = 0.25;

static bool has_kind(const struct meter *meter) {
  return meter && meter->kind;
}

static void look_at_all(const struct energy_watch *watch) {
  for (size_t i = 0; i < watch->telemetry_count; i++)
    telemetry_look(&watch->telemetry[i]);
}

static void begin(struct energy_watch *watch) {
  watch->has_host_window = has_kind(watch->host) &&
                           energy_start(&watch->host_window, watch->host, watch->arena) == METER_OK;
  watch->has_window = has_kind(watch->meter) &&
                      energy_start(&watch->window, watch->meter, watch->arena) == METER_OK;
  for (size_t i = 0; i < watch->telemetry_count; i++)
    telemetry_restart(&watch->telemetry[i]);
  look_at_all(watch);
  const double now_s = clock_now(watch->clock);
  watch->next_look_s = now_s + look_every_s;
  watch->end_s = now_s + watch->seconds;
}

// A device's meter that fails midway ends the watch: there will be no figure.
static void look(struct energy_watch *watch) {
  const double now_s = clock_now(watch->clock);
  if (watch->has_window && energy_sample(&watch->window) != METER_OK)
    watch->is_due = true;
  if (watch->has_host_window && energy_sample(&watch->host_window) != METER_OK)
    watch->has_host_window = false;
  if (now_s >= watch->next_look_s) {
    look_at_all(watch);
    watch->next_look_s = now_s + look_every_s;
  }
  if (now_s >= watch->end_s)
    watch->is_due = true;
}

static void end(struct energy_watch *watch) {
  look_at_all(watch);
  if (watch->has_window)
    watch->use = energy_stop(&watch->window);
  if (watch->has_host_window)
    watch->host_use = energy_stop(&watch->host_window);
}

static void *run(void *argument) {
  struct energy_watch *watch = argument;
  begin(watch);
  while (!watch->is_due && !atomic_load(&watch->is_stopped)) {
    clock_sleep(watch->clock, sample_every_s);
    look(watch);
  }
  end(watch);
  atomic_store(&watch->is_over, true);
  return NULL;
}

int energy_watch_start(struct energy_watch *watch) {
  atomic_init(&watch->is_over, false);
  atomic_init(&watch->is_stopped, false);
  watch->is_due = false;
  watch->use = watch->host_use = energy_unknown;
  if (watch->on_thread)
    return pthread_create(&watch->thread, NULL, run, watch) ? -1 : 0;
  begin(watch);
  return 0;
}

bool energy_watch_is_over(struct energy_watch *watch) {
  if (watch->on_thread)
    return atomic_load(&watch->is_over); // after the last edge, which is under load as well
  look(watch);
  return watch->is_due;
}

void energy_watch_stop(struct energy_watch *watch) {
  if (!watch->on_thread) {
    end(watch);
    return;
  }
  atomic_store(&watch->is_stopped, true);
  pthread_join(watch->thread, NULL);
}
