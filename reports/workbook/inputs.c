// Inputs: every figure that an analyst may change, in every case, and the constants of formulas.
#include "base/arena.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"
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

// Columns behind the cases'. One more case is kept free where there is one only: in Gnumeric, INDEX
// has no place in a single cell.
static int source_column(const struct book *book) {
  const int cases = (int)book->scenario->case_count;
  return COLUMN_CASE + (cases > 1 ? cases : cases + 1);
}

static int date_column(const struct book *book) {
  return source_column(book) + 1;
}

static int grade_column(const struct book *book) {
  return source_column(book) + 2;
}

static int place_column(const struct book *book) {
  return source_column(book) + 3;
}

// Of the values that the simulation was run with, where there is one.
static int run_column(const struct book *book) {
  return source_column(book) + 4;
}

static int last_column(const struct book *book) {
  return book->sheets->simulation ? run_column(book) : place_column(book);
}

static const struct figure *figure_of(struct book *book, const struct option_sheet *owner,
                                      size_t which_case, int declaration) {
  return option_figure(book->scenario, owner->option, which_case, declaration);
}

// Does the option take what all options take, unless they say otherwise?
static bool is_common(struct book *book, const struct option_sheet *sheet, size_t which_case,
                      int declaration) {
  enum origin origin = figure_of(book, sheet, which_case, declaration)->origin;
  bool per_option = book->scenario->model->declarations[declaration].per_option;
  return origin == ORIGIN_COMMON || origin == ORIGIN_CASE || origin == ORIGIN_SET ||
         (origin == ORIGIN_DEFAULT && !per_option);
}

static bool is_read(const struct option_sheet *sheet, int declaration) {
  return sheet->option->graph->state[declaration] == GRAPH_INPUT;
}

static bool is_always(struct book *book, const struct option_sheet *sheet, int declaration,
                      enum origin origin) {
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (figure_of(book, sheet, c, declaration)->origin != origin)
      return false;
  return true;
}

static bool is_ever_given(struct book *book, const struct option_sheet *sheet, int declaration) {
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (is_read(sheet, declaration) && amount_in(sheet, declaration, 0, c) != 0)
      return true;
  return false;
}

// Is something given that takes its place?
static bool is_replaced(struct book *book, const struct option_sheet *sheet, int declaration) {
  const struct model *model = book->scenario->model;
  for (int d = 0; d < model->count; d++)
    if ((model->declarations[d].instead_of == declaration ||
         model->declarations[declaration].instead_of == d) &&
        is_ever_given(book, sheet, d))
      return true;
  return false;
}

// What the rent of a rented option pays for is no input of it, and neither is the rent of an option
// that is bought.
static bool does_not_apply(struct book *book, const struct option_sheet *sheet, int declaration) {
  if (!is_read(sheet, declaration) || is_ever_given(book, sheet, declaration))
    return false;
  if (is_always(book, sheet, declaration, ORIGIN_RENT))
    return book->scenario->model->declarations[declaration].in_rent;
  return is_always(book, sheet, declaration, ORIGIN_DEFAULT) &&
         is_replaced(book, sheet, declaration);
}

static bool has_row(struct book *book, const struct option_sheet *sheet, int declaration) {
  return is_read(sheet, declaration) && !does_not_apply(book, sheet, declaration);
}

static bool shares(struct book *book, const struct option_sheet *sheet, int declaration) {
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (!is_common(book, sheet, c, declaration))
      return false;
  return has_row(book, sheet, declaration);
}

static double cell_value(struct book *book, const struct input *input, size_t which_case) {
  const struct unit *unit = &book->scenario->model->declarations[input->declaration].unit;
  return cell_number(amount_in(input->owner, input->declaration, 0, which_case), unit);
}

