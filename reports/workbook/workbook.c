#include "reports/workbook/workbook.h"
#include "reports/print/output.h"
#include "reports/spreadsheet/book.h"
#include "reports/workbook/curves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const char *const sheet_names[] = {"Cover",       "Inputs",     "Finance",     "Outputs",
                                          "Sensitivity", "Simulation", "Negotiation", "Decisions",
                                          "Evidence",    "Checks",     "Change log"};

// Excel keeps this name for itself.
static const char reserved_sheet[] = "History";

static bool is_taken(const char *id) {
  for (size_t i = 0; i < sizeof sheet_names / sizeof sheet_names[0]; i++)
    if (!strcasecmp(id, sheet_names[i]))
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

// Everything that can be wrong with a scenario's names and formulas, before a file is begun.
static int plan(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct arena *arena = book->arena;
  size_t errors = book->diagnostics->errors;
  check_ids(book);
  check_cases(book);
  book->names = (struct names){.arena = arena};
  constants_begin(&book->constants, &book->names, arena);
  book->case_name = names_add(&book->names, "pt_case", "the case shown");
  book->case_index = names_add(&book->names, "pt_case_index", "the column of the case shown");
  book->checks_ok = names_add(&book->names, "pt_checks_ok", "the master check");
  book->options = arena_array(arena, scenario->option_count, sizeof *book->options);
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct option_sheet *sheet = &book->options[o];
    sheet->option = &scenario->options[o];
    if (sheet_graph_build(&sheet->graph, scenario, sheet->option, &book->names, &book->constants,
                          arena, book->diagnostics))
      continue;
    size_t count = (size_t)sheet->graph.model.count;
    sheet->rows = arena_array(arena, count, sizeof *sheet->rows);
    for (size_t d = 0; d < count; d++)
      sheet->rows[d] = -1;
  }
  if (book->diagnostics->errors != errors)
    return -1;
  book->ranking = ranking_of(scenario, arena);
  return questions_answer(scenario, &book->answers, arena, book->diagnostics);
}

static time_t created(const struct scenario *scenario) {
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  if (epoch && *epoch)
    return (time_t)strtoll(epoch, NULL, 10);
  struct date date;
  if (!date_parse(scenario->date, &date))
    return 1;
  struct tm day = {.tm_year = date.year - 1900, .tm_mon = date.month - 1, .tm_mday = date.day};
  return timegm(&day);
}

static void set_properties(struct book *book) {
  enum { TITLE_LENGTH = 120 };
  const char *title = safe_text(book->scenario->title, TITLE_LENGTH, book->arena);
  lxw_doc_properties properties = {.title = (char *)title,
                                   .subject = "Total cost of ownership per token",
                                   .author = "pertoken",
                                   .created = created(book->scenario)};
  workbook_set_properties(book->workbook, &properties);
}

static lxw_worksheet *add_sheet(struct book *book, const char *name) {
  lxw_worksheet *sheet = workbook_add_worksheet(book->workbook, name);
  if (!sheet)
    book->failed = true;
  return sheet;
}

static int add_sheets(struct book *book) {
  book->cover = add_sheet(book, "Cover");
  book->inputs = add_sheet(book, "Inputs");
  for (size_t o = 0; o < book->scenario->option_count; o++)
    book->options[o].sheet = add_sheet(book, book->scenario->options[o].id);
  book->finance = add_sheet(book, "Finance");
  book->outputs = add_sheet(book, "Outputs");
  book->tornado = sensitivity_shown(book);
  curves_plan(book); // before the outputs, which draw them
  if (book->tornado || book->curves->count)
    book->sensitivity = add_sheet(book, "Sensitivity");
  if (book->simulation)
    book->simulation_sheet = add_sheet(book, "Simulation");
  if (negotiation_shown(book))
    book->negotiation = add_sheet(book, "Negotiation");
  if (book->answers.count)
    book->decisions_sheet = add_sheet(book, "Decisions");
  book->evidence = add_sheet(book, "Evidence");
  book->checks = add_sheet(book, "Checks");
  book->log = add_sheet(book, "Change log");
  return book->failed ? -1 : 0;
}

static void define_names(struct book *book) {
  for (size_t i = 0; i < book->names.count; i++) {
    const struct name *name = book->names.sorted[i];
    if (!name->used)
      continue;
    if (!name->sheet) {
      book->failed = true;
      continue;
    }
    const char *where = sheet_address(book, name->sheet, name->row, name->column, ADDRESS_ABSOLUTE);
    if (workbook_define_name(book->workbook, name->text, arena_printf(book->arena, "=%s", where)) !=
        LXW_NO_ERROR)
      book->failed = true;
  }
}

static int write_sheets(struct book *book) {
  if (add_sheets(book))
    return -1;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    write_calculation(book, &book->options[o]);
  write_finance(book);
  write_outputs(book);
  if (book->sensitivity)
    write_sensitivity(book);
  if (book->simulation)
    write_simulation(book);
  if (book->negotiation)
    write_negotiation(book);
  if (book->decisions_sheet)
    write_decisions(book);
  write_checks(book);
  write_evidence(book);
  write_outputs_state(book);
  write_cover(book);
  write_log(book);
  write_inputs(book);
  if (book->simulation)
    write_simulation_state(book);
  define_names(book);
  set_properties(book);
  return book->failed ? -1 : 0;
}

// Errors of the library surface only when it closes the file. A workbook that is not wanted any
// more has to be closed too: that is what frees it.
static int write_file(struct book *book, const struct output *output) {
  book->formats.workbook = book->workbook = workbook_new(output->temporary);
  if (!book->workbook)
    return -1;
  int failed = write_sheets(book);
  errno = 0;
  lxw_error error = workbook_close(book->workbook);
  int reason = errno;
  if (failed) {
    diagnostics_error(book->diagnostics, (struct place){0},
                      "a workbook cannot hold all of this scenario");
    return -1;
  }
  if (error == LXW_NO_ERROR)
    return 0;
  book->diagnostics->machine_failed = true;
  diagnostics_error(book->diagnostics, (struct place){0}, "cannot write '%s': %s", output->path,
                    reason ? strerror(reason) : lxw_strerror(error));
  return -1;
}

int workbook_write(const struct scenario *scenario, const struct simulation *simulation,
                   const char *path, struct arena *arena, struct diagnostics *diagnostics) {
  struct book book = {
      .scenario = scenario, .simulation = simulation, .arena = arena, .diagnostics = diagnostics};
  struct output output;
  if (plan(&book) || output_open(&output, path, arena, diagnostics))
    return -1;
  if (!output.temporary) {
    output_discard(&output);
    diagnostics_error(diagnostics, (struct place){0},
                      "a workbook is written to a file, and '%s' is none", path);
    return -1;
  }
  if (write_file(&book, &output)) {
    output_discard(&output);
    return -1;
  }
  return output_close(&output, diagnostics);
}
