#include "model/telemetry/power_read.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/telemetry/power_formats.h"
#include "model/telemetry/power_record.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"

#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

// ---- pertoken-probe's own

static bool knows_own(const struct power_input *input) {
  return input->json && power_record_is_one(input->json);
}

static struct power_series *read_own(const struct power_input *input) {
  struct power_record *record =
      power_record_of_json(input->json, input->source, input->arena, input->diagnostics);
  return record ? &record->series : NULL;
}

static const struct power_format own = {"pertoken-probe meter", knows_own, read_own};

// ---- all of them

static const struct power_format *const formats[] = {
    &own, &power_spl, &power_nvidia_smi, &power_amd_smi, &power_dcgm_range, &power_dcgm_text,
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static const struct power_format *format_of(const struct power_input *input) {
  for (size_t i = 0; i < FORMATS; i++)
    if (formats[i]->knows(input))
      return formats[i];
  return NULL;
}

static const char *names_of_formats(struct arena *arena) {
  const char *names = "";
  for (size_t i = 0; i < FORMATS; i++)
    names = arena_printf(arena, "%s%s%s", names, i ? ", " : "", formats[i]->name);
  return names;
}

static struct power_series *check(const struct power_input *input, struct power_series *series) {
  if (series && !series->count)
    return power_refuse(input, 0, "the file has no reading of watts");
  return series;
}

static json_t *json_of(const struct source *source) {
  return json_loadb(source->text, source->size, JSON_REJECT_DUPLICATES, NULL);
}

struct power_series *power_read_source(const struct source *source,
                                       const struct power_read_options *options,
                                       struct arena *arena, struct diagnostics *diagnostics) {
  json_t *json = json_of(source);
  const struct power_input input = {source, json, options, arena, diagnostics};
  const struct power_format *format = format_of(&input);
  struct power_series *series =
      format ? check(&input, format->read(&input))
             : power_refuse(&input, 0, "not a known power file format: tried %s",
                            names_of_formats(arena));
  json_decref(json);
  return series;
}

struct power_series *power_read(const char *path, const struct power_read_options *options,
                                struct arena *arena, struct diagnostics *diagnostics) {
  const struct source *source = source_read(path, arena, diagnostics);
  return source ? power_read_source(source, options, arena, diagnostics) : NULL;
}

bool power_read_knows(const struct source *source) {
  json_t *json = json_of(source);
  const struct power_input input = {.source = source, .json = json};
  const bool known = format_of(&input) != NULL;
  json_decref(json);
  return known;
}

// ---- MLPerf's window

// "12-23-2020 10:21:51.496" after a key.
static bool time_behind(const char *text, const char *key, double *out) {
  const char *at = strstr(text, key);
  if (!at)
    return false;
  for (at += strlen(key); *at && *at != '\n'; at++) {
    char time[24];
    const size_t length = strspn(at, "0123456789-:. ");
    if (length < sizeof time - 1)
      continue;
    memcpy(time, at, sizeof time - 1);
    time[sizeof time - 1] = '\0';
    if (utc_parse_american(time, false, out))
      return true;
  }
  return false;
}

bool mlperf_power_window(const struct source *source, double *start_s, double *end_s) {
  return time_behind(source->text, "power_begin", start_s) &&
         time_behind(source->text, "power_end", end_s) && *end_s > *start_s;
}
