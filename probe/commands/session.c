#include "probe/commands/session.h"

#include "model/evidence/measurement_read.h"
#include "model/evidence/measurement_write.h"
#include "probe/commands/folder.h"
#include "probe/devices/model_shape.h"
#include "probe/devices/precision.h"
#include "probe/measure/environment.h"
#include "probe/measure/meter_set.h"
#include "probe/measure/together.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const struct place nowhere = {0};

// ---- what is to be measured

static int choose_layers(const struct session *session, const struct measurement_shape *model,
                         struct workload *workload) {
  const struct number_list *layers = &session->options->layers;
  workload->layer_count = layers->count ? layers->count : 1;
  workload->layers[0] = model->layers;
  for (size_t i = 0; i < layers->count; i++)
    workload->layers[i] = layers->values[i];
  const int deepest = workload->layers[workload->layer_count - 1];
  if (deepest <= model->layers)
    return 0;
  diagnostics_error(session->protocol.diagnostics, nowhere,
                    "%s has %d layers, --layers asks for %d", model->id, model->layers, deepest);
  return -1;
}

static int check_shard(const struct session *session, const struct measurement_shape *model) {
  const int ranks = session->rank_count ? (int)session->rank_count : session->options->shard.of;
  const char *what;
  if (ranks < 2 || model_shape_divides(model, ranks, &what, session->protocol.arena))
    return 0;
  diagnostics_error(session->protocol.diagnostics, nowhere,
                    "%s has %s, which cannot be divided among %d", model->id, what, ranks);
  return -1;
}

static int choose_types(const struct session *session, struct workload *workload) {
  const struct probe_options *options = session->options;
  const struct decode_backend *backend = session->protocol.device->backend;
  const bool is_int8 = !strcmp(workload->precision, "int8");
  const struct precision_request wanted = {
      .weights = workload->precision,
      .kv = options->kv,
      .activations = options->activations,
      .head = options->head ? options->head
              : is_int8     ? "weights"
                            : "bf16",
  };
  struct decode_request request =
      workload_request(workload, workload->layers[workload->layer_count - 1]);
  const enum decode_status status = precision_choose(backend, &wanted, &request);
  workload->types = request.types;
  if (status == DECODE_OK)
    return 0;
  diagnostics_error(session->protocol.diagnostics, nowhere,
                    "%s cannot run %s with kv %s and head %s: %s", backend->name,
                    workload_text(workload, session->protocol.arena), wanted.kv, wanted.head,
                    device_failure(backend, status, session->protocol.arena));
  return -1;
}

static int add_workload(const struct session *session, struct plan *plan,
                        const struct workload *workload) {
  struct workload *added = &plan->workloads[plan->count];
  *added = *workload;
  if (choose_types(session, added))
    return -1;
  plan->count++;
  return 0;
}

static const int *indices_of(const struct session *session) {
  int *indices = arena_array(session->protocol.arena, session->rank_count, sizeof *indices);
  for (size_t i = 0; i < session->rank_count; i++)
    indices[i] = session->ranks[i].index;
  return indices;
}

int session_plan(const struct session *session, const struct measurement_shape *model,
                 struct plan *plan) {
  const struct probe_options *options = session->options;
  struct workload workload = {.model = *model,
                              .threads = options->threads,
                              .seed = options->seed,
                              .shard = options->shard,
                              .ranks = session->ranks,
                              .rank_indices = indices_of(session),
                              .rank_count = (int)session->rank_count};
  const size_t most = options->precision_count * options->batches.count * options->contexts.count;
  *plan = (struct plan){arena_array(session->protocol.arena, most, sizeof *plan->workloads), 0};
  if (choose_layers(session, model, &workload) || check_shard(session, model))
    return -1;
  for (size_t p = 0; p < options->precision_count; p++)
    for (size_t b = 0; b < options->batches.count; b++)
      for (size_t c = 0; c < options->contexts.count; c++) {
        workload.precision = options->precisions[p];
        workload.batch = options->batches.values[b];
        workload.context = options->contexts.values[c];
        if (add_workload(session, plan, &workload))
          return -1;
      }
  return 0;
}

