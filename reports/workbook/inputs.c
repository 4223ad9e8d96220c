// Inputs: every figure that an analyst may change, in every case, and the constants of formulas.
#include "reports/spreadsheet/book.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TITLE_ROW, NOTE_ROW, CASE_ROW, INDEX_ROW, HEADER_ROW = 5 };

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
  lxw_worksheet *sheet;
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
    return arena_printf(arena, "=%s",
                        cell_address(input->shared_row, column, ADDRESS_RELATIVE, arena));
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
      put_formula(book, table->sheet, input->row, column, formula, value,
                  formats_cell(&book->formats, CELL_INHERITED, unit));
    else
      put_number(book, table->sheet, input->row, column, value,
                 formats_cell(&book->formats, c ? CELL_OVERRIDE : CELL_INPUT, unit));
  }
}

static void write_live(const struct inputs_table *table, const struct input *input) {
  struct book *book = table->book;
  struct arena *arena = book->arena;
  const struct unit *unit = &table->scenario->model->declarations[input->declaration].unit;
  const int last = table->source - 1;
  const char *formula = arena_printf(
      arena, "=INDEX(%s:%s,1,%s)", cell_address(input->row, COLUMN_CASE, ADDRESS_COLUMN, arena),
      cell_address(input->row, last, ADDRESS_COLUMN, arena), book->case_index->text);
  book->case_index->used = true;
  put_formula(book, table->sheet, input->row, COLUMN_LIVE, formula,
              cell_value(table, input, table->scenario->selected),
              formats_cell(&book->formats, CELL_FORMULA, unit));
}

const char *figure_source(const struct figure *figure) {
  if (figure->origin == ORIGIN_DEFAULT)
    return "default of the cost model";
  if (*figure->source)
    return figure->source;
  bool set = figure->origin == ORIGIN_SET || figure->origin == ORIGIN_SET_OPTION;
  return set ? "own assumption, --set" : "own assumption";
}

const char *figure_grade(const struct figure *figure) {
  bool given = figure->origin != ORIGIN_DEFAULT && figure->origin != ORIGIN_RENT;
  return given ? grade_name(figure->grade) : "default";
}

// YYYY, YYYY-MM or YYYY-MM-DD; what is written in another way becomes the last day that it can
// mean.
const char *figure_date(const struct figure *figure, struct arena *arena) {
  static const size_t lengths[] = {4, 7, 10};
  struct date date;
  if (!date_parse(figure->date, &date))
    return "-";
  size_t digits = strspn(figure->date, "0123456789-"), length = strlen(figure->date);
  for (size_t i = 0; i < 3; i++)
    if (length == lengths[i] && digits == length && (length == 4 || figure->date[4] == '-') &&
        strcspn(figure->date, "-") == 4)
      return figure->date;
  return arena_printf(arena, "%04d-%02d-%02d", date.year, date.month, date.day);
}

const char *figure_place(const struct book *book, const struct figure *figure, int declaration) {
  struct place place = figure->place;
  if (place.source && !place.line) { // a record, as a whole
    const char *slash = strrchr(place.source->name, '/');
    return slash ? slash + 1 : place.source->name;
  }
  if (!place.source)
    place = book->scenario->model->declarations[declaration].place;
  if (!place.source)
    return "cost model";
  // Where the catalogue lies differs from machine to machine, and says nothing.
  const char *file = strrchr(place.source->name, '/');
  if (figure->origin == ORIGIN_CATALOGUE && file)
    return arena_printf(book->arena, "data%s:%d", file, place.line);
  return arena_printf(book->arena, "%s:%d", place.source->name, place.line);
}

