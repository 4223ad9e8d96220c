// Inputs: every figure that an analyst may change, in every case, and the constants of formulas.
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formula.h"
#include "reports/workbook/provenance.h"
#include "reports/workbook/sheets.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NOTE_ROW = 1, CASE_ROW, INDEX_ROW, HEADER_ROW = 5 };

// A row of the table. Options that take an input from the common level share one.
struct input {
  int declaration;
  const struct option_sheet *owner; // whose row it is; of a shared row, the first that shares it
  bool shared;
  int row, shared_row; // the shared row of the same input, or -1
};

enum { SOURCE_WIDTH = 48 };

struct inputs_table {
  struct book *book;
  const struct scenario *scenario;
  int row;                       // the next
  int source, date, grade, from; // columns
  int run;                       // of the values that a simulation was run with; -1: none
};

static int last_column(const struct inputs_table *table) {
  return table->run < 0 ? table->from : table->run;
}

static const struct figure *figure_of(const struct inputs_table *table,
                                      const struct option_sheet *owner, size_t which_case,
                                      int declaration) {
  return option_figure(table->scenario, owner->option, which_case, declaration);
}

// Does the option take what all options take, unless they say otherwise?
static bool is_common(const struct inputs_table *table, const struct option_sheet *sheet,
                      size_t which_case, int declaration) {
  enum origin origin = figure_of(table, sheet, which_case, declaration)->origin;
  bool per_option = table->scenario->model->declarations[declaration].per_option;
  return origin == ORIGIN_COMMON || origin == ORIGIN_CASE || origin == ORIGIN_SET ||
         (origin == ORIGIN_DEFAULT && !per_option);
}

static bool is_read(const struct option_sheet *sheet, int declaration) {
  return sheet->option->graph->state[declaration] == GRAPH_INPUT;
}

static bool is_always(const struct inputs_table *table, const struct option_sheet *sheet,
                      int declaration, enum origin origin) {
  for (size_t c = 0; c < table->scenario->case_count; c++)
    if (figure_of(table, sheet, c, declaration)->origin != origin)
      return false;
  return true;
}

static bool is_ever_given(const struct inputs_table *table, const struct option_sheet *sheet,
                          int declaration) {
  for (size_t c = 0; c < table->scenario->case_count; c++)
    if (is_read(sheet, declaration) && figure_of(table, sheet, c, declaration)->value != 0)
      return true;
  return false;
}

// Is something given that takes its place?
static bool is_replaced(const struct inputs_table *table, const struct option_sheet *sheet,
                        int declaration) {
  const struct model *model = table->scenario->model;
  for (int d = 0; d < model->count; d++)
    if ((model->declarations[d].instead_of == declaration ||
         model->declarations[declaration].instead_of == d) &&
        is_ever_given(table, sheet, d))
      return true;
  return false;
}

// What the rent of a rented option pays for is no input of it, and neither is the rent of an option
// that is bought.
static bool does_not_apply(const struct inputs_table *table, const struct option_sheet *sheet,
                           int declaration) {
  if (!is_read(sheet, declaration) || is_ever_given(table, sheet, declaration))
    return false;
  if (is_always(table, sheet, declaration, ORIGIN_RENT))
    return table->scenario->model->declarations[declaration].in_rent;
  return is_always(table, sheet, declaration, ORIGIN_DEFAULT) &&
         is_replaced(table, sheet, declaration);
}

static bool has_row(const struct inputs_table *table, const struct option_sheet *sheet,
                    int declaration) {
  return is_read(sheet, declaration) && !does_not_apply(table, sheet, declaration);
}

static bool shares(const struct inputs_table *table, const struct option_sheet *sheet,
                   int declaration) {
  for (size_t c = 0; c < table->scenario->case_count; c++)
    if (!is_common(table, sheet, c, declaration))
      return false;
  return has_row(table, sheet, declaration);
}

static double cell_value(const struct inputs_table *table, const struct input *input,
                         size_t which_case) {
  const struct unit *unit = &table->scenario->model->declarations[input->declaration].unit;
  return cell_number(figure_of(table, input->owner, which_case, input->declaration)->value, unit);
}