// ---- the record

// What makes two runs one: the same device, kernels, model, depths, seed, threads and times.
static const char *record_path(const struct session *session,
                               const struct measurement_shape *model) {
  const struct probe_options *options = session->options;
  const struct device *device = session->protocol.device;
  const struct decode_device *described = &device->described;
  struct arena *arena = session->protocol.arena;
  const char *identity = arena_printf(
      arena, "%s|%s|%s|%s|%d|%s|%s|%d|%d|%.17g|%.17g|%.17g|%llu", device->backend->name,
      described->name, described->uuid, described->pci, described->units, device->backend->build,
      model->id, model->layers, options->threads, options->time_s, options->energy_s,
      options->soak_s, (unsigned long long)options->seed);
  for (size_t i = 0; i < options->layers.count; i++)
    identity = arena_printf(arena, "%s|%d", identity, options->layers.values[i]);
  if (options->shard.of)
    identity = arena_printf(arena, "%s|1/%d|%.17g|%s", identity, options->shard.of,
                            options->shard.all_reduce_s, options->shard.source);
  for (size_t i = 0; i < session->rank_count; i++)
    identity = arena_printf(arena, "%s|rank %s %s", identity, session->ranks[i].described.uuid,
                            session->ranks[i].described.pci);
  const char *hash = source_sha256(source_from_text("run", identity, arena), arena);
  return arena_printf(arena, "%s/%s-%s-%.8s.json", options->output_directory, model->id,
                      device->backend->name, hash);
}

// Whether a result is of that workload.
static bool is_result_of(const struct measurement *result, const struct workload *workload) {
  struct decode_types types;
  return !strcmp(result->precision, workload->precision) && result->batch == workload->batch &&
         result->context == workload->context && precision_types(&result->types, &types) &&
         types.weights == workload->types.weights &&
         types.activations == workload->types.activations && types.kv == workload->types.kv &&
         types.head == workload->types.head && types.accumulation == workload->types.accumulation;
}

static void warn_if_busy(const struct session *session) {
  const struct measurement_record *record = session->record;
  const struct measurement_device_state *state = &record->environment.device_state;
  if (state->other_processes > 0)
    diagnostics_warning(session->protocol.diagnostics, nowhere,
                        "%g other process%s on the device: what is measured now is not its best",
                        state->other_processes, state->other_processes > 1 ? "es are" : " is");
  if (record->environment.load_average > 0.5 * record->device.units)
    diagnostics_warning(session->protocol.diagnostics, nowhere,
                        "this machine is busy (load average %.1f on %d units): what is measured "
                        "now is not its best",
                        record->environment.load_average, record->device.units);
}

// The first device's, and the processes on all of them.
static struct measurement_device_state state_of(const struct protocol *protocol) {
  struct measurement_device_state state = protocol->telemetry[0].state;
  for (size_t i = 1; i < protocol->telemetry_count; i++) {
    const double others = protocol->telemetry[i].state.other_processes;
    if (!isnan(others))
      state.other_processes =
          isnan(state.other_processes) ? others : state.other_processes + others;
  }
  return state;
}

