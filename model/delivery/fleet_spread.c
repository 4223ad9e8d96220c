#include "model/delivery/fleet_spread.h"

#include "base/csv.h"
#include "base/statistics.h"
#include "model/delivery/fleet_item.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double normal_per_median = 1.2533; // ratio of a median's standard error to a mean's

struct spreading {
  const struct fleet *fleet;
  const struct fleet_workload *workload;
  enum fleet_measure measure;
  double margin;
  struct arena *arena;
  struct fleet_spread spread;
};

static double measured(const struct spreading *spreading, const struct fleet_run *run) {
  const struct fleet_latencies *latencies = run->latencies;
  const double values[FLEET_MEASURES] = {[FLEET_TOKENS] = run->tokens_per_s,
                                         [FLEET_WATTS] = run->power_w,
                                         [FLEET_CLOCK] = run->clock_mhz,
                                         [FLEET_TTFT] = latencies ? latencies->ttft.mean_s : NAN,
                                         [FLEET_TPOT] = latencies ? latencies->tpot.mean_s : NAN};
  return values[spreading->measure];
}

static int by_value(const void *a, const void *b) {
  const struct fleet_value *left = a, *right = b;
  const int order = number_order(left->value, right->value);
  return order ? order : (left->index > right->index) - (left->index < right->index);
}

// The quantile of values that are in ascending order.
static double quantile_of(const struct fleet_value *values, size_t count, double share,
                          struct arena *arena) {
  double *sorted = arena_array(arena, count, sizeof *sorted);
  for (size_t i = 0; i < count; i++)
    sorted[i] = values[i].value;
  return quantile(sorted, count, share);
}

// ---- outliers

// Returns the robust standard deviation about the median.
static double judge(const struct spreading *spreading, struct fleet_value *values, size_t count,
                    double *median, size_t *out) {
  double *scratch = arena_array(spreading->arena, count, sizeof *scratch);
  for (size_t i = 0; i < count; i++)
    scratch[i] = values[i].value;
  const double deviation = robust_deviation(scratch, count, median);
  const double limit = fmax(FLEET_DEVIATIONS * deviation, spreading->margin * *median);
  *out = 0;
  for (size_t i = 0; i < count; i++) {
    values[i].share = values[i].value / *median - 1;
    values[i].stands_out = count >= FLEET_ENOUGH && fabs(values[i].value - *median) > limit;
    *out += values[i].stands_out;
  }
  qsort(values, count, sizeof *values, by_value);
  return deviation;
}

// ---- components

struct sums {
  double all;     // of values
  double squares; // of values about their device's mean
  double errors;  // sum of the squares of the runs' own standard errors
  double counts;  // sum of the squares of the devices' numbers of runs
  size_t runs, devices, error_count;
};

static void add_device(struct spreading *spreading, struct sums *sums, const struct fleet_run *runs,
                       size_t count) {
  double sum = 0;
  size_t known = 0;
  for (size_t r = 0; r < count; r++) {
    const double value = measured(spreading, &runs[r]);
    if (isnan(value))
      continue;
    sum += value;
    known++;
    if (spreading->measure == FLEET_TOKENS && isfinite(runs[r].error)) {
      sums->errors += runs[r].error * runs[r].error;
      sums->error_count++;
    }
  }
  if (!known)
    return;
  for (size_t r = 0; r < count; r++) {
    const double off = measured(spreading, &runs[r]) - sum / (double)known;
    sums->squares += isnan(off) ? 0 : off * off;
  }
  sums->all += sum;
  sums->runs += known;
  sums->counts += (double)known * (double)known;
  spreading->spread.devices[sums->devices++] =
      (struct fleet_value){.index = runs->device, .value = sum / (double)known};
}

