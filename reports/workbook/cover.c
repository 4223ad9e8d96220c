// Cover: the answer on one page, live, and how to read the rest.
#include "base/arena.h"
#include "base/short_text.h"
#include "base/version.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/workbook/evidence_watts.h"
#include "reports/workbook/inputs_written.h"
#include "reports/workbook/sheets.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, SUBTITLE_ROW, FIRST_STAMP_ROW };
enum { COLUMN_FIRST_OPTION = 2, MIN_COLUMNS = 5 };
enum { LABEL_WIDTH = 36, UNIT_WIDTH = 20, COVER_CHART_WIDTH = 820 };

static int last_column(const struct scenario *scenario) {
  const int last = COLUMN_FIRST_OPTION + (int)scenario->option_count - 1;
  return last < MIN_COLUMNS ? MIN_COLUMNS : last;
}

static void put_line(struct book *book, const char *label, const char *text) {
  put_text(book, book->row, 0, label, TEXT_PLAIN);
  put_text(book, book->row++, 1, text, TEXT_PLAIN);
}

// The drop-down lists the cases themselves as far as a list may be long, else their cells.
static void add_drop_down(struct book *book) {
  enum { LIST_LENGTH = 255 };
  const struct scenario *scenario = book->scenario;
  char **list = arena_array(book->arena, scenario->case_count + 1, sizeof *list);
  size_t length = 0;
  for (size_t c = 0; c < scenario->case_count; c++) {
    list[c] = arena_copy(book->arena, scenario->cases[c]);
    length += strlen(list[c]) + 1;
  }
  lxw_data_validation rule = {.validate = LXW_VALIDATION_TYPE_LIST,
                              .value_list = list,
                              .error_title = "No such case",
                              .error_message = "Choose one of the cases on Inputs."};
  if (length > LIST_LENGTH) {
    rule.validate = LXW_VALIDATION_TYPE_LIST_FORMULA;
    rule.value_formula = (char *)inputs_cases(book);
  }
  put_validation(book, book->row, 1, 1, &rule);
}

// The one cell that turns the whole workbook to another case.
static void write_case(struct book *book) {
  put_text(book, book->row, 0, "Case: choose it here", TEXT_STRONG);
  put_typed_text(book, book->row, 1, book->scenario->cases[book->scenario->selected], CELL_INPUT);
  add_drop_down(book);
  book_place_name(book, book->sheets->case_name, book->row++, 1);
}

// A text over the whole width, as high as it needs to be at that size; written by the caller.
static void merge_row(struct book *book, int row, size_t characters, int size,
                      enum text_format format) {
  double width = LABEL_WIDTH + UNIT_WIDTH;
  for (int column = COLUMN_FIRST_OPTION; column <= last_column(book->scenario); column++)
    width += option_width(book->scenario);
  merge_line(book, row, last_column(book->scenario), width, characters, size, format);
}

// The sentence in the selected case: its parts are on Outputs.
static const char *answer_text(struct book *book) {
  const char *text = "";
  for (int i = 0; i < ANSWER_PARTS; i++)
    if (book->sheets->rows.words[i].row)
      text = arena_printf(book->arena, "%s%s", text, book->sheets->rows.words[i].text);
  return text;
}

static const char *answer_formula(struct book *book) {
  const char *formula = "";
  for (int i = 0; i < ANSWER_PARTS; i++)
    if (book->sheets->rows.words[i].row)
      formula =
          arena_printf(book->arena, "%s%s%s", formula, *formula ? "&" : "=",
                       cell_on(book, SHEET_OUTPUTS, book->sheets->rows.words[i].row, COLUMN_VALUE));
  return formula;
}

static void write_answer(struct book *book) {
  enum { ANSWER_SIZE = 14 };
  const char *unranked = arena_printf(book->arena, "The options are not ranked: %s.",
                                      ranking_why_nobody(book->sheets->ranking, book->arena));
  const char *text = answer_text(book);
  const int row = book->row;
  merge_row(book, row, strlen(*text ? text : unranked), ANSWER_SIZE, TEXT_ANSWER);
  if (*text)
    put_formula_text(book, row, 0, text, formats_text(&book->formats, TEXT_ANSWER), "%s",
                     answer_formula(book));
  else
    put_text(book, row, 0, unranked, TEXT_ANSWER);
  book->row = row + 2;
}

