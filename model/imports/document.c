#include "model/imports/document.h"

#include "base/csv.h"
#include "base/json_in.h"
#include "base/source_file.h"
#include "model/imports/yaml.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

static void append_part(struct document *document, json_t *value, int line, int number,
                        struct arena *arena) {
  json_array_append_new(document->root, value);
  if (!json_is_object(value))
    return;
  document->parts = arena_room(arena, document->parts, document->count, sizeof *document->parts);
  document->parts[document->count++] = (struct document_part){value, line, number};
}

// ---- JSON

static int count_lines(const char *from, const char *to) {
  int lines = 0;
  for (; (from = memchr(from, '\n', (size_t)(to - from))); from++)
    lines++;
  return lines;
}

// Words that Python writes but JSON lacks, and the text of the same length that replaces them.
static const struct {
  const char *word, *text;
} constants[] = {{"-Infinity", "\"-inf\"   "}, {"Infinity", "\"inf\"   "}, {"NaN", "\"\" "}};

// Lists that no reader needs: a time for every token of every request makes up most of a file.
static const char *const unread[] = {"\"itls\"", "\"generated_texts\""};

// The length of what begins there and is kept: a quoted text with its quotes, else one character.
static size_t kept_length(const char *at) {
  size_t length = 1;
  if (*at != '"')
    return 1;
  for (;;) {
    length += strcspn(at + length, "\"\\");
    if (at[length] != '\\')
      return length + (at[length] == '"');
    length += at[length + 1] ? 2 : 1;
  }
}

// The length of the list that begins there; 0 if it does not end.
static size_t list_length(const char *list) {
  int depth = 0;
  for (const char *at = list; *(at += strcspn(at, "[]\""));) {
    depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
    at += kept_length(at);
    if (!depth)
      return (size_t)(at - list);
  }
  return 0;
}

enum { NO_END = -1 };

// The distance from a key to the end of its list if that is not read; 0 for any other key, NO_END
// if it is cut short.
static ptrdiff_t unread_length(const char *key, size_t length) {
  for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++) {
    if (length != strlen(unread[i]) || strncmp(key, unread[i], length) != 0)
      continue;
    const char *list = key + length + strspn(key + length, " \t\r\n:");
    const size_t rest = *list == '[' ? list_length(list) : 0;
    return rest ? list - key + (ptrdiff_t)rest : *list == '[' ? NO_END : 0;
  }
  return 0;
}

static const char *constant_at(const char *at, size_t *length) {
  for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
    *length = strlen(constants[i].word);
    if (!strncmp(at, constants[i].word, *length))
      return constants[i].text;
  }
  return NULL;
}

static bool is_plain(const char *text) {
  for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
    if (strstr(text, unread[i]))
      return false;
  return !strstr(text, "Infinity") && !strstr(text, "NaN");
}

// The text as JSON, without those lists; line numbers stay. *mark, an offset in the result, becomes
// the offset of the same place in the source.
static const char *plain_json(const struct source *source, size_t *mark, struct arena *arena) {
  if (is_plain(source->text))
    return source->text;
  char *text = arena_alloc(arena, source->size + 1), *out = text;
  size_t marked = *mark;
  for (const char *at = source->text; *at;) {
    if ((size_t)(out - text) <= *mark)
      marked = (size_t)(at - source->text) + *mark - (size_t)(out - text);
    size_t length = kept_length(at);
    const ptrdiff_t left_out = unread_length(at, length);
    if (left_out == NO_END)
      return source->text; // it is not JSON
    const char *constant = *at == '"' ? NULL : constant_at(at, &length);
    if (!constant && *at != '"')
      length = 1;
    if (left_out > 0) {
      out = mempcpy(mempcpy(out, at, length), ":[]", 3);
      for (const char *end = at + left_out; at < end; at++)
        if (*at == '\n')
          *out++ = '\n';
    } else {
      out = mempcpy(out, constant ? constant : at, length);
      at += length;
    }
  }
  *mark = marked;
  return text;
}

static int json_error(const struct document *document, const json_error_t *error, size_t offset,
                      struct arena *arena, struct diagnostics *diagnostics) {
  plain_json(document->source, &offset, arena);
  diagnostics_error(diagnostics, json_in_place(document->source, error, offset),
                    "not complete JSON: %s", error->text);
  return -1;
}

