#include "model/delivery/fleet.h"

#include "base/json_in.h"
#include "base/record.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/evidence/measurement.h"
#include "model/evidence/measurement_read.h"
#include "model/evidence/recorded.h"
#include "model/evidence/records.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    [SETTING_THROTTLED] = "throttled",
    [SETTING_KERNELS_BUILD] = "probe's kernels",
    [SETTING_TOOL_VERSION] = "probe's version",
};

// ---- one file: what counts of it, while the rest is given back

struct item {
  struct fleet_workload workload;
  struct fleet_run run;
  const char *node, *device, *position;
  const char *const *settings;
  const char *digest;
};

struct file {
  const char *path;
  struct item *items; // [count]
  size_t count;
  const char *digest; // NULL: it was refused
};

static const char *kept(struct arena *arena, const char *text) {
  return *text ? arena_copy(arena, text) : "";
}

static const char *node_of(const struct measurement_record *record, const char *path,
                           struct arena *arena) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *point = strrchr(name, '.');
  if (*record->environment.node)
    return arena_copy(arena, record->environment.node);
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
      [SETTING_KERNELS_BUILD] = environment->kernels_build,
      [SETTING_TOOL_VERSION] = environment->tool_version,
  };
  for (int s = 0; s < FLEET_SETTINGS; s++)
    settings[s] = texts[s] ? kept(arena, texts[s]) : "";
  settings[SETTING_THROTTLED] = throttled(record, arena);
  if (!isnan(state->power_limit_w))
    settings[SETTING_POWER_LIMIT] = arena_printf(arena, "%g W", state->power_limit_w);
  // In whole GiB: what a driver keeps for itself differs by a few pages.
  settings[SETTING_MEMORY] =
      arena_printf(arena, "%.0f GiB", (double)record->device.memory_bytes / 0x1p30);
  return settings;
}

static bool counts(const struct measurement *result) {
  return result->whole_model && result->shard.of < 2 && !result->slice_count;
}

