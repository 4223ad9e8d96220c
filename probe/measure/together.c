#include "probe/measure/together.h"

#include "probe/measure/energy_watch.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static const double chunk_s = 0.1;
static const double warm_s = 2;
static const double look_s = 0.05;
enum { MOST_STEPS = 200 };

static const struct place nowhere = {0};

// A call of the backend, and how long it took.
struct chunk {
  double start_s, end_s;
};

struct worker {
  const struct clock *clock;
  const struct device *device;
  struct decode_state *state;
  int steps; // of a chunk
  atomic_bool *over;
  struct chunk *chunks;
  size_t count, capacity;
  atomic_bool warm; // a first chunk is done
  enum decode_status status;
  const char *why; // of a failure: the backend keeps its words for each thread
  struct arena arena;
  pthread_t thread;
};

static bool keep(struct worker *worker, double start_s, double end_s) {
  if (worker->count == worker->capacity) {
    const size_t capacity = worker->capacity ? 2 * worker->capacity : 256;
    struct chunk *chunks = realloc(worker->chunks, capacity * sizeof *chunks);
    if (!chunks)
      return false;
    worker->chunks = chunks;
    worker->capacity = capacity;
  }
  worker->chunks[worker->count++] = (struct chunk){start_s, end_s};
  return true;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  while (worker->status == DECODE_OK && !atomic_load(worker->over)) {
    const double start_s = clock_now(worker->clock);
    worker->status = worker->device->backend->run(worker->state, worker->steps);
    if (worker->status == DECODE_OK && !keep(worker, start_s, clock_now(worker->clock)))
      worker->status = DECODE_NO_MEMORY;
    atomic_store(&worker->warm, true);
  }
  if (worker->status != DECODE_OK)
    worker->why = device_failure(worker->device->backend, worker->status, &worker->arena);
  return NULL;
}

// Of a device in the window: chunks that lie in it in part count in part.
static double rate_in(const struct worker *worker, int batch, double start_s, double end_s) {
  double steps = 0;
  for (size_t i = 0; i < worker->count; i++) {
    const struct chunk *chunk = &worker->chunks[i];
    const double inside = fmin(chunk->end_s, end_s) - fmax(chunk->start_s, start_s);
    if (inside > 0)
      steps += worker->steps * inside / (chunk->end_s - chunk->start_s);
  }
  return batch * steps / (end_s - start_s);
}

// ---- the devices

struct crew {
  const struct protocol *protocol;
  const struct workload *workload;
  struct worker *workers;
  size_t count, started;
  atomic_bool over;
};

static enum protocol_outcome fail(const struct crew *crew, const struct device *device,
                                  const char *why) {
  struct diagnostics *diagnostics = crew->protocol->diagnostics;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "%s on %zu devices at once: %s:%d: %s",
                    workload_text(crew->workload, diagnostics->arena), crew->count,
                    device->backend->name, device->index, why);
  return PROTOCOL_FAILED;
}

static enum protocol_outcome load_models(const struct crew *crew) {
  const struct workload *workload = crew->workload;
  const struct decode_request request =
      workload_request(workload, workload->layers[workload->layer_count - 1]);
  for (size_t i = 0; i < crew->count && !*crew->protocol->stop; i++) {
    struct worker *worker = &crew->workers[i];
    const struct decode_backend *backend = worker->device->backend;
    worker->state = backend->create(worker->device->index, &request, &worker->status);
    if (!worker->state)
      return fail(crew, worker->device,
                  device_failure(backend, worker->status, crew->protocol->arena));
  }
  return *crew->protocol->stop ? PROTOCOL_STOPPED : PROTOCOL_DONE;
}

static enum protocol_outcome start(struct crew *crew) {
  for (; crew->started < crew->count; crew->started++) {
    struct worker *worker = &crew->workers[crew->started];
    if (pthread_create(&worker->thread, NULL, work, worker))
      return fail(crew, worker->device, "no thread could be started");
  }
  return PROTOCOL_DONE;
}

static void stop(struct crew *crew) {
  atomic_store(&crew->over, true);
  for (size_t i = 0; i < crew->started; i++)
    pthread_join(crew->workers[i].thread, NULL);
}

