#include "probe/measure/power_log.h"

#include "base/arena.h"
#include "base/clock.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"
#include "probe/meters/accelerators.h"
#include "probe/meters/telemetry.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

struct logged {
  struct meter meter;
  const char *name, *index;
  const char *const *devices; // [1] of meter
  double power_limit_w;
};

struct power_log {
  struct logged *list; // [count]
  size_t count;
  const char *meters;
  double every_s;
  const struct clock *clock;
  const char *host;
  struct clock_state started;
  double utc_offset_s; // of the clock

  pthread_t thread;
  atomic_bool is_stopped;
  pthread_mutex_t lock; // protects what follows, and the meters
  struct arena own;     // the thread's
  struct power_series series;
};

// ---- which devices

static struct logged *add_logged(struct power_log *log, const char *name) {
  log->list = arena_room(&log->own, log->list, log->count, sizeof *log->list);
  struct logged *logged = &log->list[log->count++];
  *logged = (struct logged){.name = name, .index = "", .power_limit_w = NAN};
  return logged;
}

static void add_accelerator(struct power_log *log, const struct accelerator_found *found,
                            size_t which) {
  const struct accelerator_found *one = &found[which];
  const char **devices = arena_array(&log->own, 1, sizeof *devices);
  struct logged *logged = add_logged(log, *one->uuid ? one->uuid : one->pci);
  devices[0] = one->pci;
  logged->devices = devices;
  logged->index = arena_printf(&log->own, "%zu", which);
}

static const struct accelerator_found *look_up(const struct accelerator_found *found, size_t count,
                                               const char *name) {
  char *end;
  errno = 0;
  const unsigned long number = strtoul(name, &end, 10);
  for (size_t i = 0; i < count; i++)
    if (!strcmp(found[i].pci, name) || !strcmp(found[i].uuid, name))
      return &found[i];
  const bool is_number = *name >= '0' && *name <= '9' && !*end && !errno;
  return is_number && number < count ? &found[number] : NULL;
}

static const char *choose_named(struct power_log *log, const char *names,
                                const struct accelerator_found *found, size_t count) {
  char *rest = arena_copy(&log->own, names);
  for (const char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
    const struct accelerator_found *one = look_up(found, count, name);
    if (!one)
      return arena_printf(&log->own, "no device '%s' among the %zu accelerators of this machine",
                          name, count);
    for (size_t i = 0; i < log->count; i++)
      if (!strcmp(log->list[i].devices[0], one->pci))
        return arena_printf(&log->own, "device '%s' is named twice", name);
    add_accelerator(log, found, (size_t)(one - found));
  }
  return NULL;
}

static const char *choose(struct power_log *log, const struct power_log_request *request) {
  size_t count = 0;
  const bool all = !strcmp(request->devices, "all"), cpu = !strcmp(request->devices, "cpu");
  const struct accelerator_found *found =
      cpu ? NULL : accelerators_find(request->roots, &count, &log->own);
  if (!all && !cpu)
    return choose_named(log, request->devices, found, count);
  for (size_t i = 0; i < count; i++)
    add_accelerator(log, found, i);
  if (!count)
    add_logged(log, "CPU packages");
  return NULL;
}

// ---- their meters

static double power_limit_of(const char *pci, const struct power_log_request *request,
                             struct arena *arena) {
  struct telemetry telemetry;
  telemetry_open(&telemetry, pci, request->roots, request->clock, arena);
  const double limit_w = telemetry.state.power_limit_w;
  telemetry_close(&telemetry);
  return limit_w;
}

static const char *open_meter(struct power_log *log, struct logged *logged,
                              const struct power_log_request *request) {
  struct arena *arena = &log->own;
  if (logged->devices) {
    meter_open_devices(&logged->meter, logged->devices, 1, request->roots, request->clock, arena);
    logged->power_limit_w = power_limit_of(logged->devices[0], request, arena);
  } else {
    meter_open(&logged->meter, request->roots, request->clock, arena);
  }
  const char *pci = logged->devices && strcmp(logged->devices[0], logged->name) != 0
                        ? arena_printf(arena, " (%s)", logged->devices[0])
                        : "";
  log->meters = arena_printf(arena, "%s%s%s%s: %s", log->meters, *log->meters ? "; " : "",
                             logged->name, pci, logged->meter.name);
  return logged->meter.kind
             ? NULL
             : arena_printf(arena, "no meter of %s%s: %s", logged->name, pci, logged->meter.why);
}

// A second die whose first has a track of its own has none: the watts are the same.
static bool is_covered(const struct power_log *log, size_t which) {
  const char *by = log->list[which].meter.covered_by;
  for (size_t i = 0; by && i < log->count; i++)
    if (i != which && !strcmp(log->list[i].devices[0], by))
      return true;
  return false;
}

static void drop(struct power_log *log, size_t which) {
  meter_close(&log->list[which].meter);
  log->count--;
  memmove(&log->list[which], &log->list[which + 1], (log->count - which) * sizeof log->list[which]);
}

static const char *open_meters(struct power_log *log, const struct power_log_request *request) {
  const char *why = NULL;
  for (size_t i = 0; i < log->count && !why; i++) {
    why = open_meter(log, &log->list[i], request);
    if (!why && is_covered(log, i))
      drop(log, i--);
  }
  return why;
}

