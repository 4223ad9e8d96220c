#include "reports/records/fleet.h"

#include "base/texts.h"
#include "model/cost/units.h"
#include "model/delivery/fleet_item.h"
#include "model/delivery/fleet_spread.h"
#include "reports/faces/parts.h"
#include "reports/records/fleet_settings.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 40, EXACT_DIGITS = 7 };

static const struct {
  const char *words, *title, *unit, *key;
} measures[FLEET_MEASURES] = {
    [FLEET_TOKENS] = {"decoding", "Decoding, token/s/gpu", "token/s/gpu", "tokens_per_s"},
    [FLEET_WATTS] = {"power", "Power, W/gpu", "W/gpu", "load_power"},
    [FLEET_CLOCK] = {"core clock, MHz", "Core clock, MHz", "-", "core_clock_mhz"},
    [FLEET_TTFT] = {"mean TTFT", "Mean TTFT, s", "s", "mean_ttft"},
    [FLEET_TPOT] = {"mean TPOT", "Mean TPOT, ms", "ms", "mean_tpot"}};

// One measure of one workload.
struct part {
  struct fleet_spread spread;
  enum fleet_measure measure;
  const struct fleet_workload *workload;
  const struct unit *unit;
};

struct telling {
  const struct fleet *fleet;
  struct part *parts; // [part_count]
  size_t part_count;
  size_t compared; // workloads of enough devices to tell outliers
  struct answer *answer;
  struct arena *arena;
};

static const char *words_of(const struct part *part) {
  return part->measure == FLEET_TOKENS && part->workload->served ? "serving"
                                                                 : measures[part->measure].words;
}

static const char *title_of(const struct part *part) {
  return part->measure == FLEET_TOKENS && part->workload->served ? "Serving, token/s/gpu"
                                                                 : measures[part->measure].title;
}

static const char *noun_of(const struct fleet_workload *workload) {
  return workload->served ? "server" : "device";
}

static double shown(const struct part *part, double value) {
  switch (part->measure) {
  case FLEET_TOKENS: return rate_per_hour(value);
  case FLEET_TTFT:
  case FLEET_TPOT: return rate_per_second(value); // times are in hours
  default: return value;
  }
}

static struct answer_cell amount(const struct part *part, double value) {
  return cell_in(shown(part, value), part->unit);
}

static const char *exact(const struct part *part, double value, struct arena *arena) {
  return quantity_words(shown(part, value), part->unit, EXACT_DIGITS, arena);
}

// ---- what was measured, and how its spread breaks down

static void add_measured(const struct telling *telling) {
  struct answer_table *table =
      ANSWER_TABLE(telling->answer, "measured", NULL, {"workload", "Measured", NULL},
                   {"measure", "", NULL}, {"nodes", "Nodes", "-"}, {"devices", "Devices", "-"},
                   {"runs", "Runs", "-"}, {"median", "Median", NULL}, {"mean", "Mean", NULL},
                   {"low", "Lowest", NULL}, {"p5", "P5", NULL}, {"p95", "P95", NULL},
                   {"high", "Highest", NULL}, {"node_median", "Median of nodes", NULL},
                   {"node_p5", "P5 of nodes", NULL}, {"node_p95", "P95 of nodes", NULL});
  table->faces = FACE_JSON | FACE_SHEET;
  for (size_t p = 0; p < telling->part_count; p++) {
    const struct part *part = &telling->parts[p];
    const struct fleet_spread *spread = &part->spread;
    ANSWER_ROW(table, cell_words(part->workload->words), cell_words(words_of(part)),
               cell_value((double)spread->node_count), cell_value((double)spread->device_count),
               cell_value((double)spread->run_count), amount(part, spread->median),
               amount(part, spread->mean), amount(part, spread->low), amount(part, spread->p5),
               amount(part, spread->p95), amount(part, spread->high),
               amount(part, spread->node_median), amount(part, spread->node_p5),
               amount(part, spread->node_p95));
  }
}

static struct answer_cell part_of_spread(double share, const char *otherwise) {
  struct answer_cell cell = isnan(share) ? cell_absent(otherwise) : cell_value(share);
  cell.digits = 3;
  return cell;
}

