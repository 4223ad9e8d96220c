#include "reports/workbook/workbook.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/process.h"
#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/answers/questions.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/names.h"
#include "reports/spreadsheet/steps.h"
#include "reports/workbook/cost_curves.h"
#include "reports/workbook/sheets.h"
#include "reports/workbook/weakest_grades.h"

#include <string.h>
#include <strings.h>
#include <time.h>

static bool has_sensitivity(const struct book *book) {
  return book->sheets->tornado || book->sheets->curves->count || grades_rows(book);
}

static bool has_simulation(const struct book *book) {
  return book->sheets->simulation != NULL;
}

static bool has_decisions(const struct book *book) {
  return book->sheets->answers.count > 0;
}

// The sheets in their order. `is_there` is asked before any is written; NULL: always. The one
// without a name is an option's, one each.
static const struct kind {
  const char *name, *about;
  bool (*is_there)(const struct book *);
  void (*write)(struct book *);
} kinds[] = {
    {"Cover", "", NULL, write_cover},
    {SHEET_INPUTS, "every figure, in every case, with its source", NULL, write_inputs},
    {NULL, "its calculation, line by line", NULL, NULL},
    {"Finance", "book, tax, loan and lease beside the cash view", NULL, write_finance},
    {SHEET_OUTPUTS, "the options side by side, and charts", NULL, write_outputs},
    {SHEET_SENSITIVITY, "which inputs move the result, and how far", has_sensitivity,
     write_sensitivity},
    {SHEET_SIMULATION, "how sure the result is", has_simulation, write_simulation},
    {"Negotiation", "what each side must concede or may ask", negotiation_shown, write_negotiation},
    {"Decisions", "the answers to the scenario's questions", has_decisions, write_decisions},
    {SHEET_EVIDENCE, "what the figures rest on", NULL, write_evidence},
    {"Checks", "differences that must be zero", NULL, write_checks},
    {"Change log", "what this workbook was made from", NULL, write_log},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

// Excel keeps this name for itself.
static const char reserved_sheet[] = "History";

const char *sheet_about(const struct book *book, const char *name) {
  for (size_t i = 0; i < KINDS; i++) {
    const char *own = kinds[i].name;
    if (own ? !strcmp(own, name) : scenario_option(book->scenario, name) >= 0)
      return kinds[i].about;
  }
  return "";
}

// ---- what a workbook can hold

static bool is_taken(const char *id) {
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].name && !strcasecmp(id, kinds[i].name))
      return true;
  return !strcasecmp(id, reserved_sheet);
}

static void check_ids(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (is_taken(option->id))
      diagnostics_error(
          book->diagnostics, option->place,
          "an option's sheet in the workbook cannot be called '%s': choose another id", option->id);
    for (size_t other = 0; other < o; other++)
      if (!strcasecmp(option->id, scenario->options[other].id))
        diagnostics_error(book->diagnostics, option->place,
                          "options '%s' and '%s' differ only in case: their sheets cannot",
                          scenario->options[other].id, option->id);
  }
}

// As many series as a chart may have, in every spreadsheet program.
static void check_count(const struct book *book) {
  enum { MAX_SERIES = 255 };
  const size_t count = book->scenario->option_count;
  if (count > MAX_SERIES)
    diagnostics_error(book->diagnostics, (struct place){.source = book->scenario->source},
                      "a workbook's charts have room for %d options, and here are %zu", MAX_SERIES,
                      count);
}

static void check_cases(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t c = 0; c < scenario->case_count; c++)
    for (size_t other = 0; other < c; other++)
      if (!strcasecmp(scenario->cases[c], scenario->cases[other]))
        diagnostics_error(book->diagnostics, (struct place){.source = scenario->source},
                          "cases '%s' and '%s' differ only in case: a drop-down cannot tell them "
                          "apart",
                          scenario->cases[other], scenario->cases[c]);
}