static void write_provenance(const struct inputs_table *table, const struct input *input) {
  struct book *book = table->book;
  const struct figure *figure =
      figure_of(table, input->owner, table->scenario->selected, input->declaration);
  put_wrapped(book, table->sheet, input->row, table->source, figure_source(figure), SOURCE_WIDTH,
              TEXT_INDENTED_WRAPPED);
  put_text(book, table->sheet, input->row, table->date, figure_date(figure, book->arena),
           TEXT_PLAIN);
  put_text(book, table->sheet, input->row, table->grade, figure_grade(figure), TEXT_PLAIN);
  put_text(book, table->sheet, input->row, table->from,
           figure_place(book, figure, input->declaration), TEXT_PLAIN);
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

enum { ERROR_LENGTH = 200, TITLE_LENGTH = 30, LIST_LENGTH = 20 };

static void validate(const struct inputs_table *table, const struct input *input) {
  const struct declaration *of = &table->scenario->model->declarations[input->declaration];
  struct arena *arena = table->book->arena;
  lxw_data_validation rule = {.error_title = "Not possible here"};
  char *list[MAX_CHOICES + 1] = {0};
  for (int i = 0; i < of->choice_count; i++)
    list[i] = arena_printf(arena, "%.*g", LIST_LENGTH - 8, of->choices[i].value);
  const char *allowed = of->choice_count ? choices_text(of, arena) : limits_text(of, arena);
  limit(of, &rule);
  if (of->choice_count) {
    rule.validate = LXW_VALIDATION_TYPE_LIST;
    rule.value_list = list;
  }
  const char *message = arena_printf(arena, "%s: %s.", of->label, allowed);
  rule.error_message = (char *)safe_text(message, ERROR_LENGTH, arena);
  int last = COLUMN_CASE + (int)table->scenario->case_count - 1;
  lxw_error error =
      worksheet_data_validation_range(table->sheet, (lxw_row_t)input->row, COLUMN_CASE,
                                      (lxw_row_t)input->row, (lxw_col_t)last, &rule);
  if (error != LXW_NO_ERROR)
    table->book->failed = true;
}

// What the live cell showed when the simulation was run; marked once it shows something else.
static void write_run(const struct inputs_table *table, const struct input *input) {
  struct book *book = table->book;
  if (table->run < 0)
    return;
  put_number(book, table->sheet, input->row, table->run,
             cell_value(table, input, table->scenario->selected),
             formats_cell(&book->formats, CELL_RESULT,
                          &table->scenario->model->declarations[input->declaration].unit));
}

// Highlights the run's values that no longer hold, and says where the sheet Simulation finds them.
static void compare_runs(const struct inputs_table *table, int last_row) {
  struct book *book = table->book;
  const int first = HEADER_ROW + 1;
  if (table->run < 0)
    return;
  book->area = (struct input_area){first, last_row, table->run};
  const char *formula = arena_printf(book->arena, "=%s<>%s",
                                     cell_address(first, COLUMN_LIVE, ADDRESS_COLUMN, book->arena),
                                     cell_address(first, table->run, ADDRESS_COLUMN, book->arena));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)formula,
                                 .format = formats_text(&book->formats, TEXT_BAD)};
  worksheet_conditional_format_range(table->sheet, (lxw_row_t)first, (lxw_col_t)table->run,
                                     (lxw_row_t)last_row, (lxw_col_t)table->run, &rule);
}

static void place_names(const struct inputs_table *table, const struct input *input) {
  for (size_t o = 0; o < table->scenario->option_count; o++) {
    const struct option_sheet *sheet = &table->book->options[o];
    bool reads = input->shared ? shares(table, sheet, input->declaration) : sheet == input->owner;
    if (reads)
      name_place(option_name(sheet, input->declaration), table->sheet->name, input->row,
                 COLUMN_LIVE);
  }
}

static void write_input(struct inputs_table *table, struct input *input) {
  struct book *book = table->book;
  const struct declaration *of = &table->scenario->model->declarations[input->declaration];
  const char *id = input->owner->option->id;
  input->row = table->row++;
  put_text(book, table->sheet, input->row, COLUMN_LABEL,
           input->shared ? of->label : arena_printf(book->arena, "%s, %s", of->label, id),
           TEXT_PLAIN);
  put_text(book, table->sheet, input->row, COLUMN_KEY,
           input->shared ? of->name : arena_printf(book->arena, "%s.%s", id, of->name), TEXT_NOTE);
  put_text(book, table->sheet, input->row, COLUMN_UNIT, of->unit.text, TEXT_PLAIN);
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
    if (!shares(table, &book->options[o], declaration))
      continue;
    struct input input = {declaration, &book->options[o], true, -1, -1};
    write_input(table, &input);
    shared_row = input.row;
  }
  for (size_t o = 0; o < table->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->options[o];
    if (!has_row(table, sheet, declaration) || shares(table, sheet, declaration))
      continue;
    struct input input = {declaration, sheet, false, -1, shared_row};
    write_input(table, &input);
  }
}

