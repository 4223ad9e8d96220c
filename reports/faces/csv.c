// Answers as CSV.
#include "base/arena.h"
#include "base/digits.h"
#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/faces.h"
#include "reports/faces/parts.h"
#include "reports/print/csv_out.h"

#include <csv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct csv_field usual_fields[] = {
    {"kind", CSV_KIND},     {"name", CSV_NAME}, {"table", CSV_TABLE}, {"row", CSV_ROW},
    {"column", CSV_COLUMN}, {"unit", CSV_UNIT}, {"value", CSV_VALUE},
};

enum { USUAL_FIELDS = sizeof usual_fields / sizeof usual_fields[0] };

struct writer {
  struct csv_out out;
  const struct scenario *scenario;
  const struct answer *answer;
  const struct csv_field *fields;
  size_t field_count;
  struct arena *arena;
};

static void put_text(struct writer *writer, const char *text) {
  if (text)
    csv_out_text(&writer->out, text);
  else
    csv_out_blank(&writer->out);
}

static void put_number(struct writer *writer, double value, const struct unit *unit) {
  if (isfinite(value))
    csv_out_number(&writer->out, machine_number(value, unit));
  else
    csv_out_blank(&writer->out);
}

static void put_value(struct writer *writer, const struct answer_cell *cell,
                      const struct unit *unit, size_t period) {
  if (cell->kind == CELL_FLAG)
    csv_out_number(&writer->out, cell->value != 0);
  else if (cell->kind == CELL_LIST)
    put_text(writer, texts_joined(&cell->list, writer->arena));
  else if (cell->kind == CELL_COUNT)
    csv_out_integer(&writer->out, cell->counts[0]);
  else if (cell->text)
    put_text(writer, cell->text);
  else
    put_number(writer, cell->kind == CELL_SERIES ? cell->values[period] : cell->value, unit);
}

static bool is_left_out(const struct answer_cell *cell) {
  return cell->kind == CELL_ABSENT || cell->kind == CELL_EMPTY || cell->kind == CELL_BAR ||
         cell->kind == CELL_HISTOGRAM || cell->kind == CELL_COUNTS ||
         (cell->kind == CELL_LIST && !cell->list.count);
}

// A cell's unit. In a table whose rows have properties, the unit of plain numbers is "-".
static const char *unit_text(const struct answer_table *table, size_t row, size_t column) {
  const struct answer_cell *cell = cell_at(table, row, column);
  const struct unit *unit = unit_at(table, row, column);
  if (!unit || cell->text)
    return "";
  return table->rows ? unit->text : cell_has_number(cell) ? unit_name(unit) : "";
}

// The text of a field; NULL for none.
static const char *field_text(const struct writer *writer, enum csv_what what,
                              const struct answer_table *table, size_t row, size_t column) {
  const struct answer_cell *cell = cell_at(table, row, column), *first = cell_at(table, row, 0);
  const struct answer_row *about = table->rows ? &table->rows[row] : NULL;
  const char *label = about && about->label ? about->label : first->text;
  switch (what) {
  case CSV_KIND: return writer->answer->kind;
  case CSV_NAME: return writer->answer->name;
  case CSV_TABLE: return table->key;
  case CSV_ROW: return about && about->key ? about->key : label ? label : "-";
  case CSV_LABEL: return label;
  case CSV_COLUMN: return table->columns[column].key;
  case CSV_ABOUT: return table->columns[column].about;
  case CSV_CASE: return writer->scenario->cases[writer->scenario->selected];
  case CSV_UNIT: return unit_text(table, row, column);
  case CSV_GRADE: return cell->grade;
  case CSV_PERIOD:
  case CSV_VALUE: break;
  }
  return NULL;
}

