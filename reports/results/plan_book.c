#include "reports/results/plan_book.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "reports/faces/answer.h"
#include "reports/results/fleet_book.h"
#include "reports/sheets/answer_sheet.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/charts.h"
#include "reports/spreadsheet/formats.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <xlsxwriter.h>

enum { TABLES_ROW = 2 };

// The last column that two charts side by side reach.
enum { LAST_COLUMN = 12 };

// Columns of the fleet table, followed by one for each option.
enum { PERIOD, TOKENS, OUTLAY, POWER, FIRST_OPTION };

// Columns of the token table, followed by one for each vendor and the spare capacity.
enum { TOKENS_OF, DEMAND, FIRST_VENDOR };

// Columns of the cash table.
enum { WHEN, CASH };

// Columns of the accelerator table, followed by one for each vendor.
enum { ACCELERATORS_OF, FIRST_OWNER };

// The tables of the sheet Fleet.
enum { BY_OPTION, BY_VENDOR, BY_TOKENS, MAX_TABLES };

enum part { PART_PLAN, PART_CALENDAR, PART_FLEET, PART_CASH, PART_BOOKS, PARTS };

static const struct {
  const char *sheet, *title;
  const char *tables[MAX_TABLES]; // none: all others
} parts[PARTS] = {
    [PART_PLAN] = {"Plan", NULL, {NULL}},
    [PART_CALENDAR] = {"Calendar", "Purchase calendar", {"calendar"}},
    [PART_FLEET] = {"Fleet", "The fleet over time", {"fleet", "accelerators", "tokens"}},
    [PART_CASH] = {"Cash", "Cash over time", {"cash"}},
    [PART_BOOKS] = {"Books", "Books and taxes over time", {"books"}}};

struct pages {
  struct answer answers[PARTS];
};

static enum part part_of(const struct answer_table *table) {
  for (int part = PART_PLAN; part < PARTS; part++)
    for (int i = 0; i < MAX_TABLES && parts[part].tables[i]; i++)
      if (!strcmp(parts[part].tables[i], table->key))
        return (enum part)part;
  return PART_PLAN;
}

// The tables of one sheet; warnings are on the first sheet only.
static struct answer answer_of(const struct answer *answer, enum part part, struct arena *arena) {
  struct answer shown = *answer;
  if (parts[part].title)
    shown.title = parts[part].title;
  if (part != PART_PLAN)
    shown.warnings = (struct texts){0};
  shown.tables = arena_array(arena, answer->table_count + 1, sizeof *shown.tables);
  shown.table_count = 0;
  for (size_t t = 0; t < answer->table_count; t++)
    if (table_shown(&answer->tables[t], FACE_SHEET) && part_of(&answer->tables[t]) == part)
      shown.tables[shown.table_count++] = answer->tables[t];
  return shown;
}

// ---- charts

struct placed {
  const char *sheet;
  const struct answer_table *table;
  int top, rows; // of the cells that a chart shows
};

static lxw_chart_series *add_column(lxw_chart *chart, const struct placed *placed, int column,
                                    const char *name, lxw_color_t colour) {
  const int last = placed->top + placed->rows - 1;
  const struct chart_range names = {placed->sheet, placed->top, 0, last, 0};
  const struct chart_range values = {placed->sheet, placed->top, column, last, column};
  return chart_add_bars(chart, &names, &values, name, colour);
}

