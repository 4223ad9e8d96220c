#include "model/delivery/fleet.h"

#include "base/host_list.h"
#include "base/json_in.h"
#include "base/record_digest.h"
#include "base/source.h"
#include "base/source_file.h"
#include "base/statistics.h"
#include "model/delivery/fleet_item.h"
#include "model/delivery/twins.h"
#include "model/records/measurement.h"
#include "model/records/measurement_file.h"
#include "model/records/records.h"
#include "model/records/served_rungs.h"
#include "model/records/serving.h"
#include "model/records/url.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- one file: what counts is kept, the rest is freed

struct file {
  const char *path;
  struct fleet_items items; // without a digest: it was refused
};

// Why a serving record does not belong to a node's server, or NULL.
static const char *why_not_served(const struct serving_record *record) {
  if (record->basis == BASIS_DECODE)
    return "an engine's static batch: measure decoding on a fleet with 'pertoken probe run'";
  return *record->published_title ? "a published run does not belong to a node of this fleet"
                                  : NULL;
}

// A record is much longer than what counts of it, so it is read into its own arena. Returns -1,
// without a report, if it is refused.
static int take_file(struct file *file, struct arena *arena) {
  struct arena scratch = {NULL};
  struct diagnostics unheard = {.arena = &scratch};
  const struct source *source;
  json_t *object = json_in_read(file->path, "", &source, &scratch, &unheard);
  const bool is_served = object && serving_is_one(object);
  const struct measurement_record *record =
      object && !is_served ? measurement_of_json(object, source, &scratch, &unheard) : NULL;
  const struct serving_record *serving =
      is_served ? serving_of_json(object, source, &scratch, &unheard) : NULL;
  json_decref(object);
#pragma omp critical(fleet_arena)
  if (record)
    file->items = fleet_items_of_measurement(record, file->path, arena);
  else if (serving && !why_not_served(serving))
    file->items = fleet_items_of_serving(serving, file->path, arena);
  arena_free(&scratch);
  return file->items.digest ? 0 : -1;
}

// Reads it again, to report what is wrong with it.
static void report_file(const struct file *file, struct arena *arena,
                        struct diagnostics *diagnostics) {
  const struct source *source;
  json_t *object =
      json_in_read(file->path, "expected a complete record in JSON", &source, arena, diagnostics);
  const size_t errors = diagnostics->errors;
  const struct place place = {source, 0, 0};
  const bool is_watts = object && records_refuse_watts(object, source, diagnostics);
  if (object && serving_is_one(object)) {
    const struct serving_record *record = serving_of_json(object, source, arena, diagnostics);
    const char *why = record ? why_not_served(record) : NULL;
    if (why)
      diagnostics_error(diagnostics, place, "%s", why);
  } else if (object && !is_watts && !measurement_of_json(object, source, arena, diagnostics) &&
             json_object_get(object, "record") && diagnostics->errors > errors) {
    diagnostics_error(diagnostics, place,
                      "fleet records come from 'pertoken probe run' and 'probe serving': this is "
                      "another kind of record");
  }
  json_decref(object);
}

// The libraries initialize themselves on first use, which must not happen in several threads at
// once.
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
  for (size_t i = 0; i < count; i++) {
    diagnostics_note_path(diagnostics, files[i].path);
    if (!files[i].items.digest)
      report_file(&files[i], arena, diagnostics);
  }
  return refused ? -1 : 0;
}

// ---- all files

struct reading {
  struct fleet *fleet;
  struct file *files;
  size_t file_count;
  struct fleet_item *items;
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
  const int order = strcmp(left->items.digest, right->items.digest);
  return order ? order : strcmp(left->path, right->path);
}

static void refuse_twice(const struct reading *reading) {
  const struct file **files =
      arena_array(reading->arena, reading->file_count + 1, sizeof(struct file *));
  for (size_t i = 0; i < reading->file_count; i++)
    files[i] = &reading->files[i];
  qsort(files, reading->file_count, sizeof(struct file *), by_digest);
  for (size_t i = 1; i < reading->file_count; i++)
    if (!strcmp(files[i]->items.digest, files[i - 1]->items.digest))
      diagnostics_error(reading->diagnostics, nowhere,
                        "'%s' and '%s' are the same record: it would count twice",
                        files[i - 1]->path, files[i]->path);
}

