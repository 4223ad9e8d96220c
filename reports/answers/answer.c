#include "reports/answers/answer.h"
#include "reports/print/csv_out.h"
#include "reports/print/grid.h"
#include "reports/print/heading.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { SHOWN_DIGITS = 5 };

static const struct answer_cell *cell_at(const struct answer_table *table, size_t row,
                                         size_t column) {
  return &table->cells[row * table->column_count + column];
}

static const struct unit *unit_at(const struct answer_table *table, size_t row, size_t column) {
  const struct answer_cell *cell = cell_at(table, row, column);
  return cell->unit ? cell->unit : table->columns[column].unit;
}

static bool has_number(const struct answer_cell *cell) {
  return !cell->text && !isnan(cell->value);
}

static const char *unit_name(const struct unit *unit) {
  return unit && strcmp(unit->text, "-") != 0 ? unit->text : "";
}

static double shown(double value, const struct unit *unit) {
  return unit ? number_in_unit(value, unit) : value;
}

// ---- the terminal

struct view {
  const struct style *style;
  struct arena *arena;
  bool exact; // all digits, for explain
};

// The scale that all numbers of a column share.
static struct scale column_scale(const struct view *view, const struct answer_table *table,
                                 size_t column) {
  double *values = arena_array(view->arena, table->row_count + 1, sizeof *values);
  size_t count = 0;
  for (size_t r = 0; r < table->row_count; r++) {
    const struct answer_cell *cell = cell_at(table, r, column);
    if (has_number(cell) && !cell->unit && isfinite(cell->value))
      values[count++] = cell->value;
  }
  return number_scale(table->columns[column].unit, values, count, view->arena);
}

static const char *own_text(const struct view *view, const struct answer_cell *cell,
                            const struct unit *unit) {
  const char *number =
      number_significant(shown(cell->value, unit), view->exact ? 15 : SHOWN_DIGITS, view->arena);
  const char *name = unit_name(unit);
  return *name ? arena_printf(view->arena, "%s %s", number, name) : number;
}

static const char *cell_text(const struct view *view, const struct answer_table *table, size_t row,
                             size_t column, const struct scale *scale) {
  const struct answer_cell *cell = cell_at(table, row, column);
  if (cell->text || isnan(cell->value))
    return cell->text ? cell->text : "-";
  if (!isfinite(cell->value))
    return cell->value > 0 ? "no limit" : "none";
  const struct unit *unit = unit_at(table, row, column);
  if (cell->unit || !unit || view->exact)
    return own_text(view, cell, unit);
  return number_scaled(cell->value, *scale, view->arena);
}

static bool is_text_column(const struct answer_table *table, size_t column) {
  for (size_t r = 0; r < table->row_count; r++)
    if (has_number(cell_at(table, r, column)))
      return false;
  return true;
}

static void fill_column(const struct view *view, const struct answer_table *table, size_t column,
                        struct grid_row *rows) {
  const struct answer_column *head = &table->columns[column];
  const struct scale scale = head->unit ? column_scale(view, table, column) : (struct scale){0};
  const bool units = head->unit && !view->exact && !is_text_column(table, column);
  rows[0].cells[column] = (struct cell){head->title, EMPHASIS_STRONG};
  rows[1].cells[column] = (struct cell){units ? scale.unit : "", EMPHASIS_FAINT};
  for (size_t r = 0; r < table->row_count; r++)
    rows[2 + r].cells[column].text = cell_text(view, table, r, column, &scale);
}

static bool any_unit(const struct grid_row *row, size_t columns) {
  for (size_t c = 0; c < columns; c++)
    if (row->cells[c].text && *row->cells[c].text)
      return true;
  return false;
}

static void print_table(const struct view *view, const struct answer_table *table) {
  const size_t columns = table->column_count;
  struct grid_row *rows = arena_array(view->arena, table->row_count + 2, sizeof *rows);
  for (size_t r = 0; r < table->row_count + 2; r++)
    rows[r].cells = arena_array(view->arena, columns, sizeof *rows[r].cells);
  for (size_t c = 0; c < columns; c++)
    fill_column(view, table, c, rows);
  struct grid *grid = grid_new((int)columns, view->arena);
  for (size_t c = 1; c < columns; c++)
    grid->left[c] = is_text_column(table, c);
  for (size_t r = 0; r < table->row_count + 2; r++) {
    if (r == 1 && !any_unit(&rows[1], columns))
      continue;
    if (r == 2)
      grid_rule(grid);
    memcpy(grid_row(grid), rows[r].cells, columns * sizeof *rows[r].cells);
  }
  putc('\n', view->style->out);
  if (table->title)
    style_block(view->style, EMPHASIS_STRONG, table->title);
  grid_print(grid, view->style);
  if (table->note)
    style_block(view->style, EMPHASIS_FAINT, table->note);
}

static void print_texts(const struct view *view, const struct texts *texts, const char *first) {
  if (texts->count)
    putc('\n', view->style->out);
  for (size_t i = 0; i < texts->count; i++)
    style_paragraph(view->style, first, texts->list[i]);
}

static void print_decision(const struct view *view, const struct answer *answer) {
  if (answer->title)
    style_block(view->style, EMPHASIS_STRONG, answer->title);
  style_block(view->style, answer->no ? EMPHASIS_ALARM : EMPHASIS_GOOD, answer->sentence);
  if (view->exact)
    print_texts(view, &answer->reasons, "- ");
  for (size_t t = 0; t < answer->table_count; t++)
    print_table(view, &answer->tables[t]);
  print_texts(view, &answer->warnings, "note: ");
}