// The record that an earlier run left, or a new one.
static int open_record(struct session *session) {
  const struct protocol *protocol = &session->protocol;
  const struct device *device = protocol->device;
  const struct measurement_device here = device_record(device, protocol->arena);
  if (access(session->path, F_OK) == 0) {
    session->record = measurement_read(session->path, protocol->arena, protocol->diagnostics);
    if (!session->record) {
      diagnostics_error(protocol->diagnostics, nowhere,
                        "this run would go on from '%s': move it away, or choose another directory "
                        "with -o",
                        session->path);
      return -1;
    }
    if (!measurement_same_device(&session->record->device, &here)) {
      diagnostics_error(protocol->diagnostics, (struct place){session->record->source, 0, 0},
                        "the record is of another device, '%s'", session->record->device.name);
      session->record = NULL;
      return -1;
    }
  } else {
    session->record = arena_alloc(protocol->arena, sizeof *session->record);
    session->record->started = environment_time(protocol->arena);
    session->record->path = session->path;
  }
  session->record->device = here;
  session->record->environment =
      environment_read(session->options->threads, device->backend->build, protocol->arena);
  if (protocol->telemetry_count)
    session->record->environment.device_state = state_of(protocol);
  warn_if_busy(session);
  return 0;
}

static int keep(struct session *session, const struct measurement *result) {
  struct measurement_record *record = session->record;
  struct arena *arena = session->protocol.arena;
  record->results =
      arena_grow(arena, record->results, record->count, record->count + 1, sizeof *result);
  record->results[record->count] = *result;
  record->results[record->count++].record = record;
  record->finished = result->finished;
  session->is_unwritten =
      measurement_write(record, session->path, arena, session->protocol.diagnostics) != 0;
  return session->is_unwritten ? -1 : 0;
}

static bool is_finished(const struct session *session, const struct workload *workload) {
  for (size_t i = 0; i < session->record->count; i++)
    if (is_result_of(&session->record->results[i], workload))
      return true;
  return false;
}

// ---- the run

// Drops what is finished, and refuses what does not fit before hours are spent on the rest.
static int check_plan(const struct session *session, struct plan *plan) {
  size_t kept = 0;
  int result = 0;
  for (size_t i = 0; i < plan->count; i++) {
    if (is_finished(session, &plan->workloads[i]))
      continue;
    if (protocol_fits(&session->protocol, &plan->workloads[i]))
      result = -1;
    plan->workloads[kept++] = plan->workloads[i];
  }
  plan->count = kept;
  return result;
}

static int measure(struct session *session, const struct plan *plan) {
  struct protocol *protocol = &session->protocol;
  protocol->idle_power_w = protocol->host_idle_power_w = NAN;
  if (plan->count)
    protocol_idle(protocol);
  for (size_t i = 0; i < plan->count && !*protocol->stop; i++) {
    struct measurement result;
    const enum protocol_outcome outcome = protocol_measure(protocol, &plan->workloads[i], &result);
    if (outcome == PROTOCOL_FAILED)
      return -1;
    if (outcome == PROTOCOL_DONE && keep(session, &result))
      return -1;
  }
  return 0;
}

static int run_plan(struct session *session, struct plan *plan) {
  struct folder folder;
  if (folder_open(&folder, session->options->output_directory, session->protocol.diagnostics))
    return -1;
  int result = open_record(session);
  if (!result)
    result = check_plan(session, plan);
  if (!result)
    result = measure(session, plan);
  folder_close(&folder);
  return result;
}

static const struct device *const *pointers_to(const struct session *session) {
  const size_t count = session->rank_count;
  const struct device **devices =
      arena_array(session->protocol.arena, count, sizeof(struct device *));
  for (size_t i = 0; i < count; i++)
    devices[i] = &session->ranks[i];
  return devices;
}

int session_run(struct session *session, const struct measurement_shape *model) {
  struct protocol *protocol = &session->protocol;
  struct meter_set set;
  struct plan plan;
  if (session_plan(session, model, &plan))
    return -1;
  session->path = record_path(session, model);
  protocol->soak_s = session->options->soak_s;
  protocol->wall = &session->options->wall;
  if (!protocol->roots)
    return run_plan(session, &plan);
  if (session->rank_count)
    meter_set_open_all(&set, pointers_to(session), session->rank_count, protocol->roots,
                       protocol->clock, protocol->arena);
  else
    meter_set_open(&set, protocol->device, protocol->roots, protocol->clock, protocol->arena);
  protocol->meter = &set.device;
  protocol->host = &set.host;
  protocol->telemetry = set.telemetry;
  protocol->telemetry_count = set.telemetry_count;
  const int result = run_plan(session, &plan);
  meter_set_close(&set);
  protocol->meter = protocol->host = NULL;
  protocol->telemetry = NULL;
  protocol->telemetry_count = 0;
  return result;
}