// What a case's cell follows, as a formula, or NULL when it holds a number of its own.
static const char *followed(const struct inputs_table *table, const struct input *input,
                            size_t which_case) {
  const struct figure *figure = figure_of(table, input->owner, which_case, input->declaration);
  struct arena *arena = table->book->arena;
  int column = COLUMN_CASE + (int)which_case;
  if (!input->shared && input->shared_row >= 0 &&
      is_common(table, input->owner, which_case, input->declaration))
    return arena_printf(arena, "=%s", cell_here(table->book, input->shared_row, column));
  bool own = figure->origin == ORIGIN_CASE || figure->origin == ORIGIN_CASE_OPTION;
  bool same = cell_value(table, input, which_case) == cell_value(table, input, 0);
  if (!which_case || own || !same)
    return NULL;
  return arena_printf(arena, "=%s", cell_address(input->row, COLUMN_CASE, ADDRESS_COLUMN, arena));
}

static void write_cases(const struct inputs_table *table, const struct input *input) {
  struct book *book = table->book;
  const struct unit *unit = &table->scenario->model->declarations[input->declaration].unit;
  for (size_t c = 0; c < table->scenario->case_count; c++) {
    const char *formula = followed(table, input, c);
    double value = cell_value(table, input, c);
    int column = COLUMN_CASE + (int)c;
    if (formula)
      put_formula(book, input->row, column, value, CELL_INHERITED, unit, "%s", formula);
    else
      put_number(book, input->row, column, value,
                 formats_cell(&book->formats, c ? CELL_OVERRIDE : CELL_INPUT, unit));
  }
}

static void write_live(const struct inputs_table *table, const struct input *input) {
  struct book *book = table->book;
  struct arena *arena = book->arena;
  const struct unit *unit = &table->scenario->model->declarations[input->declaration].unit;
  const int last = table->source - 1;
  book->sheets->case_index->used = true;
  put_formula(book, input->row, COLUMN_LIVE, cell_value(table, input, table->scenario->selected),
              CELL_FORMULA, unit, "=INDEX(%s:%s,1,%s)",
              cell_address(input->row, COLUMN_CASE, ADDRESS_COLUMN, arena),
              cell_address(input->row, last, ADDRESS_COLUMN, arena),
              book->sheets->case_index->text);
}

static void write_provenance(const struct inputs_table *table, const struct input *input) {
  struct book *book = table->book;
  const struct figure *figure =
      figure_of(table, input->owner, table->scenario->selected, input->declaration);
  put_wrapped(book, input->row, table->source, figure_source(figure), SOURCE_WIDTH,
              TEXT_INDENTED_WRAPPED);
  put_text(book, input->row, table->date, figure_date(figure, book->arena), TEXT_PLAIN);
  put_text(book, input->row, table->grade, figure_grade(figure), TEXT_PLAIN);
  put_text(book, input->row, table->from,
           figure_place(table->scenario, figure, input->declaration, book->arena), TEXT_PLAIN);
}

// A decimal validation has no exclusive limit beside another one: stay a hair above it.
static double lowest(const struct declaration *input) {
  double low = cell_number(input->min, &input->unit);
  return input->min_exclusive ? low + 1e-9 * fmax(1, fabs(low)) : low;
}

static const char *limits_text(const struct declaration *input, struct arena *arena) {
  const char *low = quantity_text(input->min, &input->unit, arena);
  const char *high = quantity_text(input->max, &input->unit, arena);
  const char *what = input->integer ? "a whole number" : "a number";
  if (input->has_min && input->has_max)
    return arena_printf(arena, "%s from %s to %s", what, low, high);
  if (input->has_min)
    return arena_printf(arena, "%s %s %s", what, input->min_exclusive ? "above" : "of at least",
                        low);
  if (input->has_max)
    return arena_printf(arena, "%s of at most %s", what, high);
  return what;
}

static const char *choices_text(const struct declaration *input, struct arena *arena) {
  const char *text = "";
  for (int i = 0; i < input->choice_count; i++)
    text = arena_printf(arena, "%s%s%g (%s)", text, i ? " or " : "", input->choices[i].value,
                        input->choices[i].name);
  return text;
}

