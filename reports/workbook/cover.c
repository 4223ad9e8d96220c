// Cover: the answer on one page, live, and how to read the rest.
#include "base/arena.h"
#include "base/version.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/faces/answer.h"
#include "reports/outputs/charts.h"
#include "reports/outputs/missing.h"
#include "reports/outputs/rows.h"
#include "reports/outputs/verdict.h"
#include "reports/sheets/evidence_watts.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/inputs.h"
#include "reports/workbook/writers.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, SUBTITLE_ROW, FIRST_STAMP_ROW };
enum { COLUMN_FIRST_OPTION = 2, MIN_COLUMNS = 5, BAND = 6 };
enum { LABEL_WIDTH = 36, UNIT_WIDTH = 20, COVER_CHART_WIDTH = 820 };

// Options side by side, as many as are legible on paper; further ones follow below.
struct band {
  size_t first, end;
};

static int last_column(const struct scenario *scenario) {
  const size_t count = scenario->option_count;
  const int last = COLUMN_FIRST_OPTION + (int)(count < BAND ? count : BAND) - 1;
  return last < MIN_COLUMNS ? MIN_COLUMNS : last;
}

static int option_column(const struct band *band, size_t option) {
  return COLUMN_FIRST_OPTION + (int)(option - band->first);
}

// The drop-down lists the cases themselves if the list is not too long and no name contains a
// comma; else it refers to their cells.
static void add_drop_down(struct book *book) {
  enum { LIST_LENGTH = 255 };
  const struct scenario *scenario = book->scenario;
  char **list = arena_array(book->arena, scenario->case_count + 1, sizeof *list);
  size_t length = 0;
  bool parted = false;
  for (size_t c = 0; c < scenario->case_count; c++) {
    list[c] = arena_copy(book->arena, scenario->case_labels[c]);
    length += strlen(list[c]) + 1;
    parted |= strchr(list[c], ',') != NULL;
  }
  lxw_data_validation rule = {.validate = LXW_VALIDATION_TYPE_LIST,
                              .value_list = list,
                              .error_title = "No such case",
                              .error_message = "Select one of the cases on Inputs."};
  if (length > LIST_LENGTH || parted) {
    rule.validate = LXW_VALIDATION_TYPE_LIST_FORMULA;
    rule.value_formula = (char *)inputs_cases(book);
  }
  put_validation(book, book->row, 1, book->row, 1, &rule);
}

// The one cell that switches the whole workbook to another case.
static void write_case(struct book *book) {
  put_text(book, book->row, 0, "Case (select)", TEXT_STRONG);
  put_typed_text(book, book->row, 1, book->scenario->case_labels[book->scenario->selected],
                 CELL_INPUT);
  add_drop_down(book);
  book_place_name(book, book->sheets->case_name, book->row++, 1);
}

// Merges the full width; the caller writes the text.
static void merge_row(struct book *book, int row, enum text_format format) {
  merge_line(book, row, last_column(book->scenario), format);
}

// The sentence in the selected case; its parts are on Outputs.
static const char *answer_text(struct book *book) {
  const char *text = "";
  for (int i = 0; i < ANSWER_PARTS; i++)
    if (book->sheets->rows.words[i].row)
      text = arena_printf(book->arena, "%s%s", text, book->sheets->rows.words[i].text);
  return text;
}

// A formula that joins the cells of the sentence's parts.
static const char *answer_formula(struct book *book) {
  const char *formula = "";
  for (int i = 0; i < ANSWER_PARTS; i++)
    if (book->sheets->rows.words[i].row)
      formula =
          arena_printf(book->arena, "%s%s%s", formula, *formula ? "&" : "",
                       cell_on(book, SHEET_OUTPUTS, book->sheets->rows.words[i].row, COLUMN_VALUE));
  return formula;
}

static void write_answer(struct book *book) {
  static const char no_answer[] = "No answer: see Checks.";
  const char *unranked = arena_printf(book->arena, "The options are not ranked: %s.",
                                      ranking_why_nobody(book->sheets->ranking, book->arena));
  const char *text = answer_text(book);
  const int row = book->row;
  merge_row(book, row, TEXT_ANSWER);
  if (*text)
    put_formula_text(book, row, 0, book->sheets->checks_pass ? text : no_answer,
                     formats_text(&book->formats, TEXT_ANSWER), "=IF(%s=1,%s,\"%s\")",
                     name_use(book->sheets->checks_ok), answer_formula(book), no_answer);
  else
    put_text(book, row, 0, unranked, TEXT_ANSWER);
  book->row = row + 1;
}