static void table_print(const struct scenario *scenario, const struct answers *answers, bool exact,
                        FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  const struct view view = {&style, arena, exact};
  if (scenario)
    heading_print(scenario, &style);
  for (size_t i = 0; i < answers->count; i++) {
    if (i)
      putc('\n', out);
    print_decision(&view, &answers->list[i]);
  }
}

// ---- CSV

static void csv_cell(struct csv_out *out, const struct answer_table *table, size_t row,
                     size_t column) {
  const struct answer_cell *cell = cell_at(table, row, column);
  const struct unit *unit = unit_at(table, row, column);
  csv_out_text(out, table->columns[column].key);
  csv_out_text(out, has_number(cell) ? unit_name(unit) : "");
  if (cell->text)
    csv_out_text(out, cell->text);
  else if (isfinite(cell->value))
    csv_out_number(out, shown(cell->value, unit));
  else
    csv_out_blank(out);
  csv_out_end_row(out);
}

static void csv_table(struct csv_out *out, const struct answer *answer,
                      const struct answer_table *table, struct arena *arena) {
  const struct style plain = {.arena = arena, .utf8 = true};
  const struct view view = {&plain, arena, true};
  for (size_t r = 0; r < table->row_count; r++)
    for (size_t c = 1; c < table->column_count; c++) {
      csv_out_text(out, answer->kind);
      csv_out_text(out, answer->name);
      csv_out_text(out, table->key);
      csv_out_text(out, cell_text(&view, table, r, 0, NULL));
      csv_cell(out, table, r, c);
    }
}

static void csv_print(const struct answers *answers, FILE *file, struct arena *arena) {
  static const char *const header[] = {"kind", "name", "table", "row", "column", "unit", "value"};
  struct csv_out out = {.file = file};
  csv_out_header(&out, header, sizeof header / sizeof header[0]);
  for (size_t i = 0; i < answers->count; i++)
    for (size_t t = 0; t < answers->list[i].table_count; t++)
      csv_table(&out, &answers->list[i], &answers->list[i].tables[t], arena);
}

// ---- JSON

static json_t *json_row(const struct answer_table *table, size_t row, struct arena *arena) {
  json_t *object = json_object();
  for (size_t c = 0; c < table->column_count; c++) {
    const struct answer_cell *cell = cell_at(table, row, c);
    const char *key = table->columns[c].key;
    if (cell->text)
      json_object_set_new(object, key, json_out_text(cell->text));
    else
      json_object_set_new(object, key, json_out_number(shown(cell->value, unit_at(table, row, c))));
    if (cell->unit && has_number(cell))
      json_object_set_new(object, arena_printf(arena, "%s_unit", key),
                          json_out_text(unit_name(cell->unit)));
  }
  return object;
}

static json_t *json_table(const struct answer_table *table, struct arena *arena) {
  json_t *object = json_object(), *units = json_object(), *rows = json_array();
  for (size_t c = 0; c < table->column_count; c++)
    if (table->columns[c].unit)
      json_object_set_new(units, table->columns[c].key,
                          json_out_text(unit_name(table->columns[c].unit)));
  for (size_t r = 0; r < table->row_count; r++)
    json_array_append_new(rows, json_row(table, r, arena));
  json_object_set_new(object, "units", units);
  json_object_set_new(object, "rows", rows);
  return object;
}

static json_t *json_decision(const struct answer *answer, struct arena *arena) {
  json_t *object = json_object(), *tables = json_object();
  json_object_set_new(object, "kind", json_out_text(answer->kind));
  json_object_set_new(object, "name", json_out_text(answer->name));
  json_object_set_new(object, "title", json_out_text(answer->title ? answer->title : ""));
  json_object_set_new(object, "answer", json_out_text(answer->sentence));
  json_object_set_new(object, "no", json_boolean(answer->no));
  json_object_set_new(object, "warnings",
                      json_out_texts(answer->warnings.list, answer->warnings.count));
  json_object_set_new(object, "reasons",
                      json_out_texts(answer->reasons.list, answer->reasons.count));
  for (size_t t = 0; t < answer->table_count; t++)
    json_object_set_new(tables, answer->tables[t].key, json_table(&answer->tables[t], arena));
  json_object_set_new(object, "tables", tables);
  return object;
}

static void json_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
                       struct arena *arena) {
  json_t *root = json_object(), *list = json_array();
  json_object_set_new(root, "schema", json_integer(1));
  if (scenario) {
    json_t *head = json_object();
    json_object_set_new(head, "title", json_out_text(scenario->title));
    json_object_set_new(head, "case", json_out_text(scenario->cases[scenario->selected]));
    json_object_set_new(head, "sha256", json_out_text(scenario->digest));
    json_object_set_new(root, "scenario", head);
  }
  for (size_t i = 0; i < answers->count; i++)
    json_array_append_new(list, json_decision(&answers->list[i], arena));
  json_object_set_new(root, "answers", list);
  json_out_print(root, out);
}

void answers_print(const struct scenario *scenario, const struct answers *answers,
                   enum output_format format, FILE *out, struct arena *arena) {
  if (format == FORMAT_CSV)
    csv_print(answers, out, arena);
  else if (format == FORMAT_JSON)
    json_print(scenario, answers, out, arena);
  else
    table_print(scenario, answers, false, out, arena);
}

void answer_explain(const struct scenario *scenario, const struct answer *answer,
                    enum output_format format, FILE *out, struct arena *arena) {
  const struct answers alone = {answer, 1};
  if (format == FORMAT_JSON)
    json_print(scenario, &alone, out, arena);
  else
    table_print(scenario, &alone, true, out, arena);
}