static void write_ids(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const char *names[scenario->option_count];
  put_text(book, book->row, 0, "The numbers that matter", TEXT_HEADER);
  put_text(book, book->row, 1, "Unit", TEXT_HEADER);
  for (size_t o = 0; o < scenario->option_count; o++) {
    put_text(book, book->row, COLUMN_FIRST_OPTION + (int)o, scenario->options[o].id,
             TEXT_HEADER_RIGHT);
    names[o] = scenario->options[o].accelerator_name;
  }
  put_text(book, ++book->row, 0, "Accelerator", TEXT_PLAIN);
  put_option_texts(book, book->row++, COLUMN_FIRST_OPTION, names);
}

// A row of Outputs; NAN for what has no value there.
static void write_result(struct book *book, const char *label, int outputs_row,
                         const double *values, const struct unit *unit) {
  put_text(book, book->row, 0, label, TEXT_PLAIN);
  put_text(book, book->row, 1, unit->text, TEXT_PLAIN);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    if (isnan(values[o])) {
      put_text(book, book->row, COLUMN_FIRST_OPTION + (int)o, "-", TEXT_RIGHT);
      continue;
    }
    const char *cell = cell_on(book, SHEET_OUTPUTS, outputs_row, COLUMN_VALUE + (int)o);
    put_formula(book, book->row, COLUMN_FIRST_OPTION + (int)o, values[o], CELL_TOTAL_LINK, unit,
                "=%s", cell);
  }
  book->row++;
}

static void write_item(struct book *book, const char *item, int outputs_row) {
  int d = model_find(book->scenario->model, item);
  if (d < 0 || outputs_row < 0)
    return;
  const struct declaration *declaration = &book->scenario->model->declarations[d];
  double *values = arena_array(book->arena, book->scenario->option_count, sizeof *values);
  for (size_t o = 0; o < book->scenario->option_count; o++)
    values[o] = shown_value(book, &book->sheets->options[o], d, 0);
  write_result(book, declaration->label, outputs_row, values, &declaration->unit);
}

static void write_saving(struct book *book) {
  const struct scenario *scenario = book->scenario;
  double *values = arena_array(book->arena, scenario->option_count, sizeof *values);
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct standing *standing = &book->sheets->ranking->options[o];
    values[o] = isfinite(standing->saving) ? standing->saving : 0;
    if (!standing->compared)
      values[o] = NAN;
  }
  const char *label = arena_printf(book->arena, "Saving per token against %s",
                                   scenario->options[scenario->baseline].id);
  write_result(book, label, book->sheets->rows.saving, values, &unit_percent);
}

static void write_cheapest(struct book *book) {
  if (!book->sheets->simulation || !ranking_may_rank(book->sheets->ranking))
    return;
  put_formula_text(book, book->row, 0, "Cheapest, share of simulated draws: current",
                   formats_text(&book->formats, TEXT_PLAIN),
                   "=\"Cheapest, share of simulated draws: \"&%s", simulation_state(book));
  put_text(book, book->row, 1, unit_percent.text, TEXT_PLAIN);
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (isnan(book->sheets->simulation->cheapest[o])) // never ranked
      put_text(book, book->row, COLUMN_FIRST_OPTION + (int)o, "-", TEXT_RIGHT);
    else
      put_formula(book, book->row, COLUMN_FIRST_OPTION + (int)o,
                  book->sheets->simulation->cheapest[o], CELL_LINK, &unit_percent, "=%s",
                  simulation_cheapest(book, o));
  book->row++;
}

// Why an option is left out, live; nothing where none can be.
static void write_unranked(struct book *book) {
  const struct ranking *ranking = book->sheets->ranking;
  const char **reasons = arena_array(book->arena, ranking->option_count, sizeof *reasons);
  if (!verdict_has_bars(book))
    return;
  put_text(book, book->row, 0, "Why it is not ranked", TEXT_PLAIN);
  for (size_t o = 0; o < ranking->option_count; o++) {
    reasons[o] = ranking->options[o].ranked ? "-" : ranking->options[o].why_not;
    put_formula_text(
        book, book->row, COLUMN_FIRST_OPTION + (int)o, reasons[o],
        formats_text(&book->formats, TEXT_LINKED_RIGHT_WRAPPED), "=%s",
        cell_on(book, SHEET_OUTPUTS, book->sheets->rows.why_not, COLUMN_VALUE + (int)o));
  }
  set_option_height(book, book->row++, reasons);
}

