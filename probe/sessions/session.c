#include "probe/sessions/session.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "kernels/decode.h"
#include "model/records/measurement_file.h"
#include "model/telemetry/utc.h"
#include "probe/devices/device.h"
#include "probe/devices/model_shape.h"
#include "probe/devices/precision.h"
#include "probe/measure/environment.h"
#include "probe/measure/fit.h"
#include "probe/measure/folder.h"
#include "probe/measure/meter_set.h"
#include "probe/measure/prefill.h"
#include "probe/measure/result.h"
#include "probe/measure/together.h"
#include "probe/measure/trial.h"
#include "probe/meters/meter.h"
#include "probe/options/values.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

int session_trials(const struct session *session, const struct measurement_shape *model,
                   struct trial_list *trials) {
  const struct trials_scope scope = {.options = session->options,
                                     .notes = &session->notes,
                                     .device = session->protocol.device,
                                     .ranks = session->ranks,
                                     .rank_count = session->rank_count,
                                     .arena = session->protocol.arena,
                                     .diagnostics = session->protocol.diagnostics};
  return trials_find(&scope, model, trials);
}

// ---- the record

// The first device's state, with the processes on all of them.
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

static struct measurement_environment environment_of(const struct session *session) {
  const struct protocol *protocol = &session->protocol;
  struct measurement_environment here = environment_read(
      session->options->threads, protocol->device->backend->build, protocol->arena);
  here.node = session->options->node;
  here.remarks = session->notes.stand_ins ? session->notes.stand_ins : "";
  if (protocol->telemetry_count)
    here.device_state = state_of(protocol);
  if (session->power_limit_w)
    here.device_state.power_limit_w = session->power_limit_w;
  return here;
}

// What a record states once for all its results, so that none of them was measured with another:
// a driver, an operating system, a power limit.
static const char *conditions_text(const struct session *session,
                                   const struct measurement_environment *here) {
  const struct protocol *protocol = &session->protocol;
  const char *text =
      arena_printf(protocol->arena, "%s|%s|%s|%s", protocol->device->described.runtime,
                   here->kernel, here->governor, here->tool_version);
  for (size_t i = 0; i < protocol->telemetry_count; i++) {
    const struct measurement_device_state *state = &protocol->telemetry[i].state;
    text = arena_printf(protocol->arena, "%s|%s|%s|%s|%s|%g", text, state->driver, state->vbios,
                        state->ecc, state->partition, state->power_limit_w);
  }
  return text;
}

// A run resumes a record with the same device, under the same conditions, of the same kernels,
// model, depths, seed, threads and times.
static const char *record_path(const struct session *session, const struct measurement_shape *model,
                               const struct measurement_environment *here) {
  const struct probe_options *options = session->options;
  const struct device *device = session->protocol.device;
  const struct decode_device *described = &device->described;
  struct arena *arena = session->protocol.arena;
  const char *identity = arena_printf(
      arena, "%s|%s|%s|%s|%d|%s|%s|%d|%d|%.17g|%.17g|%.17g|%llu|%s", device->backend->name,
      described->name, described->uuid, described->pci, described->units, device->backend->build,
      model->id, model->layers, options->threads, options->time_s, options->energy_s,
      options->soak_s, (unsigned long long)options->seed, conditions_text(session, here));
  for (size_t i = 0; i < options->layers.count; i++)
    identity = arena_printf(arena, "%s|%d", identity, options->layers.values[i]);
  for (size_t i = 0; i < options->prefills.count; i++)
    identity = arena_printf(arena, "%s|prefill %d in %d", identity, options->prefills.values[i],
                            options->chunk ? options->chunk : PREFILL_CHUNK);
  if (options->shard.of)
    identity = arena_printf(arena, "%s|1/%d|%.17g|%s", identity, options->shard.of,
                            options->shard.all_reduce_s, options->shard.source);
  if (options->routing != ROUTING_MODEL)
    identity = arena_printf(arena, "%s|routing %d %.9g", identity, (int)options->routing,
                            (double)options->skew);
  if (device->backend->variant && !options->fastest)
    identity =
        arena_printf(arena, "%s|variant %s", identity, options->variant ? options->variant : "own");
  if (session->power_limit_w)
    identity = arena_printf(arena, "%s|held at %d W", identity, session->power_limit_w);
  for (size_t i = 0; i < session->rank_count; i++)
    identity = arena_printf(arena, "%s|rank %s %s", identity, session->ranks[i].described.uuid,
                            session->ranks[i].described.pci);
  if (!*described->uuid && !*described->pci && device->index)
    identity = arena_printf(arena, "%s|device %d", identity, device->index);
  return folder_record(options->output_directory, model->id, device->backend->name, identity,
                       arena);
}

