#include "reports/workbook/inputs.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/limits.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/inputs_rows.h"
#include "reports/workbook/writers.h"

#include <float.h>
#include <string.h>

enum { NOTE_ROW = 1, CASE_ROW, INDEX_ROW, HEADER_ROW = 5 };

// A row of the table. Options that take an input from the common level share a row. For the
// timeline, a year's cell of a row: its cases are below it, not beside it, unless there is only
// one.
struct input {
  int declaration;
  const struct option_sheet *owner; // whose row it is; if shared, the first option
  bool shared;
  int row, shared_row; // `shared_row`: of the same input, or -1
  int year;            // from 1; 0: not in the timeline
};

// The number of years in the longest row of the timeline.
static int timeline_years(const struct book *book) {
  const struct model *model = book->scenario->model;
  int most = 0;
  for (int d = 0; d < model->count; d++)
    most = model->declarations[d].year_count > most ? model->declarations[d].year_count : most;
  return most;
}

// The column after the cases. If there is only one case, a second column is kept free: Gnumeric's
// INDEX does not work on a single cell.
static int source_column(const struct book *book) {
  const int cases = (int)book->scenario->case_count, years = timeline_years(book);
  const int columns = cases > 1 ? cases : cases + 1;
  return COLUMN_CASE + (columns > years ? columns : years);
}

static int live_column(const struct input *input) {
  return input->year ? COLUMN_CASE + input->year - 1 : COLUMN_LIVE;
}

static int case_column(const struct input *input, size_t which_case) {
  return input->year ? live_column(input) : COLUMN_CASE + (int)which_case;
}

static int case_row(const struct book *book, const struct input *input, int row,
                    size_t which_case) {
  return input->year ? written_case_row(book, row, which_case) : row;
}

static int last_case_column(const struct book *book) {
  return COLUMN_CASE + (int)book->scenario->case_count - 1;
}

static int place_column(const struct book *book) {
  return source_column(book) + WRITTEN_PLACE;
}

// The column of the values that the simulation was run with, if there is one.
static int run_column(const struct book *book) {
  return place_column(book) + 1;
}

static int last_column(const struct book *book) {
  return book->sheets->simulation ? run_column(book) : place_column(book);
}

static struct written_columns written_columns_of(const struct book *book) {
  return (struct written_columns){source_column(book), last_column(book) + 1, timeline_years(book)};
}

// The scale of a list, if not stated, counts as having the list's origin.
static bool is_silent(const struct book *book, int declaration, const struct figure *figure) {
  return !figure->text && book->scenario->model->declarations[declaration].scale_of >= 0;
}

static double cell_value(const struct book *book, const struct input *input, size_t which_case) {
  const struct unit *unit = &book->scenario->model->declarations[input->declaration].unit;
  return cell_number(amount_in(input->owner, input->declaration, 0, which_case), unit);
}

// The formula of what a case's cell follows, or NULL if it holds a number of its own.
static const char *followed(struct book *book, const struct input *input, size_t which_case) {
  const struct figure *figure =
      option_figure(book->scenario, input->owner->option, which_case, input->declaration);
  struct arena *arena = book->arena;
  const int column = case_column(input, which_case);
  if (!input->shared && input->shared_row >= 0 &&
      input_is_common(book, input->owner, which_case, input->declaration))
    return arena_printf(
        arena, "=%s",
        cell_here(book, case_row(book, input, input->shared_row, which_case), column));
  bool same = cell_value(book, input, which_case) == cell_value(book, input, 0);
  bool own = origin_layers[figure->origin].of_case && !is_silent(book, input->declaration, figure);
  if (!which_case || own || !same)
    return figure->follows
               ? arena_printf(
                     arena, "=%s",
                     cell_here(book, case_row(book, input, input->row, which_case), column - 1))
               : NULL;
  return arena_printf(arena, "=%s",
                      cell_address(case_row(book, input, input->row, 0), case_column(input, 0),
                                   ADDRESS_COLUMN, arena));
}

