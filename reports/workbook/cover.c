// Cover: the answer on one page, live, and how to read the rest.
#include "base/short_text.h"
#include "base/version.h"
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/spreadsheet/book.h"
#include "reports/workbook/evidence_watts.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, SUBTITLE_ROW, FIRST_STAMP_ROW };
enum { COLUMN_FIRST_OPTION = 2, LEAST_COLUMNS = 5 };
enum { LABEL_WIDTH = 36, UNIT_WIDTH = 20, COVER_CHART_WIDTH = 820 };

static const struct unit percent = {.text = "%", .percents = 1};

struct writer {
  struct book *book;
  const struct scenario *scenario;
  lxw_worksheet *sheet;
  int row;  // the next
  int last; // column
};

static void put_line(struct writer *writer, const char *label, const char *text) {
  put_text(writer->book, writer->sheet, writer->row, 0, label, TEXT_PLAIN);
  put_text(writer->book, writer->sheet, writer->row++, 1, text, TEXT_PLAIN);
}

// The drop-down lists the cases themselves as far as a list may be long, else their cells.
static void add_drop_down(struct writer *writer) {
  enum { LIST_LENGTH = 255 };
  const struct scenario *scenario = writer->scenario;
  char **list = arena_array(writer->book->arena, scenario->case_count + 1, sizeof *list);
  size_t length = 0;
  for (size_t c = 0; c < scenario->case_count; c++) {
    list[c] = arena_copy(writer->book->arena, scenario->cases[c]);
    length += strlen(list[c]) + 1;
  }
  lxw_data_validation rule = {.validate = LXW_VALIDATION_TYPE_LIST,
                              .value_list = list,
                              .error_title = "No such case",
                              .error_message = "Choose one of the cases on Inputs."};
  if (length > LIST_LENGTH) {
    rule.validate = LXW_VALIDATION_TYPE_LIST_FORMULA;
    rule.value_formula = (char *)inputs_cases(writer->book);
  }
  if (worksheet_data_validation_cell(writer->sheet, (lxw_row_t)writer->row, 1, &rule) !=
      LXW_NO_ERROR)
    writer->book->failed = true;
}

// The one cell that turns the whole workbook to another case.
static void write_case(struct writer *writer) {
  struct book *book = writer->book;
  put_text(book, writer->sheet, writer->row, 0, "Case: choose it here", TEXT_STRONG);
  put_typed_text(book, writer->sheet, writer->row, 1,
                 writer->scenario->cases[writer->scenario->selected], CELL_INPUT);
  add_drop_down(writer);
  name_place(book->case_name, writer->sheet->name, writer->row++, 1);
}

// A text over the whole width, as high as it needs to be at that size; written by the caller.
static void merge_row(struct writer *writer, int row, size_t characters, int size,
                      enum text_format format) {
  double width = LABEL_WIDTH + UNIT_WIDTH;
  for (int column = COLUMN_FIRST_OPTION; column <= writer->last; column++)
    width += option_width(writer->scenario);
  merge_line(writer->book, writer->sheet, row, writer->last, width, characters, size, format);
}

// The sentence in the selected case: its parts are on Outputs.
static const char *answer_text(const struct writer *writer) {
  const char *text = "";
  for (int i = 0; i < ANSWER_PARTS; i++)
    if (writer->book->rows.words[i].row)
      text = arena_printf(writer->book->arena, "%s%s", text, writer->book->rows.words[i].text);
  return text;
}

static const char *answer_formula(const struct writer *writer) {
  const struct book *book = writer->book;
  const char *formula = "";
  for (int i = 0; i < ANSWER_PARTS; i++)
    if (book->rows.words[i].row)
      formula = arena_printf(book->arena, "%s%s%s", formula, *formula ? "&" : "=",
                             sheet_address(book, book->outputs->name, book->rows.words[i].row,
                                           COLUMN_VALUE, ADDRESS_ABSOLUTE));
  return formula;
}

