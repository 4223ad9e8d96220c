#include "reports/outputs/rows.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"

#include <math.h>
#include <stddef.h>

int outputs_option_column(size_t option) {
  return COLUMN_VALUE + (int)option;
}

const char *outputs_all_options(const struct book *book, int row) {
  const int last = outputs_option_column(book->scenario->option_count - 1);
  return arena_printf(book->arena, "%s:%s", cell_fixed(book, row, outputs_option_column(0)),
                      cell_fixed(book, row, last));
}

const char *outputs_cell(const struct book *book, int row, size_t option) {
  return cell_address(row, outputs_option_column(option), ADDRESS_ROW, book->arena);
}

const char *outputs_fixed(const struct book *book, int row) {
  return cell_fixed(book, row, COLUMN_VALUE);
}

double outputs_value(const struct book *book, size_t option, const char *item, int period) {
  return shown_value(book, &book->sheets->options[option], model_find(book->scenario->model, item),
                     period);
}

const struct unit *outputs_unit(const struct book *book, const char *item) {
  return &book->scenario->model->declarations[model_find(book->scenario->model, item)].unit;
}

const char *outputs_number(double value, int decimals, struct arena *arena) {
  const double scale = pow(10, decimals);
  return arena_printf(arena, "%.*f", decimals, round(value * scale) / scale);
}

const char *outputs_name_list(const struct texts *names, struct arena *arena) {
  return names->count ? arena_printf(arena, "|%s|", texts_joined_by(names, "|", arena)) : "";
}

int outputs_labels(struct book *book, const char *label, const char *key, const char *unit) {
  put_labels(book, book->row, label, key, unit);
  return book_place(book, book->row++);
}

const char *outputs_text(struct book *book, const char *label, const char *key, const char *formula,
                         const char *value) {
  const int row = outputs_labels(book, label, key, "-");
  put_formula_text(book, row, COLUMN_VALUE, value, formats_text(&book->formats, TEXT_PLAIN), "%s",
                   formula);
  return outputs_fixed(book, row);
}

const char *outputs_count(struct book *book, const char *label, const char *key,
                          const char *formula, double value) {
  static const struct unit options = {.text = "options", .counts = true};
  const int row = outputs_labels(book, label, key, options.text);
  put_formula(book, row, COLUMN_VALUE, value, CELL_FORMULA, &options, "%s", formula);
  return outputs_fixed(book, row);
}

const char *outputs_label(const struct book *book, const struct option_sheet *sheet) {
  return cell_on(book, SHEET_OUTPUTS, book->sheets->rows.options,
                 outputs_option_column((size_t)(sheet - book->sheets->options)));
}

const char *outputs_grade(const struct book *book, size_t option) {
  return cell_on(book, SHEET_OUTPUTS, book->sheets->rows.grade, outputs_option_column(option));
}

int outputs_series(const struct book *book, const char *name) {
  const int d = model_find(book->scenario->model, name);
  return d >= 0 && book->scenario->model->declarations[d].kind == DECLARATION_SERIES ? d : -1;
}

bool outputs_any_series(const struct book *book, const char *name) {
  const int d = outputs_series(book, name);
  return d >= 0 && scenario_has(book->scenario, d);
}

bool outputs_horizons_differ(const struct scenario *scenario) {
  const int most = longest_periods(scenario);
  bool differ = false;
  for (size_t c = 0; c < scenario->case_count; c++) {
    int longest = 1;
    for (size_t o = 0; o < scenario->option_count; o++) {
      const int periods = option_periods(scenario, &scenario->options[o], c);
      longest = periods > longest ? periods : longest;
    }
    differ |= longest < most;
  }
  return differ;
}
