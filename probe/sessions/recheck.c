#include "probe/sessions/recheck.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "model/records/measurement_file.h"
#include "probe/devices/device.h"
#include "probe/devices/precision.h"
#include "probe/measure/fit.h"
#include "probe/measure/meter_set.h"
#include "probe/measure/result.h"
#include "probe/measure/trial.h"
#include "probe/meters/meter.h"
#include "probe/sessions/print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// The devices of a record: one, or those that together hold its models.
struct found {
  struct device *devices;
  int *indices;
  size_t count;
};

// The record's device, wherever it is plugged in now.
static int find_device(const struct protocol *protocol, const struct measurement_record *record,
                       const struct decode_backend *const *backends, struct device *found) {
  const char *here = "";
  for (size_t i = 0; backends[i]; i++) {
    const int count = backends[i]->device_count();
    for (int index = 0; index < count; index++) {
      *found = (struct device){backends[i], index, {.name = ""}};
      if (backends[i]->describe(index, &found->described) != DECODE_OK)
        continue;
      const struct measurement_device device = device_record(found, protocol->arena);
      if (measurement_same_device(&device, &record->device))
        return 0;
      here = arena_printf(protocol->arena, "%s%s'%s'", here, *here ? ", " : "", device.name);
    }
  }
  diagnostics_error(protocol->diagnostics, (struct place){record->source, 0, 0},
                    "the record is from another device, '%s'; found here: %s", record->device.name,
                    *here ? here : "none");
  return -1;
}

static bool is_taken(const struct device *devices, size_t count, int index) {
  for (size_t i = 0; i < count; i++)
    if (devices[i].index == index)
      return true;
  return false;
}

// The i-th of the devices that hold the record's models together. They may differ only in their
// number.
static int find_member(const struct protocol *protocol, const struct measurement_record *record,
                       const struct decode_backend *backend, size_t i, struct device *devices) {
  const struct measurement_member *member = &record->results[0].tensor_parallel.members[i];
  struct device *found = &devices[i];
  const int count = backend->device_count();
  for (int index = 0; index < count; index++) {
    *found = (struct device){backend, index, {.name = ""}};
    if (!is_taken(devices, i, index) && backend->describe(index, &found->described) == DECODE_OK &&
        !strcmp(found->described.name, member->name) &&
        !strcmp(found->described.uuid, member->uuid) && !strcmp(found->described.pci, member->pci))
      return 0;
  }
  diagnostics_error(protocol->diagnostics, (struct place){record->source, 0, 0},
                    "the record is from %d devices together, and '%s' %s is not here",
                    record->results[0].tensor_parallel.devices, member->name,
                    *member->uuid ? member->uuid : member->pci);
  return -1;
}

// All results of a record are of the same devices.
static int find_devices(const struct protocol *protocol, const struct measurement_record *record,
                        const struct decode_backend *const *backends, struct found *found) {
  const size_t members = record->count ? record->results[0].tensor_parallel.member_count : 0;
  found->count = members ? members : 1;
  found->devices = arena_array(protocol->arena, found->count, sizeof *found->devices);
  found->indices = arena_array(protocol->arena, found->count, sizeof *found->indices);
  if (find_device(protocol, record, backends, &found->devices[0]))
    return -1;
  const struct decode_backend *backend = found->devices[0].backend;
  for (size_t i = 0; i < members; i++)
    if (find_member(protocol, record, backend, i, found->devices))
      return -1;
  for (size_t i = 0; i < found->count; i++)
    found->indices[i] = found->devices[i].index;
  return 0;
}

// A model without experts has no policy. False for a policy that this version does not know.
static bool read_routing(const struct measurement *recorded, struct trial *trial) {
  const struct measurement_routing *routing = &recorded->routing;
  if (!*routing->policy)
    return recorded->model.experts.count == 0;
  for (int i = 0; trial_routings[i]; i++) {
    if (strcmp(routing->policy, trial_routings[i]) != 0)
      continue;
    trial->routing = (enum decode_routing)i;
    trial->skew = isnan(routing->skew) ? 0 : (float)routing->skew;
    return true;
  }
  return false;
}

// The record has each prompt's chunk, which is no longer than the prompt.
static void ask_prompts(const struct measurement *recorded, struct trial *trial,
                        struct arena *arena) {
  int *positions = arena_array(arena, recorded->prefill_count, sizeof *positions);
  for (size_t i = 0; i < recorded->prefill_count; i++) {
    const struct measurement_prefill *prompt = &recorded->prefills[i];
    positions[i] = prompt->positions;
    trial->chunk = prompt->chunk > trial->chunk ? prompt->chunk : trial->chunk;
  }
  trial->prefills = positions;
  trial->prefill_count = recorded->prefill_count;
}