static void write_answer(struct writer *writer) {
  enum { ANSWER_SIZE = 14 };
  struct book *book = writer->book;
  const char *unranked = arena_printf(book->arena, "The options are not ranked: %s.",
                                      ranking_why_nobody(book->ranking));
  const char *text = answer_text(writer);
  const int row = writer->row;
  merge_row(writer, row, strlen(*text ? text : unranked), ANSWER_SIZE, TEXT_ANSWER);
  if (*text)
    put_formula_text(book, writer->sheet, row, 0, answer_formula(writer), text,
                     formats_text(&book->formats, TEXT_ANSWER));
  else
    put_text(book, writer->sheet, row, 0, unranked, TEXT_ANSWER);
  writer->row = row + 2;
}

static void write_ids(struct writer *writer) {
  struct book *book = writer->book;
  const struct scenario *scenario = writer->scenario;
  const char *names[scenario->option_count];
  put_text(book, writer->sheet, writer->row, 0, "The numbers that matter", TEXT_HEADER);
  put_text(book, writer->sheet, writer->row, 1, "Unit", TEXT_HEADER);
  for (size_t o = 0; o < scenario->option_count; o++) {
    put_text(book, writer->sheet, writer->row, COLUMN_FIRST_OPTION + (int)o,
             scenario->options[o].id, TEXT_HEADER_RIGHT);
    names[o] = scenario->options[o].accelerator_name;
  }
  put_text(book, writer->sheet, ++writer->row, 0, "Accelerator", TEXT_PLAIN);
  put_option_texts(book, writer->sheet, writer->row++, COLUMN_FIRST_OPTION, names);
}

// A row of Outputs; NAN for what has no value there.
static void write_result(struct writer *writer, const char *label, int outputs_row,
                         const double *values, const struct unit *unit) {
  struct book *book = writer->book;
  put_text(book, writer->sheet, writer->row, 0, label, TEXT_PLAIN);
  put_text(book, writer->sheet, writer->row, 1, unit->text, TEXT_PLAIN);
  for (size_t o = 0; o < writer->scenario->option_count; o++) {
    if (isnan(values[o])) {
      put_text(book, writer->sheet, writer->row, COLUMN_FIRST_OPTION + (int)o, "-", TEXT_RIGHT);
      continue;
    }
    const char *cell = sheet_address(book, book->outputs->name, outputs_row, COLUMN_VALUE + (int)o,
                                     ADDRESS_ABSOLUTE);
    put_formula(book, writer->sheet, writer->row, COLUMN_FIRST_OPTION + (int)o,
                arena_printf(book->arena, "=%s", cell), values[o],
                formats_cell(&book->formats, CELL_TOTAL_LINK, unit));
  }
  writer->row++;
}

static void write_item(struct writer *writer, const char *item, int outputs_row) {
  int d = model_find(writer->scenario->model, item);
  if (d < 0 || outputs_row < 0)
    return;
  const struct declaration *declaration = &writer->scenario->model->declarations[d];
  double values[writer->scenario->option_count];
  for (size_t o = 0; o < writer->scenario->option_count; o++)
    values[o] = shown_value(writer->book, &writer->book->options[o], d, 0);
  write_result(writer, declaration->label, outputs_row, values, &declaration->unit);
}

static void write_saving(struct writer *writer) {
  const struct scenario *scenario = writer->scenario;
  double values[scenario->option_count];
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct standing *standing = &writer->book->ranking->options[o];
    values[o] = isfinite(standing->saving) ? standing->saving : 0;
    if (!standing->compared)
      values[o] = NAN;
  }
  const char *label = arena_printf(writer->book->arena, "Saving per token against %s",
                                   scenario->options[scenario->baseline].id);
  write_result(writer, label, writer->book->rows.saving, values, &percent);
}

