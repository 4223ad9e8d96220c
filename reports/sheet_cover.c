// Cover: the answer on one page, live, and how to read the rest.
#include "model/version.h"
#include "reports/compare.h"
#include "reports/workbook_internal.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, SUBTITLE_ROW, FIRST_STAMP_ROW };
enum { COLUMN_FIRST_OPTION = 2, LEAST_COLUMNS = 4 };

static const struct unit percent = {.text = "%", .percents = 1};

struct writer {
  struct book *book;
  const struct scenario *scenario;
  lxw_worksheet *sheet;
  int row; // the next
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

static const char *answer_text(const struct writer *writer, const char *cheapest) {
  return arena_printf(writer->book->arena, "%s costs least per output token.", cheapest);
}

// One sentence; the numbers in it would not be live, so they stand below.
static void write_answer(struct writer *writer) {
  struct book *book = writer->book;
  int row = book->rows.cheapest;
  if (row < 0 && writer->scenario->option_count > 1)
    put_text(book, writer->sheet, writer->row++, 0,
             "The options are not ranked: their throughputs are of unlike kinds.", TEXT_STRONG);
  if (row < 0)
    return;
  const char *cell = sheet_address(book, book->outputs->name, row, COLUMN_VALUE, ADDRESS_ABSOLUTE);
  put_formula_text(book, writer->sheet, writer->row++, 0,
                   arena_printf(book->arena, "=%s&\" costs least per output token.\"", cell),
                   answer_text(writer, cheapest_option(writer->scenario)->id),
                   formats_text(&book->formats, TEXT_ANSWER));
}

static void write_ids(struct writer *writer) {
  struct book *book = writer->book;
  const struct scenario *scenario = writer->scenario;
  const char *names[scenario->option_count];
  put_text(book, writer->sheet, writer->row, 0, "Answer", TEXT_HEADER);
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
    double saving = option_saving(scenario, &scenario->options[o], "cost_per_mtok");
    values[o] = isfinite(saving) ? saving : 0;
    if (!compare_rankable(&scenario->options[o], &scenario->options[scenario->baseline]))
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
    put_formula(book, writer->sheet, writer->row, COLUMN_FIRST_OPTION + (int)o,
                arena_printf(book->arena, "=%s", simulation_cheapest(book, o)),
                book->simulation->cheapest[o], formats_cell(&book->formats, CELL_LINK, &percent));
  writer->row++;
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
  size_t count = scenario->warning_count;
  for (size_t o = 0; o < scenario->option_count; o++)
    count += scenario->options[o].warning_count;
  if (!count)
    return;
  put_text(writer->book, writer->sheet, writer->row++, 0,
           arena_printf(arena, "%zu warning%s: see Evidence", count, count > 1 ? "s" : ""),
           TEXT_NOTE);
}

static void write_contents(struct writer *writer, int last) {
  struct book *book = writer->book;
  const struct entry {
    lxw_worksheet *sheet; // NULL: not there
    const char *about;
  } entries[] = {
      {book->inputs, "Inputs: every figure, in every case, with its source"},
      {book->outputs, "Outputs: the options side by side"},
      {book->sensitivity, "Sensitivity: which inputs move the saving, and how far"},
      {book->simulation_sheet, "Simulation: how sure that is"},
      {book->negotiation, "Negotiation: walk-away prices"},
      {book->evidence, "Evidence: what the figures rest on"},
      {book->checks, "Checks: differences that must be zero"},
      {book->log, "Change log: what this workbook was made of"},
  };
  put_heading(book, writer->sheet, writer->row++, last, "Contents");
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    if (entries[i].sheet)
      put_jump(book, writer->sheet, writer->row++, 0, entries[i].sheet, entries[i].about);
    for (size_t o = 0; o < writer->scenario->option_count && i == 0; o++)
      put_jump(book, writer->sheet, writer->row++, 0, book->options[o].sheet,
               arena_printf(book->arena, "%s: its calculation, line by line",
                            writer->scenario->options[o].id));
  }
  writer->row++;
}

static void write_legend(struct writer *writer, int last) {
  struct book *book = writer->book;
  static const struct {
    const char *sample, *meaning;
    enum cell_role role;
  } entries[] = {
      {"Input", "blue on a fill: type over it", CELL_INPUT},
      {"Override", "an input that a case sets apart from base", CELL_OVERRIDE},
      {"Follows", "italics: follows another input until it is typed over", CELL_INHERITED},
      {"Formula", "black: computed on its own sheet", CELL_FORMULA},
      {"Link", "green: taken from another sheet", CELL_LINK},
  };
  put_heading(book, writer->sheet, writer->row++, last, "How to read it");
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    put_text(book, writer->sheet, writer->row, 0, entries[i].meaning, TEXT_PLAIN);
    put_sample(book, writer->sheet, writer->row++, 1, entries[i].sample, entries[i].role);
  }
  static const char *const notes[] = {
      "Sign: costs are positive; negative amounts (credits) stand in parentheses; zero money is -.",
      "Nominal USD before income tax; recoverable VAT excluded; a year has 8760 hours.",
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

static void write_origin(struct writer *writer, int last) {
  const struct scenario *scenario = writer->scenario;
  put_heading(writer->book, writer->sheet, writer->row++, last, "Origin");
  put_line(writer, "Scenario", scenario->path);
  put_line(writer, "Day that ages are counted from", scenario->date);
  put_line(writer, "Digest (SHA-256)", scenario->digest);
  put_line(writer, "Written by", "pertoken " PERTOKEN_VERSION);
}

void write_cover(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct writer writer = {.book = book, .scenario = scenario, .sheet = book->cover};
  int last = COLUMN_FIRST_OPTION + (int)scenario->option_count - 1;
  last = last < LEAST_COLUMNS ? LEAST_COLUMNS : last;
  begin_sheet(book, book->cover, scenario->title, 0, 0);
  put_text(book, book->cover, SUBTITLE_ROW, 0,
           "Total cost of ownership per token: live, change an input or the case", TEXT_SUBTITLE);
  worksheet_fit_to_pages(book->cover, 1, 1);
  writer.row = put_stamps(book, book->cover, FIRST_STAMP_ROW) + 1;
  write_case(&writer);
  put_text(book, writer.sheet, writer.row, 0, "Checks", TEXT_PLAIN);
  put_check_state(book, writer.sheet, writer.row, 1);
  writer.row += 2;
  write_answer(&writer);
  write_ids(&writer);
  write_item(&writer, "tco", book->rows.tco);
  write_item(&writer, "cost_per_mtok", book->rows.cost);
  write_saving(&writer);
  write_cheapest(&writer);
  write_texts(&writer);
  write_warnings(&writer);
  writer.row++;
  write_contents(&writer, last);
  write_legend(&writer, last);
  write_grades(&writer, last);
  write_origin(&writer, last);
  worksheet_set_column(book->cover, 0, 0, 48, NULL);
  worksheet_set_column(book->cover, 1, 1, 22, NULL);
  worksheet_set_column(book->cover, 2, (lxw_col_t)last, option_width(scenario), NULL);
  end_sheet(book->cover, writer.row - 1, last);
}
