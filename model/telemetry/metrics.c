#include "model/telemetry/metrics.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define uthash_malloc(size)       arena_alloc(reader->arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

const char *metric_label(const struct metric *metric, const char *name) {
  for (size_t i = 0; i < metric->label_count; i++)
    if (!strcmp(metric->labels[i].name, name))
      return metric->labels[i].value;
  return "";
}

static void add_label(struct metric *metric, const char *name, const char *value,
                      struct arena *arena) {
  metric->labels = arena_room(arena, metric->labels, metric->label_count, sizeof *metric->labels);
  metric->labels[metric->label_count++] =
      (struct metric_label){arena_copy(arena, name), arena_copy(arena, value)};
}

// Adds a value, unless it is not a number. Returns false if times do not ascend.
static bool add_value(struct metric *metric, double time_s, double value, struct arena *arena) {
  if (!isfinite(value))
    return true;
  if (!isfinite(time_s) || (metric->count && time_s <= metric->time_s[metric->count - 1]))
    return false;
  metric->time_s = arena_room(arena, metric->time_s, metric->count, sizeof *metric->time_s);
  metric->values = arena_room(arena, metric->values, metric->count, sizeof *metric->values);
  metric->time_s[metric->count] = time_s;
  metric->values[metric->count++] = value;
  return true;
}

// "NaN", "+Inf" and text that is not a number are all NAN.
static double number_of(const char *text) {
  double value;
  return csv_number(text, &value) ? value : NAN;
}

// ---- range queries

bool metrics_are_range(const json_t *object) {
  return json_is_object(object) && json_object_get(object, "status") &&
         (json_object_get(object, "data") || json_object_get(object, "errorType"));
}

bool metrics_are_refused(const json_t *object) {
  return metrics_are_range(object) && json_object_get(object, "errorType");
}

static int refuse(const struct source *source, struct diagnostics *diagnostics, const char *why) {
  diagnostics_error(diagnostics, (struct place){source, 0, 0}, "%s", why);
  return -1;
}

static const char *read_labels(struct metric *metric, const json_t *labels, struct arena *arena) {
  const char *name;
  json_t *value;
  if (!json_is_object(labels))
    return "a series without its labels";
  json_object_foreach((json_t *)labels, name, value) {
    if (!json_is_string(value))
      return "a label that is not a text";
    if (!strcmp(name, "__name__"))
      metric->name = arena_copy(arena, json_string_value(value));
    else
      add_label(metric, name, json_string_value(value), arena);
  }
  return NULL;
}

static const char *read_values(struct metric *metric, const json_t *values, struct arena *arena) {
  size_t i;
  json_t *pair;
  if (!json_is_array(values))
    return "a series without a list of values";
  json_array_foreach(values, i, pair) {
    const json_t *time = json_array_get(pair, 0);
    const char *text = json_string_value(json_array_get(pair, 1));
    if (!json_is_number(time) || !text || json_array_size(pair) != 2)
      return arena_printf(arena, "value %zu of '%s' is not [seconds, \"number\"]", i + 1,
                          metric->name);
    if (!add_value(metric, json_number_value(time), number_of(text), arena))
      return arena_printf(arena, "the times of '%s' are not ascending at value %zu", metric->name,
                          i + 1);
  }
  return NULL;
}

static const char *check_answer(const json_t *object, struct arena *arena) {
  const char *status = json_string_value(json_object_get(object, "status"));
  const char *error = json_string_value(json_object_get(object, "error"));
  const json_t *data = json_object_get(object, "data");
  const char *type = json_string_value(json_object_get(data, "resultType"));
  if (!status || strcmp(status, "success") != 0)
    return arena_printf(arena, "Prometheus answered with an error: %s",
                        error ? error : "no details given");
  if (!type || strcmp(type, "matrix") != 0)
    return arena_printf(arena,
                        "expected the answer of a range query (/api/v1/query_range), resultType "
                        "\"matrix\", found %s%s%s",
                        type ? "\"" : "", type ? type : "none", type ? "\"" : "");
  return json_is_array(json_object_get(data, "result")) ? NULL : "expected a list of results";
}

struct metrics *metrics_of_range(const json_t *object, const struct source *source,
                                 struct arena *arena, struct diagnostics *diagnostics) {
  const json_t *results = json_object_get(json_object_get(object, "data"), "result");
  struct metrics *metrics = arena_alloc(arena, sizeof *metrics);
  const char *why = check_answer(object, arena);
  *metrics = (struct metrics){.source = source};
  if (!why)
    metrics->list = arena_array(arena, json_array_size(results), sizeof *metrics->list);
  for (size_t i = 0; !why && i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    struct metric *metric = &metrics->list[metrics->count++];
    metric->name = "";
    why = read_labels(metric, json_object_get(result, "metric"), arena);
    if (!why)
      why = read_values(metric, json_object_get(result, "values"), arena);
  }
  return why && refuse(source, diagnostics, why) ? NULL : metrics;
}

