// Evidence: what each option's figures rest on, what is not included, and what to be careful about.
#include "model/evidence/evidence.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/texts.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/scenario.h"
#include "reports/outputs/missing.h"
#include "reports/sheets/evidence_watts.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/sheets/weakest_grades.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/workbook/writers.h"

#include <string.h>

enum { NOTE_ROW = 1, STAMP_ROW, HEADER_ROW };
enum { COLUMN_FIGURE, COLUMN_GRADE = 4, COLUMN_SOURCE, COLUMN_DATE, COLUMN_FROM };
enum { SOURCE_WIDTH = 64 };

// The inputs that affect a cost per token most.
static const char *const figures[] = {
    "throughput",     "decode_throughput", "prefill_throughput", "load_power",
    "prefill_power",  "idle_power",        "list_price",         "rental_rate",
    "on_demand_rate", "spot_rate",         "burst_price",        "burst_rate",
    "discount",       "output_price",      "input_price",        "cached_input_price",
    "api_discount",   "electricity_price", "utilization",        "production_throughput",
    "exchange_rate",
};

static void put_warnings(struct book *book, const struct texts *warnings) {
  for (size_t i = 0; i < warnings->count; i++)
    put_line(book, "Warning", warnings->list[i]);
}

static void put_title(struct book *book, const struct option *option) {
  put_heading(book, book->row++, COLUMN_FROM,
              arena_printf(book->arena, "%s: %s", option->label, option->accelerator_name));
}

// The formula of a figure; what it is equal to has its label.
static const char *computed_text(const struct book *book, const struct option_sheet *sheet,
                                 int declaration) {
  const char *text = formula_text(graph_formula(sheet->option->graph, declaration), book->arena);
  const int same = model_find(book->scenario->model, text);
  return same < 0
             ? text
             : arena_printf(book->arena, "as %s", book->scenario->model->declarations[same].label);
}

static void write_computed(struct book *book, const struct option_sheet *sheet, int declaration,
                           int row) {
  put_text(book, row, COLUMN_GRADE, "computed", TEXT_INDENTED);
  put_text(book, row, COLUMN_SOURCE, computed_text(book, sheet, declaration), TEXT_WRAPPED);
  put_text(book, row, COLUMN_DATE, "-", TEXT_PLAIN);
  put_text(book, row, COLUMN_FROM, "cost model", TEXT_PLAIN);
}

// A figure's provenance as on Inputs; if it has no row there, as it was when the workbook was
// written.
static void write_provenance(struct book *book, const struct option_sheet *sheet, int declaration,
                             int row) {
  static const struct {
    int column, field;
    enum text_format format, linked;
  } cells[] = {
      {COLUMN_GRADE, WRITTEN_GRADE, TEXT_INDENTED, TEXT_LINKED_INDENTED},
      {COLUMN_SOURCE, WRITTEN_SOURCE, TEXT_WRAPPED, TEXT_LINKED_WRAPPED},
      {COLUMN_DATE, WRITTEN_DATE, TEXT_PLAIN, TEXT_LINKED},
      {COLUMN_FROM, WRITTEN_PLACE, TEXT_WRAPPED, TEXT_LINKED_WRAPPED},
  };
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
    const char *text = written_text(book, sheet, declaration, cells[i].field);
    if (sheet->input_rows[declaration] < 0)
      put_text(book, row, cells[i].column, text, cells[i].format);
    else
      put_formula_text(book, row, cells[i].column, text,
                       formats_text(&book->formats, cells[i].linked), "=%s",
                       written_cell(book, sheet->input_rows[declaration], cells[i].field));
  }
}

static void write_figure(struct book *book, const struct option_sheet *sheet, int declaration) {
  const struct scenario *scenario = book->scenario;
  const struct declaration *item = &scenario->model->declarations[declaration];
  bool computed = sheet->option->graph->state[declaration] >= 0;
  int row = book->row++;
  put_text(book, row, COLUMN_FIGURE, item->label, TEXT_PLAIN);
  put_text(book, row, COLUMN_KEY, item->name, TEXT_NOTE);
  put_text(book, row, COLUMN_UNIT, item->unit.text, TEXT_PLAIN);
  put_option_value(book, row, COLUMN_VALUE, sheet, declaration);
  if (computed)
    write_computed(book, sheet, declaration, row);
  else
    write_provenance(book, sheet, declaration, row);
}

// The years of a figure, if it is a list by year.
static void write_years(struct book *book, const struct option_sheet *sheet, int declaration) {
  const struct declaration *input = &book->scenario->model->declarations[declaration];
  for (int i = 0; i < input->year_count; i++)
    write_figure(book, sheet, option_stated(sheet->option, input->years[i]));
}

static bool is_in_rent(const struct option_sheet *sheet, const struct figure *figure) {
  return sheet->option->rented && figure->origin == ORIGIN_RENT;
}

static void write_grade(struct book *book, const struct option_sheet *sheet) {
  const char *grade = grade_name(sheet->option->headline_grade);
  put_text(book, book->row, COLUMN_FIGURE, "Weakest grade that matters", TEXT_PLAIN);
  if (grades_rows(book))
    put_formula_text(book, book->row++, COLUMN_GRADE, grade,
                     formats_text(&book->formats, TEXT_LINKED_INDENTED), "=%s",
                     grades_cell(book, (size_t)(sheet - book->sheets->options)));
  else
    put_text(book, book->row++, COLUMN_GRADE, grade, TEXT_INDENTED);
}