static void add_spread(const struct telling *telling) {
  bool one_run = false;
  struct answer_table *table = ANSWER_TABLE(
      telling->answer, "spread", NULL, {"workload", "Standard deviation", NULL},
      {"measure", "", NULL}, {"within_run", "Within a run", "%"},
      {"between_runs", "Between runs", "%"}, {"between_devices", "Between devices", "%"});
  for (size_t p = 0; p < telling->part_count; p++) {
    const struct part *part = &telling->parts[p];
    const struct fleet_spread *spread = &part->spread;
    one_run = one_run || isnan(spread->between_runs);
    const bool is_known = !isnan(spread->within_run) || !isnan(spread->between_runs) ||
                          !isnan(spread->between_devices);
    struct answer_cell *cells =
        answer_table_row_of(table, (struct answer_row){.faces = is_known ? 0 : FACE_JSON});
    cells[0] = cell_words(part->workload->words);
    cells[1] = cell_words(words_of(part));
    cells[2] = part_of_spread(spread->within_run, "not measured");
    cells[3] = part_of_spread(spread->between_runs, "one run each");
    cells[4] = part_of_spread(spread->between_devices, "one device");
  }
  table->faces = FACE_JSON | FACE_SHEET;
  table->note = one_run ? "As shares of the mean. Where each device ran once, its variation "
                          "includes run-to-run variation."
                        : "As shares of the mean, each in addition to the ones before it.";
}

static const struct {
  const char *label;
  size_t offset; // in struct fleet_spread
  bool is_of_nodes, is_share, is_ruled;
} statistics[] = {
    {"Median", offsetof(struct fleet_spread, median), false, false, false},
    {"Mean", offsetof(struct fleet_spread, mean), false, false, false},
    {"Lowest", offsetof(struct fleet_spread, low), false, false, false},
    {"P5: below in 5 %", offsetof(struct fleet_spread, p5), false, false, false},
    {"P95: below in 95 %", offsetof(struct fleet_spread, p95), false, false, false},
    {"Highest", offsetof(struct fleet_spread, high), false, false, false},
    {"Median of nodes", offsetof(struct fleet_spread, node_median), true, false, true},
    {"P5 of nodes", offsetof(struct fleet_spread, node_p5), true, false, false},
    {"P95 of nodes", offsetof(struct fleet_spread, node_p95), true, false, false},
    {"Within a run", offsetof(struct fleet_spread, within_run), false, true, true},
    {"Between runs", offsetof(struct fleet_spread, between_runs), false, true, false},
    {"Between devices", offsetof(struct fleet_spread, between_devices), false, true, false},
};

enum { STATISTICS = sizeof statistics / sizeof statistics[0] };

static double statistic(const struct part *part, size_t row) {
  return *(const double *)((const char *)&part->spread + statistics[row].offset);
}

// If each node has one device, its statistics would repeat those of devices; of one device there is
// a mean, and what is known of its runs.
static bool says_something(const struct part *parts, size_t count, size_t row) {
  if (statistics[row].is_of_nodes)
    return parts->spread.node_count < parts->spread.device_count;
  if (parts->spread.device_count > 1)
    return true;
  for (size_t p = 0; statistics[row].is_share && p < count; p++)
    if (!isnan(statistic(&parts[p], row)))
      return true;
  return statistics[row].offset == offsetof(struct fleet_spread, mean);
}

// Returns the number of standard deviations.
static size_t add_statistics(const struct telling *telling, const struct part *parts, size_t count,
                             struct answer_table *table) {
  size_t shares = 0;
  for (size_t r = 0; r < STATISTICS; r++) {
    if (!says_something(parts, count, r))
      continue;
    const bool is_last = r + 1 == STATISTICS;
    struct answer_cell *cells =
        answer_table_row_of(table, (struct answer_row){.label = is_last && parts->workload->served
                                                                    ? "Between servers"
                                                                    : statistics[r].label,
                                                       .ruled = statistics[r].is_ruled});
    shares += statistics[r].is_share;
    for (size_t p = 0; p < count; p++) {
      const double value = statistic(&parts[p], r);
      cells[1 + p] = !statistics[r].is_share ? cell_value(shown(&parts[p], value))
                     : isnan(value)          ? cell_absent("not known")
                                             : cell_words(percent_words(value, telling->arena));
    }
  }
  return shares;
}