static int read_json(struct document *document, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct source *source = document->source;
  size_t unmarked = 0;
  const char *text = plain_json(source, &unmarked, arena);
  const char *at = text + strspn(text, blanks), *end = text + strlen(text);
  int line = 1 + count_lines(text, at);
  document->written_in = "JSON";
  while (at < end) {
    json_error_t error;
    json_t *value =
        json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
    if (!value)
      return json_error(document, &error, (size_t)(at - text) + (size_t)error.position, arena,
                        diagnostics);
    append_part(document, value, line, 0, arena);
    const char *next = at + error.position;
    next += strspn(next, blanks);
    line += count_lines(at, next);
    at = next;
  }
  if (document->count == 1)
    document->parts[0].line = 0; // the whole file
  json_t *list = json_array_get(document->root, 0), *element;
  if (json_array_size(document->root) == 1 && json_is_array(list)) {
    size_t i;
    json_array_foreach(list, i, element) {
      append_part(document, json_incref(element), 0, (int)i + 1, arena);
    }
  }
  return 0;
}

// ---- CSV

static json_t *cell_value(const char *text) {
  double number;
  return csv_number(text, &number) ? json_real(number) : json_string(text);
}

static int read_csv(struct document *document, struct arena *arena,
                    struct diagnostics *diagnostics) {
  const struct table *table =
      csv_read(document->source, document->source->name, arena, diagnostics);
  document->written_in = "CSV";
  for (size_t row = 0; table && row < table->rows; row++) {
    json_t *object = json_object();
    for (size_t c = 0; c < table->columns; c++)
      json_object_set_new(object, table->column_names[c],
                          cell_value(table->cells[row * table->columns + c]));
    append_part(document, object, table->places[row].line, 0, arena);
  }
  return table ? 0 : -1;
}

// ---- tables of metrics

static const char metrics_mark[] = "Metric,";

// "1,525.00", as GenAI-Perf writes numbers; any other text is left out: "N/A", "".
static void add_number(json_t *metric, const char *name, const char *text, struct arena *arena) {
  char *digits = arena_alloc(arena, strlen(text) + 1), *end = digits;
  double number;
  for (; *text; text++)
    if (*text != ',')
      *end++ = *text;
  *end = 0;
  if (csv_number(digits, &number))
    json_object_set_new(metric, name, json_real(number));
}

// The object at a key, made if it is not there.
static json_t *object_at(json_t *object, const char *key) {
  if (!json_is_object(json_object_get(object, key)))
    json_object_set_new(object, key, json_object());
  return json_object_get(object, key);
}

// "Request Latency (ms)" as the metric "request_latency", with its unit.
static json_t *metric_named(json_t *metrics, const char *title, struct arena *arena) {
  const char *bracket = strstr(title, " (");
  const size_t length = bracket ? (size_t)(bracket - title) : strlen(title);
  char *key = arena_copy_n(arena, title, length);
  for (char *at = key; *at; at++)
    *at = *at == ' ' ? '_' : (char)tolower((unsigned char)*at);
  json_t *metric = object_at(metrics, key);
  if (bracket)
    json_object_set_new(metric, "unit", json_stringn(bracket + 2, strcspn(bracket + 2, ")")));
  return metric;
}

// A row is a metric, or with a column GPU what one GPU's telemetry says of it.
static void add_metrics(json_t *metrics, const struct table *table, struct arena *arena) {
  const bool is_by_gpu = table_column(table, "GPU") >= 0;
  json_t *all = is_by_gpu ? object_at(metrics, "telemetry_stats") : metrics;
  for (size_t row = 0; row < table->rows; row++) {
    json_t *metric = metric_named(all, table_cell(table, row, "Metric"), arena);
    if (is_by_gpu)
      metric = object_at(metric, table_cell(table, row, "GPU"));
    for (size_t c = 1; c < table->columns; c++) {
      const char *name = table->column_names[c];
      if (strcmp(name, "GPU") != 0)
        add_number(metric, strcmp(name, "Value") ? name : "avg",
                   table->cells[row * table->columns + c], arena);
    }
  }
}

// The first blank line from there, or the end of the text.
static const char *table_end(const char *at) {
  for (;;) {
    const size_t length = strcspn(at, "\n");
    if (strspn(at, " \t\r") >= length)
      return at;
    at += length + (at[length] == '\n');
  }
}

