#include "model/telemetry/production_read.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/statistics.h"
#include "model/evidence/day.h"
#include "model/records/production.h"
#include "model/records/serving.h"
#include "model/telemetry/engine_counters.h"
#include "model/telemetry/metrics.h"
#include "model/telemetry/metrics_join.h"
#include "model/telemetry/utc.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double hour_s = 3600;
static const double whole_share = 0.99; // of an hour for it to count as whole

enum { MAX_HOURS = 24 * 366 * 5 };

struct reader {
  struct metrics *metrics;
  double first_s, end_s; // of the first and the last scrape
  double start_s;        // of the first hour
  size_t hour_count;
  int resets;
  struct arena *arena;
};

static bool holds_counter(const struct source *source) {
  for (size_t e = 0; e < ENGINES; e++)
    if (strstr(source->text, engine_counters[e].names[ENGINE_OUTPUT][0]) ||
        strstr(source->text, engine_counters[e].names[ENGINE_INPUT][0]))
      return true;
  return false;
}

bool production_read_knows(const struct source *source) {
  const bool counts = holds_counter(source);
  if (!counts && !strstr(source->text, "\"errorType\""))
    return false;
  json_t *json = json_loadb(source->text, source->size, JSON_REJECT_DUPLICATES, NULL);
  const bool known = counts ? metrics_are_range(json) : metrics_are_refused(json);
  json_decref(json);
  return known;
}

// ---- the series of a quantity

// Calls `take` with each series of the first name found. Returns how many there are.
static size_t each_of(struct reader *reader, const char *const *names,
                      void (*take)(struct reader *, const struct metric *, void *), void *context) {
  size_t found = 0;
  for (size_t n = 0; n < ENGINE_NAMES && names[n] && !found; n++)
    for (size_t i = 0; i < reader->metrics->count; i++) {
      const struct metric *metric = &reader->metrics->list[i];
      if (strcmp(metric->name, names[n]) != 0)
        continue;
      found++;
      if (take)
        take(reader, metric, context);
    }
  return found;
}

static bool is_gap(const struct metric *metric, size_t i) {
  return metric->time_s[i] - metric->time_s[i - 1] > PRODUCTION_GAP_S;
}

static double increment(const struct metric *metric, size_t i) {
  return metric->values[i] < metric->values[i - 1] ? metric->values[i]
                                                   : metric->values[i] - metric->values[i - 1];
}

static void widen(struct reader *reader, const struct metric *metric, void *context) {
  (void)context;
  if (!metric->count)
    return;
  reader->first_s = fmin(reader->first_s, metric->time_s[0]);
  reader->end_s = fmax(reader->end_s, metric->time_s[metric->count - 1]);
}

static void add_total(struct reader *reader, const struct metric *metric, void *context) {
  double *total = context;
  (void)reader;
  for (size_t i = 1; i < metric->count; i++)
    if (!is_gap(metric, i))
      *total += increment(metric, i);
}

// Spreads an amount evenly over the time from one scrape to another.
static void spread(const struct reader *reader, double from_s, double to_s, double amount,
                   double *hours) {
  for (size_t h = (size_t)((from_s - reader->start_s) / hour_s); h < reader->hour_count; h++) {
    const double begin_s = reader->start_s + (double)h * hour_s;
    if (begin_s >= to_s)
      return;
    const double within_s = fmin(to_s, begin_s + hour_s) - fmax(from_s, begin_s);
    hours[h] += amount * fmax(0, within_s) / (to_s - from_s);
  }
}

static void spread_tokens(struct reader *reader, const struct metric *metric, void *context) {
  double *tokens = context;
  for (size_t i = 1; i < metric->count; i++)
    if (!is_gap(metric, i))
      spread(reader, metric->time_s[i - 1], metric->time_s[i], increment(metric, i), tokens);
}

static void count_resets(struct reader *reader, const struct metric *metric, void *context) {
  (void)context;
  for (size_t i = 1; i < metric->count; i++)
    reader->resets += !is_gap(metric, i) && metric->values[i] < metric->values[i - 1];
}

static void add_integral(struct reader *reader, const struct metric *metric, void *context) {
  double *integral = context;
  (void)reader;
  for (size_t i = 1; i < metric->count; i++)
    if (!is_gap(metric, i))
      *integral += (metric->time_s[i] - metric->time_s[i - 1]) *
                   (metric->values[i] + metric->values[i - 1]) / 2;
}

// ---- the time that is covered: that of any server, for one that is down serves nothing

struct interval {
  double from_s, to_s;
};

struct intervals {
  struct interval *list; // [count]
  size_t count;
};

static void add_intervals(struct reader *reader, const struct metric *metric, void *context) {
  struct intervals *intervals = context;
  for (size_t i = 1, first = 0; i <= metric->count; i++) {
    if (i < metric->count && !is_gap(metric, i))
      continue;
    const struct interval covered = {metric->time_s[first], metric->time_s[i - 1]};
    first = i;
    if (!(covered.to_s > covered.from_s))
      continue; // a single scrape between gaps
    intervals->list =
        arena_room(reader->arena, intervals->list, intervals->count, sizeof *intervals->list);
    intervals->list[intervals->count++] = covered;
  }
}