// The decimals of an input's cells: all of a row have as many as the one that needs the most.
static int decimals_of(const struct book *book, const struct input *input) {
  const struct unit *unit = &book->scenario->model->declarations[input->declaration].unit;
  int most = 0;
  for (size_t c = 0; c < book->scenario->case_count; c++) {
    const int decimals = formats_decimals(cell_value(book, input, c), unit);
    most = decimals > most ? decimals : most;
  }
  return most;
}

static lxw_format *figure_format(struct book *book, const struct input *input, enum cell_role role,
                                 int decimals) {
  return formats_figure(&book->formats, role, decimals,
                        &book->scenario->model->declarations[input->declaration].unit);
}

// What is part of a measured figure may not be typed over: that would have to change against it.
// Nor may that for which evidence was found.
static enum cell_role role_of(const struct book *book, const struct input *input, size_t which_case,
                              bool follows) {
  if (book->scenario->finds[input->declaration] ||
      option_figure(book->scenario, input->owner->option, which_case, input->declaration)
          ->contained)
    return follows ? CELL_FORMULA : CELL_RESULT;
  return follows ? CELL_INHERITED : which_case ? CELL_OVERRIDE : CELL_INPUT;
}

static void write_cases(struct book *book, const struct input *input) {
  const int decimals = decimals_of(book, input);
  for (size_t c = 0; c < book->scenario->case_count; c++) {
    const char *formula = followed(book, input, c);
    double value = cell_value(book, input, c);
    const int row = case_row(book, input, input->row, c), column = case_column(input, c);
    lxw_format *format =
        figure_format(book, input, role_of(book, input, c, formula != NULL), decimals);
    if (formula)
      put_formula_in(book, row, column, value, format, "%s", formula);
    else
      put_number(book, row, column, value, format);
  }
}

static void write_live(struct book *book, const struct input *input) {
  struct arena *arena = book->arena;
  lxw_format *format = figure_format(book, input, CELL_FORMULA, decimals_of(book, input));
  const double value = cell_value(book, input, book->scenario->selected);
  const int last = source_column(book) - 1, column = live_column(input);
  const size_t last_case = book->scenario->case_count - 1;
  if (input->year && !last_case)
    return; // a single case's cell is the live one
  const char *index = name_use(book->sheets->case_index);
  if (input->year)
    put_formula_in(book, input->row, column, value, format, "=INDEX(%s:%s,%s,1)",
                   cell_here(book, case_row(book, input, input->row, 0), column),
                   cell_here(book, case_row(book, input, input->row, last_case), column), index);
  else
    put_formula_in(book, input->row, column, value, format, "=INDEX(%s:%s,1,%s)",
                   cell_address(input->row, COLUMN_CASE, ADDRESS_COLUMN, arena),
                   cell_address(input->row, last, ADDRESS_COLUMN, arena), index);
}

static void write_provenance(struct book *book, const struct input *input) {
  struct written_input written = {.option = input->owner,
                                  .declaration = input->declaration,
                                  .row = input->row,
                                  .live = option_name_used(input->owner, input->declaration)};
  const struct written_columns columns = written_columns_of(book);
  written_put(book, &columns, &written);
}

// One rule for the cells of all cases, which are beside or below one another.
static void validate(struct book *book, const struct input *input) {
  const size_t last = book->scenario->case_count - 1;
  put_validation(book, case_row(book, input, input->row, 0), case_column(input, 0),
                 case_row(book, input, input->row, last), case_column(input, last),
                 limits_of(book, input->declaration));
}

// The value of the live cell when the simulation was run; marked if it now shows something else.
static void write_run(struct book *book, const struct input *input) {
  if (!book->sheets->simulation)
    return;
  put_number(book, input->row, run_column(book), cell_value(book, input, book->scenario->selected),
             figure_format(book, input, CELL_RESULT, decimals_of(book, input)));
}