// A row of its own, so that there is room for it once it has something to say.
static void write_turned(struct book *book) {
  const struct output_rows *rows = &book->sheets->rows;
  const char *text = rows->turned && book->sheets->checks_pass ? rows->turned_text : "";
  if (!ranking_may_rank(book->sheets->ranking))
    return;
  merge_row(book, book->row, TEXT_STRONG_WRAPPED);
  put_formula_text(book, book->row++, 0, text, formats_text(&book->formats, TEXT_STRONG_WRAPPED),
                   "=IF(%s=1,%s,\"\")", name_use(book->sheets->checks_ok),
                   cell_on(book, SHEET_OUTPUTS, rows->turned, COLUMN_VALUE));
}

// The answers to the scenario's own questions, from Decisions, which may be other ones than the
// comparison's.
static void write_decisions_made(struct book *book) {
  const struct answers *answers = &book->sheets->answers;
  const struct decision_rows *rows = &book->sheets->decision_rows;
  bool waits = false;
  for (size_t i = 0; i < answers->count; i++) {
    const struct answer *answer = &answers->list[i];
    const int row = rows->sentences ? rows->sentences[i] : 1; // the first pass finds out
    const char *title = answer->title ? answer->title : answer->name;
    waits |= !strcmp(answer->kind, "wait");
    merge_row(book, book->row, TEXT_STRONG_WRAPPED);
    put_formula_text(
        book, book->row++, 0, arena_printf(book->arena, "%s. %s", title, answer->sentence),
        formats_text(&book->formats, TEXT_STRONG_WRAPPED), "=%s&\". \"&%s",
        cell_on(book, SHEET_DECISIONS, row - 1, 0), cell_on(book, SHEET_DECISIONS, row, 0));
  }
  if (waits)
    put_text(book, book->row++, 0,
             "The first sentence compares orders placed today; when to order is a question of its "
             "own.",
             TEXT_NOTE);
  book->row++;
}

static void write_ids(struct book *book, const struct band *band) {
  const struct scenario *scenario = book->scenario;
  put_text(book, book->row, 0, "The numbers that matter", TEXT_HEADER);
  put_text(book, book->row, 1, "Unit", TEXT_HEADER);
  put_text(book, book->row + 1, 0, "Accelerator", TEXT_PLAIN);
  for (size_t o = band->first; o < band->end; o++) {
    const struct option *option = &scenario->options[o];
    const int column = option_column(band, o);
    put_text(book, book->row, column, option->label, TEXT_HEADER_RIGHT);
    put_text(book, book->row + 1, column, option->accelerator_name, TEXT_RIGHT_WRAPPED);
  }
  book->row += 2;
}

// One row: each option's value, linked to its cell on Outputs. "-" where the option lacks the item,
// or where the current inputs give no finite value.
static void write_result(struct book *book, const struct band *band, const char *label,
                         int outputs_row, const bool *has, const double *values,
                         const struct unit *unit) {
  put_text(book, book->row, 0, label, TEXT_PLAIN);
  put_text(book, book->row, 1, unit->text, TEXT_PLAIN);
  for (size_t o = band->first; o < band->end; o++) {
    if (!has[o]) {
      put_text(book, book->row, option_column(band, o), "-", TEXT_RIGHT);
      continue;
    }
    const char *cell = cell_on(book, SHEET_OUTPUTS, outputs_row, COLUMN_VALUE + (int)o);
    lxw_format *format = unit->percents ? formats_saving(&book->formats, CELL_TOTAL_LINK, values[o])
                                        : formats_cell(&book->formats, CELL_TOTAL_LINK, unit);
    put_formula_or_dash(book, book->row, option_column(band, o), values[o], format,
                        arena_printf(book->arena, "=%s", cell));
  }
  book->row++;
}

static void write_item(struct book *book, const struct band *band, const char *item,
                       int outputs_row) {
  int d = model_find(book->scenario->model, item);
  if (d < 0 || outputs_row < 0)
    return;
  const struct declaration *declaration = &book->scenario->model->declarations[d];
  double *values = arena_array(book->arena, book->scenario->option_count, sizeof *values);
  bool *has = arena_array(book->arena, book->scenario->option_count, sizeof *has);
  for (size_t o = band->first; o < band->end; o++) {
    values[o] = shown_value(book, &book->sheets->options[o], d, 0);
    has[o] = !isnan(values[o]);
  }
  write_result(book, band, declaration->label, outputs_row, has, values, &declaration->unit);
}