// Whether a result belongs to that trial.
static bool is_result_of(const struct measurement *result, const struct trial *trial) {
  struct decode_types types;
  return !strcmp(result->precision, trial->precision) && result->batch == trial->batch &&
         result->context == trial->context && precision_types(&result->types, &types) &&
         types.weights == trial->types.weights && types.activations == trial->types.activations &&
         types.kv == trial->types.kv && types.head == trial->types.head &&
         types.accumulation == trial->types.accumulation && types.experts == trial->types.experts;
}

// A machine is busy if its load average exceeds this share of its processors. The average is of
// about a minute: of a program that used all of them, 40 s after its end half is left.
static const double busy_share = 0.5;

static void warn_if_busy(const struct session *session) {
  const struct measurement_record *record = session->record;
  const struct measurement_device_state *state = &record->environment.device_state;
  if (state->other_processes > 0)
    diagnostics_warning(session->protocol.diagnostics, nowhere,
                        "%g other process%s on the device, so this is not the best it can do",
                        state->other_processes, state->other_processes > 1 ? "es are" : " is");
  const bool is_host = !strcmp(record->device.backend, "cpu");
  const long processors = is_host ? record->device.units : sysconf(_SC_NPROCESSORS_ONLN);
  if (record->environment.load_average > busy_share * (double)processors)
    diagnostics_warning(
        session->protocol.diagnostics, nowhere,
        "this machine is busy (load average %.1f on %ld processors), so this is not "
        "the best it can do",
        record->environment.load_average, processors);
}