// Highlights the run's values that no longer hold, and tells the sheet Simulation where they are.
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
    const struct option_sheet *owner = option_is_lent(sheet->option, input->declaration)
                                           ? &book->sheets->options[sheet->option->lender]
                                           : sheet;
    bool reads =
        input->shared ? input_is_shared(book, owner, input->declaration) : owner == input->owner;
    if (!reads)
      continue;
    book_place_name(book, option_name(sheet, input->declaration), input->row, live_column(input));
    sheet->input_rows[input->declaration] = input->row;
  }
}

static void write_input(struct book *book, struct input *input) {
  const struct declaration *of = &book->scenario->model->declarations[input->declaration];
  const char *id = input->owner->option->id;
  input->row = book->row++;
  put_item_labels(
      book, input->row,
      input->shared ? of->label
                    : arena_printf(book->arena, "%s, %s", of->label, input->owner->option->label),
      input->shared ? of->name : arena_printf(book->arena, "%s.%s", id, of->name), of->unit.text);
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
    if (!input_is_shared(book, &book->sheets->options[o], declaration))
      continue;
    struct input input = {declaration, &book->sheets->options[o], true, -1, -1, 0};
    write_input(book, &input);
    shared_row = input.row;
  }
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (!input_has_row(book, sheet, declaration) || input_is_shared(book, sheet, declaration))
      continue;
    struct input input = {declaration, sheet, false, -1, shared_row, 0};
    write_input(book, &input);
  }
}

static bool any_has_row(struct book *book, int declaration) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (input_has_row(book, &book->sheets->options[o], declaration))
      return true;
  return false;
}

// A value of the timeline, or its equivalent in USD.
static bool is_of_year(const struct model *model, int declaration) {
  return model->declarations[model_named(model, declaration)].year_of >= 0;
}

static void write_groups(struct book *book) {
  const struct model *model = book->scenario->model;
  for (int g = 0; g < model->group_count; g++) {
    bool headed = false;
    for (int d = 0; d < model->count; d++) {
      const struct declaration *input = &model->declarations[d];
      if (input->kind != DECLARATION_INPUT || input->group != g || is_of_year(model, d) ||
          !any_has_row(book, d))
        continue;
      if (!headed)
        put_heading(book, book->row++, last_column(book), model->groups[g].label);
      headed = true;
      write_declaration(book, d);
    }
  }
}

// ---- the timeline: inputs that are lists, those of each step below a heading of their own

struct timeline_row {
  struct written_input written; // its declaration is the input that the list belongs to
  bool shared;
  int shared_row; // of the same list, or -1
};

static void write_year(struct book *book, const struct timeline_row *timeline, int year) {
  const struct written_input *row = &timeline->written;
  const struct input input = {row->years[year - 1], row->option, timeline->shared, row->row,
                              timeline->shared_row, year};
  if (input_is_read(row->option, input.declaration)) {
    write_live(book, &input);
    write_cases(book, &input);
    validate(book, &input);
  } else {
    const double value = written_year(book, row, year, book->scenario->selected);
    const struct unit *unit = &book->scenario->model->declarations[row->years[0]].unit;
    put_formula_in(
        book, row->row, live_column(&input), value,
        formats_figure(&book->formats, CELL_FORMULA, formats_decimals(value, unit), unit), "=%s",
        cell_here(book, row->row, live_column(&input) - 1));
  }
}

static bool shares_years(struct book *book, const struct option_sheet *sheet,
                         const struct written_input *row) {
  for (int i = 0; i < row->year_count; i++)
    if (input_is_read(sheet, row->years[i]) && !input_is_shared(book, sheet, row->years[i]))
      return false;
  return input_is_read(sheet, row->years[0]);
}

static void place_years(struct book *book, const struct timeline_row *timeline) {
  const struct written_input *row = &timeline->written;
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    for (int i = 0; i < row->year_count; i++) {
      if (!input_is_read(sheet, row->years[i]) ||
          !(timeline->shared ? shares_years(book, sheet, row) : sheet == row->option))
        continue;
      book_place_name(book, option_name(sheet, row->years[i]), row->row, COLUMN_CASE + i);
      sheet->input_rows[row->years[i]] = row->row;
    }
  }
}

