#include "reports/sheets/weakest_grades.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/resolution/grading.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/cost_columns.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <stdbool.h>
#include <string.h>

// Columns of a figure: its two ends, the cost at each, and the effect on it, as in the tornado;
// then the place of its grade, and that place if the figure matters.
enum {
  COLUMN_LOW = COLUMN_VALUE,
  COLUMN_HIGH,
  COLUMN_AT_LOW,
  COLUMN_AT_HIGH,
  COLUMN_MOVES,
  COLUMN_STRENGTH,
  COLUMN_PLACE
};

static const struct unit place_unit = {.text = "place", .counts = true};

// The grades by their strength; before them, no grade.
enum { PLACES = GRADES + 1 };

struct graded {
  struct book *book;
  const struct option_sheet *option;
  int item;                            // the cost per token
  int declarations[MAX_GRADED], count; // the inputs that have a row on Inputs
  int cost_row, row, all_row; // with the current cost, the first input, the weakest grade of all
  const struct replica *replica;
  const char *order;           // the cells of the grades
  const char *swing, *matters; // the names of the two shares
};

static void find_inputs(struct graded *graded) {
  const struct option *option = graded->option->option;
  graded->count = 0;
  for (size_t i = 0; i < option->graded_count; i++)
    if (graded->option->input_rows[option->graded[i]] >= 0)
      graded->declarations[graded->count++] = option->graded[i];
}

int grades_rows(const struct book *book) {
  return model_cost_item(book->scenario->model) < 0 ? 0 : (int)book->scenario->option_count + 2;
}

const char *grades_cell(const struct book *book, size_t option) {
  return cell_on(book, SHEET_SENSITIVITY, book->sheets->grades_row + (int)option, COLUMN_VALUE);
}

static double amount_of(const struct graded *graded, int declaration) {
  return amount_in(graded->option, declaration, 0, graded->book->scenario->selected);
}

// ---- the effect of each figure

static double end_of(const struct graded *graded, int declaration, bool high) {
  const double value = amount_of(graded, declaration);
  return high ? grading_raised(graded->book->scenario, graded->option->option, declaration, value)
              : value * (1 - GRADE_SWING);
}

// Each end of every figure is a column.
static void lay_out(struct graded *graded, int row) {
  struct book *book = graded->book;
  struct replica_column *columns =
      arena_array(book->arena, 2 * (size_t)graded->count + 1, sizeof *columns);
  graded->cost_row = row + 1;
  graded->row = graded->cost_row + 1;
  graded->all_row = graded->row + graded->count;
  for (int i = 0; i < 2 * graded->count; i++) {
    const int d = graded->declarations[i / 2];
    const bool high = i % 2;
    columns[i] = (struct replica_column){
        d, cell_fixed(book, graded->row + i / 2, high ? COLUMN_HIGH : COLUMN_LOW),
        end_of(graded, d, high),
        arena_printf(book->arena, "%s, %s end", book->scenario->model->declarations[d].label,
                     high ? "high" : "low")};
  }
  graded->replica = replica_new(book, graded->option, graded->item, graded->all_row + 2,
                                COLUMN_PERIOD, columns, 2 * (size_t)graded->count);
}

static const char *place_in_row(const struct graded *graded, int declaration) {
  const int row = graded->option->input_rows[declaration];
  return arena_printf(graded->book->arena, "MATCH(%s,%s,0)",
                      written_cell(graded->book, row, WRITTEN_GRADE), graded->order);
}

// The row with the years that an input is the factor of; NULL if it is not one of a list.
static const char *place_of_years(const struct graded *graded, int declaration) {
  const struct declaration *declarations = graded->book->scenario->model->declarations;
  const int list = declarations[declaration].scale_of;
  return list < 0 ? NULL
                  : place_in_row(
                        graded, option_stated(graded->option->option, declarations[list].years[0]));
}

// The place of an input's grade, live: of a list by year the weaker of its factor's and its years';
// of a rate that is added up, `projected` at best.
static const char *place_formula(const struct graded *graded, int declaration) {
  struct arena *arena = graded->book->arena;
  const char *own = place_in_row(graded, declaration), *years = place_of_years(graded, declaration);
  const enum grade strongest =
      grading_strongest(graded->book->scenario, graded->option->option, declaration);
  if (years)
    return arena_printf(arena, "MAX(%s,%s)", own, years);
  return strongest == GRADE_MEASURED ? own
                                     : arena_printf(arena, "MAX(%s,MATCH(\"%s\",%s,0))", own,
                                                    grade_name(strongest), graded->order);
}

