#include "reports/sheets/inputs_written.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/limits.h"
#include "reports/spreadsheet/names.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// ---- a figure's provenance: none of the texts is blank

static const char *figure_source(const struct figure *figure) {
  if (figure->origin == ORIGIN_DEFAULT)
    return "default of the cost model";
  if (*figure->source)
    return figure->source;
  bool set = origin_layers[figure->origin].is_set;
  return set ? "own assumption, --set" : "own assumption";
}

static const char *figure_grade(const struct figure *figure) {
  bool given = figure->origin != ORIGIN_DEFAULT && figure->origin != ORIGIN_RENT;
  return given ? grade_name(figure->grade) : "default";
}

// YYYY, YYYY-MM or YYYY-MM-DD; a date in another form becomes the last day that it can mean.
static const char *figure_date(const struct figure *figure, struct arena *arena) {
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

// "scenario.ini:12", "data/prices.csv:40", a record's file.
static const char *figure_place(const struct scenario *scenario, const struct figure *figure,
                                int declaration, struct arena *arena) {
  struct place place = figure->place;
  if (place.source && !place.line) { // a record as a whole
    const char *slash = strrchr(place.source->name, '/');
    return slash ? slash + 1 : place.source->name;
  }
  if (!place.source)
    place = scenario->model->declarations[declaration].place;
  if (!place.source)
    return "cost model";
  // The catalogue's path differs between machines and is not informative.
  const char *directory = scenario->catalog->directory, *name = place.source->name;
  const size_t length = strlen(directory);
  if (!strncmp(name, directory, length) && name[length] == '/')
    return arena_printf(arena, "data%s:%d", name + length, place.line);
  return arena_printf(arena, "%s:%d", place.source->name, place.line);
}

// ---- an input in a case

// Columns beside the table, followed by a column for each case of each of these.
enum {
  COLUMN_CHANGED,
  COLUMN_ANYWHERE,
  COLUMN_NUMBER,
  COLUMN_SAID,
  COLUMN_LEAST,
  COLUMN_MOST,
  COLUMN_OUTSIDE,
  COLUMN_WRITTEN
};
enum { KEPT_VALUE = WRITTEN_FIELDS, KEPT_WAS, KEPT };

static const struct unit *unit_of(const struct book *book, const struct written_input *input) {
  return &book->scenario->model->declarations[input->declaration].unit;
}

static bool is_input(const struct written_input *input, int year) {
  return input->option->option->graph->state[input->years[year - 1]] == GRAPH_INPUT;
}

// For a list by year, the year with the weakest grade represents all.
static const struct figure *figure_in(const struct book *book, const struct written_input *input,
                                      size_t which_case) {
  const struct option *option = input->option->option;
  if (!input->year_count)
    return option_figure(book->scenario, option, which_case, input->declaration);
  const struct figure *weakest = option_figure(book->scenario, option, which_case, input->years[0]);
  for (int i = 1; i < input->year_count; i++) {
    const struct figure *figure =
        option_figure(book->scenario, option, which_case, input->years[i]);
    if (is_input(input, i + 1) && figure->grade > weakest->grade)
      weakest = figure;
  }
  return weakest;
}

int written_case_row(const struct book *book, int row, size_t which_case) {
  return book->scenario->case_count > 1 ? row + 1 + (int)which_case : row;
}

static double amount_of_year(const struct written_input *input, int year, size_t which_case) {
  while (!is_input(input, year))
    year--;
  return amount_in(input->option, input->years[year - 1], 0, which_case);
}

double written_year(const struct book *book, const struct written_input *input, int year,
                    size_t which_case) {
  return cell_number(amount_of_year(input, year, which_case),
                     &book->scenario->model->declarations[input->years[0]].unit);
}

static double value_in(const struct book *book, const struct written_input *input,
                       size_t which_case) {
  return cell_number(amount_in(input->option, input->declaration, 0, which_case),
                     unit_of(book, input));
}

// "41500 USD"; of years "2, 1, 1 FTE".
static const char *value_text(const struct book *book, const struct written_input *input,
                              size_t which_case) {
  struct arena *arena = book->arena;
  if (!input->year_count)
    return quantity_text(amount_in(input->option, input->declaration, 0, which_case),
                         unit_of(book, input), arena);
  const struct unit *unit = &book->scenario->model->declarations[input->years[0]].unit;
  const char *list = "", *text = "";
  for (int year = 1; year <= input->year_count; year++) {
    list = *text ? arena_printf(arena, "%s%.*s, ", list, (int)strcspn(text, " "), text) : "";
    text = quantity_text(amount_of_year(input, year, which_case), unit, arena);
  }
  return arena_printf(arena, "%s%s", list, text);
}

// "41500 USD, published, 2026-03, data/prices.csv:9"
static const char *was_text(const struct book *book, const struct written_input *input,
                            size_t which_case) {
  const struct figure *figure = figure_in(book, input, which_case);
  struct arena *arena = book->arena;
  const char *date = figure_date(figure, arena);
  const bool dated = strcmp(date, "-") != 0;
  return arena_printf(arena, "%s, %s%s%s, %s", value_text(book, input, which_case),
                      figure_grade(figure), dated ? ", " : "", dated ? date : "",
                      figure_place(book->scenario, figure, input->declaration, arena));
}

static const char *text_in(const struct book *book, const struct written_input *input, int field,
                           size_t which_case) {
  const struct figure *figure = figure_in(book, input, which_case);
  const char *fixed = scenario_why_fixed(book->scenario, input->declaration, book->arena);
  switch (field) {
  case WRITTEN_SOURCE:
    return fixed ? arena_printf(book->arena, "%s; fixed, as %s", figure_source(figure), fixed)
                 : figure_source(figure);
  case WRITTEN_DATE: return figure_date(figure, book->arena);
  case WRITTEN_GRADE: return figure_grade(figure);
  case WRITTEN_PLACE: return figure_place(book->scenario, figure, input->declaration, book->arena);
  default: return was_text(book, input, which_case);
  }
}

static bool is_same(const struct book *book, const struct written_input *input, int field,
                    size_t which_case) {
  if (field == KEPT_VALUE)
    return value_in(book, input, which_case) == value_in(book, input, 0);
  return !strcmp(text_in(book, input, field, which_case), text_in(book, input, field, 0));
}

const char *written_text(const struct book *book, const struct option_sheet *option,
                         int declaration, int field) {
  const struct written_input input = {.option = option, .declaration = declaration};
  return text_in(book, &input, field, book->scenario->selected);
}

// If a field is the same in all cases, the first represents all.
static bool is_steady(const struct book *book, const struct written_input *input, int field) {
  for (size_t c = 1; c < book->scenario->case_count; c++)
    if (!is_same(book, input, field, c))
      return false;
  return true;
}

static int kept_column(const struct book *book, const struct written_columns *columns, int field,
                       size_t which_case) {
  const size_t cases = book->scenario->case_count;
  return columns->beside + COLUMN_WRITTEN + (int)((size_t)field * cases + which_case);
}

static void keep(struct book *book, const struct written_columns *columns,
                 const struct written_input *input, int field, size_t which_case) {
  const int column = kept_column(book, columns, field, which_case);
  if (field == KEPT_VALUE)
    put_number(
        book, input->row, column, value_in(book, input, which_case),
        formats_figure(&book->formats, CELL_RESULT,
                       formats_decimals(value_in(book, input, which_case), unit_of(book, input)),
                       unit_of(book, input)));
  else
    put_text(book, input->row, column, text_in(book, input, field, which_case), TEXT_PLAIN);
}

// Writes a field as of writing, in every case; returns the formula of its value in the selected
// case.
static const char *put_kept(struct book *book, const struct written_columns *columns,
                            const struct written_input *input, int field) {
  struct arena *arena = book->arena;
  const bool steady = is_steady(book, input, field);
  const size_t cases = steady ? 1 : book->scenario->case_count;
  for (size_t c = 0; c < (field == KEPT_VALUE ? book->scenario->case_count : cases); c++)
    keep(book, columns, input, field, c);
  const char *first =
      cell_address(input->row, kept_column(book, columns, field, 0), ADDRESS_COLUMN, arena);
  if (steady)
    return first;
  return arena_printf(
      arena, "INDEX(%s:%s,1,%s)", first,
      cell_address(input->row, kept_column(book, columns, field, cases - 1), ADDRESS_COLUMN, arena),
      name_use(book->sheets->case_index));
}

// ---- the timeline

static int kept_year_column(const struct book *book, const struct written_columns *columns,
                            int year) {
  return kept_column(book, columns, KEPT, 0) + year - 1;
}

static const char *years_of_row(const struct book *book, int row, int first, int count) {
  return arena_printf(book->arena, "%s:%s", cell_here(book, row, first),
                      cell_here(book, row, first + count - 1));
}

const char *written_years(const struct book *book, const struct written_columns *columns,
                          const struct written_input *input, size_t which_case) {
  return years_of_row(book, written_case_row(book, input->row, which_case),
                      kept_year_column(book, columns, 1), input->year_count);
}

const char *written_differs(const struct book *book, const struct written_input *input,
                            const char *years) {
  return arena_printf(book->arena, "SUMPRODUCT((%s<>%s)*1)>0",
                      years_of_row(book, input->row, COLUMN_CASE, input->year_count), years);
}

static void keep_year(struct book *book, const struct written_columns *columns,
                      const struct written_input *input, int year) {
  const struct unit *unit = &book->scenario->model->declarations[input->years[0]].unit;
  const int column = kept_year_column(book, columns, year);
  const size_t cases = book->scenario->case_count;
  for (size_t c = 0; c < cases; c++)
    put_number(book, written_case_row(book, input->row, c), column,
               written_year(book, input, year, c), formats_cell(&book->formats, CELL_RESULT, unit));
  if (cases > 1)
    put_formula(book, input->row, column, written_year(book, input, year, book->scenario->selected),
                CELL_FORMULA, unit, "=INDEX(%s:%s,%s,1)", cell_here(book, input->row + 1, column),
                cell_here(book, input->row + (int)cases, column),
                name_use(book->sheets->case_index));
}

// Writes the years as of writing, in every case; returns the formula of their value in the selected
// case.
static const char *put_kept_years(struct book *book, const struct written_columns *columns,
                                  const struct written_input *input) {
  for (int year = 1; year <= input->year_count; year++)
    keep_year(book, columns, input, year);
  return years_of_row(book, input->row, kept_year_column(book, columns, 1), input->year_count);
}

// ---- all cases of an input

// The cells of an input's values in all cases, in the columns from `first` on: "E9:G9", or
// "E41:F43" for a list by year, whose cases are rows.
static const char *all_cases(const struct book *book, const struct written_input *input,
                             int first) {
  const size_t cases = book->scenario->case_count;
  int columns = input->year_count ? input->year_count : (int)cases;
  while (input->year_count && !is_input(input, columns))
    columns--;
  const bool below = input->year_count > 0;
  const int top = below ? written_case_row(book, input->row, 0) : input->row;
  const int end = below ? written_case_row(book, input->row, cases - 1) : input->row;
  return arena_printf(book->arena, "%s:%s", cell_here(book, top, first),
                      cell_here(book, end, first + columns - 1));
}

// The cells with those values as originally written.
static const char *all_kept(const struct book *book, const struct written_columns *columns,
                            const struct written_input *input) {
  return all_cases(book, input,
                   input->year_count ? kept_year_column(book, columns, 1)
                                     : kept_column(book, columns, KEPT_VALUE, 0));
}

// Whether it has been overwritten in any case, how many have been down to this row, and what the
// Change log says of it.
static void put_anywhere(struct book *book, const struct written_columns *columns,
                         const struct written_input *input) {
  static const char elsewhere[] = "in a case that is not shown";
  struct typed_rows *typed = &book->sheets->typed;
  const int anywhere = columns->beside + COLUMN_ANYWHERE, number = columns->beside + COLUMN_NUMBER;
  const char *before =
      typed->last ? arena_printf(book->arena, "%s+", cell_here(book, typed->last, number)) : "";
  put_formula(book, input->row, anywhere, 0, CELL_FORMULA, &unit_inputs,
              "=(SUMPRODUCT((%s<>%s)*1)>0)*1", all_cases(book, input, COLUMN_CASE),
              all_kept(book, columns, input));
  put_formula(book, input->row, number, 0, CELL_FORMULA, &unit_inputs, "=%s%s", before,
              cell_here(book, input->row, anywhere));
  put_formula_text(book, input->row, columns->beside + COLUMN_SAID, elsewhere,
                   formats_text(&book->formats, TEXT_PLAIN), "=IF(%s=1,%s,\"%s\")",
                   cell_here(book, input->row, columns->beside + COLUMN_CHANGED),
                   cell_here(book, input->row, columns->provenance + WRITTEN_SOURCE), elsewhere);
}

// The limits of an input, as wide as the values written, which may be outside: rented accelerators
// draw no power.
static struct input_limits limits_written(const struct book *book,
                                          const struct written_input *input) {
  const int years = input->year_count ? input->year_count : 1;
  struct input_limits limits =
      limits_range(book, input->year_count ? input->years[0] : input->declaration);
  for (size_t c = 0; c < book->scenario->case_count; c++)
    for (int year = 1; year <= years; year++) {
      const double value =
          input->year_count ? written_year(book, input, year, c) : value_in(book, input, c);
      limits.above &= value > limits.least;
      limits.least = fmin(limits.least, value);
      limits.most = fmax(limits.most, value);
      limits.whole &= value == round(value);
    }
  return limits;
}

// Whether any of its values, in all cases, is missing, not a number, not whole or outside its
// limits: pasted ones escape the validation. -1 has a power of each number that is whole, and of no
// other; not all spreadsheet programs round each of several cells.
static void put_outside(struct book *book, const struct written_columns *columns,
                        const struct written_input *input) {
  struct arena *arena = book->arena;
  const int declaration = input->year_count ? input->years[0] : input->declaration;
  const struct input_limits limits = limits_written(book, input);
  const struct unit *unit = &book->scenario->model->declarations[declaration].unit;
  const char *cells = all_cases(book, input, COLUMN_CASE), *outside = "";
  const struct {
    double limit;
    const char *beyond;
    int column;
  } sides[] = {{limits.least, limits.above ? "<=" : "<", COLUMN_LEAST},
               {limits.most, ">", COLUMN_MOST}};
  for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
    const int column = columns->beside + sides[i].column;
    if (isinf(sides[i].limit))
      continue;
    put_number(book, input->row, column, sides[i].limit,
               formats_figure(&book->formats, CELL_CONSTANT, formats_decimals(sides[i].limit, unit),
                              unit));
    outside = arena_printf(arena, "%s+SUMPRODUCT((%s%s%s)*1)", outside, cells, sides[i].beyond,
                           cell_here(book, input->row, column));
  }
  if (limits.either)
    outside = arena_printf(arena, "+SUMPRODUCT((%s<>(%s>%s)*1)*1)", cells, cells,
                           cell_here(book, input->row, columns->beside + COLUMN_LEAST));
  const char *wrong = arena_printf(arena, "(COUNT(%s)-COUNT(%s)%s>0)*1",
                                   all_kept(book, columns, input), cells, outside);
  if (limits.whole && !limits.either)
    wrong = arena_printf(arena, "IF(ISNUMBER(SUMPRODUCT((-1)^(%s))),%s,1)", cells, wrong);
  put_formula(book, input->row, columns->beside + COLUMN_OUTSIDE, 0, CELL_FORMULA, &unit_inputs,
              "=%s", wrong);
}