// What the standard deviations, the last rows of a summary, are.
static const char *shares_words(const struct part *parts, size_t shares, struct arena *arena) {
  const char *noun = noun_of(parts->workload);
  if (!shares)
    return "";
  return arena_printf(
      arena, "; the last %s of the mean%s",
      shares == 1 ? "row is a standard deviation, as a share"
                  : arena_printf(arena, "%s rows are standard deviations, as shares",
                                 shares == 2 ? "two" : "three"),
      parts->spread.device_count == 1 ? ""
      : isnan(parts->spread.between_runs)
          ? arena_printf(arena,
                         ": each %s ran once, so the variation between %ss includes run-to-run "
                         "variation",
                         noun, noun)
          : ", each in addition to the ones above");
}

// The summary that people read: a row for each statistic, a column for each measure.
static void add_summary(const struct telling *telling, size_t first, size_t count) {
  struct arena *arena = telling->arena;
  const struct part *parts = &telling->parts[first];
  const bool served = parts->workload->served;
  struct answer_table table = answer_table_new("summary", parts->workload->words, arena);
  ANSWER_COLUMN(&table, .key = "statistic", .title = served ? "Of servers" : "Of devices",
                .align = ALIGN_LEFT);
  for (size_t p = 0; p < count; p++)
    ANSWER_COLUMN(&table, .key = measures[parts[p].measure].key, .title = title_of(&parts[p]),
                  .align = ALIGN_RIGHT, .unit = parts[p].unit, .unit_said = true);
  table.faces = FACE_TERMINAL;
  const size_t shares = add_statistics(telling, parts, count, &table);
  table.note = arena_printf(
      arena, "%s, %s, %s%s.", text_counted(parts->spread.node_count, "node", arena),
      text_counted(parts->spread.device_count, noun_of(parts->workload), arena),
      text_counted(parts->spread.run_count, "run", arena), shares_words(parts, shares, arena));
  answer_push(telling->answer, table);
}

static void add_summaries(const struct telling *telling) {
  for (size_t p = 0, count; p < telling->part_count; p += count) {
    for (count = 1; p + count < telling->part_count &&
                    telling->parts[p + count].workload == telling->parts[p].workload;
         count++) {
    }
    add_summary(telling, p, count);
  }
}

// ---- outliers

// A sheet does not repeat the only workload in every row.
static unsigned faces_of_workload(const struct telling *telling) {
  return telling->fleet->workload_count > 1 ? FACE_JSON | FACE_SHEET : FACE_JSON;
}

struct outliers {
  size_t count, with_other_kernels; // than most
};

static void add_outlier(const struct telling *telling, struct answer_table *table,
                        const struct part *part, const struct fleet_value *value, bool is_node,
                        struct outliers *outliers) {
  const struct fleet *fleet = telling->fleet;
  const struct fleet_device *device = is_node ? NULL : &fleet->devices[value->index];
  const size_t node = is_node ? value->index : device->node;
  bool is_usual;
  const char *variants = fleet_variants(
      fleet, part->workload, node, is_node ? -1 : (long)value->index, &is_usual, telling->arena);
  ANSWER_ROW(table, cell_words(fleet->nodes[node].name),
             is_node ? cell_absent("whole node") : cell_words(device->id),
             cell_words(part->workload->words), cell_words(words_of(part)),
             amount(part, value->value), cell_changed_by(value->share),
             *variants ? cell_words(variants) : cell_absent("-"));
  outliers->count++;
  outliers->with_other_kernels += !is_usual;
}

// Shows a device's kernels; if all have the same, people need not see which.
static void show_kernels(const struct telling *telling, const struct outliers *outliers,
                         struct answer_table *table) {
  table->columns[6].faces = telling->fleet->unlike.count ? 0 : FACE_JSON;
  if (outliers->with_other_kernels)
    table->note = "A device with other kernels than most may differ because of these: measure all "
                  "with the same, by --variant.";
}

static struct outliers add_outliers(const struct telling *telling) {
  struct outliers outliers = {0};
  struct answer_table *table = ANSWER_TABLE(
      telling->answer, "outliers", "Outliers", {"node", "Node", NULL}, {"device", "Device", NULL},
      {"workload", "Workload", NULL}, {"measure", "", NULL}, {"value", "Value", NULL},
      {"off_median", "Off the median", NULL}, {"kernels", "Kernels", NULL});
  table->columns[2].faces = faces_of_workload(telling);
  for (size_t p = 0; p < telling->part_count; p++) {
    const struct part *part = &telling->parts[p];
    const struct fleet_spread *spread = &part->spread;
    for (size_t n = 0; n < spread->node_count; n++)
      if (spread->nodes[n].stands_out && spread->node_count < spread->device_count)
        add_outlier(telling, table, part, &spread->nodes[n], true, &outliers);
    for (size_t d = 0; d < spread->device_count; d++)
      if (spread->devices[d].stands_out)
        add_outlier(telling, table, part, &spread->devices[d], false, &outliers);
  }
  show_kernels(telling, &outliers, table);
  if (!outliers.count)
    telling->answer->table_count--;
  return outliers;
}

