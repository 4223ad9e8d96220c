#include "model/delivery/fleet_item.h"

#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/recorded.h"

#include <math.h>
#include <string.h>

const char *const fleet_setting_names[FLEET_SETTINGS] = {
    [SETTING_KERNEL] = "operating system's kernel",
    [SETTING_DRIVER] = "driver",
    [SETTING_RUNTIME] = "runtime",
    [SETTING_VBIOS] = "VBIOS",
    [SETTING_ECC] = "ECC",
    [SETTING_PARTITION] = "partition",
    [SETTING_POWER_LIMIT] = "power limit",
    [SETTING_MEMORY] = "memory",
    [SETTING_GOVERNOR] = "frequency governor",
    [SETTING_LINKS] = "links",
    [SETTING_THROTTLED] = "throttled",
    [SETTING_KERNELS_BUILD] = "probe's kernels",
    [SETTING_TOOL_VERSION] = "probe's version",
    [SETTING_ENGINE] = "inference engine",
    [SETTING_CLIENT] = "benchmark client",
};

// ---- what the probe measured on a device

static const char *kept(struct arena *arena, const char *text) {
  return *text ? arena_copy(arena, text) : "";
}

// The name that a record gives its node, else its file's name.
static const char *node_of(const char *told, const char *path, struct arena *arena) {
  const char *name = source_file_name(path);
  const char *point = strrchr(name, '.');
  if (*told)
    return arena_copy(arena, told);
  return arena_copy_n(arena, name, point ? (size_t)(point - name) : strlen(name));
}

static const char *device_of(const struct measurement_device *device, struct arena *arena) {
  return *device->uuid  ? arena_copy(arena, device->uuid)
         : *device->pci ? arena_copy(arena, device->pci)
                        : arena_printf(arena, "%s %d", device->backend, device->index);
}

static const char *position_of(const struct measurement_device *device, struct arena *arena) {
  return *device->pci ? arena_copy(arena, device->pci)
                      : arena_printf(arena, "%s %d", device->backend, device->index);
}

static const char *throttled(const struct measurement_record *record, struct arena *arena) {
  const char *reasons = "";
  for (size_t r = 0; r < record->count; r++) {
    const struct measurement_telemetry *telemetry = &record->results[r].telemetry;
    for (size_t t = 0; t < telemetry->throttle_count; t++)
      if (!strstr(reasons, telemetry->throttles[t].reason))
        reasons = arena_printf(arena, "%s%s%s", reasons, *reasons ? ", " : "",
                               telemetry->throttles[t].reason);
  }
  return reasons;
}

// The states of the device's links: under the load of all devices, if the record has that, else
// under its own.
static const char *links(const struct measurement_record *record) {
  const char *links = "";
  for (size_t r = 0; r < record->count && !*links; r++) {
    const struct measurement *result = &record->results[r];
    links = *result->together.telemetry.links ? result->together.telemetry.links
                                              : result->telemetry.links;
  }
  return links;
}

static const char *const *settings_of(const struct measurement_record *record,
                                      struct arena *arena) {
  const struct measurement_environment *environment = &record->environment;
  const struct measurement_device_state *state = &environment->device_state;
  const char **settings = arena_array(arena, FLEET_SETTINGS, sizeof *settings);
  const char *const texts[FLEET_SETTINGS] = {
      [SETTING_KERNEL] = environment->kernel,
      [SETTING_DRIVER] = state->driver,
      [SETTING_RUNTIME] = record->device.runtime,
      [SETTING_VBIOS] = state->vbios,
      [SETTING_ECC] = state->ecc,
      [SETTING_PARTITION] = state->partition,
      [SETTING_GOVERNOR] = environment->governor,
      [SETTING_LINKS] = links(record),
      [SETTING_KERNELS_BUILD] = environment->kernels_build,
      [SETTING_TOOL_VERSION] = environment->tool_version,
  };
  for (int s = 0; s < FLEET_SETTINGS; s++)
    settings[s] = texts[s] ? kept(arena, texts[s]) : NULL;
  settings[SETTING_THROTTLED] = throttled(record, arena);
  settings[SETTING_POWER_LIMIT] =
      isnan(state->power_limit_w) ? "" : arena_printf(arena, "%g W", state->power_limit_w);
  // Memory is compared in whole GiB: what a driver reserves varies by a few pages.
  settings[SETTING_MEMORY] =
      arena_printf(arena, "%.0f GiB", (double)record->device.memory_bytes / 0x1p30);
  return settings;
}