static int compare_workloads(const struct fleet_workload *a, const struct fleet_workload *b) {
  const int order[] = {strcmp(a->device, b->device),
                       strcmp(a->model, b->model),
                       strcmp(a->precision, b->precision),
                       number_order(a->context, b->context),
                       number_order(a->batch, b->batch),
                       number_order(a->ranks, b->ranks),
                       number_order(a->together, b->together),
                       number_order(a->served, b->served),
                       number_order(a->input_tokens, b->input_tokens),
                       number_order(a->output_tokens, b->output_tokens),
                       number_order(a->load, b->load),
                       number_order(a->concurrency, b->concurrency),
                       number_order(a->request_rate, b->request_rate)};
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
    if (order[i])
      return order[i];
  return 0;
}

static int by_device(const void *a, const void *b) {
  const struct fleet_item *left = a, *right = b;
  const int node = strcmp(left->node, right->node);
  const int device = node ? node : strcmp(left->device, right->device);
  return device ? device : strcmp(left->run.started, right->run.started);
}

static int by_workload(const void *a, const void *b) {
  const struct fleet_item *left = a, *right = b;
  const int workload = compare_workloads(&left->workload, &right->workload);
  if (workload)
    return workload;
  const int device = number_order((double)left->run.device, (double)right->run.device);
  const int time = device ? device : strcmp(left->run.started, right->run.started);
  return time ? time : strcmp(left->run.digest, right->run.digest);
}

static void collect_refused(const struct reading *reading) {
  enum { MAX_TOLD = 5 };
  struct texts *told = &reading->fleet->refused;
  size_t count = 0;
  for (size_t f = 0; f < reading->file_count; f++) {
    const struct texts *refused = &reading->files[f].items.refused;
    for (size_t i = 0; i < refused->count; i++)
      if (count++ < MAX_TOLD)
        texts_add(told, reading->arena, "%s", refused->list[i]);
  }
  if (count > MAX_TOLD)
    texts_add(told, reading->arena, "%zu more loads were refused and left out", count - MAX_TOLD);
}

static void collect_items(struct reading *reading) {
  size_t count = 0;
  for (size_t f = 0; f < reading->file_count; f++)
    count += reading->files[f].items.count;
  reading->items = arena_array(reading->arena, count + 1, sizeof *reading->items);
  for (size_t f = 0; f < reading->file_count; f++)
    for (size_t i = 0; i < reading->files[f].items.count; i++)
      reading->items[reading->item_count++] = reading->files[f].items.list[i];
}

// The last of a device's records is the newest.
static void collect_devices(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  fleet->nodes = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->nodes);
  fleet->devices = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->devices);
  qsort(reading->items, reading->item_count, sizeof *reading->items, by_device);
  for (size_t i = 0; i < reading->item_count; i++) {
    struct fleet_item *item = &reading->items[i];
    const bool new_node = !i || strcmp(item[-1].node, item->node) != 0;
    if (new_node)
      fleet->nodes[fleet->node_count++] = (struct fleet_node){.name = item->node, .row = -1};
    if (new_node || strcmp(item[-1].device, item->device) != 0) {
      struct fleet_node *node = &fleet->nodes[fleet->node_count - 1];
      const int served = item->workload.served ? item->workload.ranks : 0;
      node->device_count += !served;
      node->served += (size_t)served;
      fleet->devices[fleet->device_count++] = (struct fleet_device){.node = fleet->node_count - 1,
                                                                    .id = item->device,
                                                                    .position = item->position,
                                                                    .served = served,
                                                                    .is_named = item->is_named};
    }
    item->run.device = fleet->device_count - 1;
    memcpy(fleet->devices[item->run.device].settings, item->settings,
           sizeof fleet->devices->settings);
  }
}

// The first of the `known` workloads whose lengths agree with those of this server's requests; NULL
// for none.
static const struct fleet_workload *lengths_like(const struct fleet_workload *workload,
                                                 const struct fleet_workload *const *known,
                                                 size_t count) {
  for (size_t i = 0; i < count; i++)
    if (served_is_alike(workload->input_tokens, known[i]->input_tokens) &&
        served_is_alike(workload->output_tokens, known[i]->output_tokens))
      return known[i];
  return NULL;
}

static int by_lengths(const void *a, const void *b) {
  const struct fleet_workload *left = &((const struct fleet_item *)a)->workload;
  const struct fleet_workload *right = &((const struct fleet_item *)b)->workload;
  const int asked = right->is_asked - left->is_asked;
  const int input = asked ? asked : number_order(left->input_tokens, right->input_tokens);
  return input ? input : number_order(left->output_tokens, right->output_tokens);
}