// A terminal shows places that stand out, and others only if they are few and not about clocks.
static bool is_dull(const struct part *part, const struct fleet_place *place, size_t count) {
  return !place->stands_out && (count > MAX_ROWS || part->measure == FLEET_CLOCK);
}

static void add_places(const struct telling *telling) {
  size_t count = 0;
  for (size_t p = 0; p < telling->part_count; p++)
    count += telling->parts[p].spread.place_count;
  if (!count)
    return;
  struct answer_table *table =
      ANSWER_TABLE(telling->answer, "places", "By place", {"where", "Place", NULL},
                   {"column", "Place", NULL}, {"name", "", NULL}, {"workload", "Workload", NULL},
                   {"measure", "", NULL}, {"devices", "Devices", "-"}, {"median", "Median", NULL},
                   {"off_median", "Off the median", NULL}, {"stands_out", "Stands out", NULL});
  table->columns[0].faces = FACE_TERMINAL;
  table->columns[8].faces = FACE_JSON | FACE_SHEET;
  size_t stars = 0;
  table->columns[1].faces = table->columns[2].faces = FACE_JSON | FACE_SHEET;
  table->columns[3].faces = faces_of_workload(telling);
  for (size_t p = 0; p < telling->part_count; p++)
    for (size_t i = 0; i < telling->parts[p].spread.place_count; i++) {
      const struct part *part = &telling->parts[p];
      const struct fleet_place *place = &part->spread.places[i];
      struct answer_cell *cells = answer_table_row_of(
          table, (struct answer_row){
                     .label = arena_printf(telling->arena, "%s%s %s", place->stands_out ? "* " : "",
                                           place->column, place->name),
                     .faces = is_dull(part, place, count) ? FACE_JSON | FACE_SHEET : 0});
      cells[1] = cell_words(place->column);
      cells[2] = cell_words(place->name);
      cells[3] = cell_words(part->workload->words);
      cells[4] = cell_words(words_of(part));
      cells[5] = cell_value((double)place->count);
      cells[6] = amount(part, place->median);
      cells[7] = cell_changed_by(place->share);
      cells[8] = cell_flag(place->stands_out);
      stars += place->stands_out;
    }
  if (stars)
    table->note = "* outlier";
}

// ---- all values, for programs

static void add_node_values(const struct telling *telling) {
  const struct fleet *fleet = telling->fleet;
  struct answer_table *nodes =
      ANSWER_TABLE(telling->answer, "node_values", "All nodes, ascending", {"node", "Node", NULL},
                   {"workload", "Workload", NULL}, {"measure", "", NULL}, {"value", "Value", NULL},
                   {"off_median", "Off the median", NULL}, {"stands_out", "Stands out", NULL});
  nodes->faces = FACE_JSON | FACE_SHEET;
  for (size_t p = 0; p < telling->part_count; p++) {
    const struct part *part = &telling->parts[p];
    for (size_t n = 0; n < part->spread.node_count; n++) {
      const struct fleet_value *value = &part->spread.nodes[n];
      ANSWER_ROW(nodes, cell_words(fleet->nodes[value->index].name),
                 cell_words(part->workload->words), cell_words(words_of(part)),
                 amount(part, value->value), cell_changed_by(value->share),
                 cell_flag(value->stands_out));
    }
  }
}

