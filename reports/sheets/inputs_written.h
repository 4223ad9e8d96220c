// inputs_written: where the inputs come from, live. Beside the table of Inputs are its original
// contents, as of writing, in every case; if a figure differs from them, it has been overwritten,
// and so its source, date and grade change as well.
#ifndef PERTOKEN_REPORTS_SHEETS_INPUTS_WRITTEN_H
#define PERTOKEN_REPORTS_SHEETS_INPUTS_WRITTEN_H

#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"

#include <stddef.h>

enum { WRITTEN_SOURCE, WRITTEN_DATE, WRITTEN_GRADE, WRITTEN_PLACE, WRITTEN_FIELDS };
enum { WRITTEN_SOURCE_WIDTH = 48 };

// The first column of the live provenance, and that of the original it is compared with; the number
// of years in the longest row of the timeline.
struct written_columns {
  int provenance, beside, years;
};

struct written_input {
  const struct option_sheet
      *option; // the option whose figure it is; for a shared row, the first that shares it
  int declaration;
  int row;
  const char *live; // the name of the live value
  // For a row of the timeline: the inputs of its years, which are in the columns from COLUMN_CASE
  // on. A computed one has the value before it.
  const int *years;
  int year_count;
};

// The row of a case's values in the timeline: with several cases, each has a row below the live
// one.
int written_case_row(const struct book *book, int row, size_t which_case);

// The value of a year, from 1, as its cell shows it.
double written_year(const struct book *book, const struct written_input *input, int year,
                    size_t which_case);

// The cells of all years as originally written for the case: "AB63:AD63".
const char *written_years(const struct book *book, const struct written_columns *columns,
                          const struct written_input *input, size_t which_case);

// Whether the live years differ from the cells `years`: a condition for IF.
const char *written_differs(const struct book *book, const struct written_input *input,
                            const char *years);

// The headings source, date, grade and place above a table's rows, from that column on.
void written_put_provenance_header(struct book *book, int column, int row);

void written_put_header(struct book *book, const struct written_columns *columns, int row);
void written_put(struct book *book, const struct written_columns *columns,
                 const struct written_input *input);

// A field of an input's provenance in the case selected when the workbook is written.
const char *written_text(const struct book *book, const struct option_sheet *option,
                         int declaration, int field);

// The cells of an input's live source, grade, ..., by its row, for other sheets: "'Inputs'!$K$9".
const char *written_cell(const struct book *book, int row, int field);

// The cell that is 1 if an input's live value has been overwritten, by its row, for other sheets.
const char *written_changed(const struct book *book, int row);

// How many inputs have been overwritten in any case, "'Inputs'!$N$80".
const char *written_count(const struct book *book);

// The notice that overwritten inputs have no effect on the current sheet.
void written_put_not_following(struct book *book, int row);

// How many live values have been overwritten: a formula without its "=".
const char *written_live_count(const struct book *book);

// How many inputs are missing, not numbers or outside their limits in any case: a formula without
// its "=".
const char *written_outside(const struct book *book);

// Highlights overwritten inputs in rows first..last of the table, and values that are not allowed.
void written_end(struct book *book, const struct written_columns *columns, int first, int last);

#endif
