// outputs: the sheet Outputs, for its own files alone.
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
  lxw_color_t colour;
  bool named; // in the chart's legend
};

struct outputs {
  // Rows that others read, -1 for none. By option where they are lists.
  int tokens, period;
  int amounts[RANKING_AMOUNTS]; // 0 for none
  int charts;           // first of the rows that are kept free for them
  int share_ids;        // the options' ids above the shares
  struct share *shares; // of the cost per token, by category
  int share_count;
  int *cash, *cumulative, *years;
  int *fleet, *demanded, *tokens_served;
  int *crossing, *crossing_cost; // against the baseline
  int *points; // by option, for the chart: two rows of where the lines cross, one that says so
};

int outputs_option_column(size_t option);

// Label, key and unit of the next row, which is returned, and recorded.
int outputs_labels(struct book *book, const char *label, const char *key, const char *unit);

// "$D$7:$F$7": a row over all options.
const char *outputs_all_options(const struct book *book, int row);

// The operating periods of the longest case of any option.
int outputs_periods(const struct scenario *scenario);

// Whether an option has a series of that name.
bool outputs_any_series(const struct book *book, const char *name);

// A row's cell of an option, "D$7", and that of COLUMN_VALUE, "$D$7".
const char *outputs_cell(const struct book *book, int row, size_t option);
const char *outputs_fixed(const struct book *book, int row);

// The next row with a text or a number in COLUMN_VALUE; returns that cell, "$D$7".
const char *outputs_text(struct book *book, const char *label, const char *key, const char *formula,
                         const char *value);
const char *outputs_count(struct book *book, const char *label, const char *key,
                          const char *formula, double value);

// An option's value of an item in a period of the selected case, as a cell shows it; the item's unit.
double outputs_value(const struct book *book, size_t option, const char *item, int period);
const struct unit *outputs_unit(const struct book *book, const char *item);

// As a spreadsheet's FIXED writes a number. Joined to a text without it, numbers show what rounding
// leaves behind in some spreadsheets.
const char *outputs_number(double value, int decimals, struct arena *arena);

// Who is ranked and why the others are not, among the results; nothing of a single option.
void write_ranked(struct book *book);

// Who is the cheapest, live. Addresses are absolute.
struct verdict {
  int costs_row, flags_row; // of the ranked options' costs, of the cheapest's flags
  const char *costs;        // those costs, a range in which the others are texts
  const char *count;        // how many are the cheapest: 0 where fewer than two are ranked
  const char *first;        // the first of them, from 1
  const char *names;        // the answer in the selected case
};

void write_verdict(struct book *book, struct verdict *verdict);

// When the cumulative costs cross the baseline's; after the periods' rows.
void write_crossings(struct book *book);

// The answer's sentence, in parts that the Cover puts together; after the results.
void write_words(struct book *book);

// How many rows of the sheet the charts need, and the charts.
int outputs_chart_rows(const struct book *book);
void insert_charts(struct book *book);
void break_pages(struct book *book, int tables, int years);

#endif