// What a case's cell follows, as a formula, or NULL when it holds a number of its own.
static const char *followed(struct book *book, const struct input *input, size_t which_case) {
  const struct figure *figure = figure_of(book, input->owner, which_case, input->declaration);
  struct arena *arena = book->arena;
  int column = COLUMN_CASE + (int)which_case;
  if (!input->shared && input->shared_row >= 0 &&
      is_common(book, input->owner, which_case, input->declaration))
    return arena_printf(arena, "=%s", cell_here(book, input->shared_row, column));
  bool own = figure->origin == ORIGIN_CASE || figure->origin == ORIGIN_CASE_OPTION;
  bool same = cell_value(book, input, which_case) == cell_value(book, input, 0);
  if (!which_case || own || !same)
    return NULL;
  return arena_printf(arena, "=%s", cell_address(input->row, COLUMN_CASE, ADDRESS_COLUMN, arena));
}

static void write_cases(struct book *book, const struct input *input) {
  const struct unit *unit = &book->scenario->model->declarations[input->declaration].unit;
  for (size_t c = 0; c < book->scenario->case_count; c++) {
    const char *formula = followed(book, input, c);
    double value = cell_value(book, input, c);
    int column = COLUMN_CASE + (int)c;
    if (formula)
      put_formula(book, input->row, column, value, CELL_INHERITED, unit, "%s", formula);
    else
      put_number(book, input->row, column, value,
                 formats_cell(&book->formats, c ? CELL_OVERRIDE : CELL_INPUT, unit));
  }
}

static void write_live(struct book *book, const struct input *input) {
  struct arena *arena = book->arena;
  const struct unit *unit = &book->scenario->model->declarations[input->declaration].unit;
  const int last = source_column(book) - 1;
  book->sheets->case_index->used = true;
  put_formula(book, input->row, COLUMN_LIVE, cell_value(book, input, book->scenario->selected),
              CELL_FORMULA, unit, "=INDEX(%s:%s,1,%s)",
              cell_address(input->row, COLUMN_CASE, ADDRESS_COLUMN, arena),
              cell_address(input->row, last, ADDRESS_COLUMN, arena),
              book->sheets->case_index->text);
}

static void write_provenance(struct book *book, const struct input *input) {
  const struct figure *figure =
      figure_of(book, input->owner, book->scenario->selected, input->declaration);
  put_wrapped(book, input->row, source_column(book), figure_source(figure), SOURCE_WIDTH,
              TEXT_INDENTED_WRAPPED);
  put_text(book, input->row, date_column(book), figure_date(figure, book->arena), TEXT_PLAIN);
  put_text(book, input->row, grade_column(book), figure_grade(figure), TEXT_PLAIN);
  put_text(book, input->row, place_column(book),
           figure_place(book->scenario, figure, input->declaration, book->arena), TEXT_PLAIN);
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

static void validate(struct book *book, const struct input *input) {
  const struct declaration *of = &book->scenario->model->declarations[input->declaration];
  struct arena *arena = book->arena;
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
  int last = COLUMN_CASE + (int)book->scenario->case_count - 1;
  put_validation(book, input->row, COLUMN_CASE, last, &rule);
}

// What the live cell showed when the simulation was run; marked once it shows something else.
static void write_run(struct book *book, const struct input *input) {
  if (!book->sheets->simulation)
    return;
  put_number(book, input->row, run_column(book), cell_value(book, input, book->scenario->selected),
             formats_cell(&book->formats, CELL_RESULT,
                          &book->scenario->model->declarations[input->declaration].unit));
}

// Highlights the run's values that no longer hold, and says where the sheet Simulation finds them.
static void compare_runs(struct book *book, int last_row) {
  const int first = HEADER_ROW + 1;
  if (!book->sheets->simulation)
    return;
  book->sheets->area =
      (struct input_area){book_place(book, first), book_place(book, last_row), run_column(book)};
  const char *formula = arena_printf(
      book->arena, "=%s<>%s", cell_address(first, COLUMN_LIVE, ADDRESS_COLUMN, book->arena),
      cell_address(first, run_column(book), ADDRESS_COLUMN, book->arena));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)formula,
                                 .format = formats_text(&book->formats, TEXT_BAD)};
  put_rule(book, first, run_column(book), last_row, run_column(book), &rule);
}

