// evidence_watts: what the meter of an option's record read while idle and under load, on the sheet
// Evidence: how it was measured, a chart compared with the datasheet's TDP, and every reading as a
// fixed result. Outputs has one chart of all options. Nothing is drawn if a record has no readings.
#ifndef PERTOKEN_REPORTS_SHEETS_EVIDENCE_WATTS_H
#define PERTOKEN_REPORTS_SHEETS_EVIDENCE_WATTS_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"

// Rows of one option on Evidence.
struct watts_table {
  const struct option_sheet *option;
  int lines;    // for the chart's lines: two rows of seconds, the mean and the TDP
  int chart;    // the first row reserved for it
  int load;     // the first row of the readings under load
  double end_s; // when the longer window ends
  bool has_tdp;
};

// Whether any option's record has readings under load.
bool watts_shown(const struct book *book);

// "measured: ...", or why nothing is shown for that option.
const char *watts_words(const struct option *option, struct arena *arena);

// Writes how the watts were measured, and keeps space for their chart, from that row on; nothing if
// the option has no readings. Returns the row after it.
int watts_write(struct book *book, const struct option_sheet *sheet, int row,
                struct watts_table *table);

// Writes the readings from that row on, and their chart. Returns the row after the readings.
int watts_write_readings(struct book *book, struct watts_table *table, int row);

// A chart of the readings under load of every option that has them, compared with the TDP; after
// Evidence.
lxw_chart *watts_overview(struct book *book);

#endif