static double moved(const struct graded *graded, int i) {
  return grading_influence(shown_value(graded->book, graded->option, graded->item, 0),
                           replica_value(graded->replica, 2 * (size_t)i),
                           replica_value(graded->replica, 2 * (size_t)i + 1));
}

static bool matters(const struct graded *graded, int i) {
  const struct scenario *scenario = graded->book->scenario;
  const int d = graded->declarations[i];
  return moved(graded, i) >
         grading_matters(scenario, graded->option->option, d, amount_of(graded, d));
}

// The first place is that of no grade.
static int place_of(const struct graded *graded, int declaration) {
  const struct scenario *scenario = graded->book->scenario;
  const struct option *option = graded->option->option;
  const bool stated =
      figure_is_stated(option_figure(scenario, option, scenario->selected, declaration));
  return stated ? 2 + (int)grading_counted(scenario, option, declaration) : 1;
}

static bool is_price(const struct graded *graded, int declaration) {
  return grading_is_price(graded->book->scenario, graded->option->option, declaration);
}

static void write_ends(const struct graded *graded, int i) {
  struct book *book = graded->book;
  const int row = graded->row + i, d = graded->declarations[i];
  const struct unit *unit = &book->scenario->model->declarations[d].unit;
  const char *input = option_name_used(graded->option, d);
  const char *swing = graded->swing;
  put_formula(book, row, COLUMN_LOW, end_of(graded, d, false) / unit_cell_factor(unit),
              CELL_FORMULA, unit, "=%s*(1-%s)", input, swing);
  const double high = end_of(graded, d, true) / unit_cell_factor(unit);
  if (is_price(graded, d))
    put_formula(book, row, COLUMN_HIGH, high, CELL_FORMULA, unit, "=IF(%s=0,1,%s*(1+%s))", input,
                input, swing);
  else
    put_formula(book, row, COLUMN_HIGH, high, CELL_FORMULA, unit, "=%s*(1+%s)", input, swing);
}

static void write_costs(const struct graded *graded, int i) {
  for (size_t k = 0; k < 2; k++)
    replica_put(graded->replica, 2 * (size_t)i + k, graded->row + i, COLUMN_AT_LOW + (int)k);
}

static void write_figure(const struct graded *graded, int i) {
  struct book *book = graded->book;
  const int row = graded->row + i, d = graded->declarations[i];
  const struct declaration *input = &book->scenario->model->declarations[d];
  const char *cost = cell_fixed(book, graded->cost_row, COLUMN_VALUE);
  put_labels(book, row, input->label, input->name, input->unit.text);
  write_ends(graded, i);
  write_costs(graded, i);
  put_formula(book, row, COLUMN_MOVES, moved(graded, i), CELL_FORMULA, &unit_percent,
              "=IF(%s=0,1*(%s<>0),MAX(ABS(SUM(%s)/%s-1),ABS(SUM(%s)/%s-1)))", cost,
              cell_here(book, row, COLUMN_AT_HIGH), cell_here(book, row, COLUMN_AT_LOW), cost,
              cell_here(book, row, COLUMN_AT_HIGH), cost);
  const char *threshold = is_price(graded, d)
                              ? arena_printf(book->arena, "%s*(%s<>0)", graded->matters,
                                             option_name_used(graded->option, d))
                              : graded->matters;
  put_formula(book, row, COLUMN_STRENGTH, place_of(graded, d), CELL_FORMULA, &place_unit, "=%s",
              place_formula(graded, d));
  put_formula(book, row, COLUMN_PLACE, matters(graded, i) ? place_of(graded, d) : 1, CELL_FORMULA,
              &place_unit, "=IF(%s>%s,%s,1)", cell_here(book, row, COLUMN_MOVES), threshold,
              cell_here(book, row, COLUMN_STRENGTH));
}

// The highest place in a column of the figures, of which there is at least one.
static const char *last_place(const struct graded *graded, int column) {
  struct book *book = graded->book;
  return arena_printf(book->arena, "MAX(%s:%s)", cell_here(book, graded->row, column),
                      cell_here(book, graded->all_row - 1, column));
}