static bool any_has_row(const struct inputs_table *table, int declaration) {
  for (size_t o = 0; o < table->scenario->option_count; o++)
    if (has_row(table, &table->book->options[o], declaration))
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
        put_heading(table->book, table->sheet, table->row++, last_column(table),
                    model->groups[g].label);
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
      if (!does_not_apply(table, &book->options[o], d))
        continue;
      struct name *name = option_name(&book->options[o], d);
      name_place(name, table->sheet->name, table->row, COLUMN_LIVE);
      used |= name->used;
    }
  if (!used)
    return;
  put_text(book, table->sheet, table->row, COLUMN_LABEL,
           "What does not apply: rent of what is bought, prices of what is rented", TEXT_PLAIN);
  put_text(book, table->sheet, table->row, COLUMN_UNIT, any.text, TEXT_PLAIN);
  put_number(book, table->sheet, table->row++, COLUMN_LIVE, 0,
             formats_constant(&book->formats, 0, &any));
}

static void write_constants(struct inputs_table *table) {
  struct book *book = table->book;
  put_heading(book, table->sheet, ++table->row, last_column(table), "Constants of the formulas");
  table->row++;
  for (size_t i = 0; i < book->constants.count; i++) {
    const struct constant *constant = &book->constants.list[i];
    if (!constant->name->used)
      continue;
    int row = table->row++;
    put_text(book, table->sheet, row, COLUMN_LABEL, constant->label, TEXT_PLAIN);
    put_text(book, table->sheet, row, COLUMN_KEY, constant->name->text, TEXT_NOTE);
    put_text(book, table->sheet, row, COLUMN_UNIT, constant->unit->text, TEXT_PLAIN);
    put_number(book, table->sheet, row, COLUMN_LIVE, constant->value,
               formats_constant(&book->formats, constant->value, constant->unit));
    name_place(constant->name, table->sheet->name, row, COLUMN_LIVE);
  }
  write_zero(table);
}

static void write_case_choice(const struct inputs_table *table) {
  struct book *book = table->book;
  struct arena *arena = book->arena;
  const struct scenario *scenario = table->scenario;
  put_text(book, table->sheet, CASE_ROW, 0, "Case shown (choose it on Cover)", TEXT_PLAIN);
  put_formula_text(
      book, table->sheet, CASE_ROW, COLUMN_LIVE, arena_printf(arena, "=%s", book->case_name->text),
      scenario->cases[scenario->selected], formats_cell_text(&book->formats, CELL_LINK));
  put_text(book, table->sheet, INDEX_ROW, 0, "Its column among the cases", TEXT_PLAIN);
  int last = COLUMN_CASE + (int)scenario->case_count - 1;
  const char *formula = arena_printf(arena, "=MATCH(%s&\"\",%s:%s,0)", book->case_name->text,
                                     cell_address(HEADER_ROW, COLUMN_CASE, ADDRESS_ABSOLUTE, arena),
                                     cell_address(HEADER_ROW, last, ADDRESS_ABSOLUTE, arena));
  static const struct unit number = {.text = "case", .counts = true};
  put_formula(book, table->sheet, INDEX_ROW, COLUMN_LIVE, formula, (double)scenario->selected + 1,
              formats_cell(&book->formats, CELL_FORMULA, &number));
  book->case_name->used = true;
  name_place(book->case_index, table->sheet->name, INDEX_ROW, COLUMN_LIVE);
}

const char *inputs_cases(const struct book *book) {
  int last = COLUMN_CASE + (int)book->scenario->case_count - 1;
  return arena_printf(
      book->arena, "=%s:%s",
      sheet_address(book, book->inputs->name, HEADER_ROW, COLUMN_CASE, ADDRESS_ABSOLUTE),
      cell_address(HEADER_ROW, last, ADDRESS_ABSOLUTE, book->arena));
}