static void write_cheapest(struct writer *writer) {
  struct book *book = writer->book;
  if (!book->simulation || book->simulation_rows.cheapest < 0)
    return;
  put_formula_text(book, writer->sheet, writer->row, 0,
                   arena_printf(book->arena, "=\"Cheapest, share of simulated draws: \"&%s",
                                simulation_state(book)),
                   "Cheapest, share of simulated draws: current",
                   formats_text(&book->formats, TEXT_PLAIN));
  put_text(book, writer->sheet, writer->row, 1, percent.text, TEXT_PLAIN);
  for (size_t o = 0; o < writer->scenario->option_count; o++)
    if (isnan(book->simulation->cheapest[o])) // never ranked
      put_text(book, writer->sheet, writer->row, COLUMN_FIRST_OPTION + (int)o, "-", TEXT_RIGHT);
    else
      put_formula(book, writer->sheet, writer->row, COLUMN_FIRST_OPTION + (int)o,
                  arena_printf(book->arena, "=%s", simulation_cheapest(book, o)),
                  book->simulation->cheapest[o], formats_cell(&book->formats, CELL_LINK, &percent));
  writer->row++;
}

// Why an option is left out, live; nothing where none can be.
static void write_unranked(struct writer *writer) {
  struct book *book = writer->book;
  const struct ranking *ranking = book->ranking;
  const char **reasons = arena_array(book->arena, ranking->option_count, sizeof *reasons);
  if (book->rows.why_not < 0)
    return;
  put_text(book, writer->sheet, writer->row, 0, "Why it is not ranked", TEXT_PLAIN);
  for (size_t o = 0; o < ranking->option_count; o++) {
    reasons[o] = ranking->options[o].ranked ? "-" : ranking->options[o].why_not;
    put_formula_text(book, writer->sheet, writer->row, COLUMN_FIRST_OPTION + (int)o,
                     arena_printf(book->arena, "=%s",
                                  sheet_address(book, book->outputs->name, book->rows.why_not,
                                                COLUMN_VALUE + (int)o, ADDRESS_ABSOLUTE)),
                     reasons[o], formats_text(&book->formats, TEXT_LINKED_WRAPPED));
  }
  set_option_height(book, writer->sheet, writer->row++, reasons);
}

static void write_texts(struct writer *writer) {
  struct book *book = writer->book;
  const struct scenario *scenario = writer->scenario;
  const char *grades[scenario->option_count], *missing[scenario->option_count];
  for (size_t o = 0; o < scenario->option_count; o++) {
    grades[o] = grade_name(scenario->options[o].headline_grade);
    missing[o] = *scenario->options[o].not_included ? scenario->options[o].not_included : "-";
  }
  put_text(book, writer->sheet, writer->row, 0, "Weakest grade that matters", TEXT_PLAIN);
  put_option_texts(book, writer->sheet, writer->row++, COLUMN_FIRST_OPTION, grades);
  put_text(book, writer->sheet, writer->row, 0, "Not included", TEXT_PLAIN);
  put_option_texts(book, writer->sheet, writer->row++, COLUMN_FIRST_OPTION, missing);
}

static void write_warnings(struct writer *writer) {
  const struct scenario *scenario = writer->scenario;
  struct arena *arena = writer->book->arena;
  size_t count = scenario->warnings.count;
  for (size_t o = 0; o < scenario->option_count; o++)
    count += scenario->options[o].warnings.count;
  if (!count)
    return;
  put_text(writer->book, writer->sheet, writer->row++, 0,
           arena_printf(arena, "%zu warning%s: see Evidence", count, count > 1 ? "s" : ""),
           TEXT_NOTE);
}

// What a sheet is for; an option's is called by its id, and not here.
static const struct {
  const char *sheet, *about;
} contents[] = {
    {"Inputs", "every figure, in every case, with its source"},
    {"Finance", "book, tax, loan and lease beside the cash view"},
    {"Outputs", "the options side by side, and charts"},
    {"Sensitivity", "which inputs move the result, and how far"},
    {"Simulation", "how sure the result is"},
    {"Negotiation", "walk-away prices"},
    {"Decisions", "what the scenario's questions were answered"},
    {"Evidence", "what the figures rest on"},
    {"Checks", "differences that must be zero"},
    {"Change log", "what this workbook was made of"},
};