// The record of an earlier run, or a new one.
static int open_record(struct session *session, const struct measurement_environment *environment) {
  const struct protocol *protocol = &session->protocol;
  const struct device *device = protocol->device;
  const struct measurement_device here = device_record(device, protocol->arena);
  if (access(session->path, F_OK) == 0) {
    session->record = measurement_read(session->path, protocol->arena, protocol->diagnostics);
    if (!session->record)
      return folder_refuse_record(session->path, protocol->diagnostics);
    if (!measurement_same_device(&session->record->device, &here)) {
      diagnostics_error(protocol->diagnostics, (struct place){session->record->source, 0, 0},
                        "the record is from another device, '%s'", session->record->device.name);
      session->record = NULL;
      return -1;
    }
  } else {
    session->record = arena_alloc(protocol->arena, sizeof *session->record);
    session->record->started = utc_now(protocol->arena);
    session->record->path = session->path;
  }
  session->record->device = here;
  session->record->environment = *environment;
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

static struct measurement *result_of(const struct session *session, const struct trial *trial) {
  for (size_t i = 0; i < session->record->count; i++)
    if (is_result_of(&session->record->results[i], trial))
      return &session->record->results[i];
  return NULL;
}

// ---- the run

// Drops the trials that are done, and refuses those that do not fit before hours are spent on the
// rest.
static int check_trials(const struct session *session, struct trial_list *trials) {
  size_t kept = 0;
  int result = 0;
  for (size_t i = 0; i < trials->count; i++) {
    if (result_of(session, &trials->list[i]))
      continue;
    if (fit_check(&session->protocol, &trials->list[i]))
      result = -1;
    trials->list[kept++] = trials->list[i];
  }
  trials->count = kept;
  return result;
}

static int pass_gate(const struct session *session, const struct trial *trial, bool is_whole) {
  const struct session_gate *gate = session->gate;
  return gate ? gate->pass(gate->context, trial, is_whole) : 0;
}

// The trial with the variant that an equal device has been measured with.
static struct trial as_measured_before(const struct session *session, const struct trial *given) {
  struct trial trial = *given;
  const struct session *equal = session->equal;
  const struct measurement *result = equal && equal->record ? result_of(equal, given) : NULL;
  if (result && trial.fastest) {
    trial.fastest = false;
    trial.variant = *result->step_form.variant ? result->step_form.variant : NULL;
  }
  return trial;
}

static int measure(struct session *session, const struct trial_list *trials) {
  struct protocol *protocol = &session->protocol;
  protocol->idle_power_w = protocol->host_idle_power_w = NAN;
  if (trials->count) {
    warn_if_busy(session);
    protocol_idle(protocol);
  }
  for (size_t i = 0; i < trials->count && !*protocol->stop; i++) {
    struct measurement result;
    const struct trial trial = as_measured_before(session, &trials->list[i]);
    if (pass_gate(session, &trial, session->is_whole))
      return -1;
    const enum protocol_outcome outcome = result_measure(protocol, &trial, &result);
    if (outcome == PROTOCOL_FAILED)
      return -1;
    if (outcome == PROTOCOL_DONE && keep(session, &result))
      return -1;
  }
  return 0;
}

static int take_folder(const struct session *session, struct folder *folder) {
  *folder = (struct folder){.fd = -1};
  return session->holds_folder ? 0
                               : folder_open(folder, session->options->output_directory,
                                             session->protocol.diagnostics);
}

static int run_trials(struct session *session, const struct measurement_shape *model,
                      struct trial_list *trials) {
  const struct measurement_environment environment = environment_of(session);
  const size_t wanted = trials->count;
  struct folder folder;
  session->path = record_path(session, model, &environment);
  if (take_folder(session, &folder))
    return -1;
  int result = open_record(session, &environment);
  if (!result)
    result = check_trials(session, trials);
  session->known = wanted - trials->count;
  session->is_known = wanted == session->known;
  if (!result)
    result = measure(session, trials);
  folder_close(&folder);
  return result;
}

int session_run(struct session *session, const struct measurement_shape *model) {
  const struct protocol given = session->protocol;
  struct protocol *protocol = &session->protocol;
  struct meter_set set;
  struct trial_list trials;
  if (session_trials(session, model, &trials))
    return -1;
  protocol->soak_s = session->options->soak_s;
  protocol->wall = &session->options->wall;
  if (!protocol->roots)
    return run_trials(session, model, &trials);
  const bool alone = session->rank_count == 0;
  meter_set_open(&set, alone ? protocol->device : session->ranks, alone ? 1 : session->rank_count,
                 protocol->roots, protocol->users, protocol->clock, protocol->arena);
  protocol_use(protocol, &set);
  struct meter none = {.name = "none: --no-power", .why = ""};
  if (session->options->no_power) {
    protocol->meter = &none; // its telemetry still says which driver and limit there is
    protocol->host = NULL;
  }
  const int result = run_trials(session, model, &trials);
  meter_set_close(&set);
  session->protocol = given;
  return result;
}

// ---- several devices at once

// The results of a trial on every device. False if one is missing, or if all have already been
// measured together.
static bool results_of(const struct session *sessions, size_t count, const struct trial *trial,
                       struct measurement **results) {
  bool known = true;
  for (size_t i = 0; i < count; i++) {
    results[i] = result_of(&sessions[i], trial);
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
        .wall_power_w = together->wall_power_w,
    };
    if (measurement_write(sessions[i].record, sessions[i].path, sessions[i].protocol.arena,
                          sessions[i].protocol.diagnostics))
      return -1;
  }
  return 0;
}

static int measure_together(const struct session *sessions, const struct device *devices,
                            size_t count, const struct protocol *protocol,
                            const struct trial_list *trials) {
  struct arena *arena = protocol->arena;
  struct measurement **results = arena_array(arena, count, sizeof(struct measurement *));
  for (size_t t = 0; t < trials->count && !*protocol->stop; t++) {
    struct together together;
    if (!results_of(sessions, count, &trials->list[t], results))
      continue;
    if (pass_gate(&sessions[0], &trials->list[t], true))
      return -1;
    const enum protocol_outcome outcome =
        together_measure(protocol, devices, count, &trials->list[t], results, &together);
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
  struct trial_list trials;
  struct folder folder;
  if (session_trials(&sessions[0], model, &trials) || take_folder(&sessions[0], &folder))
    return -1;
  struct device *devices = arena_array(protocol.arena, count, sizeof *devices);
  for (size_t i = 0; i < count; i++)
    devices[i] = *sessions[i].protocol.device;
  meter_set_open(&set, devices, count, protocol.roots, protocol.users, protocol.clock,
                 protocol.arena);
  protocol_use(&protocol, &set);
  protocol.wall = &sessions[0].options->wall;
  protocol.soak_s = sessions[0].options->soak_s;
  const int result = measure_together(sessions, devices, count, &protocol, &trials);
  meter_set_close(&set);
  folder_close(&folder);
  return result;
}
