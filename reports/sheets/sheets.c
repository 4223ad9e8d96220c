// What the sheets of the workbook share.
#include "reports/sheets/sheets.h"

#include "base/arena.h"
#include "base/short_text.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "reports/print/style.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"

#include <string.h>

const struct unit unit_flag = {.text = "flag", .counts = true};
const struct unit unit_inputs = {.text = "inputs", .counts = true};

struct name *option_name(const struct option_sheet *sheet, int declaration) {
  return sheet->graph.names[declaration];
}

const struct unit *shown_unit(const struct option_sheet *sheet, int declaration) {
  static const struct unit whole = {.text = "number", .counts = true};
  const struct unit *unit = &sheet->graph.model.declarations[declaration].unit;
  return sheet->whole[declaration] && !strcmp(unit->text, unit_plain.text) ? &whole : unit;
}

const char *option_name_used(const struct option_sheet *sheet, int declaration) {
  return name_use(option_name(sheet, declaration));
}

double amount_in(const struct option_sheet *sheet, int declaration, int period, size_t which_case) {
  return evaluation_at(sheet->graph.evaluation, declaration, period)[which_case];
}

double shown_value(const struct book *book, const struct option_sheet *sheet, int declaration,
                   int period) {
  const struct unit *unit = &sheet->graph.model.declarations[declaration].unit;
  return amount_in(sheet, declaration, period, book->scenario->selected) / unit_cell_factor(unit);
}

const char *series_cell(const struct book *book, const struct option_sheet *sheet, int declaration,
                        int column) {
  return sheet_address(sheet->tab, sheet->rows[declaration], column, ADDRESS_RELATIVE, book->arena);
}

int longest_periods(const struct scenario *scenario) {
  int most = 1;
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++) {
      const int periods = option_periods(scenario, &scenario->options[o], c);
      most = periods > most ? periods : most;
    }
  return most;
}

// The option with the longest horizon in any case: a heading for all options shows its periods.
static const struct option_sheet *longest_sheet(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  const int most = longest_periods(scenario);
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++)
      if (option_periods(scenario, &scenario->options[o], c) == most)
        return &book->sheets->options[o];
  return book->sheets->options;
}

void put_line(struct book *book, const char *label, const char *text) {
  put_text(book, book->row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(book, book->row++, COLUMN_KEY, text, TEXT_PLAIN);
}

void put_option_value(struct book *book, int row, int column, const struct option_sheet *sheet,
                      int declaration) {
  const struct unit *unit = &sheet->graph.model.declarations[declaration].unit;
  if (graph_is_series(sheet->option->graph, declaration))
    put_formula(book, row, column, shown_value(book, sheet, declaration, 1), CELL_LINK, unit, "=%s",
                series_cell(book, sheet, declaration, COLUMN_PERIOD + 1));
  else
    put_link(book, row, column, option_name(sheet, declaration),
             shown_value(book, sheet, declaration, 0), unit);
}

// The beginning of a period, from the calculation sheet; "" past the horizon.
static void put_period(struct book *book, const struct option_sheet *sheet, int row, int t) {
  const int operating = model_find(book->scenario->model, "operating"), column = COLUMN_PERIOD + t;
  lxw_format *format = formats_text(&book->formats, TEXT_HEADER_RIGHT);
  const char *date = sheet_address(sheet->tab, DATE_ROW, column, ADDRESS_ROW, book->arena);
  if (t && operating >= 0)
    put_formula_text(
        book, row, column,
        amount_in(sheet, operating, t, book->scenario->selected) > 0 ? period_begins(book, t) : "",
        format, "=IF(%s>0,%s,\"\")", series_cell(book, sheet, operating, column), date);
  else
    put_formula_text(book, row, column, period_begins(book, t), format, "=%s", date);
  put_formula_in(book, row + 1, column, t, format, "=%s",
                 sheet_address(sheet->tab, TIME_ROW, column, ADDRESS_ROW, book->arena));
}

int put_periods(struct book *book, int row, const char *title, const char *value) {
  const char *const above[] = {"Period begins", "", "", ""}, *const below[] = {title, "Key",
                                                                               "Unit"};
  const struct option_sheet *longest = longest_sheet(book);
  put_header(book, row, above, sizeof above / sizeof above[0]);
  put_header(book, row + 1, below, sizeof below / sizeof below[0]);
  put_headings(book, row + 1, COLUMN_VALUE, &value, 1);
  for (int t = 0; t < book->scenario->periods; t++)
    put_period(book, longest, row, t);
  return row + 2;
}

void blank_periods(struct book *book, const char *condition, int first, int last) {
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_FORMULA,
                                 .value_string = (char *)condition,
                                 .format = formats_text(&book->formats, TEXT_PAST)};
  put_rule(book, first, COLUMN_PERIOD, last, COLUMN_PERIOD + book->scenario->periods - 1, &rule);
  book->blank_column = COLUMN_PERIOD + longest_periods(book->scenario) + 1;
}