static void write_figures(struct book *book, const struct option_sheet *sheet) {
  const struct scenario *scenario = book->scenario;
  put_title(book, sheet->option);
  write_grade(book, sheet);
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    int d = model_find(scenario->model, figures[i]);
    if (d < 0 || !option_has(sheet->option, d))
      continue;
    const int stated = option_stated(sheet->option, d);
    if (stated != d)
      write_figure(book, sheet, stated);
    if (option_figure(scenario, sheet->option, scenario->selected, d)->year_count)
      write_years(book, sheet, d);
    else if (!is_in_rent(sheet, option_figure(scenario, sheet->option, scenario->selected, d)))
      write_figure(book, sheet, d);
  }
  book->row++;
}

// A property that the evidence does not state has no row.
static void write_workload(struct book *book, const struct option *option) {
  static const char *const labels[WORKLOAD_KEYS] = {
      [WORKLOAD_MODEL] = "Throughput on the model",
      [WORKLOAD_PRECISION] = "Precision",
      [WORKLOAD_ACTIVATIONS] = "Precision of activations",
      [WORKLOAD_KV] = "Precision of the KV cache",
      [WORKLOAD_HEAD] = "Precision of embedding and head",
      [WORKLOAD_SPARSITY] = "Dense or sparse weights",
      [WORKLOAD_BASIS] = "Basis: serving (prefill included) or decode",
      [WORKLOAD_SCENARIO] = "Benchmark scenario",
      [WORKLOAD_TOKENS] = "Tokens counted",
      [WORKLOAD_INTERACTIVITY] = "Tokens per second per user, on average",
      [WORKLOAD_TTFT] = "Maximum seconds to first token",
      [WORKLOAD_TPOT] = "Maximum milliseconds per output token",
      [WORKLOAD_BATCH] = "Concurrent requests",
      [WORKLOAD_CONTEXT] = "Context in tokens",
  };
  for (int k = 0; k < WORKLOAD_KEYS; k++) {
    const char *value = option_workload(option, (enum workload_key)k);
    if (labels[k] && *value)
      put_line(book, labels[k], value);
  }
}

// Notes in its catalogue row: how it was run and read.
static void write_notes(struct book *book, const struct evidence *evidence) {
  const char *notes =
      evidence && evidence->table ? table_cell(evidence->table, evidence->row, "notes") : "";
  if (*notes)
    put_line(book, "Notes on the throughput", notes);
}

static void write_option(struct book *book, const struct option_sheet *sheet) {
  const struct option *option = sheet->option;
  struct arena *arena = book->arena;
  put_title(book, option);
  put_line(book, "Accelerator in the catalogue", option->accelerator);
  write_workload(book, option);
  write_notes(book, option_published(book->scenario, option));
  put_line(book, "Watts over time", watts_words(option, arena));
  put_text(book, book->row, COLUMN_FIGURE, "Not included", TEXT_PLAIN);
  put_not_included(book, book->row++, COLUMN_KEY, (size_t)(sheet - book->sheets->options),
                   TEXT_PLAIN);
  put_warnings(book, &option->warnings);
  book->row++;
}

// The warnings that concern no option alone.
static void write_warnings(struct book *book) {
  if (!book->scenario->warnings.count)
    return;
  put_heading(book, book->row++, COLUMN_FROM, "The comparison");
  put_warnings(book, &book->scenario->warnings);
  book->row++;
}

void write_evidence(struct book *book) {
  const struct scenario *scenario = book->scenario;
  book->row = HEADER_ROW + 1;
  static const char *const headings[] = {"Figure", "Key",    "Unit", "Value",
                                         "Grade",  "Source", "Date", "From"};
  begin_sheet(book, "Evidence", HEADER_ROW + 1, 1);
  put_text(book, NOTE_ROW, 0,
           "Live: a figure overwritten on Inputs loses its source. Texts below the figures refer "
           "to the case in the change log.",
           TEXT_NOTE);
  put_stamps(book, STAMP_ROW);
  put_header(book, HEADER_ROW, headings, COLUMN_FROM + 1);
  put_text(book, HEADER_ROW, COLUMN_VALUE, headings[COLUMN_VALUE], TEXT_HEADER_RIGHT);
  put_text(book, HEADER_ROW, COLUMN_GRADE, headings[COLUMN_GRADE], TEXT_HEADER_INDENTED);
  for (size_t o = 0; o < scenario->option_count; o++)
    write_figures(book, &book->sheets->options[o]);
  struct watts_table *tables = book->sheets->watts =
      arena_array(book->arena, scenario->option_count, sizeof *tables);
  for (size_t o = 0; o < scenario->option_count; o++)
    book->row = watts_write(book, &book->sheets->options[o], book->row, &tables[o]);
  // Texts come last: their number may vary, and this way nothing live moves.
  write_warnings(book);
  for (size_t o = 0; o < scenario->option_count; o++)
    write_option(book, &book->sheets->options[o]);
  for (size_t o = 0; o < scenario->option_count; o++)
    book->row = watts_write_readings(book, &tables[o], book->row);
  set_widths(book, (const int[]){44, 22, 14, 16, 12, SOURCE_WIDTH, 12, 36}, 8, COLUMN_FROM);
  end_sheet(book, book->row - 1, COLUMN_FROM);
}