static void write_texts(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const char *missing[scenario->option_count];
  put_text(book, book->row, 0, "Weakest grade that matters", TEXT_PLAIN);
  for (size_t o = 0; o < scenario->option_count; o++) {
    put_formula_text(book, book->row, COLUMN_FIRST_OPTION + (int)o,
                     grade_name(scenario->options[o].headline_grade),
                     formats_text(&book->formats, TEXT_LINKED_RIGHT), "=%s",
                     outputs_grade(book, o));
    missing[o] = *scenario->options[o].not_included ? scenario->options[o].not_included : "-";
  }
  put_text(book, ++book->row, 0, "Not included", TEXT_PLAIN);
  put_option_texts(book, book->row++, COLUMN_FIRST_OPTION, missing);
}

static void write_warnings(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct arena *arena = book->arena;
  size_t count = scenario->warnings.count;
  for (size_t o = 0; o < scenario->option_count; o++)
    count += scenario->options[o].warnings.count;
  if (!count)
    return;
  put_text(book, book->row++, 0,
           arena_printf(arena, "%zu warning%s: see Evidence", count, count > 1 ? "s" : ""),
           TEXT_NOTE);
}

// All sheets that there are, in their order.
static void write_contents(struct book *book, int last) {
  lxw_worksheet *sheet;
  put_heading(book, book->row++, last, "Contents");
  STAILQ_FOREACH(sheet, book->workbook->worksheets, list_pointers) {
    if (sheet == book->sheet)
      continue;
    put_jump(book, book->row, 0, sheet->name);
    put_text(book, book->row++, 1, sheet_about(book, sheet->name), TEXT_PLAIN);
  }
  book->row++;
}

static void write_legend(struct book *book, int last) {
  static const struct {
    const char *sample, *meaning;
    enum cell_role role;
    bool (*is_shown)(const struct book *); // NULL: always
  } entries[] = {
      {"Input", "blue on a fill: type over it", CELL_INPUT, NULL},
      {"Override", "an input that a case changes", CELL_OVERRIDE, NULL},
      {"Follows", "italics: follows another input until it is typed over", CELL_INHERITED, NULL},
      {"Formula", "black: computed on its own sheet", CELL_FORMULA, NULL},
      {"Link", "green: taken from another sheet", CELL_LINK, NULL},
      {"Result", "grey: found when the workbook was written; does not change", CELL_RESULT, NULL},
      {"Reading", "grey: a meter's reading from a record; does not change", CELL_RESULT,
       watts_shown},
  };
  put_heading(book, book->row++, last, "How to read it");
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    if (entries[i].is_shown && !entries[i].is_shown(book))
      continue;
    put_sample(book, book->row, 0, entries[i].sample, entries[i].role);
    put_text(book, book->row++, 1, entries[i].meaning, TEXT_INDENTED);
  }
  const char *const notes[] = {
      "Sign: costs are positive; negative amounts (credits) stand in parentheses; zero money is -.",
      arena_printf(book->arena,
                   "Nominal %s before income tax; recoverable VAT excluded; a year has 8760 hours; "
                   "T is 10^12.",
                   book->scenario->model->currency),
      "Sheets are protected without a password: Review, Unprotect Sheet.",
  };
  for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
    put_text(book, book->row++, 0, notes[i], TEXT_NOTE);
  book->row++;
}

static void write_grades(struct book *book, int last) {
  put_heading(book, book->row++, last, "Grades, strongest first");
  for (int g = 0; g < GRADES; g++)
    put_line(book, grade_name((enum grade)g), grade_meaning((enum grade)g));
  book->row++;
}

