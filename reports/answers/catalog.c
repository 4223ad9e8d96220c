#include "reports/answers/catalog.h"

#include "model/evidence/catalog.h"
#include "reports/print/csv_out.h"
#include "reports/print/where.h"

#include <assert.h>
#include <csv.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

enum { most_columns = 10, widest_line = 100, narrowest_text = 12, gap = 2 };

static const char grade_column[] = "grade";
static const char cut_mark[] = "..";

// Cut short they would be of no use.
static const char *const uncut[] = {"id", "accelerator", "model", "field", "as_of"};

// What a terminal shows; the rest is for csv and json.
static const char *const shown[CATALOG_TABLES][most_columns] = {
    [CATALOG_ACCELERATORS] = {"id", "memory_gb", "memory_bw_tbs", "tdp_w", "dense_fp8_tflops",
                              "status", grade_column, "as_of", "source_title"},
    [CATALOG_ALTERNATES] = {"id", "accelerator", "field", "value", grade_column, "as_of",
                            "source_title"},
    [CATALOG_MODELS] = {"id", "layers", "hidden", "kv_heads", "experts", "params_b", grade_column,
                        "as_of", "source_title"},
    [CATALOG_THROUGHPUT] = {"id", "accelerator", "model", "precision", "scenario",
                            "tokens_per_s_per_gpu", grade_column, "as_of"},
    [CATALOG_PRICES] = {"id", "accelerator", "price_basis", "usd_per_gpu_equivalent", "unit",
                        grade_column, "as_of", "source_title"},
    [CATALOG_POWER] = {"id", "subject", "metric", "value", "unit", grade_column, "as_of",
                       "source_title"},
    [CATALOG_OVERHEADS] = {"id", "item", "value", "low", "high", "unit", grade_column, "as_of"},
    [CATALOG_BANDWIDTH] = {"id", "accelerator", "benchmark", "achieved", "unit", "efficiency",
                           grade_column, "as_of"},
    [CATALOG_CLAIMS] = {"id", "claim", "value", "unit", "verdict", "as_of"},
    [CATALOG_TYPICAL_VALUES] = {"id", "low", "mid", "high", "unit", grade_column, "as_of"},
};

struct view {
  const struct table *table;
  struct arena *arena;
  const size_t *rows; // those for which all conditions hold
  size_t row_count;
  const struct where *conditions;
  size_t condition_count;
};

// A column as the terminal shows it.
struct shown_column {
  size_t column;
  size_t width;
  bool number; // aligned to the right
  bool cut;    // may be cut short
};

// The column behind a table's last is the grade.
static const char *column_name(const struct table *table, size_t column) {
  return column < table->columns ? table->column_names[column] : grade_column;
}

static const char *cell_text(const struct table *table, size_t row, size_t column) {
  if (column == table->columns)
    return grade_name(catalog_grade(table, row));
  return table->cells[row * table->columns + column];
}

static bool is_number(const struct table *table, size_t column) {
  return column < table->columns && catalog_is_number(table, table->column_names[column]);
}

static const char *const *all_names(const struct table *table, struct arena *arena) {
  const char **names = arena_array(arena, table->columns + 1, sizeof *names);
  for (size_t i = 0; i <= table->columns; i++)
    names[i] = column_name(table, i);
  return names;
}

static bool all_hold(const struct table *table, size_t row, const struct where *conditions,
                     size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!where_holds(&conditions[i], cell_text(table, row, conditions[i].column)))
      return false;
  }
  return true;
}

static int select_rows(struct view *view, const char *const *wheres, size_t count,
                       struct diagnostics *diagnostics) {
  const struct table *table = view->table;
  struct where *conditions = arena_array(view->arena, count + 1, sizeof *conditions);
  if (where_parse(wheres, count, all_names(table, view->arena), table->columns + 1, table->name,
                  conditions, diagnostics))
    return -1;

  size_t *rows = arena_array(view->arena, table->rows, sizeof *rows);
  for (size_t row = 0; row < table->rows; row++) {
    if (all_hold(table, row, conditions, count))
      rows[view->row_count++] = row;
  }
  view->rows = rows;
  view->conditions = conditions;
  view->condition_count = count;
  return 0;
}