// The names of the cases, and highlighting of what differs from base, including later changes.
static void write_case_rows(struct book *book, const struct written_input *row) {
  const size_t cases = book->scenario->case_count;
  if (cases < 2)
    return;
  for (size_t c = 0; c < cases; c++)
    put_text(book, written_case_row(book, row->row, c), COLUMN_LABEL,
             book->scenario->case_labels[c], TEXT_INDENTED);
  const int base = written_case_row(book, row->row, 0);
  const char *formula = arena_printf(book->arena, "=%s<>%s", cell_here(book, base + 1, COLUMN_CASE),
                                     cell_address(base, COLUMN_CASE, ADDRESS_ROW, book->arena));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)formula,
                                 .format = formats_text(&book->formats, TEXT_CHANGED)};
  put_rule(book, base + 1, COLUMN_CASE, book->row - 1, COLUMN_CASE + row->year_count - 1, &rule);
}

// The simulation's run records only whether a list is still the same.
static void write_years_run(struct book *book, const struct written_input *row,
                            const struct written_columns *columns) {
  const struct model *model = book->scenario->model;
  const struct declaration *list = &model->declarations[model_named(model, row->declaration)];
  const char *same = list->ages ? "by age, from 1 yr" : step_words(list->step_h, book->arena);
  put_text(book, row->row, COLUMN_LIVE, same, TEXT_RIGHT);
  if (book->sheets->simulation)
    put_formula_text(
        book, row->row, run_column(book), same, formats_cell_text(&book->formats, CELL_FORMULA),
        "=IF(%s,\"overwritten\",\"%s\")",
        written_differs(book, row, written_years(book, columns, row, book->scenario->selected)),
        same);
}

static int write_timeline_row(struct book *book, struct timeline_row *timeline) {
  struct written_input *row = &timeline->written;
  const struct declaration *of = &book->scenario->model->declarations[row->declaration];
  const char *id = row->option->option->id;
  const struct written_columns columns = written_columns_of(book);
  const size_t cases = book->scenario->case_count;
  row->row = book->row;
  book->row += 1 + (cases > 1 ? (int)cases : 0);
  put_item_labels(book, row->row,
                  timeline->shared
                      ? of->label
                      : arena_printf(book->arena, "%s, %s", of->label, row->option->option->label),
                  timeline->shared ? of->name : arena_printf(book->arena, "%s.%s", id, of->name),
                  book->scenario->model->declarations[row->years[0]].unit.text);
  for (int year = 1; year <= row->year_count; year++)
    write_year(book, timeline, year);
  written_put(book, &columns, row);
  write_case_rows(book, row);
  write_years_run(book, row, &columns);
  place_years(book, timeline);
  return row->row;
}

static void write_list(struct book *book, int declaration, const int *years, int count) {
  struct timeline_row row = {{NULL, declaration, -1, NULL, years, count}, true, -1};
  const size_t options = book->scenario->option_count;
  int shared_row = -1;
  for (size_t o = 0; o < options && shared_row < 0; o++) {
    row.written.option = &book->sheets->options[o];
    if (shares_years(book, row.written.option, &row.written))
      shared_row = write_timeline_row(book, &row);
  }
  row.shared = false;
  row.shared_row = shared_row;
  for (size_t o = 0; o < options; o++) {
    row.written.option = &book->sheets->options[o];
    if (input_is_read(row.written.option, years[0]) &&
        !shares_years(book, row.written.option, &row.written))
      write_timeline_row(book, &row);
  }
}

// The longest of the lists with a step; NULL: there is none.
static const struct declaration *longest_list(const struct model *model, double step_h) {
  const struct declaration *longest = NULL;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (input->year_count > (longest ? longest->year_count : 0) && input->step_h == step_h)
      longest = input;
  }
  return longest;
}