// ---- one row

// Whether the live value has been overwritten.
static void put_changed(struct book *book, const struct written_columns *columns,
                        const struct written_input *input) {
  struct typed_rows *typed = &book->sheets->typed;
  const int changed = columns->beside + COLUMN_CHANGED;
  if (input->year_count)
    put_formula(book, input->row, changed, 0, CELL_FORMULA, &unit_inputs, "=IF(%s,1,0)",
                written_differs(book, input, put_kept_years(book, columns, input)));
  else
    put_formula(book, input->row, changed, 0, CELL_FORMULA, &unit_inputs, "=(%s<>%s)*1",
                input->live, put_kept(book, columns, input, KEPT_VALUE));
  put_anywhere(book, columns, input);
  put_outside(book, columns, input);
  typed->first = typed->last ? typed->first : input->row;
  typed->last = input->row;
}

static void put_field(struct book *book, const struct written_columns *columns,
                      const struct written_input *input, int field, const char *typed) {
  const enum text_format format = field == WRITTEN_SOURCE ? TEXT_INDENTED_WRAPPED : TEXT_PLAIN;
  put_formula_text(
      book, input->row, columns->provenance + field,
      text_in(book, input, field, book->scenario->selected), formats_text(&book->formats, format),
      "=IF(%s=1,%s,%s)",
      cell_address(input->row, columns->beside + COLUMN_CHANGED, ADDRESS_COLUMN, book->arena),
      typed, put_kept(book, columns, input, field));
}