static struct fleet_workload workload_of(const struct measurement *result, struct arena *arena) {
  const int together = result->together.devices > 1 && !isnan(result->together.tokens_per_s)
                           ? result->together.devices
                           : 1;
  struct fleet_workload workload = {
      .device = kept(arena, result->record->device.name),
      .model = kept(arena, result->model.id),
      .precision = arena_printf(arena, "%s, activations %s, kv %s", kept(arena, result->precision),
                                recorded_precision(result->types.activations),
                                recorded_precision(result->types.kv)),
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

// A 95 % interval of a median is some 1.96 standard errors to either side.
static const double z_95 = 1.959963984540054;

static struct fleet_run run_of(const struct measurement *result, const struct file *file,
                               struct arena *arena) {
  const double devices = measurement_devices(result);
  const bool at_once = result->together.devices > 1 && !isnan(result->together.tokens_per_s);
  struct fleet_run run = {
      .tokens_per_s = result->tokens_per_s / devices,
      .error = (result->ci95_high - result->ci95_low) / (2 * z_95) / devices,
      .power_w = result->load_power_w / measurement_metered_devices(result),
      .clock_mhz = result->telemetry.core_clock_hz.median / 1e6,
      .started = kept(arena, result->started),
      .file = file->path,
  };
  if (at_once) {
    run.error *= result->together.tokens_per_s / run.tokens_per_s;
    run.tokens_per_s = result->together.tokens_per_s;
    run.power_w = result->together.load_power_w / result->together.devices;
    run.clock_mhz = result->together.telemetry.core_clock_hz.median / 1e6;
  }
  return run;
}

static void take_record(struct file *file, const struct measurement_record *record,
                        struct arena *arena) {
  const char *node = node_of(record, file->path, arena);
  const char *device = device_of(&record->device, arena);
  const char *position = position_of(&record->device, arena);
  const char *const *settings = settings_of(record, arena);
  file->digest = arena_copy(arena, record->digest);
  file->items = arena_array(arena, record->count, sizeof *file->items);
  for (size_t i = 0; i < record->count; i++) {
    const struct measurement *result = &record->results[i];
    if (counts(result))
      file->items[file->count++] = (struct item){workload_of(result, arena),
                                                 run_of(result, file, arena),
                                                 node,
                                                 device,
                                                 position,
                                                 settings,
                                                 file->digest};
  }
}

// A record is much longer than what counts of it: it lives in an arena of its own. Returns -1 where
// it is refused, of which nothing is said.
static int take_file(struct file *file, struct arena *arena) {
  struct arena scratch = {NULL};
  struct diagnostics unheard = {.arena = &scratch};
  const struct source *source;
  json_t *object = json_in_read(file->path, "", &source, &scratch, &unheard);
  const struct measurement_record *record =
      object ? measurement_of_json(object, source, &scratch, &unheard) : NULL;
  json_decref(object);
#pragma omp critical(fleet_arena)
  if (record)
    take_record(file, record, arena);
  arena_free(&scratch);
  return record ? 0 : -1;
}

// Once more, to say what is wrong with it.
static void report_file(const struct file *file, struct arena *arena,
                        struct diagnostics *diagnostics) {
  const struct source *source;
  json_t *object =
      json_in_read(file->path, "expected a whole record in JSON", &source, arena, diagnostics);
  const size_t errors = diagnostics->errors;
  if (object && !measurement_of_json(object, source, arena, diagnostics) &&
      json_object_get(object, "record") && diagnostics->errors > errors)
    diagnostics_error(
        diagnostics, (struct place){source, 0, 0},
        "a fleet is measured by 'pertoken probe run': this is another kind of record");
  json_decref(object);
}

// They do so on their first use, which must not be several threads' at once.
static void set_up_libraries(struct arena *arena) {
  json_t *object = json_object();
  json_object_seed(0);
  record_digest(object, arena);
  json_decref(object);
}

static int take_files(struct file *files, size_t count, struct arena *arena,
                      struct diagnostics *diagnostics) {
  size_t refused = 0;
  set_up_libraries(arena);
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : refused)
  for (size_t i = 0; i < count; i++)
    refused += take_file(&files[i], arena) != 0;
  for (size_t i = 0; i < count && refused; i++)
    if (!files[i].digest)
      report_file(&files[i], arena, diagnostics);
  return refused ? -1 : 0;
}

// ---- all files

struct reading {
  struct fleet *fleet;
  struct file *files;
  size_t file_count;
  struct item *items;
  size_t item_count;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int list_files(struct reading *reading, const char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct stat status;
    const char *const *found = &paths[i];
    size_t found_count = 1;
    if (!stat(paths[i], &status) && S_ISDIR(status.st_mode) &&
        records_list(paths[i], &found, &found_count, reading->arena, reading->diagnostics))
      return -1;
    reading->files = arena_grow(reading->arena, reading->files, reading->file_count,
                                reading->file_count + found_count, sizeof *reading->files);
    for (size_t f = 0; f < found_count; f++)
      reading->files[reading->file_count++].path = found[f];
  }
  return 0;
}

static int by_digest(const void *a, const void *b) {
  const struct file *left = *(const struct file *const *)a, *right = *(const struct file *const *)b;
  const int order = strcmp(left->digest, right->digest);
  return order ? order : strcmp(left->path, right->path);
}

static void refuse_twice(const struct reading *reading) {
  const struct file **files =
      arena_array(reading->arena, reading->file_count + 1, sizeof(struct file *));
  for (size_t i = 0; i < reading->file_count; i++)
    files[i] = &reading->files[i];
  qsort(files, reading->file_count, sizeof(struct file *), by_digest);
  for (size_t i = 1; i < reading->file_count; i++)
    if (!strcmp(files[i]->digest, files[i - 1]->digest))
      diagnostics_error(reading->diagnostics, (struct place){0},
                        "'%s' and '%s' are one record: it would count twice", files[i - 1]->path,
                        files[i]->path);
}

static int compare_numbers(double a, double b) {
  return (a > b) - (a < b);
}

static int compare_workloads(const struct fleet_workload *a, const struct fleet_workload *b) {
  const int order[] = {strcmp(a->device, b->device),
                       strcmp(a->model, b->model),
                       strcmp(a->precision, b->precision),
                       compare_numbers(a->context, b->context),
                       compare_numbers(a->batch, b->batch),
                       compare_numbers(a->ranks, b->ranks),
                       compare_numbers(a->together, b->together)};
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
    if (order[i])
      return order[i];
  return 0;
}

static int by_device(const void *a, const void *b) {
  const struct item *left = a, *right = b;
  const int node = strcmp(left->node, right->node);
  const int device = node ? node : strcmp(left->device, right->device);
  return device ? device : strcmp(left->run.started, right->run.started);
}

static int by_workload(const void *a, const void *b) {
  const struct item *left = a, *right = b;
  const int workload = compare_workloads(&left->workload, &right->workload);
  if (workload)
    return workload;
  const int device = compare_numbers((double)left->run.device, (double)right->run.device);
  const int time = device ? device : strcmp(left->run.started, right->run.started);
  return time ? time : strcmp(left->digest, right->digest);
}

static void collect_items(struct reading *reading) {
  size_t count = 0;
  for (size_t f = 0; f < reading->file_count; f++)
    count += reading->files[f].count;
  reading->items = arena_array(reading->arena, count + 1, sizeof *reading->items);
  for (size_t f = 0; f < reading->file_count; f++)
    for (size_t i = 0; i < reading->files[f].count; i++)
      reading->items[reading->item_count++] = reading->files[f].items[i];
}

// Of a device's records the last is the newest.
static void collect_devices(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  fleet->nodes = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->nodes);
  fleet->devices = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->devices);
  qsort(reading->items, reading->item_count, sizeof *reading->items, by_device);
  for (size_t i = 0; i < reading->item_count; i++) {
    struct item *item = &reading->items[i];
    const bool new_node = !i || strcmp(item[-1].node, item->node) != 0;
    if (new_node)
      fleet->nodes[fleet->node_count++] = (struct fleet_node){.name = item->node, .row = -1};
    if (new_node || strcmp(item[-1].device, item->device) != 0) {
      fleet->nodes[fleet->node_count - 1].device_count++;
      fleet->devices[fleet->device_count++] = (struct fleet_device){
          .node = fleet->node_count - 1, .id = item->device, .position = item->position};
    }
    item->run.device = fleet->device_count - 1;
    memcpy(fleet->devices[item->run.device].settings, item->settings,
           sizeof fleet->devices->settings);
  }
}