static int by_start(const void *a, const void *b) {
  return number_order(((const struct interval *)a)->from_s, ((const struct interval *)b)->from_s);
}

// The intervals that the counters of these names cover, in order of time, without overlaps.
static struct intervals covered_by(struct reader *reader, const char *const *names) {
  struct intervals all = {0}, apart = {0};
  each_of(reader, names, add_intervals, &all);
  if (all.count)
    qsort(all.list, all.count, sizeof *all.list, by_start);
  apart.list = all.list;
  for (size_t i = 0; i < all.count; i++) {
    struct interval *last = apart.count ? &apart.list[apart.count - 1] : NULL;
    if (last && all.list[i].from_s <= last->to_s)
      last->to_s = fmax(last->to_s, all.list[i].to_s);
    else
      apart.list[apart.count++] = all.list[i];
  }
  return apart;
}

// ---- what the files say together

static const char *find_hours(struct reader *reader, const struct engine_counters *engine) {
  reader->first_s = INFINITY;
  reader->end_s = -INFINITY;
  each_of(reader, engine->names[ENGINE_OUTPUT], widen, NULL);
  if (!(reader->end_s > reader->first_s))
    return "the counter of output tokens was not scraped twice";
  reader->start_s = hour_s * floor(reader->first_s / hour_s);
  const double hours = ceil((reader->end_s - reader->start_s) / hour_s);
  if (!(hours <= MAX_HOURS))
    return "more than five years of scrapes";
  reader->hour_count = (size_t)hours;
  return NULL;
}

static void fill_hours(struct reader *reader, const struct engine_counters *engine,
                       struct production *production) {
  struct arena *arena = reader->arena;
  struct production_hour *hours = arena_array(arena, reader->hour_count, sizeof *hours);
  double *covered_s = arena_array(arena, reader->hour_count, sizeof *covered_s);
  double *output = arena_array(arena, reader->hour_count, sizeof *output);
  double *input = arena_array(arena, reader->hour_count, sizeof *input);
  const struct intervals covered = covered_by(reader, engine->names[ENGINE_OUTPUT]);
  for (size_t i = 0; i < covered.count; i++)
    spread(reader, covered.list[i].from_s, covered.list[i].to_s,
           covered.list[i].to_s - covered.list[i].from_s, covered_s);
  each_of(reader, engine->names[ENGINE_OUTPUT], spread_tokens, output);
  each_of(reader, engine->names[ENGINE_OUTPUT], count_resets, NULL);
  each_of(reader, engine->names[ENGINE_INPUT], spread_tokens, input);
  for (size_t h = 0; h < reader->hour_count; h++) {
    hours[h] = (struct production_hour){utc_text(reader->start_s + (double)h * hour_s, arena),
                                        covered_s[h], input[h], output[h]};
    production->covered_s += covered_s[h];
    production->input_tokens += input[h];
    production->output_tokens += output[h];
  }
  production->hours = hours;
  production->hour_count = reader->hour_count;
}

static bool is_whole(const struct production_hour *hour) {
  return hour->covered_s >= whole_share * hour_s;
}

static double peak_over_mean(const struct production *production) {
  double peak = NAN;
  for (size_t h = 0; h < production->hour_count; h++)
    if (is_whole(&production->hours[h]))
      peak = fmax(peak, production->hours[h].output_tokens / production->hours[h].covered_s);
  return peak / production->output_tokens_per_s;
}

// Fills the profile with each hour of the day's mean over the days on which that hour is completely
// covered.
static void fill_profile(const struct reader *reader, struct production *production) {
  double rates[HOURS_OF_DAY] = {0}, days[HOURS_OF_DAY] = {0}, sum = 0;
  for (size_t h = 0; h < production->hour_count; h++) {
    const double local_s = reader->start_s + (double)h * hour_s + 60.0 * production->utc_offset_min;
    const int hour = (int)(floor(local_s / hour_s) - 24 * floor(local_s / hour_s / 24));
    if (!is_whole(&production->hours[h]))
      continue;
    rates[hour] += production->hours[h].output_tokens / production->hours[h].covered_s;
    days[hour]++;
  }
  double *profile = arena_array(reader->arena, HOURS_OF_DAY, sizeof *profile);
  for (int hour = 0; hour < HOURS_OF_DAY; hour++) {
    if (days[hour] == 0)
      return;
    profile[hour] = rates[hour] / days[hour];
    sum += profile[hour];
  }
  if (!(sum > 0))
    return;
  for (int hour = 0; hour < HOURS_OF_DAY; hour++)
    profile[hour] /= sum;
  production->day_profile = profile;
  production->day_profile_count = HOURS_OF_DAY;
}