static void insert_cash(struct book *book, const struct placed *placed, int row) {
  static const char *const title = "Cash out, less what is sold";
  lxw_chart *chart = chart_begin(book, LXW_CHART_COLUMN, title);
  const struct chart_axes axes = {NULL, NULL, placed->table->columns[CASH].unit->text, "#,##0"};
  add_column(chart, placed, CASH, NULL, option_colour(0));
  chart_set_axes(chart, &axes);
  // Sales at the end can exceed the payments: the bar would cover its label.
  chart_axis_set_label_position(chart->x_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
  chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
  chart_place(book, chart, row, 0, arena_printf(book->arena, "Bars: %s by period", title));
}

// The stacked tokens of the vendors meet the demand; anything above it is spare.
static void insert_tokens(struct book *book, const struct placed *placed, int row) {
  const struct answer_table *table = placed->table;
  lxw_chart *chart =
      chart_begin(book, LXW_CHART_COLUMN_STACKED, "The fleet by vendor: tokens up to the demand");
  const struct chart_axes axes = {NULL, NULL, table->columns[DEMAND].unit->text, "#,##0"};
  for (size_t c = FIRST_VENDOR; c < table->column_count; c++)
    add_column(chart, placed, (int)c, table->columns[c].title,
               c + 1 < table->column_count ? option_colour(c - FIRST_VENDOR) : demand_colour());
  chart_set_axes(chart, &axes);
  chart_place(
      book, chart, row, 1,
      "Stacked bars: tokens served by each vendor's fleet in each period, up to the demand, "
      "and what could be served beyond");
}

// A chart of accelerators, from the columns from `first` on.
static void insert_accelerators(struct book *book, const struct placed *placed, size_t first,
                                const char *title, const char *description, int row) {
  lxw_chart *chart = chart_begin(book, LXW_CHART_COLUMN_STACKED, title);
  const struct chart_axes axes = {NULL, NULL, "accelerators", "#,##0"};
  for (size_t c = first; c < placed->table->column_count; c++)
    add_column(chart, placed, (int)c, placed->table->columns[c].title, option_colour(c - first));
  chart_set_axes(chart, &axes);
  chart_place(book, chart, row, 0, description);
}

// ---- the sheets

static int write_part(struct book *book, const struct pages *pages, enum part part, int *tops) {
  book_turn_to(book, parts[part].sheet);
  return write_answer_sheet(book, &pages->answers[part], answer_columns(&pages->answers[part]),
                            TABLES_ROW, parts[part].sheet, tops);
}

static void end_part(struct book *book, const struct pages *pages, enum part part, int row) {
  end_sheet(book, row, (int)answer_columns(&pages->answers[part]) - 1);
}

static void write_fleet(struct book *book, const struct pages *pages) {
  const struct answer *answer = &pages->answers[PART_FLEET];
  int tops[MAX_TABLES];
  const int row = write_part(book, pages, PART_FLEET, tops) + 2, below = row + CHART_ROWS + 1;
  struct placed placed[MAX_TABLES];
  for (int i = 0; i < MAX_TABLES; i++)
    placed[i] = (struct placed){parts[PART_FLEET].sheet, &answer->tables[i], tops[i],
                                (int)answer->tables[i].row_count};
  if (book->writing) {
    insert_accelerators(book, &placed[BY_VENDOR], FIRST_OWNER, "Accelerators in service, by vendor",
                        "Stacked bars: accelerators of each vendor by period", row);
    insert_tokens(book, &placed[BY_TOKENS], row);
    insert_accelerators(book, &placed[BY_OPTION], FIRST_OPTION,
                        "Accelerators in service, by option",
                        "Stacked bars: accelerators of each option by period", below);
  }
  const int last = (int)answer_columns(answer) - 1;
  end_sheet(book, below + CHART_ROWS + 1, last > LAST_COLUMN ? last : LAST_COLUMN);
}

// Space for signatures below the orders.
static void write_calendar(struct book *book, const struct pages *pages) {
  enum { ROWS_TO_SIGN = 3 };
  static const char *const by[] = {"Prepared by", "Approved by"};
  int row = write_part(book, pages, PART_CALENDAR, NULL);
  for (size_t i = 0; i < sizeof by / sizeof by[0]; i++) {
    row += ROWS_TO_SIGN;
    put_text(book, row, 0,
             arena_printf(book->arena,
                          "%s __________________________    Date ______________    "
                          "Signature __________________________",
                          by[i]),
             TEXT_PLAIN);
  }
  end_part(book, pages, PART_CALENDAR, row);
}

static void write_cash(struct book *book, const struct pages *pages) {
  int tops[MAX_TABLES];
  const int row = write_part(book, pages, PART_CASH, tops) + 2;
  const struct answer_table *table = &pages->answers[PART_CASH].tables[0];
  const struct placed placed = {parts[PART_CASH].sheet, table, tops[0], (int)table->row_count - 1};
  if (book->writing)
    insert_cash(book, &placed, row);
  end_part(book, pages, PART_CASH, row + CHART_ROWS + 1);
}

static void write_tables(struct book *book, const struct pages *pages, enum part part) {
  if (part == PART_PLAN || pages->answers[part].table_count)
    end_part(book, pages, part, write_part(book, pages, part, NULL));
}

static void write_sheets(struct book *book, const void *context) {
  const struct pages *pages = context;
  write_tables(book, pages, PART_PLAN);
  if (pages->answers[PART_CALENDAR].table_count)
    write_calendar(book, pages);
  if (pages->answers[PART_FLEET].table_count)
    write_fleet(book, pages);
  if (pages->answers[PART_CASH].table_count)
    write_cash(book, pages);
  write_tables(book, pages, PART_BOOKS);
}

int plan_book_write(const struct answer *answer, const char *path, struct arena *arena,
                    struct diagnostics *diagnostics) {
  struct pages pages;
  const struct result_book written = {answer->title, parts[PART_PLAN].sheet, write_sheets, &pages};
  for (int part = 0; part < PARTS; part++)
    pages.answers[part] = answer_of(answer, (enum part)part, arena);
  return result_book_write(&written, path, arena, diagnostics);
}