static void put_line(struct writer *writer, const struct answer_table *table, size_t row,
                     size_t column, size_t period) {
  const struct answer_cell *cell = cell_at(table, row, column);
  for (size_t f = 0; f < writer->field_count; f++) {
    const enum csv_what what = writer->fields[f].what;
    if (what == CSV_VALUE)
      put_value(writer, cell, unit_at(table, row, column), period);
    else if (what == CSV_PERIOD && cell->kind == CELL_SERIES)
      csv_out_number(&writer->out, (double)period);
    else
      put_text(writer, field_text(writer, what, table, row, column));
  }
  csv_out_end_row(&writer->out);
}

static void put_cell(struct writer *writer, const struct answer_table *table, size_t row,
                     size_t column) {
  const struct answer_cell *cell = cell_at(table, row, column);
  if (is_left_out(cell) || !row_shown(table, row, FACE_CSV) ||
      !column_shown(table, column, FACE_CSV))
    return;
  const size_t lines = cell->kind == CELL_SERIES ? cell->value_count : 1;
  for (size_t period = 0; period < lines; period++)
    put_line(writer, table, row, column, period);
}

static void put_table(struct writer *writer, const struct answer_table *table) {
  const size_t columns = table->column_count - 1, cells = columns * table->row_count;
  for (size_t i = 0; i < cells; i++)
    if (table->by_columns)
      put_cell(writer, table, i % table->row_count, 1 + i / table->row_count);
    else
      put_cell(writer, table, i / columns, 1 + i % columns);
}

// The sign of a published number does not begin a formula.
static void put_wide_cell(struct writer *writer, const struct answer_cell *cell,
                          const struct unit *unit) {
  char digits[DIGITS_ROOM];
  if (is_left_out(cell)) {
    csv_out_blank(&writer->out);
  } else if (cell->kind == CELL_PUBLISHED) {
    csv_out_blank(&writer->out);
    csv_fwrite(writer->out.file, cell->text, strlen(cell->text));
  } else if (cell->kind == CELL_SERIES) {
    const char *all = "";
    for (size_t i = 0; i < cell->value_count; i++)
      all = arena_printf(writer->arena, "%s%s%s", all, i ? " " : "",
                         digits_shortest(machine_number(cell->values[i], unit), digits));
    csv_out_text(&writer->out, all);
  } else {
    put_value(writer, cell, unit, 0);
  }
}

// A table with columns of its own; the stamp, if there is one, is a further column.
static void put_wide(struct writer *writer, const struct answer_table *table) {
  const char *stamp = writer->answer->stamp;
  for (size_t c = 0; c < table->column_count; c++)
    if (column_shown(table, c, FACE_CSV))
      csv_out_text(&writer->out, table->columns[c].key);
  if (*stamp)
    csv_out_text(&writer->out, "stamp");
  csv_out_end_row(&writer->out);
  for (size_t r = 0; r < table->row_count; r++) {
    if (!row_shown(table, r, FACE_CSV))
      continue;
    for (size_t c = 0; c < table->column_count; c++)
      if (column_shown(table, c, FACE_CSV))
        put_wide_cell(writer, cell_at(table, r, c), unit_at(table, r, c));
    if (*stamp)
      csv_out_text(&writer->out, stamp);
    csv_out_end_row(&writer->out);
  }
}

static bool has_labels(const struct writer *writer) {
  for (size_t f = 0; f < writer->field_count; f++)
    if (!strcmp(writer->fields[f].name, "label"))
      return true;
  return false;
}

// A line with a text about `name`: an option, the answer or the scenario. If lines have labels, the
// text is there, so that all values are numbers.
static void put_said(struct writer *writer, const char *key, const char *what, const char *name,
                     const char *about, const char *text) {
  struct answer_table table = answer_table_new(key, NULL, writer->arena);
  ANSWER_COLUMN(&table, .key = what);
  ANSWER_COLUMN(&table, .key = name, .about = about);
  const bool labels = has_labels(writer);
  answer_table_row_of(&table, (struct answer_row){.key = what, .label = labels ? text : what})[1] =
      labels ? cell_nothing() : cell_words(text);
  put_table(writer, &table);
}

