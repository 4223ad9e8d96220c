#include "probe/commands/measuring.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "kernels/decode.h"
#include "model/evidence/catalog.h"
#include "model/records/measurement.h"
#include "probe/commands/progress.h"
#include "probe/devices/device.h"
#include "probe/options/values.h"
#include "probe/sessions/result_table.h"
#include "probe/sessions/verification.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool is_stopped(const struct measuring *measuring) {
  return *measuring->invocation->stop != 0;
}

// ---- a session

// is_whole: it covers all devices that are measured. The caller sets its device.
static struct session make_session(const struct measuring *measuring, bool is_whole) {
  return (struct session){.options = measuring->options,
                          .protocol =
                              invocation_protocol(measuring->invocation, measuring->options),
                          .notes = measuring->notes,
                          .gate = measuring->gate,
                          .is_whole = is_whole,
                          .holds_folder = measuring->gate != NULL};
}

// What is said of a record, before its path.
static const char *record_words(const struct measuring *measuring, const struct session *session) {
  if (session->is_unwritten)
    return "the last result could not be written to ";
  if (is_stopped(measuring))
    return "stopped; the finished results are in ";
  if (session->is_known)
    return invocation_all_known;
  return session->known
             ? arena_printf(measuring->invocation->arena,
                            "%zu of the results measured before; record: ", session->known)
             : "record: ";
}

static int run_session(const struct measuring *measuring, struct session *session,
                       const struct measurement_shape *model) {
  const int result = session_run(session, model);
  progress_clear();
  if (session->record && session->record->digest) {
    if (!measuring->gate)
      result_table_print(session->record, stdout);
    invocation_note(measuring->invocation, record_words(measuring, session), session->path);
  } else if (is_stopped(measuring)) {
    invocation_note(measuring->invocation, "stopped; ", "no result was finished");
  }
  return result;
}

static int verify_session(const struct measuring *measuring, const struct session *session,
                          const struct measurement_shape *model) {
  struct invocation *invocation = measuring->invocation;
  const enum verification_outcome outcome = verification_run(session, model, stdout);
  progress_clear();
  invocation->differs |= outcome == VERIFICATION_DIFFERS;
  invocation->is_partial |= outcome == VERIFICATION_PARTIAL;
  if (is_stopped(measuring))
    invocation_note(invocation, "stopped; ", "not everything was verified");
  return outcome == VERIFICATION_FAILED ? -1 : 0;
}

// ---- devices of one kind

static bool are_equal(const struct device *a, const struct device *b) {
  return a->backend == b->backend && a->described.units == b->described.units &&
         !strcmp(a->described.name, b->described.name) &&
         !strcmp(a->described.runtime, b->described.runtime);
}

static int verify_kind(const struct measuring *measuring, const struct device *devices,
                       size_t count, const struct measurement_shape *model) {
  for (size_t i = 0; i < count && !is_stopped(measuring); i++) {
    struct session session = make_session(measuring, true);
    session.protocol.device = &devices[i];
    if (verify_session(measuring, &session, model))
      return -1;
  }
  return 0;
}

// One by one and then all at once. After an error it goes no further: the others would fail
// likewise.
static int run_kind(const struct measuring *measuring, const struct device *devices, size_t count,
                    bool is_whole, const struct measurement_shape *model) {
  struct arena *arena = measuring->invocation->arena;
  struct session *sessions = arena_array(arena, count, sizeof *sessions);
  const struct measurement_record **records =
      arena_array(arena, count, sizeof(struct measurement_record *));
  for (size_t i = 0; i < count && !is_stopped(measuring); i++) {
    sessions[i] = make_session(measuring, is_whole && count == 1);
    sessions[i].protocol.device = &devices[i];
    sessions[i].equal = i ? &sessions[0] : NULL;
    if (run_session(measuring, &sessions[i], model))
      return -1;
    records[i] = sessions[i].record;
  }
  if (count == 1 || is_stopped(measuring))
    return 0;
  const int result = session_run_together(sessions, count, model);
  progress_clear();
  if (!measuring->gate)
    together_table_print(records, count, stdout);
  return result;
}

// ---- every kind by itself

// "node 'n1', NVIDIA H200": whom messages are about.
static const char *about_kind(const struct measuring *measuring, const struct device *device) {
  const char *about = measuring->invocation->diagnostics->about;
  return arena_printf(measuring->invocation->arena, "%s%s%s", about ? about : "", about ? ", " : "",
                      device->described.name);
}

// Moves those that are equal to the first one to the front, in their order, and returns how many
// they are.
static size_t gather_kind(struct device *devices, size_t count) {
  size_t kind = 1;
  for (size_t i = 1; i < count; i++) {
    const struct device device = devices[i];
    if (!are_equal(&devices[0], &device))
      continue;
    memmove(&devices[kind + 1], &devices[kind], (i - kind) * sizeof *devices);
    devices[kind++] = device;
  }
  return kind;
}