// ---- the text exposition format

// A line's metric is identified by the text before its value.
struct known {
  const char *key;
  size_t index;
  UT_hash_handle hh;
};

struct text_reader {
  struct metrics *metrics;
  struct known *known;
  struct arena *arena;
};

static bool is_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == ':';
}

// The end of name{labels}, or NULL.
static const char *end_of_key(const char *line) {
  const char *at = line;
  while (is_name(*at))
    at++;
  if (at == line || *at != '{')
    return at == line ? NULL : at;
  for (bool quoted = false; *++at && (quoted || *at != '}');) {
    if (*at == '\\' && at[1])
      at++;
    else if (*at == '"')
      quoted = !quoted;
  }
  return *at ? at + 1 : NULL;
}

// A quoted value without its escapes; at[0] is the opening quote. Returns what follows, or NULL.
static const char *take_quoted(const char *at, char *out) {
  while (*++at && *at != '"') {
    const bool escaped = *at == '\\' && at[1];
    at += escaped;
    *out++ = escaped && *at == 'n' ? '\n' : *at;
  }
  *out = '\0';
  return *at ? at + 1 : NULL;
}

static bool take_labels(struct metric *metric, const char *at, struct arena *arena) {
  char *value = arena_alloc(arena, strlen(at) + 1);
  while (*at && *at != '}') {
    const size_t length = strcspn(at, "=");
    const char *name = arena_copy_n(arena, at, length);
    if (!length || at[length] != '=' || at[length + 1] != '"' ||
        !(at = take_quoted(at + length + 1, value)))
      return false;
    add_label(metric, name, value, arena);
    at += strspn(at, ", ");
  }
  return true;
}

// The metric of a line; NULL if its labels cannot be read.
static struct metric *metric_of(struct text_reader *reader, const char *line, size_t length) {
  struct metrics *metrics = reader->metrics;
  struct known *known;
  HASH_FIND(hh, reader->known, line, length, known);
  if (known)
    return &metrics->list[known->index];
  known = arena_alloc(reader->arena, sizeof *known);
  *known = (struct known){arena_copy_n(reader->arena, line, length), metrics->count, {0}};
  HASH_ADD_KEYPTR(hh, reader->known, known->key, length, known);
  metrics->list = arena_room(reader->arena, metrics->list, metrics->count, sizeof *metrics->list);
  struct metric *metric = &metrics->list[metrics->count++];
  const size_t name = strcspn(known->key, "{");
  *metric = (struct metric){.name = arena_copy_n(reader->arena, known->key, name)};
  const bool well = !known->key[name] || take_labels(metric, known->key + name + 1, reader->arena);
  return well ? metric : NULL;
}

static const char *read_sample(struct text_reader *reader, const char *line) {
  static const char *const wrong = "expected 'name{labels} value milliseconds'";
  double milliseconds;
  const char *end = end_of_key(line);
  if (!end || (*end != ' ' && *end != '\t'))
    return wrong;
  char *rest = arena_copy(reader->arena, end + strspn(end, " \t"));
  const char *value = strsep(&rest, " \t"), *time = rest ? rest + strspn(rest, " \t") : "";
  if (!*time)
    return "a scrape without timestamps covers one moment only: expected milliseconds after each "
           "value, or the answer of a range query";
  if (!csv_number(time, &milliseconds))
    return wrong;
  struct metric *metric = metric_of(reader, line, (size_t)(end - line));
  if (!metric)
    return wrong;
  if (!add_value(metric, 1e-3 * milliseconds, number_of(value), reader->arena))
    return "expected ascending times";
  return NULL;
}

struct metrics *metrics_of_text(const struct source *source, struct arena *arena,
                                struct diagnostics *diagnostics) {
  struct metrics *metrics = arena_alloc(arena, sizeof *metrics);
  struct text_reader reader = {.metrics = metrics, .arena = arena};
  const char *next = source->text, *start;
  size_t length;
  *metrics = (struct metrics){.source = source};
  for (int number = 1; source_next_line(source, &next, &start, &length); number++) {
    if (!length || *start == '#')
      continue;
    const char *why = read_sample(&reader, arena_copy_n(arena, start, length));
    if (!why)
      continue;
    diagnostics_error(diagnostics, (struct place){source, number, 1}, "%s", why);
    return NULL;
  }
  return metrics;
}

// Judged by its first line with content: a comment of the format, or a sample.
bool metrics_are_text(const struct source *source) {
  const char *at = source->text + strspn(source->text, " \r\n");
  if (!strncmp(at, "# HELP ", 7) || !strncmp(at, "# TYPE ", 7))
    return true;
  const char *open = at + strcspn(at, "{ \n,");
  return is_name(*at) && *open == '{' && strchr(open, '}');
}