static void write_timeline_head(struct book *book, const struct declaration *longest) {
  const char *title = arena_printf(book->arena, "Timeline: %s; the last value continues",
                                   step_words(longest->step_h, book->arena));
  const char *headings[] = {title, "Key", "Unit", ""};
  const int values = longest->year_count, source = source_column(book);
  const int row = ++book->row;
  put_header(book, row, headings, 4);
  for (int column = COLUMN_CASE; column < source; column++) {
    const int number = column - COLUMN_CASE + 1;
    put_text(book, row, column,
             number > values
                 ? ""
                 : arena_printf(book->arena, "from %s%s",
                                scenario_value_begins(book->scenario, longest, number, book->arena),
                                number == values ? " on" : ""),
             TEXT_HEADER_RIGHT);
  }
  written_put_provenance_header(book, source, row);
  for (int column = source + WRITTEN_FIELDS; column <= last_column(book); column++)
    put_text(book, row, column, "", TEXT_HEADER);
  book->row++;
}

static void write_lists(struct book *book, double step_h) {
  const struct model *model = book->scenario->model;
  const struct declaration *longest = longest_list(model, step_h);
  if (longest)
    write_timeline_head(book, longest);
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (!input->year_count || input->step_h != step_h)
      continue;
    write_list(book, d, input->years, input->year_count);
    int *in_usd = arena_array(book->arena, (size_t)input->year_count, sizeof *in_usd);
    for (int i = 0; i < input->year_count; i++)
      in_usd[i] = model->declarations[input->years[i]].in_usd;
    if (in_usd[0] >= 0)
      write_list(book, input->in_usd, in_usd, input->year_count);
  }
}

// The next longer step of the lists; the same if there is none.
static double next_step(const struct model *model, double step_h) {
  double next = step_h;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (input->year_count && input->step_h > step_h && (next == step_h || input->step_h < next))
      next = input->step_h;
  }
  return next;
}

static void write_timeline(struct book *book) {
  const struct model *model = book->scenario->model;
  double step_h = 0, written_h = -1;
  while (step_h > written_h) {
    write_lists(book, step_h);
    written_h = step_h;
    step_h = next_step(model, written_h);
  }
}

// One zero cell for everything that does not apply.
static void write_zero(struct book *book) {
  bool used = false;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    for (int d = 0; d < book->scenario->model->count; d++) {
      if (!input_does_not_apply(book, &book->sheets->options[o], d))
        continue;
      struct name *name = option_name(&book->sheets->options[o], d);
      name_place(name, SHEET_INPUTS, book->row, COLUMN_LIVE);
      used |= name->used;
    }
  if (!used)
    return;
  put_item_labels(book, book->row,
                  "Not applicable: rents of purchased hardware, prices of rented hardware",
                  "not_applicable", unit_plain.text);
  put_number(book, book->row++, COLUMN_LIVE, 0, formats_constant(&book->formats, 0, &unit_plain));
}

static void write_constants(struct book *book) {
  put_heading(book, ++book->row, last_column(book), "Constants of the formulas");
  book->row++;
  for (size_t i = 0; i < book->constants.count; i++) {
    const struct constant *constant = &book->constants.list[i];
    if (!constant->name->used)
      continue;
    int row = book->row++;
    put_item_labels(book, row, constant->label, constant->name->text, constant->unit->text);
    put_number(book, row, COLUMN_LIVE, constant->value,
               formats_constant(&book->formats, constant->value, constant->unit));
    name_place(constant->name, SHEET_INPUTS, row, COLUMN_LIVE);
  }
  write_zero(book);
}