static bool counts(const struct measurement *result) {
  return result->whole_model && result->shard.of < 2 && !result->slice_count;
}

struct fleet_workload fleet_workload_of(const struct measurement *result, struct arena *arena) {
  const int together = result->together.devices > 1 && !isnan(result->together.tokens_per_s)
                           ? result->together.devices
                           : 1;
  struct fleet_workload workload = {
      .device = kept(arena, result->record->device.name),
      .model = kept(arena, result->model.id),
      .precision = arena_printf(arena, "%s, activations %s, kv %s, head %s", result->precision,
                                recorded_precision(result->types.activations),
                                recorded_precision(result->types.kv),
                                recorded_precision(result->types.head)),
      .weights = kept(arena, result->precision),
      .activations = kept(arena, recorded_precision(result->types.activations)),
      .kv = kept(arena, recorded_precision(result->types.kv)),
      .head = kept(arena, recorded_precision(result->types.head)),
      .batch = result->batch,
      .context = result->context,
      .together = together,
      .ranks = measurement_devices(result),
  };
  const char *how = workload.ranks > 1
                        ? arena_printf(arena, ", on %d devices together", workload.ranks)
                    : together > 1 ? arena_printf(arena, ", %d devices at once", together)
                                   : "";
  workload.words =
      arena_printf(arena, "%s: %s, %s, batch %d, context %d%s", workload.device, workload.model,
                   workload.precision, workload.batch, workload.context, how);
  return workload;
}

// A 95 % interval extends 1.96 standard errors to either side, or more with few samples: the error
// that follows is no smaller than it is.
static const double z_95 = 1.959963984540054;

// The doubts about a result; nearly all have none.
static const char *doubts_of(const struct measurement *result, struct arena *arena) {
  static const struct measurement_flags none;
  return memcmp(&result->flags, &none, sizeof none) ? measurement_doubts(result, arena) : "";
}

static struct fleet_run run_of(const struct measurement *result, const char *file,
                               const char *digest, struct arena *arena) {
  const double devices = measurement_devices(result), rate = measurement_rate(result);
  const bool at_once = result->together.devices > 1 && !isnan(result->together.tokens_per_s);
  struct fleet_run run = {
      .tokens_per_s = rate / devices,
      .error = (result->ci95_high - result->ci95_low) / (2 * z_95) / devices *
               (rate / result->tokens_per_s),
      .power_w = result->load_power_w / measurement_metered_devices(result),
      .wall_w = result->beside.wall_power_w / devices,
      .clock_mhz = result->telemetry.core_clock_hz.median / 1e6,
      .started = kept(arena, result->started),
      .file = file,
      .digest = digest,
      .variant = kept(arena, result->step_form.variant),
      .doubts = doubts_of(result, arena),
  };
  if (at_once) {
    run.error *= result->together.tokens_per_s / run.tokens_per_s;
    run.tokens_per_s = result->together.tokens_per_s;
    run.power_w = result->together.load_power_w / result->together.devices;
    run.wall_w = result->together.wall_power_w / result->together.devices;
    run.clock_mhz = result->together.telemetry.core_clock_hz.median / 1e6;
  }
  return run;
}

// A later record of a device may be from another program.
static void note_programs(const struct fleet_items *items, const char *program, const char *tool,
                          const char *tool_version) {
  for (size_t i = 0; i < items->count; i++) {
    items->list[i].run.program = program;
    items->list[i].run.tool = tool;
    items->list[i].run.tool_version = tool_version;
  }
}