static void put_drawn(struct writer *writer, const struct answer *answer) {
  const struct draws_made *drawn = &answer->drawn;
  if (!drawn->count)
    return;
  struct answer_table table = answer_table_new("drawn", NULL, writer->arena);
  ANSWER_COLUMN(&table, .key = "figure");
  ANSWER_COLUMN(&table, .key = answer->name);
  answer_table_row_of(&table, (struct answer_row){.key = "draws", .label = "Draws"})[1] =
      cell_counts(&drawn->count, 1);
  answer_table_row_of(&table, (struct answer_row){.key = "seed", .label = "Seed of the draws"})[1] =
      cell_counts(&drawn->seed, 1);
  put_table(writer, &table);
  put_said(writer, table.key, "method", answer->name, NULL, draw_method_names[drawn->method]);
}

static void put_warnings(struct writer *writer, const char *name, const char *about,
                         const struct texts *warnings) {
  for (size_t i = 0; i < warnings->count; i++)
    put_said(writer, "warnings", "warning", name, about, warnings->list[i]);
}

static bool any_is_called_otherwise(const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (strcmp(scenario->options[o].id, scenario->options[o].label) != 0)
      return true;
  return false;
}

// A line with the name of each option that is not called by its id.
static void put_labels(struct writer *writer) {
  if (!any_is_called_otherwise(writer->scenario))
    return;
  for (size_t o = 0; o < writer->scenario->option_count; o++) {
    const struct option *option = &writer->scenario->options[o];
    struct answer_table table = answer_table_new("options", NULL, writer->arena);
    ANSWER_COLUMN(&table, .key = "option");
    ANSWER_COLUMN(&table, .key = option->id, .about = option->accelerator);
    const struct answer_row row = {.key = "label", .label = "Label of the option"};
    answer_table_row_of(&table, row)[1] = cell_words(option->label);
    put_table(writer, &table);
  }
}

// The inherited warnings, each beside the option that it concerns.
static void put_of_scenario(struct writer *writer) {
  const struct scenario *scenario = writer->scenario;
  put_labels(writer);
  put_warnings(writer, "scenario", NULL, &scenario->warnings);
  for (size_t o = 0; o < scenario->option_count; o++)
    put_warnings(writer, scenario->options[o].id, scenario->options[o].accelerator,
                 &scenario->options[o].warnings);
}

static const struct answer_table *wide_table(const struct answer *answer) {
  for (size_t t = 0; t < answer->table_count; t++)
    if (answer->tables[t].is_wide && table_shown(&answer->tables[t], FACE_CSV))
      return &answer->tables[t];
  return NULL;
}

void csv_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
               struct arena *arena) {
  struct writer writer = {.out.file = out,
                          .scenario = scenario,
                          .fields = usual_fields,
                          .field_count = USUAL_FIELDS,
                          .arena = arena};
  const struct answer *first = writer.answer = answers->count ? &answers->list[0] : NULL;
  const struct answer_table *wide = first ? wide_table(first) : NULL;
  if (wide) {
    put_wide(&writer, wide);
    return;
  }
  if (first && first->csv) {
    writer.fields = first->csv;
    writer.field_count = first->csv_count;
  }
  for (size_t f = 0; f < writer.field_count; f++)
    csv_out_text(&writer.out, writer.fields[f].name);
  csv_out_end_row(&writer.out);
  if (first && *first->stamp)
    put_said(&writer, "stamp", "stamp", first->name, NULL, first->stamp);
  for (size_t i = 0; i < answers->count; i++) {
    writer.answer = &answers->list[i];
    for (size_t t = 0; t < writer.answer->table_count; t++)
      if (table_shown(&writer.answer->tables[t], FACE_CSV))
        put_table(&writer, &writer.answer->tables[t]);
    put_drawn(&writer, writer.answer);
    put_warnings(&writer, writer.answer->name, NULL, &writer.answer->warnings);
  }
  if (first && scenario)
    put_of_scenario(&writer);
  else if (first)
    put_warnings(&writer, first->name, NULL, &first->inherited);
}