// Sum over devices of runs times the square of the device's distance from the mean of all runs.
static double squares_between(const struct spreading *spreading, double mean) {
  const struct fleet_run *runs = &spreading->fleet->runs[spreading->workload->first_run];
  double between = 0;
  size_t device = 0;
  for (size_t r = 0, count; r < spreading->workload->run_count; r += count) {
    size_t known = 0;
    for (count = 0;
         r + count < spreading->workload->run_count && runs[r + count].device == runs[r].device;
         count++)
      known += isnan(measured(spreading, &runs[r + count])) ? 0 : 1;
    if (!known)
      continue;
    const double off = spreading->spread.devices[device++].value - mean;
    between += (double)known * off * off;
  }
  return between;
}

static void split(struct spreading *spreading, const struct sums *sums) {
  struct fleet_spread *spread = &spreading->spread;
  const double runs = (double)sums->runs, devices = (double)sums->devices;
  const double mean = sums->all / runs;
  const double within = sums->error_count ? sums->errors / (double)sums->error_count : NAN;
  const double own = isnan(within) ? 0 : within;
  spread->within_run = sqrt(within) / mean;
  spread->between_runs = spread->between_devices = NAN;
  if (sums->runs > sums->devices)
    spread->between_runs = sqrt(fmax(0, sums->squares / (runs - devices) - own)) / mean;
  if (sums->devices < 2)
    return;
  const double below = sums->runs > sums->devices ? sums->squares / (runs - devices) : own;
  const double between = squares_between(spreading, mean) / (devices - 1);
  const double per_device = (runs - sums->counts / runs) / (devices - 1);
  spread->between_devices = sqrt(fmax(0, (between - below) / per_device)) / mean;
}

// ---- nodes and places

static void collect_nodes(struct spreading *spreading) {
  struct fleet_spread *spread = &spreading->spread;
  spread->nodes = arena_array(spreading->arena, spread->device_count, sizeof *spread->nodes);
  for (size_t d = 0, count; d < spread->device_count; d += count) {
    const size_t node = spreading->fleet->devices[spread->devices[d].index].node;
    double sum = 0;
    for (count = 0; d + count < spread->device_count &&
                    spreading->fleet->devices[spread->devices[d + count].index].node == node;
         count++)
      sum += spread->devices[d + count].value;
    spread->nodes[spread->node_count++] =
        (struct fleet_value){.index = node, .value = sum / (double)count};
  }
}

struct placed {
  const char *place;
  double value;
};

static int by_place(const void *a, const void *b) {
  const struct placed *left = a, *right = b;
  const int order = strcmp(left->place, right->place);
  return order ? order : number_order(left->value, right->value);
}

// The place of a device. Nodes that are not on the list have no place in its columns.
static const char *place_of(const struct spreading *spreading, size_t device, const char *column) {
  const struct fleet_device *at = &spreading->fleet->devices[device];
  const long row = spreading->fleet->nodes[at->node].row;
  if (!column)
    return at->position;
  return row < 0 ? "" : table_cell(spreading->fleet->list, (size_t)row, column);
}

static void add_place(struct spreading *spreading, const char *column, const struct placed *first,
                      size_t count) {
  struct fleet_spread *spread = &spreading->spread;
  double *values = arena_array(spreading->arena, count, sizeof *values);
  for (size_t i = 0; i < count; i++)
    values[i] = first[i].value;
  const double median = quantile(values, count, 0.5);
  const double error = normal_per_median * spread->deviation / sqrt((double)count);
  const double limit = fmax(FLEET_DEVIATIONS * error, FLEET_POSITION_MARGIN * spread->median);
  spread->places =
      arena_room(spreading->arena, spread->places, spread->place_count, sizeof *spread->places);
  spread->places[spread->place_count++] = (struct fleet_place){
      .column = column ? column : "slot",
      .name = first->place,
      .count = count,
      .median = median,
      .share = median / spread->median - 1,
      .stands_out = count >= FLEET_ENOUGH && fabs(median - spread->median) > limit};
}