static void write_head(const struct inputs_table *table) {
  struct book *book = table->book;
  static const char *const headings[] = {"Input", "Key", "Unit"};
  begin_sheet(book, table->sheet, "Inputs", HEADER_ROW + 1, COLUMN_LABEL + 1);
  put_text(
      book, table->sheet, NOTE_ROW, 0,
      "Type over blue cells. A case follows base, in italics, until its own cell is typed over.",
      TEXT_NOTE);
  write_case_choice(table);
  put_header(book, table->sheet, HEADER_ROW, headings, 3);
  put_text(book, table->sheet, HEADER_ROW, COLUMN_LIVE, "Live", TEXT_HEADER_RIGHT);
  for (size_t c = 0; c < table->scenario->case_count; c++)
    put_text(book, table->sheet, HEADER_ROW, COLUMN_CASE + (int)c, table->scenario->cases[c],
             TEXT_HEADER_RIGHT);
  if (table->scenario->case_count == 1)
    put_text(book, table->sheet, HEADER_ROW, table->source - 1, "", TEXT_HEADER);
  put_text(book, table->sheet, HEADER_ROW, table->source, "Source", TEXT_HEADER_INDENTED);
  put_text(book, table->sheet, HEADER_ROW, table->date, "Date", TEXT_HEADER);
  put_text(book, table->sheet, HEADER_ROW, table->grade, "Grade", TEXT_HEADER);
  put_text(book, table->sheet, HEADER_ROW, table->from, "From", TEXT_HEADER);
  if (table->run >= 0)
    put_text(book, table->sheet, HEADER_ROW, table->run, "Simulated", TEXT_HEADER_RIGHT);
}

static void set_widths(const struct inputs_table *table) {
  lxw_worksheet *sheet = table->sheet;
  worksheet_set_column(sheet, COLUMN_LABEL, COLUMN_LABEL, 52, NULL);
  worksheet_set_column(sheet, COLUMN_KEY, COLUMN_KEY, 28, NULL);
  worksheet_set_column(sheet, COLUMN_UNIT, COLUMN_UNIT, 14, NULL);
  worksheet_set_column(sheet, COLUMN_LIVE, COLUMN_LIVE, 13, NULL);
  worksheet_set_column(sheet, COLUMN_CASE, (lxw_col_t)(table->source - 1), 1, NULL);
  for (size_t c = 0; c < table->scenario->case_count; c++) {
    size_t length = strlen(table->scenario->cases[c]) + 3;
    lxw_col_t column = (lxw_col_t)(COLUMN_CASE + c);
    worksheet_set_column(sheet, column, column, length < 13 ? 13 : (double)length, NULL);
  }
  worksheet_set_column(sheet, (lxw_col_t)table->source, (lxw_col_t)table->source, SOURCE_WIDTH,
                       NULL);
  worksheet_set_column(sheet, (lxw_col_t)table->date, (lxw_col_t)table->grade, 11, NULL);
  worksheet_set_column(sheet, (lxw_col_t)table->from, (lxw_col_t)table->from, 32, NULL);
  if (table->run >= 0)
    worksheet_set_column(sheet, (lxw_col_t)table->run, (lxw_col_t)table->run, 13, NULL);
}

// Highlights what an analyst types into a case later on, too.
static void highlight_overrides(const struct inputs_table *table, int last_row) {
  struct book *book = table->book;
  if (table->scenario->case_count < 2)
    return;
  int first = HEADER_ROW + 1, last = table->source - 1;
  const char *formula = arena_printf(
      book->arena, "=%s<>%s", cell_address(first, COLUMN_CASE + 1, ADDRESS_RELATIVE, book->arena),
      cell_address(first, COLUMN_CASE, ADDRESS_COLUMN, book->arena));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)formula,
                                 .format = formats_text(&book->formats, TEXT_CHANGED)};
  worksheet_conditional_format_range(table->sheet, (lxw_row_t)first, COLUMN_CASE + 1,
                                     (lxw_row_t)last_row, (lxw_col_t)last, &rule);
}

void write_inputs(struct book *book) {
  const size_t cases = book->scenario->case_count;
  // One more where there is one only: in Gnumeric, INDEX has no place in a single cell.
  int source = COLUMN_CASE + (int)(cases > 1 ? cases : cases + 1);
  struct inputs_table table = {.book = book,
                               .scenario = book->scenario,
                               .sheet = book->inputs,
                               .row = HEADER_ROW + 1,
                               .source = source,
                               .date = source + 1,
                               .grade = source + 2,
                               .from = source + 3,
                               .run = book->simulation ? source + 4 : -1};
  write_head(&table);
  write_groups(&table);
  highlight_overrides(&table, table.row - 1);
  compare_runs(&table, table.row - 1);
  write_constants(&table);
  set_widths(&table);
  end_sheet(table.sheet, table.row - 1, last_column(&table));
}
