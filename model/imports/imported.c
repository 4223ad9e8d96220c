#include "model/imports/imported.h"

#include "base/digits.h"
#include "base/source.h"
#include "model/evidence/date.h"
#include "model/telemetry/utc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int reading_error(const struct import_reading *reading, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = arena_vprintf(reading->arena, format, arguments);
  va_end(arguments);
  const int line = reading->part ? reading->part->line : 0;
  if (reading->part && reading->part->number)
    text = arena_printf(reading->arena, "result %d: %s", reading->part->number, text);
  diagnostics_error(reading->diagnostics,
                    (struct place){reading->document->source, line, line ? 1 : 0}, "%s", text);
  return -1;
}

// ---- values

static const json_t *step(const json_t *value, const char *key, size_t length) {
  char name[128];
  if (length >= sizeof name)
    return NULL;
  memcpy(name, key, length);
  name[length] = 0;
  if (json_is_array(value))
    return json_array_get(value, strtoul(name, NULL, 10));
  return json_object_get(value, name);
}

const json_t *json_below(const json_t *value, const char *path) {
  while (value && *path) {
    const size_t length = strcspn(path, "/");
    value = step(value, path, length);
    path += length + (path[length] == '/');
  }
  return json_is_null(value) ? NULL : value;
}

double number_below(const struct import_reading *reading, const json_t *value, const char *path) {
  const json_t *found = json_below(value, path);
  if (!found || (json_is_string(found) && !json_string_length(found))) // also a former NaN
    return NAN;
  if (!json_is_number(found))
    reading_error(reading, "'%s': expected a number", path);
  return json_is_number(found) ? json_number_value(found) : NAN;
}

const char *text_below(const struct import_reading *reading, const json_t *value,
                       const char *path) {
  const json_t *found = json_below(value, path);
  char digits[DIGITS_ROOM];
  if (json_is_number(found))
    return arena_copy(reading->arena, digits_shortest(json_number_value(found), digits));
  return json_is_string(found) ? arena_copy(reading->arena, json_string_value(found)) : "";
}

int count_below(const struct import_reading *reading, const json_t *value, const char *path) {
  const double count = number_below(reading, value, path);
  if (isnan(count))
    return 0;
  if (!(count >= 0 && count <= 1e6) || count != floor(count))
    return reading_error(reading, "'%s': expected a whole number of accelerators", path);
  return count > 0 ? (int)count : -1;
}

void say_hardware(const struct import_reading *reading, const char *name) {
  struct imported *imported = reading->imported;
  if (*name && *imported->hardware && strcmp(name, imported->hardware) != 0)
    reading_error(reading, "accelerators of both '%s' and '%s', whose rates are not told apart",
                  imported->hardware, name);
  else if (*name)
    imported->hardware = name;
}

// ---- latencies

static double latency_number(const struct import_reading *reading, const json_t *value,
                             const char *pattern, const char *name, double scale) {
  if (!pattern)
    return NAN;
  const char *star = strchr(pattern, '*');
  if (!star)
    return scale * number_below(reading, value, pattern);
  const char *path =
      arena_printf(reading->arena, "%.*s%s%s", (int)(star - pattern), pattern, name, star + 1);
  return scale * number_below(reading, value, path);
}

struct serving_latency latency_below(const struct import_reading *reading, const json_t *value,
                                     const struct latency_keys *keys, const char *name,
                                     double scale) {
  return (struct serving_latency){.mean_s = latency_number(reading, value, keys->mean, name, scale),
                                  .p50_s = latency_number(reading, value, keys->p50, name, scale),
                                  .p90_s = latency_number(reading, value, keys->p90, name, scale),
                                  .p95_s = latency_number(reading, value, keys->p95, name, scale),
                                  .p99_s = latency_number(reading, value, keys->p99, name, scale),
                                  .std_s = latency_number(reading, value, keys->std, name, scale)};
}

double seconds_in(const char *unit) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"s", 1},           {"sec", 1},   {"seconds", 1}, {"s/token", 1},  {"ms", 1e-3},
               {"ms/token", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},   {"sec/token", 1}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (!strcmp(unit, units[i].unit))
      return units[i].seconds;
  return NAN;
}

// ---- times

double time_below(const struct import_reading *reading, const json_t *value, const char *path) {
  double time_s;
  return utc_parse(text_below(reading, value, path), &time_s) ? time_s : NAN;
}

const char *day_of(const char *text, struct arena *arena) {
  struct date date;
  const bool packed = strspn(text, "0123456789") >= 8;
  const char *day = packed ? arena_printf(arena, "%.4s-%.2s-%.2s", text, text + 4, text + 6)
                           : arena_printf(arena, "%.10s", text);
  return strlen(day) == strlen("2026-11-21") && date_parse(day, &date) ? day : "";
}