// ---- several devices at once

static struct measurement *result_of(const struct session *session,
                                     const struct workload *workload) {
  for (size_t i = 0; i < session->record->count; i++)
    if (is_result_of(&session->record->results[i], workload))
      return &session->record->results[i];
  return NULL;
}

// The results of a workload on every device; false where one is missing, or all know it already.
static bool results_of(const struct session *sessions, size_t count,
                       const struct workload *workload, struct measurement **results) {
  bool known = true;
  for (size_t i = 0; i < count; i++) {
    results[i] = result_of(&sessions[i], workload);
    if (!results[i] || results[i]->slice_count)
      return false;
    known &= results[i]->together.devices == (int)count;
  }
  return !known;
}

static int keep_together(const struct session *sessions, size_t count,
                         const struct together *together, struct measurement **results) {
  for (size_t i = 0; i < count; i++) {
    results[i]->together = (struct measurement_together){
        .devices = (int)count,
        .tokens_per_s = together->tokens_per_s[i],
        .slowest = together->slowest,
        .fastest = together->fastest,
        .total_tokens_per_s = together->total,
        .load_power_w = together->load_power_w,
        .host_load_power_w = together->host_load_power_w,
        .window_s = together->window_s,
        .telemetry = together->telemetry[i],
    };
    if (measurement_write(sessions[i].record, sessions[i].path, sessions[i].protocol.arena,
                          sessions[i].protocol.diagnostics))
      return -1;
  }
  return 0;
}

static int measure_together(const struct session *sessions, size_t count,
                            const struct protocol *protocol, const struct plan *plan) {
  struct arena *arena = protocol->arena;
  struct device *devices = arena_array(arena, count, sizeof *devices);
  struct measurement **results = arena_array(arena, count, sizeof(struct measurement *));
  double *step_s = arena_array(arena, count, sizeof *step_s);
  for (size_t w = 0; w < plan->count && !*protocol->stop; w++) {
    struct together together;
    if (!results_of(sessions, count, &plan->workloads[w], results))
      continue;
    for (size_t i = 0; i < count; i++) {
      devices[i] = *sessions[i].protocol.device;
      step_s[i] = results[i]->step_seconds;
    }
    const enum protocol_outcome outcome =
        together_measure(protocol, devices, count, &plan->workloads[w], step_s, &together);
    if (outcome == PROTOCOL_FAILED)
      return -1;
    if (outcome == PROTOCOL_DONE && keep_together(sessions, count, &together, results))
      return -1;
  }
  return 0;
}

int session_run_together(struct session *sessions, size_t count,
                         const struct measurement_shape *model) {
  struct protocol protocol = sessions[0].protocol;
  struct meter_set set;
  struct plan plan;
  struct folder folder;
  if (session_plan(&sessions[0], model, &plan) ||
      folder_open(&folder, sessions[0].options->output_directory, protocol.diagnostics))
    return -1;
  const struct device **devices = arena_array(protocol.arena, count, sizeof(struct device *));
  for (size_t i = 0; i < count; i++)
    devices[i] = sessions[i].protocol.device;
  meter_set_open_all(&set, devices, count, protocol.roots, protocol.clock, protocol.arena);
  protocol.meter = &set.device;
  protocol.host = &set.host;
  protocol.telemetry = set.telemetry;
  protocol.telemetry_count = set.telemetry_count;
  const int result = measure_together(sessions, count, &protocol, &plan);
  meter_set_close(&set);
  folder_close(&folder);
  return result;
}