// The sum over unlike devices, or their mean watts, would be nobody's.
static int run_kinds(const struct measuring *measuring, struct device *devices, size_t count,
                     const struct measurement_shape *model) {
  struct diagnostics *diagnostics = measuring->invocation->diagnostics;
  const char *about = diagnostics->about;
  int result = 0;
  for (size_t done = 0, kind; done < count && !is_stopped(measuring); done += kind) {
    kind = gather_kind(&devices[done], count - done);
    if (kind < count)
      diagnostics->about = about_kind(measuring, &devices[done]);
    if (measuring->options->verify_only
            ? verify_kind(measuring, &devices[done], kind, model)
            : run_kind(measuring, &devices[done], kind, kind == count, model))
      result = -1;
    diagnostics->about = about;
  }
  return result;
}

// ---- devices that hold the model together

// The record of all of them has the first one's name, and counts for its accelerator.
static int refuse_unlike(const struct measuring *measuring, const struct device *devices,
                         size_t count) {
  for (size_t i = 1; i < count; i++) {
    const struct decode_device *first = &devices[0].described, *other = &devices[i].described;
    if (are_equal(&devices[0], &devices[i]))
      continue;
    diagnostics_error(measuring->invocation->diagnostics, nowhere,
                      "--tensor-parallel needs equal devices, but %s:%d is %s with %d units, and "
                      "%s:%d is %s with %d",
                      devices[0].backend->name, devices[0].index, first->name, first->units,
                      devices[i].backend->name, devices[i].index, other->name, other->units);
    return -1;
  }
  return 0;
}

static int run_ranks(const struct measuring *measuring, const struct device *devices, size_t count,
                     const struct measurement_shape *model) {
  const struct probe_options *options = measuring->options;
  if ((size_t)options->tensor_parallel != count) {
    diagnostics_error(measuring->invocation->diagnostics, nowhere,
                      "--tensor-parallel %d needs as many devices, but --device %s names %zu",
                      options->tensor_parallel, options->device, count);
    return -1;
  }
  if (refuse_unlike(measuring, devices, count))
    return -1;
  struct session session = make_session(measuring, true);
  session.ranks = devices;
  session.rank_count = count;
  session.protocol.device = &devices[0];
  return options->verify_only ? verify_session(measuring, &session, model)
                              : run_session(measuring, &session, model);
}

static int refuse_several(const struct measuring *measuring, const char *option, size_t count) {
  if (count == 1)
    return 0;
  diagnostics_error(measuring->invocation->diagnostics, nowhere,
                    "%s measures one device, but --device %s names %zu", option,
                    measuring->options->device, count);
  return -1;
}

// ---- one device at several power limits

// Measures at one limit after another; what an interrupted run has found is in the records. The
// kernels that are the fastest at the first limit, the highest, are measured at all of them, so
// that they differ by nothing else.
static int run_limits(const struct measuring *measuring, const struct device *device,
                      const struct measurement_shape *model) {
  const struct number_list *limits = &measuring->options->power_limits;
  const struct measurement_record *records[MAX_LIST_VALUES];
  struct session *sessions =
      arena_array(measuring->invocation->arena, limits->count, sizeof *sessions);
  size_t done = 0;
  int result = power_sweep_open(measuring->sweep, device);
  while (!result && done < limits->count && !is_stopped(measuring)) {
    struct session *session = &sessions[done];
    *session = make_session(measuring, true);
    session->protocol.device = device;
    session->power_limit_w = limits->values[done];
    session->equal = done ? &sessions[0] : NULL;
    result = power_sweep_hold(measuring->sweep, limits->values[done]);
    if (!result)
      result = run_session(measuring, session, model);
    if (session->record)
      records[done++] = session->record;
  }
  if (done)
    power_sweep_print(measuring->sweep, records, done, stdout);
  return result;
}

// ---- the model

// Otherwise a node whose GPUs are gone would silently measure something else.
static void warn_of_cpu(const struct measuring *measuring, const struct device *device,
                        const struct decode_backend *const *backends) {
  if (!strcmp(measuring->options->device, usual_fleet_devices) &&
      !strcmp(device->backend->name, "cpu"))
    diagnostics_warning(measuring->invocation->diagnostics, nowhere,
                        "%s, so the CPU is measured; --device cpu asks for it",
                        backends[1] ? "there is no GPU here"
                                    : "this installation has no backend for GPUs");
}

int measuring_run(struct measuring *measuring) {
  const struct invocation *invocation = measuring->invocation;
  const struct probe_options *options = measuring->options;
  const struct decode_backend *const *backends = invocation_backends(invocation);
  struct device *devices;
  size_t count;
  struct catalog catalog;
  struct measurement_shape model;
  if (devices_find(options->device, backends, &devices, &count, invocation->arena,
                   invocation->diagnostics) ||
      invocation_open_catalog(invocation, options, &catalog) ||
      model_shape_find(&catalog, options->model, &model, &measuring->notes))
    return -1;
  warn_of_cpu(measuring, &devices[0], backends);
  if ((options->no_power && refuse_several(measuring, "--no-power", count)) ||
      (measuring->sweep && refuse_several(measuring, "--power-limit", count)))
    return -1;
  if (measuring->sweep)
    return run_limits(measuring, &devices[0], &model);
  if (options->tensor_parallel)
    return run_ranks(measuring, devices, count, &model);
  return run_kinds(measuring, devices, count, &model);
}