static void write_saving(struct book *book, const struct band *band) {
  const struct scenario *scenario = book->scenario;
  double *values = arena_array(book->arena, scenario->option_count, sizeof *values);
  bool *has = arena_array(book->arena, scenario->option_count, sizeof *has);
  if (scenario->option_count < 2)
    return;
  for (size_t o = band->first; o < band->end; o++) {
    values[o] = option_saving(scenario, &scenario->options[o], "cost_per_mtok");
    has[o] = book->sheets->ranking->options[o].compared;
  }
  const char *label = arena_printf(book->arena, "Saving per token against %s",
                                   scenario->options[scenario->baseline].label);
  write_result(book, band, label, book->sheets->rows.saving, has, values, &unit_percent);
}

static void write_cheapest(struct book *book, const struct band *band) {
  if (!book->sheets->simulation || !ranking_may_rank(book->sheets->ranking) ||
      *simulation_few_draws(book->sheets->simulation, book->arena))
    return;
  put_formula_text(book, book->row, 0, "Probability of being cheapest (simulation current)",
                   formats_text(&book->formats, TEXT_PLAIN),
                   "=\"Probability of being cheapest (simulation \"&%s&\")\"",
                   simulation_state(book));
  put_text(book, book->row, 1, unit_percent.text, TEXT_PLAIN);
  for (size_t o = band->first; o < band->end; o++)
    if (isnan(book->sheets->simulation->cheapest[o])) // never ranked
      put_text(book, book->row, option_column(band, o), "-", TEXT_RIGHT);
    else
      put_formula(book, book->row, option_column(band, o), book->sheets->simulation->cheapest[o],
                  CELL_LINK, &unit_percent, "=%s", simulation_cheapest(book, o));
  book->row++;
}

// Why an option is not ranked, live; nothing if all are always ranked.
static void write_unranked(struct book *book, const struct band *band) {
  const struct ranking *ranking = book->sheets->ranking;
  const char **reasons = arena_array(book->arena, ranking->option_count, sizeof *reasons);
  if (!verdict_has_bars(book))
    return;
  put_text(book, book->row, 0, "Ranked?", TEXT_PLAIN);
  for (size_t o = band->first; o < band->end; o++) {
    reasons[o] = ranking->options[o].ranked ? VERDICT_RANKED : ranking->options[o].why_not;
    put_formula_text(
        book, book->row, option_column(band, o), reasons[o],
        formats_text(&book->formats, TEXT_LINKED_RIGHT_WRAPPED), "=%s",
        cell_on(book, SHEET_OUTPUTS, book->sheets->rows.why_not, COLUMN_VALUE + (int)o));
  }
  book->row++;
}

static void write_texts(struct book *book, const struct band *band) {
  const struct scenario *scenario = book->scenario;
  put_text(book, book->row, 0, "Weakest grade that matters", TEXT_PLAIN);
  put_text(book, book->row + 1, 0, "Not included", TEXT_PLAIN);
  for (size_t o = band->first; o < band->end; o++) {
    const int column = option_column(band, o);
    put_formula_text(book, book->row, column, grade_name(scenario->options[o].headline_grade),
                     formats_text(&book->formats, TEXT_LINKED_RIGHT), "=%s",
                     outputs_grade(book, o));
    put_not_included(book, book->row + 1, column, o, TEXT_RIGHT_WRAPPED);
  }
  book->row += 2;
}

// Warnings are those of the case in which the workbook was written.
static void write_warnings(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct arena *arena = book->arena;
  size_t count = scenario->warnings.count;
  for (size_t o = 0; o < scenario->option_count; o++)
    count += scenario->options[o].warnings.count;
  if (!count)
    return;
  const char *in_case =
      scenario->case_count > 1
          ? arena_printf(arena, ", in case %s", scenario->case_labels[scenario->selected])
          : "";
  put_text(book, book->row++, 0,
           arena_printf(arena, "%zu warning%s as written%s: see Evidence", count,
                        count > 1 ? "s" : "", in_case),
           TEXT_NOTE);
}

// Links to all sheets, in order.
static void write_contents(struct book *book, int last) {
  lxw_worksheet *sheet;
  put_heading(book, book->row++, last, "Contents");
  STAILQ_FOREACH(sheet, book->workbook->worksheets, list_pointers) {
    if (sheet == book->sheet)
      continue;
    put_jump(book, book->row, 0, sheet->name);
    put_text(book, book->row++, 1, book->sheets->about(book, sheet->name), TEXT_PLAIN);
  }
  book->row++;
}