// Frees all that the load took; the first failure of a device is reported.
static enum protocol_outcome dismiss(struct crew *crew, enum protocol_outcome outcome) {
  for (size_t i = 0; i < crew->count; i++) {
    struct worker *worker = &crew->workers[i];
    if (outcome == PROTOCOL_DONE && worker->status != DECODE_OK)
      outcome = fail(crew, worker->device, worker->why);
    if (worker->state)
      worker->device->backend->destroy(worker->state);
    free(worker->chunks);
    arena_free(&worker->arena);
  }
  return outcome;
}

// ---- the window

static bool all_warm(const struct crew *crew) {
  for (size_t i = 0; i < crew->count; i++)
    if (!atomic_load(&crew->workers[i].warm))
      return false;
  return true;
}

static void warm_up(const struct crew *crew) {
  const struct protocol *protocol = crew->protocol;
  const double end_s = clock_now(protocol->clock) + warm_s;
  while (!*protocol->stop && (!all_warm(crew) || clock_now(protocol->clock) < end_s))
    clock_sleep(protocol->clock, look_s);
}

// From the edge of the counter that the watch began at, or from now, for energy_s.
static void watch(const struct crew *crew, struct together *out, double *start_s, double *end_s) {
  const struct protocol *protocol = crew->protocol;
  struct energy_watch watch = {.clock = protocol->clock,
                               .meter = protocol->meter,
                               .host = protocol->host,
                               .telemetry = protocol->telemetry,
                               .telemetry_count = protocol->telemetry_count,
                               .seconds = protocol->energy_s,
                               .arena = protocol->arena};
  const bool watched = !energy_watch_start(&watch);
  bool over;
  *start_s = clock_now(protocol->clock);
  do {
    clock_sleep(protocol->clock, look_s);
    over = !watched || energy_watch_is_over(&watch);
    *end_s = clock_now(protocol->clock);
  } while (!*protocol->stop && (!over || *end_s - *start_s < protocol->energy_s));
  out->load_power_w = out->host_load_power_w = NAN;
  out->telemetry =
      telemetry_unwatched(protocol->telemetry, protocol->telemetry_count, protocol->arena);
  if (!watched)
    return;
  energy_watch_stop(&watch);
  out->load_power_w = watch.use.power_w;
  out->host_load_power_w = watch.host_use.power_w;
  out->telemetry = telemetry_sums(protocol->telemetry, protocol->telemetry_count, protocol->arena);
}

static void tell(const struct crew *crew, double start_s, double end_s, struct together *out) {
  out->window_s = end_s - start_s;
  out->total = 0;
  for (size_t i = 0; i < crew->count; i++) {
    const double rate = rate_in(&crew->workers[i], crew->workload->batch, start_s, end_s);
    out->tokens_per_s[i] = rate;
    out->total += rate;
    out->slowest = i ? fmin(out->slowest, rate) : rate;
    out->fastest = i ? fmax(out->fastest, rate) : rate;
  }
}

static int steps_for(double step_s) {
  const double steps = ceil(chunk_s / step_s);
  return steps < 1 ? 1 : steps > MOST_STEPS ? MOST_STEPS : (int)steps;
}

enum protocol_outcome together_measure(const struct protocol *protocol,
                                       const struct device *devices, size_t count,
                                       const struct workload *workload, const double *step_s,
                                       struct together *out) {
  struct crew crew = {.protocol = protocol,
                      .workload = workload,
                      .workers = arena_array(protocol->arena, count, sizeof *crew.workers),
                      .count = count};
  double start_s = 0, end_s = 0;
  out->tokens_per_s = arena_array(protocol->arena, count, sizeof *out->tokens_per_s);
  for (size_t i = 0; i < count; i++)
    crew.workers[i] = (struct worker){.clock = protocol->clock,
                                      .device = &devices[i],
                                      .steps = steps_for(step_s[i]),
                                      .over = &crew.over};
  if (protocol->progress)
    protocol->progress(arena_printf(protocol->arena, "%s: %zu devices together",
                                    workload_text(workload, protocol->arena), count));
  enum protocol_outcome outcome = load_models(&crew);
  if (outcome == PROTOCOL_DONE)
    outcome = start(&crew);
  if (outcome == PROTOCOL_DONE) {
    warm_up(&crew);
    watch(&crew, out, &start_s, &end_s);
    outcome = *protocol->stop ? PROTOCOL_STOPPED : PROTOCOL_DONE;
  }
  stop(&crew);
  if (outcome == PROTOCOL_DONE)
    tell(&crew, start_s, end_s, out);
  return dismiss(&crew, outcome);
}