static void write_case_choice(struct book *book) {
  const struct scenario *scenario = book->scenario;
  put_text(book, CASE_ROW, 0, "Case shown (select it on Cover)", TEXT_PLAIN);
  put_formula_text(book, CASE_ROW, COLUMN_LIVE, scenario->case_labels[scenario->selected],
                   formats_cell_text(&book->formats, CELL_LINK), "=%s",
                   name_use(book->sheets->case_name));
  put_text(book, INDEX_ROW, 0, "Its column among the cases", TEXT_PLAIN);
  int last = last_case_column(book);
  static const struct unit number = {.text = "case", .counts = true};
  put_formula(book, INDEX_ROW, COLUMN_LIVE, (double)scenario->selected + 1, CELL_FORMULA, &number,
              "=MATCH(%s&\"\",%s:%s,0)", name_use(book->sheets->case_name),
              cell_fixed(book, HEADER_ROW, COLUMN_CASE), cell_fixed(book, HEADER_ROW, last));
  book_place_name(book, book->sheets->case_index, INDEX_ROW, COLUMN_LIVE);
}

const char *inputs_cases(const struct book *book) {
  int last = last_case_column(book);
  return arena_printf(book->arena, "=%s:%s", cell_on(book, SHEET_INPUTS, HEADER_ROW, COLUMN_CASE),
                      cell_fixed(book, HEADER_ROW, last));
}

static void write_head(struct book *book) {
  static const char *const headings[] = {"Input", "Key", "Unit"};
  begin_sheet(book, "Inputs", HEADER_ROW + 1, COLUMN_LABEL + 1);
  put_text(
      book, NOTE_ROW, 0,
      "Overwrite blue cells. A case follows base, in italics, until its own cell is overwritten.",
      TEXT_NOTE);
  write_case_choice(book);
  put_header(book, HEADER_ROW, headings, 3);
  put_text(book, HEADER_ROW, COLUMN_LIVE, "Live", TEXT_HEADER_RIGHT);
  for (size_t c = 0; c < book->scenario->case_count; c++)
    put_text(book, HEADER_ROW, COLUMN_CASE + (int)c, book->scenario->case_labels[c],
             TEXT_HEADER_RIGHT);
  for (int column = last_case_column(book) + 1; column < source_column(book); column++)
    put_text(book, HEADER_ROW, column, "", TEXT_HEADER);
  const struct written_columns columns = written_columns_of(book);
  written_put_header(book, &columns, HEADER_ROW);
  if (book->sheets->simulation)
    put_text(book, HEADER_ROW, run_column(book), "Simulated", TEXT_HEADER_RIGHT);
}

static void write_widths(struct book *book) {
  enum { MOST = 28 }; // a longer label wraps
  const size_t cases = book->scenario->case_count;
  const int last = last_column(book);
  int *widths = arena_array(book->arena, (size_t)last + 1, sizeof *widths);
  memcpy(widths, (const int[]){52, 28, 14, 13}, COLUMN_CASE * sizeof *widths);
  for (int column = COLUMN_CASE; column < source_column(book); column++) {
    const size_t c = (size_t)(column - COLUMN_CASE);
    const int length = c < cases ? (int)strlen(book->scenario->case_labels[c]) + 3 : 1;
    const int shown = length < MOST ? length : MOST;
    const int least = (int)c < timeline_years(book) ? 20 : c < cases ? 13 : 1;
    widths[column] = shown < least ? least : shown;
  }
  memcpy(widths + source_column(book), (const int[]){WRITTEN_SOURCE_WIDTH, 11, 11, 32},
         WRITTEN_FIELDS * sizeof *widths);
  if (book->sheets->simulation)
    widths[run_column(book)] = 13;
  set_widths(book, widths, last + 1, last);
}

// Also highlights what an analyst types into a case later.
static void highlight_overrides(struct book *book, int last_row) {
  if (book->scenario->case_count < 2)
    return;
  int first = HEADER_ROW + 1, last = last_case_column(book);
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
  write_timeline(book);
  compare_runs(book, book->row - 1);
  const struct written_columns columns = written_columns_of(book);
  written_end(book, &columns, HEADER_ROW + 1, book->row - 1);
  if (book->writing) // the first pass finds out which are used
    write_constants(book);
  write_widths(book);
  end_sheet(book, book->row - 1, last_column(book));
}