static void limit(const struct declaration *input, lxw_data_validation *rule) {
  rule->validate = input->integer ? LXW_VALIDATION_TYPE_INTEGER : LXW_VALIDATION_TYPE_DECIMAL;
  rule->minimum_number = rule->value_number = input->has_min ? lowest(input) : -DBL_MAX;
  rule->criteria = LXW_VALIDATION_CRITERIA_GREATER_THAN_OR_EQUAL_TO;
  if (input->has_min && input->min_exclusive) {
    rule->criteria = LXW_VALIDATION_CRITERIA_GREATER_THAN;
    rule->value_number = cell_number(input->min, &input->unit);
  }
  if (!input->has_max)
    return;
  rule->maximum_number = cell_number(input->max, &input->unit);
  rule->criteria = LXW_VALIDATION_CRITERIA_BETWEEN;
}

enum { MAX_MESSAGE = 200, CHOICE_DIGITS = 12 };

static void validate(const struct inputs_table *table, const struct input *input) {
  const struct declaration *of = &table->scenario->model->declarations[input->declaration];
  struct arena *arena = table->book->arena;
  lxw_data_validation rule = {.error_title = "Not possible here"};
  char *list[MAX_CHOICES + 1] = {0};
  for (int i = 0; i < of->choice_count; i++)
    list[i] = arena_printf(arena, "%.*g", CHOICE_DIGITS, of->choices[i].value);
  const char *allowed = of->choice_count ? choices_text(of, arena) : limits_text(of, arena);
  limit(of, &rule);
  if (of->choice_count) {
    rule.validate = LXW_VALIDATION_TYPE_LIST;
    rule.value_list = list;
  }
  const char *message = arena_printf(arena, "%s: %s.", of->label, allowed);
  rule.error_message = (char *)safe_text(message, MAX_MESSAGE, arena);
  int last = COLUMN_CASE + (int)table->scenario->case_count - 1;
  put_validation(table->book, input->row, COLUMN_CASE, last, &rule);
}

// What the live cell showed when the simulation was run; marked once it shows something else.
static void write_run(const struct inputs_table *table, const struct input *input) {
  struct book *book = table->book;
  if (table->run < 0)
    return;
  put_number(book, input->row, table->run, cell_value(table, input, table->scenario->selected),
             formats_cell(&book->formats, CELL_RESULT,
                          &table->scenario->model->declarations[input->declaration].unit));
}

// Highlights the run's values that no longer hold, and says where the sheet Simulation finds them.
static void compare_runs(const struct inputs_table *table, int last_row) {
  struct book *book = table->book;
  const int first = HEADER_ROW + 1;
  if (table->run < 0)
    return;
  book->sheets->area =
      (struct input_area){book_place(book, first), book_place(book, last_row), table->run};
  const char *formula = arena_printf(book->arena, "=%s<>%s",
                                     cell_address(first, COLUMN_LIVE, ADDRESS_COLUMN, book->arena),
                                     cell_address(first, table->run, ADDRESS_COLUMN, book->arena));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)formula,
                                 .format = formats_text(&book->formats, TEXT_BAD)};
  put_rule(book, first, table->run, last_row, table->run, &rule);
}

static void place_names(const struct inputs_table *table, const struct input *input) {
  for (size_t o = 0; o < table->scenario->option_count; o++) {
    const struct option_sheet *sheet = &table->book->sheets->options[o];
    bool reads = input->shared ? shares(table, sheet, input->declaration) : sheet == input->owner;
    if (reads)
      book_place_name(table->book, option_name(sheet, input->declaration), input->row, COLUMN_LIVE);
  }
}

static void write_input(struct inputs_table *table, struct input *input) {
  struct book *book = table->book;
  const struct declaration *of = &table->scenario->model->declarations[input->declaration];
  const char *id = input->owner->option->id;
  input->row = table->row++;
  put_labels(book, input->row,
             input->shared ? of->label : arena_printf(book->arena, "%s, %s", of->label, id),
             input->shared ? of->name : arena_printf(book->arena, "%s.%s", id, of->name),
             of->unit.text);
  write_live(table, input);
  write_cases(table, input);
  write_provenance(table, input);
  write_run(table, input);
  validate(table, input);
  place_names(table, input);
}