static int trial_of(const struct protocol *protocol, const struct found *found,
                    const struct measurement *recorded, struct trial *trial) {
  *trial = (struct trial){
      .model = recorded->model,
      .precision = recorded->precision,
      .batch = recorded->batch,
      .context = recorded->context,
      .threads = recorded->record->environment.threads,
      .seed = recorded->seed,
      .layers = {recorded->layers_measured},
      .layer_count = 1,
      .shard = recorded->shard,
      .ranks = found->devices,
      .rank_indices = found->indices,
      .rank_count = recorded->tensor_parallel.devices,
      .variant = *recorded->step_form.variant ? recorded->step_form.variant : NULL,
  };
  ask_prompts(recorded, trial, protocol->arena);
  const bool known =
      precision_types(&recorded->types, &trial->types) && read_routing(recorded, trial);
  if (recorded->slice_count > 0 && recorded->slice_count <= MAX_DEPTHS) {
    trial->layer_count = recorded->slice_count;
    for (size_t i = 0; i < recorded->slice_count; i++)
      trial->layers[i] = recorded->slices[i].layers;
  }
  if (known && recorded->slice_count <= MAX_DEPTHS &&
      recorded->layers_measured <= recorded->model.layers &&
      (recorded->tensor_parallel.devices < 2 ||
       (size_t)recorded->tensor_parallel.devices == found->count))
    return fit_check(protocol, trial);
  diagnostics_error(protocol->diagnostics, recorded->place,
                    "%s: the record has a type, a routing or a depth unknown to this version",
                    trial_text(trial, protocol->arena));
  return -1;
}

static bool print_comparison(const struct measurement *recorded, const struct measurement *now,
                             double tolerance, FILE *out) {
  const double change = now->tokens_per_s / recorded->tokens_per_s - 1;
  const bool agrees = fabs(change) <= tolerance;
  fprintf(out, "%-9s %5d %8d %10.5g %10.5g %+9.2f %%  %s\n", recorded->precision, recorded->batch,
          recorded->context, recorded->tokens_per_s, now->tokens_per_s, 100 * change,
          agrees ? "within tolerance" : "OUT OF TOLERANCE");
  return agrees;
}

static bool print_watts(const struct measurement *recorded, const struct measurement *now,
                        FILE *out) {
  const double change = now->load_power_w / recorded->load_power_w - 1;
  const bool agrees = fabs(change) <= RECHECK_WATTS;
  const char *why = "the record has none";
  if (isnan(change)) {
    if (!isnan(recorded->load_power_w))
      why = now->energy_meter;
    fputs("  watts were not compared: ", out);
    print_safely(why, out);
    putc('\n', out);
    return true;
  }
  fprintf(out, "  watts %27.5g %10.5g %+9.2f %%  %s\n", recorded->load_power_w, now->load_power_w,
          100 * change, agrees ? "within 5 %" : "OUT OF 5 %");
  return agrees;
}

// Prints what differs from how the record was measured, which older ones do not say.
static void print_other(const char *what, const char *recorded, const char *so, const char *now,
                        FILE *out) {
  if (!*recorded || !strcmp(recorded, now))
    return;
  fprintf(out, "  %s ", what);
  print_safely(recorded, out);
  fprintf(out, ", now %s", so);
  print_safely(*now ? now : "not stated", out);
  putc('\n', out);
}

static bool print_prompts(const struct measurement *recorded, const struct measurement *now,
                          double tolerance, FILE *out) {
  bool agree = true;
  for (size_t i = 0; i < recorded->prefill_count && i < now->prefill_count; i++) {
    const struct measurement_prefill *was = &recorded->prefills[i], *is = &now->prefills[i];
    const double change = is->tokens_per_s / was->tokens_per_s - 1;
    const bool agrees = fabs(change) <= tolerance;
    fprintf(out, "  prompt of %13d %10.5g %10.5g %+9.2f %%  %s\n", was->positions,
            was->tokens_per_s, is->tokens_per_s, 100 * change,
            agrees ? "within tolerance" : "OUT OF TOLERANCE");
    print_other("products by", was->library, "by ", is->library, out);
    agree &= agrees;
  }
  return agree;
}

// What may explain a change: how steps were launched, if there is more than one way, and in which
// types they multiplied.
static void print_step_form(const struct measurement *recorded, const struct measurement *now,
                            FILE *out) {
  const struct measurement_step_form *was = &recorded->step_form, *is = &now->step_form;
  print_other("steps were launched as", was->form, "as ", is->form, out);
  print_other("products were", was->arithmetic, "", is->arithmetic, out);
}

static void print_heading(const struct measurement_record *record, double tolerance, FILE *out) {
  print_safely(record->results[0].model.id, out);
  fputs(" on ", out);
  print_safely(record->device.name, out);
  fprintf(out, ", decoding, tolerance %g %%\n", 100 * tolerance);
  fprintf(out, "%-9s %5s %8s %10s %10s %11s\n", "precision", "batch", "context", "recorded", "now",
          "change");
}