void written_put(struct book *book, const struct written_columns *columns,
                 const struct written_input *input) {
  put_changed(book, columns, input);
  const char *was = put_kept(book, columns, input, KEPT_WAS);
  put_field(book, columns, input, WRITTEN_SOURCE,
            arena_printf(book->arena, "\"overwritten (was \"&%s&\")\"", was));
  put_field(book, columns, input, WRITTEN_DATE, "\"-\"");
  put_field(book, columns, input, WRITTEN_GRADE, "\"assumed\"");
  put_field(book, columns, input, WRITTEN_PLACE, "\"this workbook\"");
}

void written_put_provenance_header(struct book *book, int column, int row) {
  static const char *const provenance[] = {"Source", "Date", "Grade", "From"};
  for (int field = 0; field < WRITTEN_FIELDS; field++)
    put_text(book, row, column + field, provenance[field],
             field == WRITTEN_SOURCE ? TEXT_HEADER_INDENTED : TEXT_HEADER);
}

// What the values of the lists go by.
static const char *values_go_by(const struct book *book) {
  const struct model *model = book->scenario->model;
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].year_count && model->declarations[d].step_h > 0)
      return "year or step";
  return "year";
}

void written_put_header(struct book *book, const struct written_columns *columns, int row) {
  static const char *const beside[COLUMN_WRITTEN] = {
      "Overwritten", "In some case", "So far", "In the Change log", "Least", "Most", "Not allowed"};
  static const char *const kept[KEPT] = {"source", "date", "grade", "from", "value", "in words"};
  book->sheets->typed = (struct typed_rows){
      .changed_column = columns->beside + COLUMN_CHANGED,
      .number_column = columns->beside + COLUMN_NUMBER,
      .said_column = columns->beside + COLUMN_SAID,
      .outside_column = columns->beside + COLUMN_OUTSIDE,
      .source_column = columns->provenance + WRITTEN_SOURCE,
  };
  written_put_provenance_header(book, columns->provenance, row);
  put_headings(book, row, columns->beside, beside, COLUMN_WRITTEN);
  for (int field = 0; field < KEPT; field++)
    for (size_t c = 0; c < book->scenario->case_count; c++)
      put_text(book, row, kept_column(book, columns, field, c),
               arena_printf(book->arena, "As written, %s: %s", kept[field],
                            book->scenario->case_labels[c]),
               TEXT_HEADER);
  for (int year = 1; year <= columns->years; year++)
    put_text(book, row, kept_year_column(book, columns, year),
             arena_printf(book->arena, "As written, %s %d", values_go_by(book), year), TEXT_HEADER);
}

