#include "reports/workbook/workbook.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/process.h"
#include "base/source.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/date.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/answers/cases.h"
#include "reports/answers/questions.h"
#include "reports/faces/answer.h"
#include "reports/outputs/outputs.h"
#include "reports/sheets/cost_curves.h"
#include "reports/sheets/equal_shares.h"
#include "reports/sheets/sheets.h"
#include "reports/sheets/weakest_grades.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/spreadsheet/row_order.h"
#include "reports/spreadsheet/step_numbers.h"
#include "reports/spreadsheet/steps.h"
#include "reports/spreadsheet/tabs.h"
#include "reports/workbook/negotiation.h"
#include "reports/workbook/sensitivity.h"
#include "reports/workbook/writers.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static bool has_sensitivity(const struct book *book) {
  const struct sheets *sheets = book->sheets;
  return sheets->tornado || sheets->curves->count || sheets->equal_shares || grades_rows(book);
}

static bool has_simulation(const struct book *book) {
  return book->sheets->simulation != NULL;
}

static bool has_cases(const struct book *book) {
  return book->sheets->cases != NULL;
}

static bool has_decisions(const struct book *book) {
  return book->sheets->answers.count > 0;
}

// The sheets in their order. `is_there` is called before any is written; NULL: always. The entry
// without a name is an option's sheet, one for each option.
static const struct kind {
  const char *name, *about;
  bool (*is_there)(const struct book *);
  void (*write)(struct book *);
} kinds[] = {
    {"Cover", "", NULL, write_cover},
    {SHEET_SUMMARY, "all cases side by side: cost, saving, cheapest and weakest evidence",
     has_cases, write_summary},
    {SHEET_SCOPE, "what the result includes and excludes, and every assumption", NULL, write_scope},
    {SHEET_INPUTS, "every figure, in every case, with its source", NULL, write_inputs},
    {NULL, NULL, NULL, NULL},
    {"Finance", "book, tax, loan and lease views next to the cash view", NULL, write_finance},
    {SHEET_OUTPUTS, "the options side by side, and charts", NULL, write_outputs},
    {SHEET_SENSITIVITY, "which inputs move the result, and by how much", has_sensitivity,
     write_sensitivity},
    {SHEET_SIMULATION, "how certain the result is", has_simulation, write_simulation},
    {"Negotiation", "what each vendor must concede or may charge", negotiation_shown,
     write_negotiation},
    {SHEET_DECISIONS, "the answers to the scenario's questions", has_decisions, write_decisions},
    {SHEET_EVIDENCE, "the evidence behind the figures", NULL, write_evidence},
    {"Checks", "differences that must be zero", NULL, write_checks},
    {"Change log", "what this workbook was generated from", NULL, write_log},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *option_about(const struct book *book, const char *tab) {
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (strcmp(sheet->tab, tab) != 0)
      continue;
    const char *label = sheet->option->label;
    return strcmp(label, tab) != 0 ? arena_printf(book->arena, "%s, line by line", label)
                                   : "its calculation, line by line";
  }
  return "";
}

static const char *sheet_about(const struct book *book, const char *tab) {
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].name && !strcmp(kinds[i].name, tab))
      return kinds[i].about;
  return option_about(book, tab);
}

// ---- what a workbook can hold

// The number of series that a chart may have in any spreadsheet program.
static void check_count(const struct book *book) {
  enum { MAX_SERIES = 255 };
  const size_t count = book->scenario->option_count;
  if (count > MAX_SERIES)
    diagnostics_error(book->diagnostics, (struct place){.source = book->scenario->source},
                      "a workbook's charts have room for %d options, but there are %zu", MAX_SERIES,
                      count);
}

static void check_cases(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t c = 0; c < scenario->case_count; c++)
    for (size_t other = 0; other < c; other++)
      if (!strcasecmp(scenario->case_labels[c], scenario->case_labels[other]))
        diagnostics_error(book->diagnostics, (struct place){.source = scenario->source},
                          "cases '%s' and '%s' differ only in case: a drop-down cannot tell them "
                          "apart",
                          scenario->case_labels[other], scenario->case_labels[c]);
}

// The names of all other sheets are taken first: they stay the same, whatever an option is called.
static struct tabs plan_tabs(struct book *book) {
  struct tabs tabs = {.arena = book->arena};
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].name)
      tabs_add(&tabs, kinds[i].name, "");
  return tabs;
}

static void plan_option(struct book *book, struct option_sheet *sheet,
                        struct step_numbers *numbers) {
  if (sheet_graph_build(&sheet->graph, book->scenario, sheet->option, &book->names,
                        &book->constants, numbers, book->arena, book->diagnostics))
    return;
  const size_t count = (size_t)sheet->graph.model.count;
  sheet->whole = arena_array(book->arena, count, sizeof *sheet->whole);
  graph_find_whole(&sheet->graph.graph, sheet->whole);
  sheet->rows = arena_array(book->arena, count, sizeof *sheet->rows);
  sheet->input_rows = arena_array(book->arena, count, sizeof *sheet->input_rows);
  for (size_t d = 0; d < count; d++)
    sheet->rows[d] = sheet->input_rows[d] = -1;
}