// The baseline's, live, with the source that it had when the workbook was written.
static void write_exchange_rate(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const struct option_sheet *sheet = &book->sheets->options[scenario->baseline];
  const int rate = model_find(scenario->model, "exchange_rate");
  if (rate < 0 || !option_has(sheet->option, rate) || sheet->option->graph->state[rate] >= 0)
    return;
  const struct declaration *declaration = &scenario->model->declarations[rate];
  put_text(book, book->row, 0, declaration->label, TEXT_PLAIN);
  put_text(book, book->row, 1, declaration->unit.text, TEXT_PLAIN);
  put_link(book, book->row++, COLUMN_FIRST_OPTION, option_name(sheet, rate),
           shown_value(book, sheet, rate, 0), &declaration->unit);
  if (sheet->input_rows[rate] < 0)
    return;
  put_text(book, book->row, 0, "Source of the exchange rate", TEXT_PLAIN);
  put_formula_text(book, book->row++, 1, written_text(book, sheet, rate, WRITTEN_SOURCE),
                   formats_text(&book->formats, TEXT_LINKED), "=%s",
                   written_cell(book, sheet->input_rows[rate], WRITTEN_SOURCE));
}

static void write_origin(struct book *book, int last) {
  const struct scenario *scenario = book->scenario;
  put_heading(book, book->row++, last, "Origin");
  put_line(book, "Scenario", scenario->path);
  put_line(book, "Date that ages are counted from", scenario->date);
  write_exchange_rate(book);
  put_line(book, "Digest (SHA-256)", scenario->digest);
  put_line(book, "Written by", "pertoken " PERTOKEN_VERSION);
}

static void write_title(struct book *book) {
  enum { TITLE_SIZE = 16 };
  const char *title = book->scenario->title;
  begin_sheet(book, title, 0, 0);
  merge_row(book, TITLE_ROW, text_characters(title), TITLE_SIZE, TEXT_TITLE_WRAPPED);
  put_text(book, TITLE_ROW, 0, title, TEXT_TITLE_WRAPPED);
  put_text(book, SUBTITLE_ROW, 0,
           "Total cost of ownership per token: live, change an input or the case", TEXT_SUBTITLE);
}

// Wrapped, as nobody scrolls on a Cover. Returns the next row.
static int write_stamp(struct book *book) {
  enum { STAMP_SIZE = 12 };
  const char *text = scenario_stamp(book->scenario, book->arena);
  if (!*text)
    return FIRST_STAMP_ROW;
  merge_row(book, FIRST_STAMP_ROW, strlen(text), STAMP_SIZE, TEXT_STAMP_WRAPPED);
  put_text(book, FIRST_STAMP_ROW, 0, text, TEXT_STAMP_WRAPPED);
  return FIRST_STAMP_ROW + 1;
}

// The three numbers that matter, and what they are worth.
static void write_numbers(struct book *book) {
  write_ids(book);
  write_item(book, "cost_per_mtok", book->sheets->rows.cost);
  write_item(book, "tco", book->sheets->rows.tco);
  write_saving(book);
  write_cheapest(book);
  write_unranked(book);
  write_texts(book);
  write_warnings(book);
  book->row++;
}

static void write_typed(struct book *book) {
  static const struct unit inputs = {.text = "inputs", .counts = true};
  put_text(book, ++book->row, 0, "Inputs typed over: see Change log", TEXT_STRONG);
  put_formula(book, book->row, 1, 0, CELL_LINK, &inputs, "=%s", written_count(book));
}

void write_cover(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const int last = last_column(scenario);
  write_title(book);
  worksheet_fit_to_pages(book->sheet, 1, 1);
  if (last <= MIN_COLUMNS + 1)
    worksheet_set_portrait(book->sheet);
  book->row = write_stamp(book) + 1;
  write_answer(book);
  write_case(book);
  put_text(book, book->row, 0, "Checks", TEXT_STRONG);
  put_check_state(book, book->row, 1);
  write_typed(book);
  book->row += 2;
  write_numbers(book);
  book->row = insert_cover_chart(book, book->row, COVER_CHART_WIDTH);
  write_contents(book, last);
  write_legend(book, last);
  write_grades(book, last);
  write_origin(book, last);
  set_widths(book, (const int[]){LABEL_WIDTH, UNIT_WIDTH, option_width(scenario)}, 3, last);
  end_sheet(book, book->row - 1, last);
}