static size_t count_rows(const struct table *table, const struct where *condition) {
  size_t count = 0;
  for (size_t row = 0; row < table->rows; row++)
    count += where_holds(condition, cell_text(table, row, condition->column));
  return count;
}

// Where no row is left: a value that no row has, and what rows there are that have it in part.
static void explain_none(const struct view *view, FILE *out) {
  for (size_t i = 0; i < view->condition_count; i++) {
    const struct where *condition = &view->conditions[i];
    struct where part = *condition;
    part.contains = true;
    if (count_rows(view->table, condition))
      continue;
    const char *name = column_name(view->table, condition->column);
    const size_t count = condition->contains ? 0 : count_rows(view->table, &part);
    fprintf(out, "No row has '%s' %s %s", condition->value, condition->contains ? "in" : "as",
            name);
    if (count)
      fprintf(out, "; --where '%s~%s' finds it in %zu", name, condition->value, count);
    putc('\n', out);
  }
}

// The bytes of the character that a text begins with, and the columns that it takes. A control
// character, which a terminal might obey, is shown as blanks instead, one for each byte.
static size_t measure(const char *text, size_t *columns, bool *control) {
  ucs4_t code;
  const size_t bytes = (size_t)u8_strmbtouc(&code, (const uint8_t *)text);
  const int width = uc_width(code, "UTF-8");
  *control = width < 0;
  *columns = width < 0 ? bytes : (size_t)width;
  return bytes;
}

static size_t width_of(const char *text) {
  size_t width = 0, columns;
  bool control;
  while (*text) {
    text += measure(text, &columns, &control);
    width += columns;
  }
  return width;
}

// The text, or as much of its beginning as fits beside a mark.
static const char *fit(const char *text, size_t width, struct arena *arena) {
  char *fitted = arena_alloc(arena, strlen(text) + sizeof cut_mark);
  size_t used = 0, cut = 0, offset = 0;
  while (text[offset]) {
    size_t columns;
    bool control;
    const size_t bytes = measure(text + offset, &columns, &control);
    if (control)
      memset(fitted + offset, ' ', bytes);
    else
      memcpy(fitted + offset, text + offset, bytes);
    offset += bytes;
    used += columns;
    if (used + strlen(cut_mark) <= width)
      cut = offset;
    if (used > width) {
      memcpy(fitted + cut, cut_mark, sizeof cut_mark);
      return fitted;
    }
  }
  return fitted;
}

static size_t find_column(const struct table *table, const char *name) {
  const int column = table_column(table, name);
  return column < 0 ? table->columns : (size_t)column;
}

static size_t widest_text(const struct view *view, size_t column) {
  size_t widest = width_of(column_name(view->table, column));
  for (size_t i = 0; i < view->row_count; i++) {
    const size_t width = width_of(cell_text(view->table, view->rows[i], column));
    if (width > widest)
      widest = width;
  }
  return widest;
}

static struct shown_column show_column(const struct view *view, const char *name) {
  const size_t column = find_column(view->table, name);
  struct shown_column shown_column = {
      .column = column,
      .width = widest_text(view, column),
      .number = is_number(view->table, column),
  };
  shown_column.cut = !shown_column.number;
  for (size_t i = 0; i < sizeof uncut / sizeof *uncut; i++)
    shown_column.cut = shown_column.cut && strcmp(name, uncut[i]) != 0;
  return shown_column;
}

// Takes from the widest of the columns that may be cut until the line fits or nothing is left.
static void squeeze(struct shown_column *columns, size_t count, size_t used) {
  while (used > widest_line) {
    struct shown_column *widest = NULL;
    for (size_t i = 0; i < count; i++) {
      if (columns[i].cut && (!widest || columns[i].width > widest->width))
        widest = &columns[i];
    }
    if (!widest || widest->width <= narrowest_text)
      return;
    widest->width--;
    used--;
  }
}

static size_t lay_out(const struct view *view, struct shown_column *columns) {
  size_t count = 0, used = 0;
  const char *const *names = shown[view->table->catalog];
  for (; count < most_columns && names[count]; count++) {
    columns[count] = show_column(view, names[count]);
    used += columns[count].width + (count ? gap : 0);
  }
  squeeze(columns, count, used);
  return count;
}

