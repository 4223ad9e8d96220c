// Reads what dcgm-exporter publishes for NVIDIA GPUs: watts (DCGM_FI_DEV_POWER_USAGE) and energy
// (DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION, in mJ), as the answer of a range query or as text.
//
// DCGM's blank values are huge numbers, from 0x7ffffffffffffff0 for integers and from 2^47 for
// reals (dcgm_fields.h). An instance of a partitioned GPU (MIG) reports its board's watts: a board
// counts once, whatever pod or instance its series are labeled with. Its number on its host is the
// label "gpu"; the order of the series is Prometheus's own. A query whose step is finer than the
// scrape interval repeats values, which are not readings.
#include "base/statistics.h"
#include "model/telemetry/power_formats.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/metrics.h"
#include "model/telemetry/power_series.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char watts_name[] = "DCGM_FI_DEV_POWER_USAGE";
static const char energy_name[] = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION";
static const double blank = 140737488355328; // 2^47

struct point {
  double time_s, value;
};

// The points of all series of one quantity of a board, by time.
struct points {
  struct point *list;
  size_t count;
};

// Identified by its UUID or, without one, its host and number. With a UUID the number is "" if its
// series differ in it.
struct board {
  const char *uuid, *host, *gpu;
  struct points watts, energy;
};

struct boards {
  struct board *list;
  size_t count;
};

// "Hostname" is the exporter's own, "instance" Prometheus's.
static const char *host_of(const struct metric *metric) {
  const char *host = metric_label(metric, "Hostname");
  if (!*host)
    host = metric_label(metric, "hostname"); // since May 2026
  return *host ? host : metric_label(metric, "instance");
}

static struct board *board_of(struct boards *boards, const struct metric *metric,
                              struct arena *arena) {
  const struct board it = {
      metric_label(metric, "UUID"), host_of(metric), metric_label(metric, "gpu"), {0}, {0}};
  for (size_t i = 0; i < boards->count; i++) {
    struct board *board = &boards->list[i];
    if (*it.uuid ? strcmp(board->uuid, it.uuid) != 0
                 : strcmp(board->host, it.host) != 0 || strcmp(board->gpu, it.gpu) != 0)
      continue;
    if (strcmp(board->gpu, it.gpu) != 0)
      board->gpu = "";
    return board;
  }
  boards->list = arena_room(arena, boards->list, boards->count, sizeof *boards->list);
  boards->list[boards->count] = it;
  return &boards->list[boards->count++];
}

// The values that are readings, converted to their unit. If a value is repeated for longer than
// readings may be apart, only the first is a reading.
static void add_points(struct points *points, const struct metric *metric, double scale,
                       struct arena *arena) {
  for (size_t i = 0, end; i < metric->count; i = end) {
    const double value = metric->values[i];
    for (end = i + 1; end < metric->count && metric->values[end] == value;)
      end++;
    const bool is_stale = metric->time_s[end - 1] - metric->time_s[i] > POWER_SERIES_GAP_S;
    for (size_t k = i; value >= 0 && value < blank && k < (is_stale ? i + 1 : end); k++) {
      points->list = arena_room(arena, points->list, points->count, sizeof *points->list);
      points->list[points->count++] = (struct point){metric->time_s[k], scale * value};
    }
  }
}

static const char *collect(const struct metrics *metrics, struct boards *boards,
                           struct arena *arena) {
  for (size_t i = 0; i < metrics->count; i++) {
    const struct metric *metric = &metrics->list[i];
    const bool is_watts = !strcmp(metric->name, watts_name);
    if (!is_watts && strcmp(metric->name, energy_name) != 0)
      continue;
    if (!*metric_label(metric, "UUID") && !*metric_label(metric, "gpu"))
      return "a series of watts without the labels 'UUID' or 'gpu': query the metric itself, "
             "without "
             "a sum over devices";
    struct board *board = board_of(boards, metric, arena);
    if (is_watts)
      add_points(&board->watts, metric, 1, arena);
    else
      add_points(&board->energy, metric, 1e-3, arena); // mJ
  }
  return boards->count ? NULL
                       : "no series named DCGM_FI_DEV_POWER_USAGE or "
                         "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION";
}

static int by_time(const void *a, const void *b) {
  const struct point *p = a, *q = b;
  return number_order(p->time_s, q->time_s);
}

static void sort(struct points *points) {
  if (points->count)
    qsort(points->list, points->count, sizeof *points->list, by_time);
}

static double next_time(const struct points *points, size_t i) {
  return i < points->count ? points->list[i].time_s : INFINITY;
}

// The value at a time, the first of several; NAN without one.
static double take(const struct points *points, size_t *i, double time_s) {
  double value = NAN;
  for (; *i < points->count && points->list[*i].time_s == time_s; ++*i)
    if (isnan(value))
      value = points->list[*i].value;
  return value;
}

static void add_board(struct board *board, const char *name, struct power_series *series,
                      struct arena *arena) {
  size_t w = 0, e = 0;
  sort(&board->watts);
  sort(&board->energy);
  for (;;) {
    const double time_s = fmin(next_time(&board->watts, w), next_time(&board->energy, e));
    if (isinf(time_s))
      break;
    const double power_w = take(&board->watts, &w, time_s);
    power_series_add(series, name, time_s, power_w, take(&board->energy, &e, time_s), arena);
  }
  struct power_track *track = power_series_track(series, name);
  if (track)
    track->index = board->gpu;
}

static const char *name_of(const struct board *board, struct arena *arena) {
  if (*board->uuid)
    return board->uuid;
  return *board->host ? arena_printf(arena, "%s:%s", board->host, board->gpu) : board->gpu;
}

static struct power_series *series_of(const struct power_input *input,
                                      const struct metrics *metrics) {
  struct boards boards = {0};
  struct power_series *series = power_series_of(input, "dcgm-exporter", COVERS_ACCELERATORS);
  const char *why = collect(metrics, &boards, input->arena);
  if (why)
    return power_refuse(input, 0, "%s", why);
  series->host = boards.list[0].host;
  for (size_t i = 0; i < boards.count; i++) {
    add_board(&boards.list[i], name_of(&boards.list[i], input->arena), series, input->arena);
    if (strcmp(boards.list[i].host, series->host) != 0)
      series->host = "";
  }
  return series;
}

static bool holds_name(const struct source *source) {
  return strstr(source->text, watts_name) || strstr(source->text, energy_name);
}

static bool knows_text(const struct power_input *input) {
  return !input->json && holds_name(input->source) && metrics_are_text(input->source);
}

static bool knows_range(const struct power_input *input) {
  return input->json && metrics_are_range(input->json) && holds_name(input->source);
}

static struct power_series *read_text(const struct power_input *input) {
  const struct metrics *metrics = metrics_of_text(input->source, input->arena, input->diagnostics);
  return metrics ? series_of(input, metrics) : NULL;
}

static struct power_series *read_range(const struct power_input *input) {
  const struct metrics *metrics =
      metrics_of_range(input->json, input->source, input->arena, input->diagnostics);
  return metrics ? series_of(input, metrics) : NULL;
}

const struct power_format power_dcgm_text = {"dcgm-exporter text", knows_text, read_text};
const struct power_format power_dcgm_range = {"Prometheus range query of dcgm-exporter",
                                              knows_range, read_range};