// Adds the spread over places: by one column of the list, or (NULL) by the position within the
// node. Nothing is added if every place has only one device, as the places are then the devices
// themselves.
static void add_places(struct spreading *spreading, const char *column) {
  const struct fleet_spread *spread = &spreading->spread;
  struct placed *all = arena_array(spreading->arena, spread->device_count, sizeof *all);
  size_t count = 0, places = 0;
  for (size_t d = 0; d < spread->device_count; d++) {
    const char *place = place_of(spreading, spread->devices[d].index, column);
    if (*place)
      all[count++] = (struct placed){place, spread->devices[d].value};
  }
  qsort(all, count, sizeof *all, by_place);
  for (size_t i = 0; i < count; i++)
    places += !i || strcmp(all[i].place, all[i - 1].place) != 0;
  if (places < 2 || places == count)
    return;
  for (size_t i = 0, same; i < count; i += same) {
    for (same = 1; i + same < count && !strcmp(all[i].place, all[i + same].place); same++) {
    }
    add_place(spreading, column, &all[i], same);
  }
}

struct fleet_spread fleet_spread_of(const struct fleet *fleet, size_t workload,
                                    enum fleet_measure measure, double margin,
                                    struct arena *arena) {
  struct spreading spreading = {fleet, &fleet->workloads[workload], measure, margin, arena, {0}};
  struct fleet_spread *spread = &spreading.spread;
  const struct fleet_run *runs = &fleet->runs[spreading.workload->first_run];
  struct sums sums = {0};
  spread->devices = arena_array(arena, spreading.workload->run_count, sizeof *spread->devices);
  for (size_t r = 0, count; r < spreading.workload->run_count; r += count) {
    for (count = 1;
         r + count < spreading.workload->run_count && runs[r + count].device == runs[r].device;
         count++) {
    }
    add_device(&spreading, &sums, &runs[r], count);
  }
  spread->device_count = sums.devices;
  spread->run_count = sums.runs;
  if (!sums.devices)
    return *spread;
  split(&spreading, &sums);
  collect_nodes(&spreading);
  double total = 0;
  for (size_t d = 0; d < sums.devices; d++)
    total += spread->devices[d].value;
  spread->mean = total / (double)sums.devices;
  spread->deviation = judge(&spreading, spread->devices, spread->device_count, &spread->median,
                            &spread->devices_out);
  judge(&spreading, spread->nodes, spread->node_count, &spread->node_median, &spread->nodes_out);
  spread->p5 = quantile_of(spread->devices, spread->device_count, 0.05, arena);
  spread->p95 = quantile_of(spread->devices, spread->device_count, 0.95, arena);
  spread->node_p5 = quantile_of(spread->nodes, spread->node_count, 0.05, arena);
  spread->node_p95 = quantile_of(spread->nodes, spread->node_count, 0.95, arena);
  spread->low = spread->devices[0].value;
  spread->high = spread->devices[sums.devices - 1].value;
  add_places(&spreading, NULL);
  for (size_t c = 0; fleet->list && c < fleet->list->columns; c++)
    if (strcmp(fleet->list->column_names[c], "node") != 0)
      add_places(&spreading, fleet->list->column_names[c]);
  return *spread;
}

static struct fleet_sample sample_of(const struct fleet *fleet, size_t workload,
                                     enum fleet_measure measure, struct arena *arena) {
  const struct fleet_spread spread = fleet_spread_of(fleet, workload, measure, FLEET_MARGIN, arena);
  return (struct fleet_sample){spread.device_count, spread.device_count ? spread.mean : NAN,
                               spread.device_count < FLEET_ENOUGH ? NAN : spread.between_devices};
}

struct fleet_sample fleet_sample_of(const struct records *records, const struct measurement *like,
                                    enum fleet_measure measure, struct arena *arena) {
  const struct fleet *fleet = fleet_of_records(records, arena);
  const long own = fleet ? fleet_workload_like(fleet, like, arena) : -1;
  if (own < 0)
    return (struct fleet_sample){0, NAN, NAN};
  struct fleet_sample sample = sample_of(fleet, (size_t)own, measure, arena);
  for (size_t w = 0; sample.count < FLEET_ENOUGH && w < fleet->workload_count; w++)
    if (!strcmp(fleet->workloads[w].device, fleet->workloads[own].device))
      sample.between_devices =
          fmax(sample.between_devices, sample_of(fleet, w, measure, arena).between_devices);
  return sample;
}