// No blanks end a line.
static void print_padded(const char *text, const struct shown_column *column, bool last,
                         FILE *out) {
  const int padding = (int)(column->width - width_of(text));
  if (column->number)
    fprintf(out, "%*s", padding, "");
  fputs(text, out);
  if (!column->number && !last)
    fprintf(out, "%*s", padding, "");
  fprintf(out, last ? "\n" : "%*s", gap, "");
}

static void print_table(const struct view *view, FILE *out) {
  struct shown_column columns[most_columns];
  const size_t count = lay_out(view, columns);
  for (size_t i = 0; i < count; i++) {
    const char *name = column_name(view->table, columns[i].column);
    print_padded(fit(name, columns[i].width, view->arena), &columns[i], i + 1 == count, out);
  }
  for (size_t row = 0; row < view->row_count; row++) {
    for (size_t i = 0; i < count; i++) {
      const char *text = cell_text(view->table, view->rows[row], columns[i].column);
      print_padded(fit(text, columns[i].width, view->arena), &columns[i], i + 1 == count, out);
    }
  }
  fprintf(out, "%zu of %zu rows; all columns with --format csv\n", view->row_count,
          view->table->rows);
  if (!view->row_count)
    explain_none(view, out);
}

// A number keeps the digits that it was published with, and its sign is no formula's.
static void print_csv_cell(struct csv_out *out, const char *text) {
  double number;
  if (csv_number(text, &number)) {
    csv_out_blank(out);
    csv_fwrite(out->file, text, strlen(text));
  } else {
    csv_out_text(out, text);
  }
}

static void print_csv(const struct view *view, FILE *file) {
  const struct table *table = view->table;
  struct csv_out out = {.file = file};
  csv_out_header(&out, all_names(table, view->arena), table->columns + 1);
  for (size_t i = 0; i < view->row_count; i++) {
    for (size_t column = 0; column <= table->columns; column++)
      print_csv_cell(&out, cell_text(table, view->rows[i], column));
    csv_out_end_row(&out);
  }
}

static json_t *json_of_cell(const struct table *table, size_t row, size_t column) {
  const char *text = cell_text(table, row, column);
  double number;
  if (!*text)
    return json_null();
  if (!is_number(table, column) || !csv_number(text, &number))
    return json_string(text);
  const bool whole = fabs(number) < 1e15 && number == floor(number);
  return whole ? json_integer((json_int_t)number) : json_real(number);
}

static int print_json_row(const struct table *table, size_t row, FILE *out) {
  json_t *object = json_object();
  int result = object ? 0 : -1;
  for (size_t column = 0; column <= table->columns && result == 0; column++)
    result =
        json_object_set_new(object, column_name(table, column), json_of_cell(table, row, column));
  if (result == 0)
    result = json_dumpf(object, out, 0);
  json_decref(object);
  return result;
}

// One row to a line.
static int print_json(const struct view *view, FILE *out) {
  int result = 0;
  fputs("[", out);
  for (size_t i = 0; i < view->row_count && result == 0; i++) {
    fputs(i ? ",\n " : "\n ", out);
    result = print_json_row(view->table, view->rows[i], out);
  }
  fputs("\n]\n", out);
  return result;
}

int catalog_view_print(const struct table *table, const char *const *wheres, size_t where_count,
                       enum output_format format, FILE *out, struct diagnostics *diagnostics) {
  assert(table->catalog >= 0);
  struct view view = {.table = table, .arena = diagnostics->arena};
  if (select_rows(&view, wheres, where_count, diagnostics) < 0)
    return -1;

  int result = 0;
  switch (format) {
  case FORMAT_TABLE: print_table(&view, out); break;
  case FORMAT_CSV: print_csv(&view, out); break;
  case FORMAT_JSON: result = print_json(&view, out); break;
  }
  if (result == 0)
    return 0;
  diagnostics_error(diagnostics, (struct place){0}, "the rows cannot be written as JSON");
  diagnostics->machine_failed = true;
  return -1;
}
