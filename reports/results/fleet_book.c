#include "reports/results/fleet_book.h"

#include "base/output.h"
#include "base/process.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "reports/faces/parts.h"
#include "reports/sheets/answer_sheet.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/charts.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <xlsxwriter.h>

static const char nodes_sheet[] = "Nodes", records_sheet[] = "Records";

// The first columns of the table of all nodes, from which the charts are drawn.
enum { NODE, WORKLOAD, MEASURE, VALUE };

enum part { PART_FOUND, PART_SIGNED, PART_NODES, PART_RECORDS, PARTS };

static const struct {
  const char *table, *title; // table: NULL for all others; title: NULL for the answer's
} parts[PARTS] = {[PART_SIGNED] = {"signatures", NULL}, // below everything that is signed
                  [PART_NODES] = {"node_values", "All nodes"},
                  [PART_RECORDS] = {"records", "Every record"}};

static enum part part_of(const struct answer_table *table) {
  int part = PARTS - 1;
  while (part > PART_FOUND && strcmp(parts[part].table, table->key) != 0)
    part--;
  return (enum part)part;
}

// A cell in the form of a sheet: a change is a share, a flag a word.
static struct answer_cell on_sheet(const struct answer_cell *cell) {
  if (cell->kind == CELL_CHANGE)
    return (struct answer_cell){.value = cell->value, .unit = &unit_percent};
  if (cell->kind == CELL_FLAG)
    return (struct answer_cell){.text = cell->value != 0 ? "yes" : "no"};
  if (cell->kind == CELL_ABSENT)
    return (struct answer_cell){.text = cell_placeholder(cell)};
  return *cell;
}

// A measure's unit is shown only in its row.
static const char *measure_text(const struct answer_table *table, size_t row, const char *measure,
                                struct arena *arena) {
  for (size_t c = 0; c < table->column_count; c++) {
    const struct unit *unit = cell_at(table, row, c)->unit;
    if (unit && *unit_name(unit) && strcmp(unit_name(unit), "-") != 0)
      return arena_printf(arena, "%s, %s", measure, unit_name(unit));
  }
  return measure;
}

// The rows and columns that a sheet shows.
static struct answer_table table_on_sheet(const struct answer_table *table, struct arena *arena) {
  struct answer_table shown = *table;
  shown.arena = arena;
  shown.columns = arena_array(arena, table->column_count, sizeof *shown.columns);
  shown.cells = NULL;
  shown.rows = NULL;
  shown.column_count = shown.row_count = shown.room = 0;
  if (shown.note && *shown.note == '*')
    shown.note = NULL; // about a mark for which a sheet has a column
  for (size_t c = 0; c < table->column_count; c++)
    if (column_shown(table, c, FACE_SHEET))
      shown.columns[shown.column_count++] = table->columns[c];
  for (size_t r = 0; r < table->row_count; r++) {
    if (!row_shown(table, r, FACE_SHEET))
      continue;
    struct answer_cell *cell = answer_table_row(&shown);
    for (size_t c = 0; c < table->column_count; c++) {
      if (!column_shown(table, c, FACE_SHEET))
        continue;
      *cell = on_sheet(cell_at(table, r, c));
      if (cell_has_number(cell) && !cell->unit)
        cell->unit = unit_at(table, r, c);
      if (!strcmp(table->columns[c].key, "measure"))
        cell->text = measure_text(table, r, cell->text, arena);
      cell++;
    }
  }
  return shown;
}

// The tables of one sheet. Sentence, notes and warnings are on the first sheet only.
static struct answer answer_on_sheet(const struct answer *answer, enum part part, const char *title,
                                     struct arena *arena) {
  struct answer shown = *answer;
  shown.title = parts[part].title ? parts[part].title : title;
  if (part == PART_RECORDS) {
    shown.notes = NULL;
    shown.note_count = 0;
    shown.warnings = (struct texts){0};
  }
  shown.tables = arena_array(arena, answer->table_count + 1, sizeof *shown.tables);
  shown.table_count = 0;
  for (size_t t = 0; t < answer->table_count; t++) {
    const struct answer_table *table = &answer->tables[t];
    if (!table_shown(table, FACE_SHEET) || part_of(table) != part)
      continue;
    shown.tables[shown.table_count] = table_on_sheet(table, arena);
    shown.table_count += shown.tables[shown.table_count].row_count > 0;
  }
  return shown;
}

// ---- charts: of each measure of each workload, from consecutive rows

static size_t alike(const struct answer_table *nodes, size_t from) {
  size_t end = from + 1;
  while (end < nodes->row_count &&
         !strcmp(cell_at(nodes, end, WORKLOAD)->text, cell_at(nodes, from, WORKLOAD)->text) &&
         !strcmp(cell_at(nodes, end, MEASURE)->text, cell_at(nodes, from, MEASURE)->text))
    end++;
  return end;
}