static const char *about_sheet(const struct writer *writer, const char *name) {
  for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++)
    if (!strcmp(contents[i].sheet, name))
      return contents[i].about;
  return scenario_option(writer->scenario, name) >= 0 ? "its calculation, line by line" : "";
}

// All sheets that there are, in their order.
static void write_contents(struct writer *writer, int last) {
  struct book *book = writer->book;
  lxw_worksheet *sheet;
  put_heading(book, writer->sheet, writer->row++, last, "Contents");
  STAILQ_FOREACH(sheet, book->workbook->worksheets, list_pointers) {
    if (sheet == writer->sheet)
      continue;
    put_jump(book, writer->sheet, writer->row, 0, sheet, sheet->name);
    put_text(book, writer->sheet, writer->row++, 1, about_sheet(writer, sheet->name), TEXT_PLAIN);
  }
  writer->row++;
}

static bool has_results(const struct book *book) {
  return book->simulation_sheet || book->decisions_sheet;
}

static void write_legend(struct writer *writer, int last) {
  struct book *book = writer->book;
  static const struct {
    const char *sample, *meaning;
    enum cell_role role;
    bool (*is_shown)(const struct book *); // NULL: always
  } entries[] = {
      {"Input", "blue on a fill: type over it", CELL_INPUT, NULL},
      {"Override", "an input that a case sets apart from base", CELL_OVERRIDE, NULL},
      {"Follows", "italics: follows another input until it is typed over", CELL_INHERITED, NULL},
      {"Formula", "black: computed on its own sheet", CELL_FORMULA, NULL},
      {"Link", "green: taken from another sheet", CELL_LINK, NULL},
      {"Result", "grey: found when the workbook was written; does not move", CELL_RESULT,
       has_results},
      {"Reading", "grey: read from a meter for a record; does not move", CELL_RESULT, watts_shown},
  };
  put_heading(book, writer->sheet, writer->row++, last, "How to read it");
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    if (entries[i].is_shown && !entries[i].is_shown(book))
      continue;
    put_sample(book, writer->sheet, writer->row, 0, entries[i].sample, entries[i].role);
    put_text(book, writer->sheet, writer->row++, 1, entries[i].meaning, TEXT_INDENTED);
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
    put_text(book, writer->sheet, writer->row++, 0, notes[i], TEXT_NOTE);
  writer->row++;
}

static void write_grades(struct writer *writer, int last) {
  static const char *const meanings[GRADES] = {
      [GRADE_MEASURED] = "a record of this tool's probe, complete, checks passed",
      [GRADE_QUOTED] = "a price from a written quote",
      [GRADE_BENCHMARK] = "an audited public benchmark (MLPerf)",
      [GRADE_PUBLISHED] = "a dated publication with its method",
      [GRADE_PROJECTED] = "computed by a stated rule from another figure",
      [GRADE_CLAIM] = "a statement without a method",
      [GRADE_ASSUMED] = "the user's own",
  };
  put_heading(writer->book, writer->sheet, writer->row++, last, "Grades, strongest first");
  for (int g = 0; g < GRADES; g++)
    put_line(writer, grade_name((enum grade)g), meanings[g]);
  writer->row++;
}

// The baseline's, live, with the source that it had when the workbook was written.
static void write_exchange_rate(struct writer *writer) {
  struct book *book = writer->book;
  const struct scenario *scenario = writer->scenario;
  const struct option_sheet *sheet = &book->options[scenario->baseline];
  const int rate = model_find(scenario->model, "exchange_rate");
  if (rate < 0 || !option_has(sheet->option, rate) || sheet->option->graph->state[rate] >= 0)
    return;
  const struct figure *figure = option_figure(scenario, sheet->option, scenario->selected, rate);
  const struct declaration *declaration = &scenario->model->declarations[rate];
  put_text(book, writer->sheet, writer->row, 0, declaration->label, TEXT_PLAIN);
  put_text(book, writer->sheet, writer->row, 1, declaration->unit.text, TEXT_PLAIN);
  put_link(book, writer->sheet, writer->row++, COLUMN_FIRST_OPTION, option_name(sheet, rate),
           shown_value(book, sheet, rate, 0), &declaration->unit);
  put_line(writer, "Source of the exchange rate",
           arena_printf(book->arena, "%s%s%s", figure_source(figure), *figure->date ? ", " : "",
                        figure->date));
}