void blank_undated(struct book *book, int head, int last) {
  const char *date = cell_address(head, COLUMN_PERIOD, ADDRESS_ROW, book->arena);
  blank_periods(book, arena_printf(book->arena, "=%s=\"\"", date), head, last);
}

const char *period_begins(const struct book *book, int period) {
  return period ? scenario_period_begins(book->scenario, period, book->arena) : "purchase";
}

void put_workings(struct book *book, int row) {
  put_text(book, row, COLUMN_LABEL, "Workings", TEXT_STRONG);
  put_text(book, row + 1, COLUMN_LABEL,
           "From here on: what the figures and charts above are made of. Not printed.", TEXT_NOTE);
}

int option_width(const struct scenario *scenario) {
  enum { MIN_WIDTH = 15, MAX_WIDTH = 28, MARGIN = 3, FEW = 6 };
  const size_t most = scenario->option_count > FEW ? MIN_WIDTH : MAX_WIDTH; // labels are wrapped
  size_t width = MIN_WIDTH;
  for (size_t o = 0; o < scenario->option_count; o++) {
    size_t needed = (size_t)style_width(scenario->options[o].label) + MARGIN;
    needed = needed < most ? needed : most;
    width = needed > width ? needed : width;
  }
  return (int)width;
}

int put_stamps(struct book *book, int row) {
  const char *text = scenario_lasting_stamp(book->scenario, book->arena);
  if (!*text)
    return row;
  put_text(book, row, 0, text, TEXT_STAMP);
  return row + 1;
}

void put_notice(struct book *book, int row, const char *value, const char *formula) {
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_NO_BLANKS,
                                 .format = formats_text(&book->formats, TEXT_STAMP)};
  put_formula_text(book, row, 0, value, formats_text(&book->formats, TEXT_STRONG), "=%s", formula);
  put_rule(book, row, 0, row, 0, &rule);
}

void put_check_state(struct book *book, int row, int column) {
  static const char good[] = "all pass", bad[] = "a check FAILS";
  put_state(book, row, column,
            arena_printf(book->arena, "=IF(%s=1,\"%s\",\"%s\")", name_use(book->sheets->checks_ok),
                         good, bad),
            good, bad, book->sheets->checks_pass);
}

static const char *abridged_label(const struct book *book, size_t option) {
  enum { MOST = 40, MOST_OF_MANY = 16, FEW = 4 };
  const struct scenario *scenario = book->scenario;
  return text_abridged(scenario->options[option].label,
                       scenario->option_count <= FEW ? MOST : MOST_OF_MANY, book->arena);
}

const char *chart_label(const struct book *book, size_t option) {
  const char *own = abridged_label(book, option);
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (o != option && !strcmp(own, abridged_label(book, o)))
      return book->scenario->options[option].id;
  return own;
}

const char *simulation_state(const struct book *book) {
  return cell_on(book, SHEET_SIMULATION, book->sheets->simulation_rows.state, COLUMN_VALUE);
}

const char *simulation_cheapest(const struct book *book, size_t option) {
  return cell_on(book, SHEET_SIMULATION, book->sheets->simulation_rows.cheapest,
                 COLUMN_VALUE + (int)option);
}