static void plan_option(struct book *book, struct option_sheet *sheet) {
  if (sheet_graph_build(&sheet->graph, book->scenario, sheet->option, &book->names,
                        &book->constants, book->arena, book->diagnostics))
    return;
  const size_t count = (size_t)sheet->graph.model.count;
  sheet->rows = arena_array(book->arena, count, sizeof *sheet->rows);
  sheet->input_rows = arena_array(book->arena, count, sizeof *sheet->input_rows);
  for (size_t d = 0; d < count; d++)
    sheet->rows[d] = sheet->input_rows[d] = -1;
}

// Everything that can be wrong with a scenario's names and formulas, before a file is begun, and
// what decides which sheets there are.
static int plan(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct sheets *sheets = book->sheets;
  struct arena *arena = book->arena;
  const size_t errors = book->diagnostics->errors;
  check_count(book);
  check_ids(book);
  check_cases(book);
  book->names = (struct names){.arena = arena};
  constants_begin(&book->constants, &book->names, arena);
  sheets->case_name = names_add(&book->names, "pt_case", "the case shown");
  sheets->case_index = names_add(&book->names, "pt_case_index", "the column of the case shown");
  sheets->checks_ok = names_add(&book->names, "pt_checks_ok", "the master check");
  sheets->options = arena_array(arena, scenario->option_count, sizeof *sheets->options);
  for (size_t o = 0; o < scenario->option_count; o++) {
    sheets->options[o].option = &scenario->options[o];
    plan_option(book, &sheets->options[o]);
  }
  if (book->diagnostics->errors != errors)
    return -1;
  sheets->ranking = ranking_of(scenario, arena);
  sheets->tornado = sensitivity_shown(book);
  sheets->curves = curves_plan(book);
  if (negotiation_plan(book))
    return -1;
  return questions_answer(scenario, &sheets->answers, arena, book->diagnostics);
}

// ---- the file

static time_t created(const struct scenario *scenario) {
  time_t epoch;
  struct date date;
  if (process_epoch(&epoch))
    return epoch;
  if (!date_parse(scenario->date, &date))
    return 1;
  struct tm day = {.tm_year = date.year - 1900, .tm_mon = date.month - 1, .tm_mday = date.day};
  return timegm(&day);
}

static void set_properties(struct book *book) {
  enum { MAX_TITLE = 120 };
  const char *title = safe_text(book->scenario->title, MAX_TITLE, book->arena);
  lxw_doc_properties properties = {.title = (char *)title,
                                   .subject = "Total cost of ownership per token",
                                   .author = "pertoken",
                                   .created = created(book->scenario)};
  workbook_set_properties(book->workbook, &properties);
}

// Turns to every sheet that there is, and writes it unless it is only to be added.
static void walk(struct book *book, bool write) {
  for (size_t i = 0; i < KINDS && !book->failed; i++) {
    if (kinds[i].is_there && !kinds[i].is_there(book))
      continue;
    const size_t count = kinds[i].name ? 1 : book->scenario->option_count;
    for (size_t o = 0; o < count && !book->failed; o++) {
      struct option_sheet *option = kinds[i].name ? NULL : &book->sheets->options[o];
      book_turn_to(book, option ? option->option->id : kinds[i].name);
      if (write && option)
        write_calculation(book, option);
      else if (write)
        kinds[i].write(book);
    }
  }
}

static int write_file(struct book *book, const struct output *output) {
  if (book_open(book, output))
    return -1;
  walk(book, false);
  for (int pass = 0; pass < 2 && !book->failed; pass++) {
    walk(book, true);
    book_end_pass(book);
  }
  set_properties(book);
  return book_close(book, output);
}

int workbook_write(const struct scenario *scenario, const struct simulation *simulation,
                   const char *path, struct arena *arena, struct diagnostics *diagnostics) {
  struct sheets sheets = {.simulation = simulation};
  struct book book = {
      .scenario = scenario, .sheets = &sheets, .arena = arena, .diagnostics = diagnostics};
  struct output output;
  if (plan(&book) || output_open(&output, path, arena, diagnostics))
    return -1;
  if (!output.folder) {
    output_discard(&output);
    diagnostics_error(diagnostics, (struct place){0},
                      "a workbook can only be written to a file, and '%s' is not one", path);
    return -1;
  }
  if (write_file(&book, &output)) {
    output_discard(&output);
    return -1;
  }
  return output_close(&output, diagnostics);
}