static void write_origin(struct writer *writer, int last) {
  const struct scenario *scenario = writer->scenario;
  put_heading(writer->book, writer->sheet, writer->row++, last, "Origin");
  put_line(writer, "Scenario", scenario->path);
  put_line(writer, "Day that ages are counted from", scenario->date);
  write_exchange_rate(writer);
  put_line(writer, "Digest (SHA-256)", scenario->digest);
  put_line(writer, "Written by", "pertoken " PERTOKEN_VERSION);
}

static void write_title(struct writer *writer) {
  enum { TITLE_SIZE = 16 };
  const char *title = writer->scenario->title;
  begin_sheet(writer->book, writer->sheet, title, 0, 0);
  merge_row(writer, TITLE_ROW, text_characters(title), TITLE_SIZE, TEXT_TITLE_WRAPPED);
  put_text(writer->book, writer->sheet, TITLE_ROW, 0, title, TEXT_TITLE_WRAPPED);
  put_text(writer->book, writer->sheet, SUBTITLE_ROW, 0,
           "Total cost of ownership per token: live, change an input or the case", TEXT_SUBTITLE);
}

// Wrapped, as nobody scrolls on a Cover. Returns the next row.
static int write_stamp(struct writer *writer) {
  enum { STAMP_SIZE = 12 };
  const char *text = stamp_text(writer->book);
  if (!*text)
    return FIRST_STAMP_ROW;
  merge_row(writer, FIRST_STAMP_ROW, strlen(text), STAMP_SIZE, TEXT_STAMP_WRAPPED);
  put_text(writer->book, writer->sheet, FIRST_STAMP_ROW, 0, text, TEXT_STAMP_WRAPPED);
  return FIRST_STAMP_ROW + 1;
}

// The three numbers that matter, and what they are worth.
static void write_numbers(struct writer *writer) {
  write_ids(writer);
  write_item(writer, "cost_per_mtok", writer->book->rows.cost);
  write_item(writer, "tco", writer->book->rows.tco);
  write_saving(writer);
  write_cheapest(writer);
  write_unranked(writer);
  write_texts(writer);
  write_warnings(writer);
  writer->row++;
}

void write_cover(struct book *book) {
  const struct scenario *scenario = book->scenario;
  int last = COLUMN_FIRST_OPTION + (int)scenario->option_count - 1;
  last = last < LEAST_COLUMNS ? LEAST_COLUMNS : last;
  struct writer writer = {.book = book, .scenario = scenario, .sheet = book->cover, .last = last};
  write_title(&writer);
  worksheet_fit_to_pages(book->cover, 1, 1);
  if (last <= LEAST_COLUMNS + 1)
    worksheet_set_portrait(book->cover);
  writer.row = write_stamp(&writer) + 1;
  write_answer(&writer);
  write_case(&writer);
  put_text(book, writer.sheet, writer.row, 0, "Checks", TEXT_STRONG);
  put_check_state(book, writer.sheet, writer.row, 1);
  writer.row += 2;
  write_numbers(&writer);
  writer.row = insert_cover_chart(book, writer.row, COVER_CHART_WIDTH);
  write_contents(&writer, last);
  write_legend(&writer, last);
  write_grades(&writer, last);
  write_origin(&writer, last);
  worksheet_set_column(book->cover, 0, 0, LABEL_WIDTH, NULL);
  worksheet_set_column(book->cover, 1, 1, UNIT_WIDTH, NULL);
  worksheet_set_column(book->cover, 2, (lxw_col_t)last, option_width(scenario), NULL);
  end_sheet(book->cover, writer.row - 1, last);
}