// CSV has a line for each missing node too; JSON lists them among its facts.
static void add_device_values(const struct telling *telling) {
  const struct fleet *fleet = telling->fleet;
  struct answer_table *devices = ANSWER_TABLE(
      telling->answer, "device_values", NULL, {"device", "Device", NULL}, {"node", "Node", NULL},
      {"position", "Position", NULL}, {"workload", "Workload", NULL}, {"measure", "", NULL},
      {"unit", "Unit", NULL}, {"value", "Value", NULL}, {"off_median", "Off the median", "%"},
      {"stands_out", "Stands out", NULL});
  devices->faces = FACE_CSV | FACE_JSON;
  devices->is_wide = true;
  for (size_t p = 0; p < telling->part_count; p++) {
    const struct part *part = &telling->parts[p];
    for (size_t d = 0; d < part->spread.device_count; d++) {
      const struct fleet_value *value = &part->spread.devices[d];
      const struct fleet_device *device = &fleet->devices[value->index];
      ANSWER_ROW(devices, cell_words(device->id), cell_words(fleet->nodes[device->node].name),
                 cell_words(device->position), cell_words(part->workload->words),
                 cell_words(measures[part->measure].key), cell_words(part->unit->text),
                 amount(part, value->value), cell_value(value->share),
                 cell_flag(value->stands_out));
    }
  }
  for (size_t i = 0; i < fleet->missing.count; i++) {
    struct answer_cell *cells =
        answer_table_row_of(devices, (struct answer_row){.faces = FACE_CSV});
    cells[0] = cell_absent(NULL);
    cells[1] = cell_words(fleet->missing.list[i]);
    cells[4] = cell_words("missing");
  }
}

static void add_missing(const struct telling *telling) {
  const struct fleet *fleet = telling->fleet;
  struct answer_table facts = answer_table_of_facts(telling->arena);
  answer_fact(&facts, "nodes", cell_value((double)fleet->node_count));
  answer_fact(&facts, "devices", cell_value((double)fleet->device_count));
  answer_fact(&facts, "records", cell_value((double)fleet->record_count));
  answer_fact(&facts, "missing", cell_list(fleet->missing));
  answer_fact(&facts, "unexpected", cell_list(fleet->unexpected));
  for (size_t i = 0; i < facts.row_count; i++)
    facts.rows[i].faces = FACE_JSON;
  answer_push(telling->answer, facts);
  fleet_missing_add(fleet, telling->answer, telling->arena);
  if (fleet->unexpected.count)
    answer_warn(telling->answer, "not on the list of nodes: %s",
                fleet_few_names(&fleet->unexpected, telling->arena));
}

// ---- the complete answer

static void collect_parts(struct telling *telling, double margin) {
  const struct fleet *fleet = telling->fleet;
  telling->parts =
      arena_array(telling->arena, fleet->workload_count * FLEET_MEASURES, sizeof *telling->parts);
  for (size_t w = 0; w < fleet->workload_count; w++) {
    size_t devices = 0;
    for (int m = 0; m < FLEET_MEASURES; m++) {
      struct part *part = &telling->parts[telling->part_count];
      *part = (struct part){.measure = (enum fleet_measure)m,
                            .workload = &fleet->workloads[w],
                            .unit = unit_known(measures[m].unit, telling->arena)};
      part->spread = fleet_spread_of(fleet, w, part->measure, margin, telling->arena);
      telling->part_count += part->spread.device_count > 0;
      devices = part->spread.device_count > devices ? part->spread.device_count : devices;
    }
    telling->compared += devices >= FLEET_ENOUGH;
  }
}

// "64 devices and 8 servers"
static const char *counted(const struct fleet *fleet, struct arena *arena) {
  size_t servers = 0;
  for (size_t d = 0; d < fleet->device_count; d++)
    servers += fleet->devices[d].served > 0;
  const char *devices = text_counted(fleet->device_count - servers, "device", arena);
  if (!servers)
    return devices;
  return servers == fleet->device_count
             ? text_counted(servers, "server", arena)
             : arena_printf(arena, "%s and %s", devices, text_counted(servers, "server", arena));
}

// "no outliers", "2 outliers, one with other kernels than most"
static const char *outliers_text(const struct outliers *outliers, struct arena *arena) {
  const char *count = !outliers->count       ? "no outliers"
                      : outliers->count == 1 ? "one outlier"
                                             : arena_printf(arena, "%zu outliers", outliers->count);
  const size_t others = outliers->with_other_kernels;
  if (!others)
    return count;
  if (outliers->count == 1)
    return arena_printf(arena, "%s, with other kernels than most", count);
  return arena_printf(arena, "%s, %s with other kernels than most", count,
                      others == outliers->count ? "all"
                      : others == 1             ? "one"
                                                : arena_printf(arena, "%zu", others));
}