const char *written_cell(const struct book *book, int row, int field) {
  return cell_on(book, SHEET_INPUTS, row,
                 book->sheets->typed.source_column + field - WRITTEN_SOURCE);
}

const char *written_changed(const struct book *book, int row) {
  return cell_on(book, SHEET_INPUTS, row, book->sheets->typed.changed_column);
}

void written_put_not_following(struct book *book, int row) {
  const char *count = written_count(book);
  put_notice(book, row, "",
             arena_printf(book->arena,
                          "IF(%s=0,\"\",\"Inputs overwritten since: \"&%s&\". This sheet does not "
                          "follow them.\")",
                          count, count));
}

static const char *sum_of(const struct book *book, int column) {
  const struct typed_rows *typed = &book->sheets->typed;
  return arena_printf(book->arena, "SUM(%s:%s)", cell_on(book, SHEET_INPUTS, typed->first, column),
                      cell_fixed(book, typed->last, column));
}

const char *written_live_count(const struct book *book) {
  return sum_of(book, book->sheets->typed.changed_column);
}

const char *written_outside(const struct book *book) {
  return sum_of(book, book->sheets->typed.outside_column);
}

const char *written_count(const struct book *book) {
  const struct typed_rows *typed = &book->sheets->typed;
  return cell_on(book, SHEET_INPUTS, typed->last, typed->number_column);
}

void written_end(struct book *book, const struct written_columns *columns, int first, int last) {
  const struct {
    int column, from, to;
    enum text_format format;
  } rules[] = {
      {COLUMN_CHANGED, columns->provenance, columns->provenance + WRITTEN_PLACE, TEXT_CHANGED},
      {COLUMN_OUTSIDE, COLUMN_LABEL, COLUMN_LIVE, TEXT_BAD}};
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    const char *cell =
        cell_address(first, columns->beside + rules[i].column, ADDRESS_COLUMN, book->arena);
    lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                   .value_string = arena_printf(book->arena, "=%s>0", cell),
                                   .format = formats_text(&book->formats, rules[i].format)};
    put_rule(book, first, rules[i].from, last, rules[i].to, &rule);
  }
}