static void write_legend(struct book *book, int last) {
  static const struct {
    const char *sample, *meaning;
    enum cell_role role;
    bool (*is_shown)(const struct book *); // NULL: always
  } entries[] = {
      {"Input", "blue on a fill: may be overwritten", CELL_INPUT, NULL},
      {"Override", "an input that a case changes", CELL_OVERRIDE, NULL},
      {"Follows", "italics: follows another input until overwritten", CELL_INHERITED, NULL},
      {"Formula", "black: computed on its own sheet", CELL_FORMULA, NULL},
      {"Link", "green: taken from another sheet", CELL_LINK, NULL},
      {"Result", "gray: computed when the workbook was written; does not change", CELL_RESULT,
       NULL},
      {"Reading", "gray: a meter's reading from a record; does not change", CELL_RESULT,
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
      "Sign: costs are positive; negative amounts (credits) are in parentheses; a zero amount is "
      "shown as -.",
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
  put_line(book, "As-of date for data age", scenario->date);
  write_exchange_rate(book);
  put_line(book, "Digest (SHA-256)", scenario->digest);
  put_line(book, "Written by", "pertoken " PERTOKEN_VERSION);
}

static void write_title(struct book *book) {
  const char *title = book->scenario->title;
  begin_sheet(book, title, 0, 0);
  merge_row(book, TITLE_ROW, TEXT_TITLE_WRAPPED);
  put_text(book, TITLE_ROW, 0, title, TEXT_TITLE_WRAPPED);
  put_text(book, SUBTITLE_ROW, 0,
           "Total cost of ownership per token. Live: change an input or select a case.",
           TEXT_SUBTITLE);
}

// Wrapped, as nobody scrolls a Cover. Returns the next row.
static int write_stamp(struct book *book) {
  const char *text = scenario_lasting_stamp(book->scenario, book->arena);
  if (!*text)
    return FIRST_STAMP_ROW;
  merge_row(book, FIRST_STAMP_ROW, TEXT_STAMP_WRAPPED);
  put_text(book, FIRST_STAMP_ROW, 0, text, TEXT_STAMP_WRAPPED);
  return FIRST_STAMP_ROW + 1;
}

// The three numbers that matter, and how reliable they are.
static void write_numbers(struct book *book) {
  const size_t count = book->scenario->option_count;
  for (size_t first = 0; first < count; first += BAND) {
    const struct band band = {first, first + BAND < count ? first + BAND : count};
    book->row += first > 0;
    write_ids(book, &band);
    write_item(book, &band, "cost_per_mtok", book->sheets->rows.cost);
    write_item(book, &band, "tco", book->sheets->rows.tco);
    write_saving(book, &band);
    write_cheapest(book, &band);
    write_unranked(book, &band);
    write_texts(book, &band);
  }
  write_warnings(book);
  book->row++;
}

// Two pages if one would be illegible: the answer, and how to read the workbook.
static void break_page(struct book *book, int row) {
  if (!book->writing || book->scenario->option_count <= BAND)
    return;
  worksheet_fit_to_pages(book->sheet, 1, 0);
  worksheet_set_h_pagebreaks(book->sheet, (lxw_row_t[]){(lxw_row_t)row, 0});
}

static void write_typed(struct book *book) {
  put_text(book, ++book->row, 0, "Overwritten inputs: see Change log", TEXT_STRONG);
  put_formula(book, book->row++, 1, 0, CELL_LINK, &unit_inputs, "=%s", written_count(book));
}

void write_cover(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const int last = last_column(scenario);
  write_title(book);
  book->row = write_stamp(book) + 1;
  write_answer(book);
  write_turned(book);
  write_decisions_made(book);
  write_case(book);
  put_text(book, book->row, 0, "Checks", TEXT_STRONG);
  put_check_state(book, book->row, 1);
  write_typed(book);
  put_notice(book, book->row, book->sheets->rows.free_text,
             arena_printf(book->arena, "%s&\"\"",
                          cell_on(book, SHEET_OUTPUTS, book->sheets->rows.free, COLUMN_VALUE)));
  book->row += 2;
  write_numbers(book);
  book->row = insert_cover_chart(book, book->row, COVER_CHART_WIDTH);
  const int contents = book->row;
  write_contents(book, last);
  write_legend(book, last);
  write_grades(book, last);
  write_origin(book, last);
  set_widths(book, (const int[]){LABEL_WIDTH, UNIT_WIDTH, option_width(scenario)}, 3, last);
  end_sheet(book, book->row - 1, last);
  break_page(book, contents);
}