static double hit_rate(struct reader *reader, const struct engine_counters *engine) {
  double hits = 0, queries = 0;
  if (!each_of(reader, engine->names[ENGINE_HITS], add_total, &hits))
    return NAN;
  if (engine->names[ENGINE_QUERIES][0])
    each_of(reader, engine->names[ENGINE_QUERIES], add_total, &queries);
  else
    each_of(reader, engine->names[ENGINE_INPUT], add_total, &queries);
  if (engine->input_lacks_hits)
    queries += hits;
  return queries > 0 ? fmin(1, hits / queries) : NAN;
}

static double mean_running(struct reader *reader, const struct engine_counters *engine) {
  const struct intervals covered = covered_by(reader, engine->names[ENGINE_RUNNING]);
  double integral = 0, covered_s = 0;
  each_of(reader, engine->names[ENGINE_RUNNING], add_integral, &integral);
  for (size_t i = 0; i < covered.count; i++)
    covered_s += covered.list[i].to_s - covered.list[i].from_s;
  return covered_s > 0 ? integral / covered_s : NAN;
}

struct served_model {
  const char *name, *other; // "" or NULL: no further one
};

static void add_model(struct reader *reader, const struct metric *metric, void *context) {
  struct served_model *model = context;
  const char *name = metric_label(metric, "model_name");
  (void)reader;
  if (!*model->name)
    model->name = name;
  else if (*name && strcmp(name, model->name) != 0)
    model->other = name;
}

// Tokens of several models have no throughput in common.
static const char *name_model(struct reader *reader, const struct engine_counters *engine,
                              struct production *production) {
  struct served_model model = {"", NULL};
  const char *const *const quantities[] = {
      engine->names[ENGINE_OUTPUT], engine->names[ENGINE_INPUT], engine->names[ENGINE_HITS],
      engine->names[ENGINE_QUERIES], engine->names[ENGINE_RUNNING]};
  for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
    each_of(reader, quantities[i], add_model, &model);
  production->model = model.name;
  return model.other ? arena_printf(reader->arena,
                                    "counters of both '%s' and '%s': query one model's, with "
                                    "{model_name=\"%s\"}",
                                    model.name, model.other, model.name)
                     : NULL;
}

static const char *fill_production(struct reader *reader, const struct engine_counters *engine,
                                   struct production *production) {
  const char *why = name_model(reader, engine, production);
  if (!why)
    why = find_hours(reader, engine);
  if (why)
    return why;
  production->engine = engine->engine;
  production->started = utc_text(reader->first_s, reader->arena);
  production->finished = utc_text(reader->end_s, reader->arena);
  fill_hours(reader, engine, production);
  if (!(production->covered_s > 0))
    return "all scrapes are more than 15 minutes apart";
  production->output_tokens_per_s = production->output_tokens / production->covered_s;
  production->peak_over_mean = peak_over_mean(production);
  production->cache_hit = hit_rate(reader, engine);
  production->running = mean_running(reader, engine);
  production->resets = reader->resets;
  fill_profile(reader, production);
  return NULL;
}

// The only engine whose output tokens are counted.
static const char *choose_engine(struct reader *reader, const struct engine_counters **out) {
  *out = NULL;
  for (size_t e = 0; e < ENGINES; e++) {
    if (!each_of(reader, engine_counters[e].names[ENGINE_OUTPUT], NULL, NULL))
      continue;
    if (*out)
      return arena_printf(reader->arena, "counters of both %s and %s: import each separately",
                          (*out)->engine, engine_counters[e].engine);
    *out = &engine_counters[e];
  }
  return *out ? NULL
              : "no counter of output tokens: query vllm:generation_tokens_total, "
                "sglang:generation_tokens_total or llamacpp:tokens_predicted_total itself, without "
                "rate() or sum()";
}

static struct metrics *read_file(const struct source *source, struct arena *arena,
                                 struct diagnostics *diagnostics) {
  json_t *json = json_loadb(source->text, source->size, JSON_REJECT_DUPLICATES, NULL);
  struct metrics *metrics = metrics_of_range(json, source, arena, diagnostics);
  json_decref(json);
  return metrics;
}

int production_read(const struct source *const *files, size_t count, int utc_offset_min,
                    struct production *production, struct arena *arena,
                    struct diagnostics *diagnostics) {
  struct reader reader = {.arena = arena};
  struct metrics **read = arena_array(arena, count, sizeof(struct metrics *));
  struct serving_file *names = arena_array(arena, count, sizeof *names);
  const struct engine_counters *engine;
  *production =
      (struct production){.utc_offset_min = utc_offset_min, .files = names, .file_count = count};
  for (size_t i = 0; i < count; i++) {
    names[i] = (struct serving_file){files[i]->name, source_sha256(files[i], arena)};
    read[i] = read_file(files[i], arena, diagnostics);
    if (!read[i])
      return -1;
  }
  reader.metrics = metrics_join(read, count, arena, diagnostics);
  if (!reader.metrics)
    return -1;
  const char *why = choose_engine(&reader, &engine);
  if (!why)
    why = fill_production(&reader, engine, production);
  if (!why)
    return 0;
  diagnostics_error(diagnostics, (struct place){files[0], 0, 0}, "%s", why);
  return -1;
}
