// inputs_written: where the inputs come from, live. Beside the table of Inputs stands what it said
// when the workbook was written, in every case; a figure that is no longer that one has been typed
// over, and so has its source, its date and its grade.
#ifndef PERTOKEN_REPORTS_WORKBOOK_INPUTS_WRITTEN_H
#define PERTOKEN_REPORTS_WORKBOOK_INPUTS_WRITTEN_H

#include "reports/spreadsheet/book.h"
#include "reports/workbook/sheets.h"

enum { WRITTEN_SOURCE, WRITTEN_DATE, WRITTEN_GRADE, WRITTEN_PLACE, WRITTEN_FIELDS };
enum { WRITTEN_SOURCE_WIDTH = 48 };

// The first column of the live provenance, and that of what it is compared with; years of the longest
// row of the timeline.
struct written_columns {
  int provenance, beside, years;
};

struct written_input {
  const struct option_sheet
      *option; // whose figure it is; of a shared row, the first that shares it
  int declaration;
  int row;
  const char *live; // the name of the live value
  // Of a row of the timeline: the inputs of its years, which stand from COLUMN_CASE on. One that is
  // computed has the value before it.
  const int *years;
  int year_count;
};

// Where a case's values of the timeline stand: with several, each has a row below that of the live
// ones.
int written_case_row(const struct book *book, int row, size_t which_case);

// The value of a year, from 1, as its cell shows it.
double written_year(const struct book *book, const struct written_input *input, int year,
                    size_t which_case);

// The cells of all years as the case had them: "AB63:AD63".
const char *written_years(const struct book *book, const struct written_columns *columns,
                          const struct written_input *input, size_t which_case);

// Whether the live years differ from these, "1" or "0", as the argument of IF.
const char *written_differs(const struct book *book, const struct written_input *input,
                            const char *years);

// Source, date, grade and place, above a table's rows from that column on.
void written_put_provenance_header(struct book *book, int column, int row);

void written_put_header(struct book *book, const struct written_columns *columns, int row);
void written_put(struct book *book, const struct written_columns *columns,
                 const struct written_input *input);

// A field of an input's provenance in the case shown when the workbook is written.
const char *written_text(const struct book *book, const struct option_sheet *option,
                         int declaration, int field);

// The cells of an input's live source, grade..., by its row, for other sheets: "'Inputs'!$K$9".
const char *written_cell(const struct book *book, int row, int field);

// Highlights what is typed over, in rows first..last of the table.
// How many inputs are typed over, "'Inputs'!$N$80".
const char *written_count(const struct book *book);

void written_end(struct book *book, const struct written_columns *columns, int first, int last);

#endif