static void close_meters(struct power_log *log) {
  for (size_t i = 0; i < log->count; i++)
    meter_close(&log->list[i].meter);
}

// ---- readings

// The track of a meter that was lost simply ends.
static void read_one(struct power_log *log, struct logged *logged) {
  struct meter_reading reading;
  if (meter_read(&logged->meter, &reading) != METER_OK)
    return;
  const bool is_counted = isnan(logged->meter.integral.watts);
  power_series_add(&log->series, logged->name, reading.time_s + log->utc_offset_s, reading.watts,
                   is_counted ? reading.joules : NAN, &log->own);
  struct power_track *track = power_series_track(&log->series, logged->name);
  if (track) {
    track->index = logged->index;
    track->power_limit_w = logged->power_limit_w;
  }
}

static void *run(void *argument) {
  struct power_log *log = argument;
  while (!atomic_load(&log->is_stopped)) {
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->count; i++)
      read_one(log, &log->list[i]);
    pthread_mutex_unlock(&log->lock);
    clock_sleep(log->clock, log->every_s);
  }
  return NULL;
}

static const char *host_name(struct arena *arena) {
  struct utsname system;
  return uname(&system) ? "" : arena_copy(arena, system.nodename);
}

static const char *begin(struct power_log *log, const struct power_log_request *request) {
  const char *why = choose(log, request);
  if (!why)
    why = open_meters(log, request);
  log->started = clock_state_read();
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double monotonic_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  log->utc_offset_s = log->started.utc_minus_monotonic_s + monotonic_s - clock_now(request->clock);
  log->series = (struct power_series){
      .tool = "pertoken-probe meter", .covers = COVERS_ACCELERATORS, .host = log->host};
  if (!why && pthread_create(&log->thread, NULL, run, log))
    why = "no thread could be started";
  return why;
}

const char *power_log_start(const struct power_log_request *request, struct power_log **out,
                            struct arena *arena) {
  struct power_log *log = arena_alloc(arena, sizeof *log);
  *log = (struct power_log){.meters = "",
                            .every_s = request->every_s,
                            .clock = request->clock,
                            .host = host_name(arena),
                            .lock = PTHREAD_MUTEX_INITIALIZER};
  atomic_init(&log->is_stopped, false);
  const char *why = begin(log, request);
  *out = why ? NULL : log;
  if (!why)
    return NULL;
  close_meters(log);
  why = arena_copy(arena, why);
  arena_free(&log->own);
  return why;
}

void power_log_stop(struct power_log *log) {
  atomic_store(&log->is_stopped, true);
  pthread_join(log->thread, NULL);
  close_meters(log);
  arena_free(&log->own);
}

// ---- queries

struct power_series power_log_series(struct power_log *log, struct arena *arena) {
  pthread_mutex_lock(&log->lock);
  struct power_series series = log->series;
  series.tracks = arena_array(arena, series.count, sizeof *series.tracks);
  for (size_t i = 0; i < series.count; i++) {
    const struct power_track *from = &log->series.tracks[i];
    struct power_track *to = &series.tracks[i];
    *to = *from;
    to->name = arena_copy(arena, from->name);
    to->index = arena_copy(arena, from->index);
    to->time_s = arena_grow(arena, from->time_s, from->count, from->count, sizeof(double));
    to->power_w = arena_grow(arena, from->power_w, from->count, from->count, sizeof(double));
    to->energy_j = arena_grow(arena, from->energy_j, from->count, from->count, sizeof(double));
  }
  pthread_mutex_unlock(&log->lock);
  series.clock = log->started;
  series.clock_after = clock_state_read();
  return series;
}

const char *power_log_meters(const struct power_log *log) {
  return log->meters;
}

const char *power_log_trouble(struct power_log *log, struct arena *arena) {
  const char *trouble = "";
  pthread_mutex_lock(&log->lock);
  for (size_t i = 0; i < log->count; i++)
    if (*log->list[i].meter.why)
      trouble = arena_printf(arena, "%s%s%s: %s", trouble, *trouble ? "; " : "", log->list[i].name,
                             log->list[i].meter.why);
  pthread_mutex_unlock(&log->lock);
  return trouble;
}

// The latest watts of a device: the mean between the last two readings of a counter, or a sensor's
// value.
static double newest_watts(const struct power_track *track) {
  const size_t n = track->count;
  if (!n || !isnan(track->power_w[n - 1]))
    return n ? track->power_w[n - 1] : NAN;
  return n > 1 ? (track->energy_j[n - 1] - track->energy_j[n - 2]) /
                     (track->time_s[n - 1] - track->time_s[n - 2])
               : NAN;
}

double power_log_watts(struct power_log *log) {
  double watts = 0;
  pthread_mutex_lock(&log->lock);
  for (size_t i = 0; i < log->series.count; i++)
    watts += newest_watts(&log->series.tracks[i]);
  const bool is_known = log->series.count > 0;
  pthread_mutex_unlock(&log->lock);
  return is_known ? watts : NAN;
}

double power_log_utc(const struct power_log *log, double time_s) {
  return time_s + log->utc_offset_s;
}