static void write_declaration(struct inputs_table *table, int declaration) {
  struct book *book = table->book;
  int shared_row = -1;
  for (size_t o = 0; o < table->scenario->option_count && shared_row < 0; o++) {
    if (!shares(table, &book->sheets->options[o], declaration))
      continue;
    struct input input = {declaration, &book->sheets->options[o], true, -1, -1};
    write_input(table, &input);
    shared_row = input.row;
  }
  for (size_t o = 0; o < table->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (!has_row(table, sheet, declaration) || shares(table, sheet, declaration))
      continue;
    struct input input = {declaration, sheet, false, -1, shared_row};
    write_input(table, &input);
  }
}

static bool any_has_row(const struct inputs_table *table, int declaration) {
  for (size_t o = 0; o < table->scenario->option_count; o++)
    if (has_row(table, &table->book->sheets->options[o], declaration))
      return true;
  return false;
}

static void write_groups(struct inputs_table *table) {
  const struct model *model = table->scenario->model;
  for (int g = 0; g < model->group_count; g++) {
    bool headed = false;
    for (int d = 0; d < model->count; d++) {
      const struct declaration *input = &model->declarations[d];
      if (input->kind != DECLARATION_INPUT || input->group != g || !any_has_row(table, d))
        continue;
      if (!headed)
        put_heading(table->book, table->row++, last_column(table), model->groups[g].label);
      headed = true;
      write_declaration(table, d);
    }
  }
}

// One zero for all that does not apply.
static void write_zero(struct inputs_table *table) {
  struct book *book = table->book;
  static const struct unit any = {.text = "-", .counts = true};
  bool used = false;
  for (size_t o = 0; o < table->scenario->option_count; o++)
    for (int d = 0; d < table->scenario->model->count; d++) {
      if (!does_not_apply(table, &book->sheets->options[o], d))
        continue;
      struct name *name = option_name(&book->sheets->options[o], d);
      name_place(name, SHEET_INPUTS, table->row, COLUMN_LIVE);
      used |= name->used;
    }
  if (!used)
    return;
  put_text(book, table->row, COLUMN_LABEL,
           "What does not apply: rent of what is bought, prices of what is rented", TEXT_PLAIN);
  put_text(book, table->row, COLUMN_UNIT, any.text, TEXT_PLAIN);
  put_number(book, table->row++, COLUMN_LIVE, 0, formats_constant(&book->formats, 0, &any));
}

static void write_constants(struct inputs_table *table) {
  struct book *book = table->book;
  put_heading(book, ++table->row, last_column(table), "Constants of the formulas");
  table->row++;
  for (size_t i = 0; i < book->constants.count; i++) {
    const struct constant *constant = &book->constants.list[i];
    if (!constant->name->used)
      continue;
    int row = table->row++;
    put_labels(book, row, constant->label, constant->name->text, constant->unit->text);
    put_number(book, row, COLUMN_LIVE, constant->value,
               formats_constant(&book->formats, constant->value, constant->unit));
    name_place(constant->name, SHEET_INPUTS, row, COLUMN_LIVE);
  }
  write_zero(table);
}

static void write_case_choice(const struct inputs_table *table) {
  struct book *book = table->book;
  const struct scenario *scenario = table->scenario;
  put_text(book, CASE_ROW, 0, "Case shown (choose it on Cover)", TEXT_PLAIN);
  put_formula_text(book, CASE_ROW, COLUMN_LIVE, scenario->cases[scenario->selected],
                   formats_cell_text(&book->formats, CELL_LINK), "=%s",
                   book->sheets->case_name->text);
  put_text(book, INDEX_ROW, 0, "Its column among the cases", TEXT_PLAIN);
  int last = COLUMN_CASE + (int)scenario->case_count - 1;
  static const struct unit number = {.text = "case", .counts = true};
  put_formula(book, INDEX_ROW, COLUMN_LIVE, (double)scenario->selected + 1, CELL_FORMULA, &number,
              "=MATCH(%s&\"\",%s:%s,0)", book->sheets->case_name->text,
              cell_fixed(book, HEADER_ROW, COLUMN_CASE), cell_fixed(book, HEADER_ROW, last));
  book->sheets->case_name->used = true;
  book_place_name(table->book, book->sheets->case_index, INDEX_ROW, COLUMN_LIVE);
}