static const char *known_or_none(const char *text) {
  return text ? text : "";
}

struct fleet_items fleet_items_of_measurement(const struct measurement_record *record,
                                              const char *path, struct arena *arena) {
  const char *node = node_of(record->environment.node, path, arena);
  const char *device = device_of(&record->device, arena);
  const char *position = position_of(&record->device, arena);
  const char *const *settings = settings_of(record, arena);
  struct fleet_items items = {.digest = arena_copy(arena, record->digest)};
  items.list = arena_array(arena, record->count, sizeof *items.list);
  for (size_t i = 0; i < record->count; i++) {
    const struct measurement *result = &record->results[i];
    if (counts(result))
      items.list[items.count++] = (struct fleet_item){
          .workload = fleet_workload_of(result, arena),
          .run = run_of(result, path, items.digest, arena),
          .node = node,
          .is_named = *record->environment.node,
          .device = device,
          .position = position,
          .settings = settings,
      };
  }
  note_programs(&items, known_or_none(settings[SETTING_KERNELS_BUILD]), "pertoken-probe",
                known_or_none(settings[SETTING_TOOL_VERSION]));
  return items;
}

// ---- what a server delivered

// The requested length if it was served within tolerance, so that two runs of one test are alike.
static double length_of(double asked, double served) {
  return fabs(served / asked - 1) <= REQUEST_LENGTHS ? asked : round(served);
}

static const char *load_words(const struct fleet_workload *workload, struct arena *arena) {
  return workload->load == LOAD_CLOSED
             ? arena_printf(arena, "%.9g in flight", workload->concurrency)
         : workload->request_rate > 0
             ? arena_printf(arena, "%.9g requests/s (%s)", workload->request_rate,
                            serving_load_names[workload->load])
             : serving_load_names[workload->load];
}

void fleet_set_lengths(struct fleet_workload *workload, double input_tokens, double output_tokens,
                       struct arena *arena) {
  const char *lengths = input_tokens > 0 ? arena_printf(arena, "%.9g tokens in and %.9g out",
                                                        input_tokens, output_tokens)
                                         : "requests of unknown length";
  workload->input_tokens = input_tokens;
  workload->output_tokens = output_tokens;
  workload->words =
      arena_printf(arena, "%s: %s, %s, served: %s, %s, on %d accelerator%s", workload->device,
                   workload->model, workload->precision, lengths, load_words(workload, arena),
                   workload->ranks, workload->ranks == 1 ? "" : "s");
}

// "fp8, kv fp8, mtp": what is not stated is left out.
static const char *precision_served(const struct serving_record *record, struct arena *arena) {
  const struct {
    const char *what, *said;
  } more[] = {
      {"activations ", record->activations}, {"kv ", record->kv}, {"", record->speculation}};
  const char *words = kept(arena, record->precision);
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
    if (*more[i].said)
      words = arena_printf(arena, "%s, %s%s", words, more[i].what, more[i].said);
  return words;
}

static struct fleet_workload workload_served(const struct serving_record *record,
                                             const struct serving_rung *rung, struct arena *arena) {
  struct fleet_workload workload = {
      .device = kept(arena, record->accelerator),
      .model = kept(arena, record->model),
      .precision = precision_served(record, arena),
      .weights = kept(arena, record->precision),
      .activations = kept(arena, record->activations),
      .kv = kept(arena, record->kv),
      .head = "",
      .together = 1,
      .ranks = record->accelerators,
      .served = true,
      .load = rung->load,
      .concurrency = isnan(rung->concurrency) ? 0 : rung->concurrency,
      .request_rate = isnan(rung->request_rate) ? 0 : rung->request_rate,
      .input_tokens = length_of(rung->asked_input_tokens, rung->input_tokens),
      .output_tokens = length_of(rung->asked_output_tokens, rung->output_tokens),
  };
  const bool is_known = !isnan(workload.input_tokens) && !isnan(workload.output_tokens);
  workload.is_asked = is_known && workload.input_tokens == rung->asked_input_tokens &&
                      workload.output_tokens == rung->asked_output_tokens;
  fleet_set_lengths(&workload, is_known ? workload.input_tokens : 0,
                    is_known ? workload.output_tokens : 0, arena);
  return workload;
}