static void warn_of_kernels(const struct protocol *protocol,
                            const struct measurement_record *record) {
  const char *build = protocol->device->backend->build;
  if (strcmp(record->environment.kernels_build, build) != 0)
    diagnostics_warning(protocol->diagnostics, (struct place){record->source, 0, 0},
                        "measured with other kernels (build %s, here %s)",
                        record->environment.kernels_build, build);
}

// Measures like the record: with the same soak, and power only if the record has it.
static struct protocol protocol_for(const struct protocol *protocol,
                                    const struct measurement *recorded, struct meter *none) {
  struct protocol again = *protocol;
  const double soak_s = recorded->beside.soak_s, window_s = recorded->energy_window_s;
  again.idle_power_w = again.host_idle_power_w = NAN;
  again.idle_readings = (struct measurement_window){0};
  again.host = NULL;
  again.telemetry = NULL;
  again.telemetry_count = 0;
  again.wall = NULL;
  if (isnan(recorded->load_power_w)) {
    again.meter = none;
    return again;
  }
  again.soak_s = soak_s > 0 ? soak_s : 0;
  again.energy_s = fmin(PROTOCOL_WINDOW_S, fmax(PROTOCOL_ENERGY_S, window_s));
  return again;
}

static enum recheck_outcome recheck_one(const struct protocol *protocol, const struct found *found,
                                        const struct measurement *recorded, double tolerance,
                                        FILE *out) {
  struct meter none = {.name = "none: the record has no watts", .why = ""};
  const struct protocol again = protocol_for(protocol, recorded, &none);
  struct trial trial;
  struct measurement now;
  if (trial_of(&again, found, recorded, &trial))
    return RECHECK_FAILED;
  const enum protocol_outcome measured = result_measure(&again, &trial, &now);
  if (measured != PROTOCOL_DONE)
    return measured == PROTOCOL_STOPPED ? RECHECK_STOPPED : RECHECK_FAILED;
  if (again.progress)
    again.progress(""); // what is printed starts on a line of its own
  if (recorded == recorded->record->results)
    print_heading(recorded->record, tolerance, out);
  const bool tokens_agree = print_comparison(recorded, &now, tolerance, out);
  const bool watts_agree = print_watts(recorded, &now, out);
  const bool prompts_agree = print_prompts(recorded, &now, tolerance, out);
  print_step_form(recorded, &now, out);
  fflush(out);
  return tokens_agree && watts_agree && prompts_agree ? RECHECK_AGREES : RECHECK_DIFFERS;
}

static enum recheck_outcome recheck_all(const struct protocol *protocol, const struct found *found,
                                        const struct measurement_record *record, double tolerance,
                                        FILE *out) {
  enum recheck_outcome worst = RECHECK_AGREES;
  for (size_t i = 0; i < record->count; i++) {
    const enum recheck_outcome one =
        recheck_one(protocol, found, &record->results[i], tolerance, out);
    if (one == RECHECK_FAILED || one == RECHECK_STOPPED)
      return one;
    worst = one == RECHECK_DIFFERS ? one : worst;
  }
  return worst;
}

// A device held at another limit is another device. Unknown limits are no reason.
static bool is_at_its_limit(const struct protocol *protocol,
                            const struct measurement_record *record, const struct meter_set *set) {
  const double recorded_w = record->environment.device_state.power_limit_w;
  const double now_w = set->telemetry_count ? set->telemetry[0].state.power_limit_w : NAN;
  if (!(fabs(now_w - recorded_w) > 1))
    return true;
  diagnostics_error(protocol->diagnostics, (struct place){record->source, 0, 0},
                    "the record is of a device held at %g W, and its limit is %g W now: set it "
                    "back for the check",
                    recorded_w, now_w);
  return false;
}

enum recheck_outcome recheck(const struct protocol *given, const struct probe_options *options,
                             const struct decode_backend *const *backends, FILE *out) {
  struct found found;
  struct meter_set set;
  struct protocol protocol = *given;
  const struct measurement_record *record =
      measurement_read(options->record, protocol.arena, protocol.diagnostics);
  if (!record || find_devices(&protocol, record, backends, &found))
    return RECHECK_FAILED;
  if (record->count == 0) {
    diagnostics_error(protocol.diagnostics, (struct place){record->source, 0, 0},
                      "the record has no result to check");
    return RECHECK_FAILED;
  }
  protocol.device = &found.devices[0];
  warn_of_kernels(&protocol, record);
  if (!protocol.roots)
    return recheck_all(&protocol, &found, record, options->tolerance, out);
  meter_set_open(&set, found.devices, found.count, protocol.roots, protocol.users, protocol.clock,
                 protocol.arena);
  protocol.meter = &set.device;
  const enum recheck_outcome outcome =
      is_at_its_limit(&protocol, record, &set)
          ? recheck_all(&protocol, &found, record, options->tolerance, out)
          : RECHECK_FAILED;
  meter_set_close(&set);
  return outcome;
}