// Two runs of one test by a client that draws lengths around a mean differ by chance. They get the
// lengths of those that were asked for, else of the shortest.
static void agree_on_lengths(const struct reading *reading) {
  const struct fleet_workload **known =
      arena_array(reading->arena, reading->item_count + 1, sizeof(struct fleet_workload *));
  size_t count = 0;
  qsort(reading->items, reading->item_count, sizeof *reading->items, by_lengths);
  for (size_t i = 0; i < reading->item_count; i++) {
    struct fleet_workload *workload = &reading->items[i].workload;
    const struct fleet_workload *last = count ? known[count - 1] : NULL;
    const struct fleet_workload *like =
        workload->is_asked ? NULL : lengths_like(workload, known, count);
    if (like)
      fleet_set_lengths(workload, like->input_tokens, like->output_tokens, reading->arena);
    else if (workload->input_tokens > 0 && !(last && last->input_tokens == workload->input_tokens &&
                                             last->output_tokens == workload->output_tokens))
      known[count++] = workload;
  }
}

static void collect_runs(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  fleet->runs = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->runs);
  fleet->workloads = arena_array(reading->arena, reading->item_count + 1, sizeof *fleet->workloads);
  qsort(reading->items, reading->item_count, sizeof *reading->items, by_workload);
  for (size_t i = 0; i < reading->item_count; i++) {
    struct fleet_item *item = &reading->items[i];
    if (!i || compare_workloads(&item[-1].workload, &item->workload) != 0) {
      fleet->workloads[fleet->workload_count] = item->workload;
      fleet->workloads[fleet->workload_count++].first_run = i;
    }
    fleet->workloads[fleet->workload_count - 1].run_count++;
    item->run.workload = fleet->workload_count - 1;
    fleet->runs[fleet->run_count++] = item->run;
  }
}

// ---- expected nodes

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

// "n[1-3],n7" typed instead of a file name, as one name per line.
static const struct source *typed_list(const char *text, struct arena *arena,
                                       struct diagnostics *diagnostics) {
  struct texts names = {0};
  if (host_list_read(text, &names, arena, diagnostics))
    return NULL;
  return source_from_text(text, texts_joined_by(&names, "\n", arena), arena);
}