static const char *doubts_served(const struct serving_record *record,
                                 const struct serving_rung *rung, struct arena *arena) {
  const bool differs = serving_counters_differ(rung);
  const char *remark = record->grade == GRADE_PROJECTED ? record->remarks : "";
  return arena_printf(arena, "%s%s%s", differs ? "the server's own counters differ" : "",
                      differs && *remark ? ", " : "", remark);
}

static struct fleet_run run_served(const struct serving_record *record,
                                   const struct serving_rung *rung, const char *path,
                                   const char *digest, struct arena *arena) {
  const struct serving_power *power = &rung->power;
  struct fleet_latencies *latencies = arena_alloc(arena, sizeof *latencies);
  *latencies = (struct fleet_latencies){rung->ttft, rung->tpot, rung->completed};
  return (struct fleet_run){
      .tokens_per_s = rung->output_tokens_per_s / record->accelerators,
      .error = NAN,
      .power_w = power->covers == COVERS_ACCELERATORS && power->devices
                     ? power->load_power_w / power->devices
                     : NAN,
      .wall_w = power->covers == COVERS_NODE ? power->load_power_w / record->accelerators : NAN,
      .clock_mhz = NAN,
      .latencies = latencies,
      .started = kept(arena, *rung->started ? rung->started : record->date),
      .file = path,
      .digest = digest,
      .doubts = doubts_served(record, rung, arena),
  };
}

static const char *const *settings_served(const struct serving_record *record,
                                          struct arena *arena) {
  const char **settings = arena_array(arena, FLEET_SETTINGS, sizeof *settings);
  for (int s = 0; s < FLEET_SETTINGS; s++)
    settings[s] = NULL;
  settings[SETTING_ENGINE] = arena_printf(
      arena, "%s%s%s", record->engine, *record->engine_version ? " " : "", record->engine_version);
  settings[SETTING_CLIENT] = arena_printf(arena, "%s%s%s", record->tool,
                                          *record->tool_version ? " " : "", record->tool_version);
  return settings;
}

static const struct serving_file *sources_of(const struct serving_record *record,
                                             struct arena *arena) {
  struct serving_file *sources = arena_array(arena, record->file_count + 1, sizeof *sources);
  for (size_t i = 0; i < record->file_count; i++)
    sources[i] = (struct serving_file){kept(arena, record->files[i].name),
                                       kept(arena, record->files[i].sha256)};
  return sources;
}

struct fleet_items fleet_items_of_serving(const struct serving_record *record, const char *path,
                                          struct arena *arena) {
  const char *node = node_of(record->node, path, arena);
  const char *server = *record->url ? arena_copy(arena, record->url) : "server";
  const char *const *settings = settings_served(record, arena);
  const struct serving_file *sources = sources_of(record, arena);
  struct fleet_items items = {.digest = arena_copy(arena, record->digest)};
  items.list = arena_array(arena, record->count, sizeof *items.list);
  for (size_t i = 0; i < record->count; i++) {
    const struct serving_rung *rung = &record->rungs[i];
    const struct fleet_workload workload = workload_served(record, rung, arena);
    if (*rung->refused)
      texts_add(&items.refused, arena, "left out, from node %s: %s: %s", node, workload.words,
                rung->refused);
    else
      items.list[items.count++] = (struct fleet_item){
          .workload = workload,
          .run = run_served(record, rung, path, items.digest, arena),
          .node = node,
          .is_named = *record->node,
          .device = server,
          .position = server,
          .settings = settings,
          .sources = sources,
          .source_count = record->file_count,
      };
  }
  note_programs(&items, settings[SETTING_ENGINE], kept(arena, record->tool),
                kept(arena, record->tool_version));
  return items;
}