static const char *sentence_of(const struct telling *telling, const struct outliers *outliers,
                               size_t settings) {
  const struct fleet *fleet = telling->fleet;
  struct arena *arena = telling->arena;
  const char *whole =
      !fleet->list ? text_counted(fleet->node_count, "node", arena)
                   : arena_printf(arena, "%zu of the %zu nodes that are expected",
                                  fleet->list->rows - fleet->missing.count, fleet->list->rows);
  const char *set_up =
      settings ? arena_printf(arena, "; %s differ%s from most",
                              text_counted(settings, "setting", arena), settings == 1 ? "s" : "")
               : "";
  return arena_printf(
      arena, "%s, %s: %s%s.", whole, counted(fleet, arena),
      telling->compared ? outliers_text(outliers, arena) : "too few to tell outliers", set_up);
}

// How each measure's outliers and spread were computed.
static void explain_parts(const struct telling *telling, double margin) {
  struct arena *arena = telling->arena;
  for (size_t p = 0; p < telling->part_count; p++) {
    const struct part *part = &telling->parts[p];
    const struct fleet_spread *spread = &part->spread;
    const double robust = FLEET_DEVIATIONS * spread->deviation, least = margin * spread->median;
    answer_reason(telling->answer,
                  "%s, %s: the median of %s is %s; 1.4826 times the median absolute "
                  "deviation from it is %s. %g times that is %s, and %s of the median %s: beyond "
                  "the larger, %s.",
                  part->workload->words, words_of(part),
                  text_counted(spread->device_count, noun_of(part->workload), arena),
                  exact(part, spread->median, arena), exact(part, spread->deviation, arena),
                  FLEET_DEVIATIONS, exact(part, robust, arena), percent_words(margin, arena),
                  exact(part, least, arena),
                  text_counted(spread->devices_out, noun_of(part->workload), arena));
    if (isnan(spread->between_devices))
      continue;
    answer_reason(telling->answer,
                  "%s, %s: of the mean %s, %s is the root of the mean square between %ss, less "
                  "that within them, over the runs of one.",
                  part->workload->words, words_of(part), exact(part, spread->mean, arena),
                  percent_words(spread->between_devices, arena), noun_of(part->workload));
  }
}

static void add_warnings(const struct telling *telling) {
  const struct fleet *fleet = telling->fleet;
  const struct texts *const lists[] = {&fleet->warnings, &fleet->twins, &fleet->unlike,
                                       &fleet->refused};
  const size_t few = fleet->workload_count - telling->compared;
  for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
    for (size_t i = 0; i < lists[l]->count; i++)
      answer_warn(telling->answer, "%s", lists[l]->list[i]);
  if (telling->compared && few)
    answer_warn(telling->answer,
                "%zu of %zu workloads ran on fewer than %d devices or servers: too few to tell "
                "outliers",
                few, fleet->workload_count, FLEET_ENOUGH);
}

static void note_rules(const struct telling *telling, double margin) {
  answer_note(telling->answer, "",
              "A device counts with the mean of its runs, a node with the mean of its devices.");
  if (!telling->compared)
    answer_note(telling->answer, "",
                "To tell outliers takes at least %d devices or servers with the same workload.",
                FLEET_ENOUGH);
  else
    answer_note(telling->answer, "",
                "An outlier is further from the median than %g robust standard deviations (1.4826 "
                "times the median absolute deviation) and than %s; at a place, the median is "
                "further than %g of its own standard errors and than %s.",
                FLEET_DEVIATIONS, percent_words(margin, telling->arena), FLEET_DEVIATIONS,
                percent_words(FLEET_POSITION_MARGIN, telling->arena));
}

struct answer fleet_answer(const struct fleet *fleet, double margin, struct arena *arena) {
  struct answer answer = answer_new("fleet", "fleet", NULL, NULL, arena);
  struct telling telling = {.fleet = fleet, .answer = &answer, .arena = arena};
  answer.schema = 1;
  collect_parts(&telling, margin);
  add_summaries(&telling);
  add_measured(&telling);
  add_spread(&telling);
  const struct outliers outliers = add_outliers(&telling);
  add_places(&telling);
  const size_t settings = fleet_settings_add(fleet, &answer, arena);
  add_node_values(&telling);
  add_device_values(&telling);
  add_missing(&telling);
  answer.sentence = sentence_of(&telling, &outliers, settings);
  answer.no = outliers.count > 0 || fleet->missing.count > 0;
  answer.undecided = !telling.compared;
  add_warnings(&telling);
  explain_parts(&telling, margin);
  note_rules(&telling, margin);
  return answer;
}