static void collect_runs(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  fleet->runs = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->runs);
  fleet->workloads = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->workloads);
  qsort(reading->items, reading->item_count, sizeof *reading->items, by_workload);
  for (size_t i = 0; i < reading->item_count; i++) {
    struct item *item = &reading->items[i];
    if (!i || compare_workloads(&item[-1].workload, &item->workload) != 0) {
      fleet->workloads[fleet->workload_count] = item->workload;
      fleet->workloads[fleet->workload_count++].first_run = i;
    }
    fleet->workloads[fleet->workload_count - 1].run_count++;
    item->run.workload = fleet->workload_count - 1;
    fleet->runs[fleet->run_count++] = item->run;
  }
}

// ---- the nodes that are expected

static struct fleet_node *find_node(const struct fleet *fleet, const char *name) {
  size_t low = 0, high = fleet->node_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const int order = strcmp(name, fleet->nodes[middle].name);
    if (!order)
      return &fleet->nodes[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

// A plain list is a table of one column; its first line is a name too.
static const struct table *read_list(const char *path, struct arena *arena,
                                     struct diagnostics *diagnostics) {
  const struct source *source = source_read(path, arena, diagnostics);
  if (!source)
    return NULL;
  const size_t first = strcspn(source->text, "\r\n");
  const char *line = arena_copy_n(arena, source->text, first);
  if (!strchr(line, ',') && strcmp(line, "node") != 0)
    source = source_from_text(path, arena_printf(arena, "node\n%s", source->text), arena);
  struct table *table = csv_read(source, path, arena, diagnostics);
  if (!table)
    return NULL;
  if (table_column(table, "node") < 0) {
    diagnostics_error(diagnostics, table_header_place(table),
                      "a list of nodes needs a column 'node'");
    return NULL;
  }
  return table_index(table, "node", arena, diagnostics) ? NULL : table;
}

static int expect_nodes(const struct reading *reading, const char *path) {
  struct fleet *fleet = reading->fleet;
  fleet->list = path ? read_list(path, reading->arena, reading->diagnostics) : NULL;
  if (path && !fleet->list)
    return -1;
  for (size_t row = 0; path && row < fleet->list->rows; row++) {
    const char *name = table_cell(fleet->list, row, "node");
    struct fleet_node *node = find_node(fleet, name);
    if (node)
      node->row = (long)row;
    else
      texts_add(&fleet->missing, reading->arena, "%s", name);
  }
  for (size_t n = 0; path && n < fleet->node_count; n++)
    if (fleet->nodes[n].row < 0)
      texts_add(&fleet->unexpected, reading->arena, "%s", fleet->nodes[n].name);
  return 0;
}

// Two nodes cannot have one device: a name was given twice, or a device moved.
static int by_id(const void *a, const void *b) {
  const struct fleet_device *left = *(const struct fleet_device *const *)a;
  const struct fleet_device *right = *(const struct fleet_device *const *)b;
  return strcmp(left->id, right->id);
}

static void warn_of_moved(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  const struct fleet_device **all =
      arena_array(reading->arena, fleet->device_count + 1, sizeof(struct fleet_device *));
  for (size_t d = 0; d < fleet->device_count; d++)
    all[d] = &fleet->devices[d];
  qsort(all, fleet->device_count, sizeof(struct fleet_device *), by_id);
  for (size_t d = 1; d < fleet->device_count; d++)
    if (!strcmp(all[d]->id, all[d - 1]->id) && strcmp(all[d]->id, all[d]->position) != 0)
      texts_add(&fleet->warnings, reading->arena, "device %s stands in two nodes: %s and %s",
                all[d]->id, fleet->nodes[all[d - 1]->node].name, fleet->nodes[all[d]->node].name);
}

const struct fleet *fleet_read(const char *const *paths, size_t count, const char *expected,
                               struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct reading reading = {.fleet = arena_alloc(arena, sizeof *reading.fleet),
                            .arena = arena,
                            .diagnostics = diagnostics};
  if (list_files(&reading, paths, count) ||
      take_files(reading.files, reading.file_count, arena, diagnostics))
    return NULL;
  refuse_twice(&reading);
  collect_items(&reading);
  reading.fleet->record_count = reading.file_count;
  if (!reading.item_count)
    diagnostics_error(diagnostics, (struct place){0}, "no result of a whole model in %zu record%s",
                      reading.file_count, reading.file_count == 1 ? "" : "s");
  collect_devices(&reading);
  collect_runs(&reading);
  warn_of_moved(&reading);
  if (expect_nodes(&reading, expected))
    return NULL;
  return diagnostics->errors == errors ? reading.fleet : NULL;
}

const struct fleet *fleet_of_records(const struct records *records, struct arena *arena) {
  struct reading reading = {.fleet = arena_alloc(arena, sizeof *reading.fleet), .arena = arena};
  reading.files = arena_array(arena, records->count + 1, sizeof *reading.files);
  for (size_t i = 0; i < records->count; i++) {
    const struct measurement_record *record = records->list[i];
    struct file *file = &reading.files[reading.file_count];
    if (!record->environment.tool_version)
      continue; // of another program's run
    file->path = record->path;
    take_record(file, record, arena);
    reading.file_count++;
  }
  collect_items(&reading);
  reading.fleet->record_count = reading.file_count;
  collect_devices(&reading);
  collect_runs(&reading);
  return reading.item_count ? reading.fleet : NULL;
}

long fleet_workload_like(const struct fleet *fleet, const struct measurement *result,
                         struct arena *arena) {
  const struct fleet_workload like = workload_of(result, arena);
  for (size_t w = 0; w < fleet->workload_count; w++)
    if (!compare_workloads(&fleet->workloads[w], &like))
      return (long)w;
  return -1;
}