// A chart of all nodes' values: a line in which the eye finds the step, on an axis that need not
// begin at zero.
static void insert_chart(struct book *book, const struct answer_table *nodes, int top, size_t from,
                         size_t end, int row) {
  const char *measure = cell_at(nodes, from, MEASURE)->text;
  const char *workload = cell_at(nodes, from, WORKLOAD)->text;
  const struct chart_range names = {nodes_sheet, top + (int)from, NODE, top + (int)end - 1, NODE};
  const struct chart_range values = {nodes_sheet, top + (int)from, VALUE, top + (int)end - 1,
                                     VALUE};
  lxw_chart *chart =
      chart_begin(book, LXW_CHART_LINE, arena_printf(book->arena, "All nodes: %s", measure));
  lxw_chart_series *series = chart_add_bars(chart, &names, &values, NULL, option_colour(0));
  lxw_chart_line line = {.color = option_colour(0), .width = 1.5};
  chart_series_set_line(series, &line);
  const struct chart_axes axes = {workload, NULL, measure, "General"};
  chart_set_axes(chart, &axes);
  chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
  chart_place(book, chart, row, 0,
              arena_printf(book->arena, "Line: %s of each node, ascending; %s", measure, workload));
}

// `top`: the row of the first node on its sheet. Returns the row after the charts.
static int insert_charts(struct book *book, const struct answer_table *nodes, int top, int row) {
  for (size_t from = 0, end; from < nodes->row_count; from = end) {
    end = alike(nodes, from);
    if (end - from < 2)
      continue; // a line needs two points
    if (book->writing)
      insert_chart(book, nodes, top, from, end, row);
    row += CHART_ROWS + 1;
  }
  return row;
}

// ---- the file

struct pages {
  const char *title, *sheet;
  struct answer answers[PARTS];
};

static void write_sheets(struct book *book, const void *context) {
  enum { TABLES_ROW = 2 };
  const struct pages *pages = context;
  const struct answer *found = &pages->answers[PART_FOUND], *nodes = &pages->answers[PART_NODES];
  const struct answer *records = &pages->answers[PART_RECORDS];
  int top = 0;
  book_turn_to(book, nodes_sheet);
  const int last =
      write_answer_sheet(book, nodes, answer_columns(nodes), TABLES_ROW, nodes_sheet, &top);
  end_sheet(book, last, (int)answer_columns(nodes) - 1);
  book_turn_to(book, pages->sheet);
  int row =
      write_answer_sheet(book, found, answer_columns(found), TABLES_ROW, pages->sheet, NULL) + 2;
  row = write_answer_end(book, found, &pages->answers[PART_SIGNED], answer_columns(found), row);
  for (size_t t = 0; t < nodes->table_count; t++)
    row = insert_charts(book, &nodes->tables[t], top, row);
  end_sheet(book, row, (int)answer_columns(found) - 1);
  if (!records->table_count)
    return;
  book_turn_to(book, records_sheet);
  const int end =
      write_answer_sheet(book, records, answer_columns(records), TABLES_ROW, records_sheet, NULL);
  end_sheet(book, end, (int)answer_columns(records) - 1);
}

static void set_properties(struct book *book, const char *title) {
  time_t created;
  lxw_doc_properties properties = {
      .title = arena_copy(book->arena, title), .author = "pertoken", .created = 1};
  if (process_epoch(&created))
    properties.created = created;
  workbook_set_properties(book->workbook, &properties);
}

static int write_file(struct book *book, const struct output *output, const void *context) {
  const struct result_book *written = context;
  if (book_open(book, output))
    return -1;
  book_turn_to(book, written->first);
  for (int pass = 0; pass < 2 && !book->failed; pass++) {
    written->write(book, written->pages);
    book_end_pass(book);
  }
  set_properties(book, written->title);
  return book_close(book, output);
}

int result_book_write(const struct result_book *written, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics) {
  struct book book = {.arena = arena, .diagnostics = diagnostics};
  book.names = (struct names){.arena = arena};
  constants_begin(&book.constants, &book.names, arena);
  return book_write(&book, path, write_file, written);
}

int fleet_book_write(const struct answer *answer, const char *title, const char *sheet,
                     const char *path, struct arena *arena, struct diagnostics *diagnostics) {
  struct pages pages = {.title = title, .sheet = sheet};
  const struct result_book written = {title, sheet, write_sheets, &pages};
  for (int part = 0; part < PARTS; part++)
    pages.answers[part] = answer_on_sheet(answer, (enum part)part, title, arena);
  return result_book_write(&written, path, arena, diagnostics);
}
