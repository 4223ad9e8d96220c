// Change log: what this workbook was made from, so that it can be made again.
#include "base/arena.h"
#include "base/version.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/workbook/writers.h"

#include <inttypes.h>
#include <stddef.h>

enum { HEADER_ROW = 2, COLUMN_NUMBER = 2, TYPED_ROWS = 20 };

// The settings as they would be typed on the command line.
static const char *settings_text(const struct scenario *scenario, struct arena *arena) {
  const char *text = scenario->mixed ? "--mixed" : "";
  for (size_t i = 0; i < scenario->setting_count; i++)
    text = arena_printf(arena, "%s%s--set '%s'", text, *text ? " " : "", scenario->settings[i]);
  return *text ? text : "none";
}

static void write_options(struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    put_line(book, "Option",
             arena_printf(book->arena, "%s: %s%s", scenario->options[o].label,
                          scenario->options[o].accelerator_name,
                          o == scenario->baseline ? " (baseline)" : ""));
}

static const char *seed_text(const struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  if (!simulation)
    return "none: no simulation in this workbook";
  if (!simulation->done)
    return "none: nothing is uncertain in this case";
  return arena_printf(book->arena, "%" PRIu64 ", of %" PRIu64 " draws by method %s",
                      simulation->seed, simulation->draws, draw_method_names[simulation->method]);
}

// The overwritten inputs, in the order of Inputs: the rows in which the running count increases.
static void write_typed_row(struct book *book, int k) {
  const struct typed_rows *typed = &book->sheets->typed;
  struct arena *arena = book->arena;
  const char *number = cell_here(book, book->row, COLUMN_NUMBER);
  const char *numbers =
      arena_printf(arena, "%s:%s", cell_on(book, SHEET_INPUTS, typed->first, typed->number_column),
                   cell_fixed(book, typed->last, typed->number_column));
  const int columns[] = {COLUMN_LABEL, typed->said_column};
  put_formula(book, book->row, COLUMN_NUMBER, k + 1, CELL_FORMULA, &unit_inputs, "=%s1",
              k ? arena_printf(arena, "%s+", cell_here(book, book->row - 1, COLUMN_NUMBER)) : "");
  for (int i = 0; i < 2; i++)
    put_formula_text(book, book->row, i, "", formats_text(&book->formats, TEXT_PLAIN),
                     "=IF(%s>%s,\"\",INDEX(%s:%s,MATCH(%s,%s,0),1))", number, written_count(book),
                     cell_on(book, SHEET_INPUTS, typed->first, columns[i]),
                     cell_fixed(book, typed->last, columns[i]), number, numbers);
  book->row++;
}

// Row numbers beyond the last overwritten input look like blank paper.
static void blank_unused(struct book *book, int first, int last) {
  lxw_conditional_format rule = {
      .type = LXW_CONDITIONAL_TYPE_FORMULA,
      .value_string = arena_printf(book->arena, "=%s=\"\"",
                                   cell_address(first, COLUMN_LABEL, ADDRESS_COLUMN, book->arena)),
      .format = formats_text(&book->formats, TEXT_PAST)};
  put_rule(book, first, COLUMN_NUMBER, last, COLUMN_NUMBER, &rule);
}

static void write_typed(struct book *book) {
  static const char *const headings[] = {"Inputs overwritten since", "Previous values", "Number"};
  put_header(book, ++book->row, headings, COLUMN_NUMBER);
  put_headings(book, book->row, COLUMN_NUMBER, headings + COLUMN_NUMBER, 1);
  put_text(book, ++book->row, 0, "Total", TEXT_PLAIN);
  put_formula(book, book->row++, COLUMN_NUMBER, 0, CELL_LINK, &unit_inputs, "=%s",
              written_count(book));
  const int first = book->row;
  for (int k = 0; k < TYPED_ROWS; k++)
    write_typed_row(book, k);
  blank_unused(book, first, book->row - 1);
  const char *all = written_count(book), *listed = cell_here(book, book->row - 1, COLUMN_NUMBER);
  put_formula_text(book, book->row++, 0, "", formats_text(&book->formats, TEXT_PLAIN),
                   "=IF(%s>%s,\"and \"&(%s-%s)&\" more: see Inputs, column In some case\",\"\")",
                   all, listed, all, listed);
}

void write_log(struct book *book) {
  const struct scenario *scenario = book->scenario;
  book->row = HEADER_ROW + 1;
  static const char *const headings[] = {"What", "Value"};
  begin_sheet(book, "Change log", HEADER_ROW + 1, 1);
  put_header(book, HEADER_ROW, headings, 2);
  put_line(book, "Written by", "pertoken " PERTOKEN_VERSION);
  put_line(book, "Scenario", scenario->path);
  put_line(book, "Title", scenario->title);
  put_line(book, "Digest (SHA-256) of scenario, cost model and settings", scenario->digest);
  put_line(book, "As-of date for data age", scenario->date);
  put_line(book, "Cost model", scenario->model->source->name);
  put_line(book, "Seed", seed_text(book));
  put_line(book, "Case shown when written", scenario->case_labels[scenario->selected]);
  put_line(book, "Settings", settings_text(scenario, book->arena));
  write_options(book);
  write_typed(book);
  set_widths(book, (const int[]){54, 80, 10}, 3, COLUMN_NUMBER);
  end_sheet(book, book->row - 1, COLUMN_NUMBER);
}