const char *inputs_cases(const struct book *book) {
  int last = COLUMN_CASE + (int)book->scenario->case_count - 1;
  return arena_printf(book->arena, "=%s:%s", cell_on(book, SHEET_INPUTS, HEADER_ROW, COLUMN_CASE),
                      cell_fixed(book, HEADER_ROW, last));
}

static void write_head(const struct inputs_table *table) {
  struct book *book = table->book;
  static const char *const headings[] = {"Input", "Key", "Unit"};
  begin_sheet(book, "Inputs", HEADER_ROW + 1, COLUMN_LABEL + 1);
  put_text(
      book, NOTE_ROW, 0,
      "Type over blue cells. A case follows base, in italics, until its own cell is typed over.",
      TEXT_NOTE);
  write_case_choice(table);
  put_header(book, HEADER_ROW, headings, 3);
  put_text(book, HEADER_ROW, COLUMN_LIVE, "Live", TEXT_HEADER_RIGHT);
  for (size_t c = 0; c < table->scenario->case_count; c++)
    put_text(book, HEADER_ROW, COLUMN_CASE + (int)c, table->scenario->cases[c], TEXT_HEADER_RIGHT);
  if (table->scenario->case_count == 1)
    put_text(book, HEADER_ROW, table->source - 1, "", TEXT_HEADER);
  put_text(book, HEADER_ROW, table->source, "Source", TEXT_HEADER_INDENTED);
  put_text(book, HEADER_ROW, table->date, "Date", TEXT_HEADER);
  put_text(book, HEADER_ROW, table->grade, "Grade", TEXT_HEADER);
  put_text(book, HEADER_ROW, table->from, "From", TEXT_HEADER);
  if (table->run >= 0)
    put_text(book, HEADER_ROW, table->run, "Simulated", TEXT_HEADER_RIGHT);
}

static void write_widths(const struct inputs_table *table) {
  const size_t cases = table->scenario->case_count;
  const int last = last_column(table);
  int *widths = arena_array(table->book->arena, (size_t)last + 1, sizeof *widths);
  memcpy(widths, (const int[]){52, 28, 14, 13}, COLUMN_CASE * sizeof *widths);
  for (int column = COLUMN_CASE; column < table->source; column++) {
    const size_t c = (size_t)(column - COLUMN_CASE);
    const int length = c < cases ? (int)strlen(table->scenario->cases[c]) + 3 : 1;
    widths[column] = c < cases && length < 13 ? 13 : length;
  }
  widths[table->source] = SOURCE_WIDTH;
  widths[table->date] = widths[table->grade] = 11;
  widths[table->from] = 32;
  if (table->run >= 0)
    widths[table->run] = 13;
  set_widths(table->book, widths, last + 1, last);
}

// Highlights what an analyst types into a case later on, too.
static void highlight_overrides(const struct inputs_table *table, int last_row) {
  struct book *book = table->book;
  if (table->scenario->case_count < 2)
    return;
  int first = HEADER_ROW + 1, last = table->source - 1;
  const char *formula =
      arena_printf(book->arena, "=%s<>%s", cell_here(book, first, COLUMN_CASE + 1),
                   cell_address(first, COLUMN_CASE, ADDRESS_COLUMN, book->arena));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)formula,
                                 .format = formats_text(&book->formats, TEXT_CHANGED)};
  put_rule(book, first, COLUMN_CASE + 1, last_row, last, &rule);
}

void write_inputs(struct book *book) {
  const size_t cases = book->scenario->case_count;
  // One more where there is one only: in Gnumeric, INDEX has no place in a single cell.
  int source = COLUMN_CASE + (int)(cases > 1 ? cases : cases + 1);
  struct inputs_table table = {.book = book,
                               .scenario = book->scenario,
                               .row = HEADER_ROW + 1,
                               .source = source,
                               .date = source + 1,
                               .grade = source + 2,
                               .from = source + 3,
                               .run = book->sheets->simulation ? source + 4 : -1};
  write_head(&table);
  write_groups(&table);
  highlight_overrides(&table, table.row - 1);
  compare_runs(&table, table.row - 1);
  if (book->writing) // the first pass finds out which are used
    write_constants(&table);
  write_widths(&table);
  end_sheet(book, table.row - 1, last_column(&table));
}