// A plain list is read as a table with one column; its first line is a name too.
const struct table *fleet_list_read(const char *path, struct arena *arena,
                                    struct diagnostics *diagnostics) {
  const bool is_typed = strpbrk(path, "[,") && access(path, F_OK);
  const struct source *source =
      is_typed ? typed_list(path, arena, diagnostics) : source_read(path, arena, diagnostics);
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
  fleet->list = path ? fleet_list_read(path, reading->arena, reading->diagnostics) : NULL;
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

// Two nodes cannot have the same device: a name was given twice, or a device moved.
static int by_id(const void *a, const void *b) {
  const struct fleet_device *left = *(const struct fleet_device *const *)a;
  const struct fleet_device *right = *(const struct fleet_device *const *)b;
  return strcmp(left->id, right->id);
}

// Whether the id belongs to a single device, which cannot be on two nodes. A server's does not if
// it has no URL, if its URL means whatever machine asks, or if the nodes that measured it were
// named: then a name such as "vllm" may mean each node's own.
static bool is_one(const struct fleet_device *device) {
  if (!device->served)
    return strcmp(device->id, device->position) != 0;
  const bool is_url = strstr(device->id, "://");
  return !device->is_named && is_url && !url_is_of_this_host(device->id);
}

static void warn_of_moved(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  const struct fleet_device **all =
      arena_array(reading->arena, fleet->device_count + 1, sizeof(struct fleet_device *));
  for (size_t d = 0; d < fleet->device_count; d++)
    all[d] = &fleet->devices[d];
  qsort(all, fleet->device_count, sizeof(struct fleet_device *), by_id);
  for (size_t d = 1; d < fleet->device_count; d++)
    if (!strcmp(all[d]->id, all[d - 1]->id) && is_one(all[d]))
      texts_add(&fleet->warnings, reading->arena, "%s %s appears on two nodes: %s and %s",
                all[d]->served ? "server" : "device", all[d]->id,
                fleet->nodes[all[d - 1]->node].name, fleet->nodes[all[d]->node].name);
}

// A name that is a file's says nothing about its node.
static void warn_of_twins(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  const char **names = arena_array(reading->arena, fleet->node_count + 1, sizeof *names);
  size_t count = 0;
  for (size_t d = 0; d < fleet->device_count; d++) {
    const struct fleet_device *device = &fleet->devices[d];
    const char *name = fleet->nodes[device->node].name;
    if (device->is_named && !(count && names[count - 1] == name))
      names[count++] = name;
  }
  twins_of_names(names, count, &fleet->twins, reading->arena);
}

enum { MAX_VARIANTS = 8 }; // that are told apart

struct variants {
  const char *names[MAX_VARIANTS];
  size_t counts[MAX_VARIANTS], count;
};

static void count_variant(struct variants *variants, const char *name) {
  size_t at = 0;
  while (at < variants->count && strcmp(variants->names[at], name) != 0)
    at++;
  if (at == MAX_VARIANTS)
    return;
  if (at == variants->count)
    variants->names[variants->count++] = name;
  variants->counts[at]++;
}

static struct variants variants_of(const struct fleet *fleet,
                                   const struct fleet_workload *workload) {
  struct variants variants = {.count = 0};
  for (size_t r = 0; r < workload->run_count; r++) {
    const char *variant = fleet->runs[workload->first_run + r].variant;
    if (variant)
      count_variant(&variants, variant);
  }
  return variants;
}

// Warns if the machines, each of which finds the fastest kernels for itself, found different ones:
// these are then a part of what the devices differ by.
static void warn_of_variants(const struct reading *reading) {
  struct fleet *fleet = reading->fleet;
  for (size_t w = 0; w < fleet->workload_count; w++) {
    struct fleet_workload *workload = &fleet->workloads[w];
    const struct variants variants = variants_of(fleet, workload);
    const char *words = "";
    size_t usual = 0;
    for (size_t v = 0; v < variants.count; v++) {
      usual = variants.counts[v] > variants.counts[usual] ? v : usual;
      words = arena_printf(reading->arena, "%s%s%zu with %s", words, *words ? ", " : "",
                           variants.counts[v],
                           *variants.names[v] ? variants.names[v] : "the kernels' own choice");
    }
    if (variants.count < 2)
      continue;
    workload->usual_variant = variants.names[usual];
    texts_add(&fleet->unlike, reading->arena,
              "%s: measured with different kernels, %s: choose one with --variant", workload->words,
              words);
  }
}

const char *fleet_variants(const struct fleet *fleet, const struct fleet_workload *workload,
                           size_t node, long device, bool *is_usual, struct arena *arena) {
  struct variants variants = {.count = 0};
  const char *words = "";
  *is_usual = true;
  for (size_t r = 0; r < workload->run_count; r++) {
    const struct fleet_run *run = &fleet->runs[workload->first_run + r];
    const bool is_there =
        device < 0 ? fleet->devices[run->device].node == node : run->device == (size_t)device;
    if (is_there && run->variant)
      count_variant(&variants, run->variant);
  }
  for (size_t v = 0; v < variants.count; v++) {
    const char *name = variants.names[v];
    *is_usual &= !workload->usual_variant || !strcmp(name, workload->usual_variant);
    words = arena_printf(arena, "%s%s%s", words, *words ? ", " : "", *name ? name : "own choice");
  }
  return words;
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
  collect_refused(&reading);
  collect_items(&reading);
  reading.fleet->record_count = reading.file_count;
  if (!reading.item_count)
    diagnostics_error(diagnostics, nowhere,
                      "no whole-model result and no server load in %zu record%s",
                      reading.file_count, reading.file_count == 1 ? "" : "s");
  twins_refuse(reading.items, reading.item_count, arena, diagnostics);
  collect_devices(&reading);
  agree_on_lengths(&reading);
  collect_runs(&reading);
  warn_of_moved(&reading);
  warn_of_twins(&reading);
  warn_of_variants(&reading);
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
      continue; // a run of another program
    file->path = record->path;
    file->items = fleet_items_of_measurement(record, file->path, arena);
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
  const struct fleet_workload like = fleet_workload_of(result, arena);
  for (size_t w = 0; w < fleet->workload_count; w++)
    if (!compare_workloads(&fleet->workloads[w], &like))
      return (long)w;
  return -1;
}