// Reads one of the tables in the text; its places are those in the whole text. NULL after errors.
static const struct table *read_table(const struct source *source, const char *start,
                                      const char *end, struct arena *arena,
                                      struct diagnostics *diagnostics) {
  const int before = count_lines(source->text, start);
  const char *table = arena_copy_n(arena, start, (size_t)(end - start));
  char *lines = arena_alloc(arena, (size_t)before + 1);
  memset(lines, '\n', (size_t)before);
  lines[before] = 0;
  return csv_read(source_from_text(source->name, arena_printf(arena, "%s%s", lines, table), arena),
                  source->name, arena, diagnostics);
}

enum { MAX_METRIC_TABLES = 32 };

// GenAI-Perf's CSV and AIPerf's: tables with blank lines between, as the object that their JSON is.
// Tables of something else are not read.
static int read_metrics(struct document *document, struct arena *arena,
                        struct diagnostics *diagnostics) {
  json_t *metrics = json_object();
  const char *at = document->source->text, *end;
  document->written_in = "CSV";
  append_part(document, metrics, 0, 0, arena);
  for (int i = 0; *at && i < MAX_METRIC_TABLES; i++) {
    end = table_end(at);
    if (!strncmp(at, metrics_mark, strlen(metrics_mark))) {
      const struct table *table = read_table(document->source, at, end, arena, diagnostics);
      if (!table)
        return -1;
      add_metrics(metrics, table, arena);
    }
    at = end + strspn(end, blanks);
  }
  return 0;
}

// ---- a summary

static const char *trimmed(const char *start, const char *end, struct arena *arena) {
  while (start < end && isspace((unsigned char)*start))
    start++;
  while (start < end && isspace((unsigned char)end[-1]))
    end--;
  return arena_copy_n(arena, start, (size_t)(end - start));
}

// The first line with a name counts: the summary repeats some of them further down.
static int read_summary(struct document *document, struct arena *arena) {
  json_t *object = json_object();
  const char *start, *next = document->source->text;
  size_t length;
  document->written_in = "a summary";
  for (int line = 1; source_next_line(document->source, &next, &start, &length); line++) {
    const char *colon = memchr(start, ':', length);
    const char *text = colon ? trimmed(start, colon, arena) : arena_printf(arena, "line %d", line);
    const char *value = trimmed(colon ? colon + 1 : start, start + length, arena);
    if (*value && !json_object_get(object, text))
      json_object_set_new(object, text, cell_value(value));
  }
  append_part(document, object, 0, 0, arena);
  return 0;
}

// ---- which of them

// The column by which llama-bench's table is known.
static const char csv_mark[] = "build_commit,";

// The first line that is neither blank nor a comment nor YAML's start-of-document mark.
static const char *first_line(const struct source *source, struct arena *arena) {
  const char *start, *next = source->text;
  size_t length;
  while (source_next_line(source, &next, &start, &length)) {
    const char *text = trimmed(start, start + length, arena);
    if (*text && *text != '#' && strcmp(text, "---") != 0)
      return text;
  }
  return "";
}

// YAML reports have one of these at the start of some line; other text with a colon in its first
// line is not a report with a mistake.
static const char *const report_keys[] = {
    "scenario:", "results:", "metrics:", "load_summary:", "successes:"};

static bool is_report(const char *text) {
  for (size_t i = 0; i < sizeof report_keys / sizeof report_keys[0]; i++)
    for (const char *at = text; (at = strstr(at, report_keys[i])); at++)
      if (at == text || at[-1] == '\n')
        return true;
  return false;
}

int document_read(const char *path, struct document *document, struct arena *arena,
                  struct diagnostics *diagnostics) {
  *document = (struct document){
      .source = source_read(path, arena, diagnostics), .written_in = "text", .root = json_array()};
  if (!document->source)
    return -1;
  const char *line = first_line(document->source, arena);
  if (*line == '{' || *line == '[')
    return read_json(document, arena, diagnostics);
  if (*line == '=')
    return read_summary(document, arena);
  if (*line == '|')
    return 0;
  if (is_report(document->source->text)) {
    json_t *value = yaml_read(document->source, arena, diagnostics);
    document->written_in = "YAML";
    if (value)
      append_part(document, value, 0, 0, arena);
    return value ? 0 : -1;
  }
  if (!strncmp(line, metrics_mark, strlen(metrics_mark)))
    return read_metrics(document, arena, diagnostics);
  return strstr(line, csv_mark) ? read_csv(document, arena, diagnostics) : 0;
}

void document_close(struct document *document) {
  json_decref(document->root);
  *document = (struct document){0};
}