// What holds if no figure matters.
static void write_weakest_of_all(const struct graded *graded) {
  struct book *book = graded->book;
  int weakest = 1;
  for (int i = 0; i < graded->count; i++) {
    const int place = place_of(graded, graded->declarations[i]);
    weakest = place > weakest ? place : weakest;
  }
  const char *strengths = last_place(graded, COLUMN_STRENGTH);
  const char *formula =
      arena_printf(book->arena, "MATCH(\"%s\",%s,0)", grade_name(GRADE_ASSUMED), graded->order);
  if (graded->count)
    formula = arena_printf(book->arena, "IF(%s>1,%s,%s)", strengths, strengths, formula);
  put_labels(book, graded->all_row, "Place of the weakest grade of all",
             arena_printf(book->arena, "%s.weakest", graded->option->option->id), place_unit.text);
  put_formula(book, graded->all_row, COLUMN_PLACE, weakest > 1 ? weakest : 2 + (int)GRADE_ASSUMED,
              CELL_FORMULA, &place_unit, "=%s", formula);
}

// Returns the row after an option's calculation.
static int write_figures(struct graded *graded) {
  static const char *const numbers[] = {"Low end", "High end",      "Cost at low", "Cost at high",
                                        "Moves",   "Grade's place", "Place"};
  struct book *book = graded->book;
  const char *const texts[] = {
      arena_printf(book->arena, "%s: which grades matter", graded->option->option->label), "Key",
      "Unit"};
  const struct declaration *cost = &book->scenario->model->declarations[graded->item];
  put_header(book, graded->cost_row - 1, texts, 3);
  put_headings(book, graded->cost_row - 1, COLUMN_LOW, numbers, 7);
  put_labels(book, graded->cost_row, cost->label, cost->name, cost->unit.text);
  put_link(book, graded->cost_row, COLUMN_VALUE, option_name(graded->option, graded->item),
           shown_value(book, graded->option, graded->item, 0), &cost->unit);
  for (int i = 0; i < graded->count; i++)
    write_figure(graded, i);
  write_weakest_of_all(graded);
  replica_write(graded->replica);
  return replica_end(graded->replica) + 1;
}

// ---- the answers

static const char *write_order(struct book *book, int row) {
  put_labels(book, row, "Grades, the strongest first", "grades", "-");
  put_text(book, row, COLUMN_VALUE, "default", TEXT_RIGHT);
  for (int grade = 0; grade < GRADES; grade++)
    put_text(book, row, COLUMN_VALUE + 1 + grade, grade_name((enum grade)grade), TEXT_RIGHT);
  return arena_printf(book->arena, "%s:%s", cell_fixed(book, row, COLUMN_VALUE),
                      cell_fixed(book, row, COLUMN_VALUE + PLACES - 1));
}

static void write_answer(const struct graded *graded, int row) {
  struct book *book = graded->book;
  const struct option *option = graded->option->option;
  const char *all = cell_here(book, graded->all_row, COLUMN_PLACE);
  const char *places = last_place(graded, COLUMN_PLACE);
  put_labels(book, row, arena_printf(book->arena, "Weakest grade that matters, %s", option->label),
             arena_printf(book->arena, "%s.grade", option->id), "-");
  put_formula_text(book, row, COLUMN_VALUE, grade_name(option->headline_grade),
                   formats_text(&book->formats, TEXT_RIGHT), "=INDEX(%s,1,%s)", graded->order,
                   graded->count ? arena_printf(book->arena, "IF(%s>1,%s,%s)", places, places, all)
                                 : all);
}

static const char *share(struct book *book, const char *label, const char *typed, double value) {
  return name_use(constants_literal(&book->constants, "grade", label, typed, value, &unit_percent));
}

int grades_write(struct book *book, int row, int calculations) {
  if (!grades_rows(book))
    return calculations;
  static const char *const headings[] = {"Strength of the evidence", "Key", "Unit", "Grade"};
  struct graded graded = {
      .book = book,
      .item = model_cost_item(book->scenario->model),
      .swing = share(book, "Swing applied to a figure to test whether its grade matters", "swing",
                     GRADE_SWING),
      .matters = share(book, "Change of the cost per token above which it does", "matters",
                       GRADE_MATTERS)};
  put_header(book, row, headings, 3);
  put_headings(book, row, COLUMN_VALUE, headings + 3, 1);
  graded.order = write_order(book, calculations);
  calculations += 2;
  book->sheets->grades_row = book_place(book, row + 1);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    graded.option = &book->sheets->options[o];
    find_inputs(&graded);
    lay_out(&graded, calculations);
    write_answer(&graded, row + 1 + (int)o);
    calculations = write_figures(&graded);
  }
  return calculations;
}