static void place_names(struct book *book, const struct input *input) {
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    bool reads = input->shared ? shares(book, sheet, input->declaration) : sheet == input->owner;
    if (reads)
      book_place_name(book, option_name(sheet, input->declaration), input->row, COLUMN_LIVE);
  }
}

static void write_input(struct book *book, struct input *input) {
  const struct declaration *of = &book->scenario->model->declarations[input->declaration];
  const char *id = input->owner->option->id;
  input->row = book->row++;
  put_labels(book, input->row,
             input->shared ? of->label : arena_printf(book->arena, "%s, %s", of->label, id),
             input->shared ? of->name : arena_printf(book->arena, "%s.%s", id, of->name),
             of->unit.text);
  write_live(book, input);
  write_cases(book, input);
  write_provenance(book, input);
  write_run(book, input);
  validate(book, input);
  place_names(book, input);
}

static void write_declaration(struct book *book, int declaration) {
  int shared_row = -1;
  for (size_t o = 0; o < book->scenario->option_count && shared_row < 0; o++) {
    if (!shares(book, &book->sheets->options[o], declaration))
      continue;
    struct input input = {declaration, &book->sheets->options[o], true, -1, -1};
    write_input(book, &input);
    shared_row = input.row;
  }
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (!has_row(book, sheet, declaration) || shares(book, sheet, declaration))
      continue;
    struct input input = {declaration, sheet, false, -1, shared_row};
    write_input(book, &input);
  }
}

static bool any_has_row(struct book *book, int declaration) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (has_row(book, &book->sheets->options[o], declaration))
      return true;
  return false;
}

static void write_groups(struct book *book) {
  const struct model *model = book->scenario->model;
  for (int g = 0; g < model->group_count; g++) {
    bool headed = false;
    for (int d = 0; d < model->count; d++) {
      const struct declaration *input = &model->declarations[d];
      if (input->kind != DECLARATION_INPUT || input->group != g || !any_has_row(book, d))
        continue;
      if (!headed)
        put_heading(book, book->row++, last_column(book), model->groups[g].label);
      headed = true;
      write_declaration(book, d);
    }
  }
}

// One zero for all that does not apply.
static void write_zero(struct book *book) {
  static const struct unit any = {.text = "-", .counts = true};
  bool used = false;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    for (int d = 0; d < book->scenario->model->count; d++) {
      if (!does_not_apply(book, &book->sheets->options[o], d))
        continue;
      struct name *name = option_name(&book->sheets->options[o], d);
      name_place(name, SHEET_INPUTS, book->row, COLUMN_LIVE);
      used |= name->used;
    }
  if (!used)
    return;
  put_text(book, book->row, COLUMN_LABEL,
           "Does not apply: rent of what is bought, prices of what is rented", TEXT_PLAIN);
  put_text(book, book->row, COLUMN_UNIT, any.text, TEXT_PLAIN);
  put_number(book, book->row++, COLUMN_LIVE, 0, formats_constant(&book->formats, 0, &any));
}

static void write_constants(struct book *book) {
  put_heading(book, ++book->row, last_column(book), "Constants of the formulas");
  book->row++;
  for (size_t i = 0; i < book->constants.count; i++) {
    const struct constant *constant = &book->constants.list[i];
    if (!constant->name->used)
      continue;
    int row = book->row++;
    put_labels(book, row, constant->label, constant->name->text, constant->unit->text);
    put_number(book, row, COLUMN_LIVE, constant->value,
               formats_constant(&book->formats, constant->value, constant->unit));
    name_place(constant->name, SHEET_INPUTS, row, COLUMN_LIVE);
  }
  write_zero(book);
}

