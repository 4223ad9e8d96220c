// rows: the rows of Outputs, an option's cells in them, and how its next row is written.
#ifndef PERTOKEN_REPORTS_OUTPUTS_ROWS_H
#define PERTOKEN_REPORTS_OUTPUTS_ROWS_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"

#include <stdbool.h>
#include <stddef.h>

struct share {
  int row;
  const char *label;
  size_t category; // by its place in the cost model
  bool named;      // in the chart's legend
};

struct outputs {
  // Rows that others read, -1 for none. Lists are by option.
  int tokens, period;
  int amounts[RANKING_AMOUNTS]; // 0 for none
  int charts;                   // the first of the rows reserved for them
  int share_ids;                // the options' labels above the shares
  struct share *shares;         // of the cost per token, by category
  int share_count;
  int *cash, *cumulative, *years;
  int *fleet, *demanded, *tokens_served;
  // For the four above, in the workings, if cases differ in their horizons: the lines of the
  // charts, which stay at their last point from the horizon on. NULL: columns show the periods
  // unchanged.
  int *cash_line, *fleet_line, *demanded_line, *served_line;
  int *crossing, *crossing_cost; // against the baseline
  int *points;        // by option, for the chart: two rows of crossing points, one with a text
  int crossing_words; // among the results, if lines are compared
};

int outputs_option_column(size_t option);

// Label, key and unit of the next row; records and returns the row.
int outputs_labels(struct book *book, const char *label, const char *key, const char *unit);

// "$D$7:$F$7": a row across all options.
const char *outputs_all_options(const struct book *book, int row);

// Whether the cases' horizons differ, so that the last periods' columns are empty in some.
bool outputs_horizons_differ(const struct scenario *scenario);

// The series of that name; -1 if the model has none.
int outputs_series(const struct book *book, const char *name);

// Whether an option has that series.
bool outputs_any_series(const struct book *book, const char *name);

// A row's cell for an option, "D$7", and its cell in COLUMN_VALUE, "$D$7".
const char *outputs_cell(const struct book *book, int row, size_t option);
const char *outputs_fixed(const struct book *book, int row);

// The next row with a text or a number in COLUMN_VALUE; returns that cell, "$D$7".
const char *outputs_text(struct book *book, const char *label, const char *key, const char *formula,
                         const char *value);
const char *outputs_count(struct book *book, const char *label, const char *key,
                          const char *formula, double value);

// An option's value of an item in a period of the selected case, as a cell shows it; the item's
// unit.
double outputs_value(const struct book *book, size_t option, const char *item, int period);
const struct unit *outputs_unit(const struct book *book, const char *item);

// A number the way a spreadsheet's FIXED writes it. When numbers are joined to text without it,
// some spreadsheets show what rounding leaves behind.
const char *outputs_number(double value, int decimals, struct arena *arena);

// "|base|dear_power|", in which a formula finds a name; "" for none.
const char *outputs_name_list(const struct texts *names, struct arena *arena);

// For other sheets: an option's label, and its weakest grade that matters.
const char *outputs_label(const struct book *book, const struct option_sheet *sheet);
const char *outputs_grade(const struct book *book, size_t option);

#endif
