// outputs: the sheet Outputs, for its own source files only.
#ifndef PERTOKEN_REPORTS_WORKBOOK_OUTPUTS_H
#define PERTOKEN_REPORTS_WORKBOOK_OUTPUTS_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/book.h"

#include <stddef.h>
#include <xlsxwriter.h>

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

// Whether an option has a series of that name.
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

// The text for a ranked option in the row "Ranked, or why not".
#define VERDICT_RANKED "yes"

// Which of several options are ranked and why the others are not: the row for it among the results
// and, in the workings, what it is derived from.
void place_ranked(struct book *book);
void write_ranked(struct book *book);

// Which option is the cheapest, live. Addresses are absolute.
struct verdict {
  int costs_row, flags_row; // of the ranked options' costs, of the cheapest's flags
  const char *costs;        // those costs, a range in which unranked options have texts
  const char *count;        // how many tie for the cheapest: 0 if fewer than two are ranked
  const char *first;        // the first of them, from 1
  const char *names;        // the answer in the selected case
};

void write_verdict(struct book *book, struct verdict *verdict);

// When the cumulative costs cross the baseline's: its row among the results and, in the workings,
// what it is derived from.
void place_crossings(struct book *book);
void write_crossings(struct book *book);

// The answer's sentence, in parts that the Cover joins; after the results.
void write_words(struct book *book);

// Which options have a price of zero; in the workings.
void write_free(struct book *book);

// The costs that each option leaves out, in the order of the model; in the workings.
void write_missing(struct book *book);

// The number of rows that the charts need, and the charts.
int outputs_chart_rows(const struct book *book);
void insert_charts(struct book *book);
void break_pages(struct book *book, int tables, int years);

#endif