static int plan_options(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const size_t count = scenario->option_count, errors = book->diagnostics->errors;
  struct option_sheet *options = arena_array(book->arena, count, sizeof *options);
  const struct sheet_graph **graphs =
      arena_array(book->arena, count, sizeof(const struct sheet_graph *));
  struct step_numbers numbers = {0};
  struct tabs tabs = plan_tabs(book);
  for (size_t o = 0; o < count; o++) {
    const struct option *option = &scenario->options[o];
    options[o].option = option;
    options[o].tab = tabs_add(&tabs, option->label, option->id);
    graphs[o] = &options[o].graph;
    plan_option(book, &options[o], &numbers);
  }
  book->sheets->options = options;
  if (book->diagnostics->errors != errors)
    return -1;
  book->sheets->order = row_order_of(scenario->model, graphs, count, book->arena);
  return 0;
}

static int plan_cases(struct book *book) {
  if (book->scenario->case_count < 2)
    return 0;
  const struct scenario *const *cases = cases_read(book->scenario, book->arena, book->diagnostics);
  if (!cases)
    return -1;
  struct answer *answer = arena_alloc(book->arena, sizeof *answer);
  *answer = cases_answer(book->scenario, cases, book->arena);
  book->sheets->cases = answer;
  return 0;
}

// Checks everything that can be wrong with a scenario's names and formulas before a file is begun,
// and determines which sheets there are.
static int plan(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct sheets *sheets = book->sheets;
  struct arena *arena = book->arena;
  const size_t errors = book->diagnostics->errors;
  check_count(book);
  check_cases(book);
  book->names = (struct names){.arena = arena};
  constants_begin(&book->constants, &book->names, arena);
  sheets->case_name = names_add(&book->names, "pt_case", "the case shown");
  sheets->case_index = names_add(&book->names, "pt_case_index", "the column of the case shown");
  sheets->checks_ok = names_add(&book->names, "pt_checks_ok", "the master check");
  if (plan_options(book) || book->diagnostics->errors != errors)
    return -1;
  sheets->ranking = ranking_lasting(scenario, arena);
  sheets->tornado = sensitivity_shown(book);
  sheets->curves = curves_plan(book);
  sheets->equal_shares = equal_shares_plan(book);
  if (negotiation_plan(book) || plan_cases(book))
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

// Goes through all sheets that exist, and writes each unless it is only to be added.
static void walk(struct book *book, bool write) {
  for (size_t i = 0; i < KINDS && !book->failed; i++) {
    if (kinds[i].is_there && !kinds[i].is_there(book))
      continue;
    const size_t count = kinds[i].name ? 1 : book->scenario->option_count;
    for (size_t o = 0; o < count && !book->failed; o++) {
      struct option_sheet *option = kinds[i].name ? NULL : &book->sheets->options[o];
      book_turn_to(book, option ? option->tab : kinds[i].name);
      if (write && option)
        write_calculation(book, option);
      else if (write)
        kinds[i].write(book);
    }
  }
}

// So many that the smallest cost per token, of any option in any case, shows three digits.
static int cost_decimals(const struct book *book) {
  enum { DIGITS = 3, MOST = 15 };
  const struct scenario *scenario = book->scenario;
  const int cost = model_cost_item(scenario->model);
  double least = 1;
  for (size_t o = 0; cost >= 0 && o < scenario->option_count; o++)
    for (size_t c = 0; option_has(&scenario->options[o], cost) && c < scenario->case_count; c++) {
      const struct option_sheet *sheet = &book->sheets->options[o];
      const double amount = fabs(amount_in(sheet, cost, 0, c)) /
                            unit_cell_factor(&scenario->model->declarations[cost].unit);
      least = amount > 0 ? fmin(least, amount) : least;
    }
  const int decimals = DIGITS - 1 - (int)floor(log10(least));
  return decimals < MIN_COST_DECIMALS ? MIN_COST_DECIMALS : decimals > MOST ? MOST : decimals;
}

static int write_file(struct book *book, const struct output *output, const void *context) {
  (void)context;
  if (book_open(book, output))
    return -1;
  book->formats.cost_decimals = cost_decimals(book);
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
  struct sheets sheets = {.simulation = simulation, .about = sheet_about};
  struct book book = {
      .scenario = scenario, .sheets = &sheets, .arena = arena, .diagnostics = diagnostics};
  return plan(&book) ? -1 : book_write(&book, path, write_file, NULL);
}