static void write_case_choice(struct book *book) {
  const struct scenario *scenario = book->scenario;
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
  book_place_name(book, book->sheets->case_index, INDEX_ROW, COLUMN_LIVE);
}

const char *inputs_cases(const struct book *book) {
  int last = COLUMN_CASE + (int)book->scenario->case_count - 1;
  return arena_printf(book->arena, "=%s:%s", cell_on(book, SHEET_INPUTS, HEADER_ROW, COLUMN_CASE),
                      cell_fixed(book, HEADER_ROW, last));
}

static void write_head(struct book *book) {
  static const char *const headings[] = {"Input", "Key", "Unit"};
  begin_sheet(book, "Inputs", HEADER_ROW + 1, COLUMN_LABEL + 1);
  put_text(
      book, NOTE_ROW, 0,
      "Type over blue cells. A case follows base, in italics, until its own cell is typed over.",
      TEXT_NOTE);
  write_case_choice(book);
  put_header(book, HEADER_ROW, headings, 3);
  put_text(book, HEADER_ROW, COLUMN_LIVE, "Live", TEXT_HEADER_RIGHT);
  for (size_t c = 0; c < book->scenario->case_count; c++)
    put_text(book, HEADER_ROW, COLUMN_CASE + (int)c, book->scenario->cases[c], TEXT_HEADER_RIGHT);
  if (book->scenario->case_count == 1)
    put_text(book, HEADER_ROW, source_column(book) - 1, "", TEXT_HEADER);
  put_text(book, HEADER_ROW, source_column(book), "Source", TEXT_HEADER_INDENTED);
  put_text(book, HEADER_ROW, date_column(book), "Date", TEXT_HEADER);
  put_text(book, HEADER_ROW, grade_column(book), "Grade", TEXT_HEADER);
  put_text(book, HEADER_ROW, place_column(book), "From", TEXT_HEADER);
  if (book->sheets->simulation)
    put_text(book, HEADER_ROW, run_column(book), "Simulated", TEXT_HEADER_RIGHT);
}

static void write_widths(struct book *book) {
  const size_t cases = book->scenario->case_count;
  const int last = last_column(book);
  int *widths = arena_array(book->arena, (size_t)last + 1, sizeof *widths);
  memcpy(widths, (const int[]){52, 28, 14, 13}, COLUMN_CASE * sizeof *widths);
  for (int column = COLUMN_CASE; column < source_column(book); column++) {
    const size_t c = (size_t)(column - COLUMN_CASE);
    const int length = c < cases ? (int)strlen(book->scenario->cases[c]) + 3 : 1;
    widths[column] = c < cases && length < 13 ? 13 : length;
  }
  widths[source_column(book)] = SOURCE_WIDTH;
  widths[date_column(book)] = widths[grade_column(book)] = 11;
  widths[place_column(book)] = 32;
  if (book->sheets->simulation)
    widths[run_column(book)] = 13;
  set_widths(book, widths, last + 1, last);
}

// Highlights what an analyst types into a case later on, too.
static void highlight_overrides(struct book *book, int last_row) {
  if (book->scenario->case_count < 2)
    return;
  int first = HEADER_ROW + 1, last = source_column(book) - 1;
  const char *formula =
      arena_printf(book->arena, "=%s<>%s", cell_here(book, first, COLUMN_CASE + 1),
                   cell_address(first, COLUMN_CASE, ADDRESS_COLUMN, book->arena));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)formula,
                                 .format = formats_text(&book->formats, TEXT_CHANGED)};
  put_rule(book, first, COLUMN_CASE + 1, last_row, last, &rule);
}

void write_inputs(struct book *book) {
  book->row = HEADER_ROW + 1;
  write_head(book);
  write_groups(book);
  highlight_overrides(book, book->row - 1);
  compare_runs(book, book->row - 1);
  if (book->writing) // the first pass finds out which are used
    write_constants(book);
  write_widths(book);
  end_sheet(book, book->row - 1, last_column(book));
}
