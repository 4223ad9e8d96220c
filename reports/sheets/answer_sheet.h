// answer_sheet: an answer on a sheet: its sentence, warnings and tables. Figures are live if there
// is a closed formula for them; results of a search are gray, as they hold for the inputs of the
// run.
#ifndef PERTOKEN_REPORTS_SHEETS_ANSWER_SHEET_H
#define PERTOKEN_REPORTS_SHEETS_ANSWER_SHEET_H

#include "base/arena.h"
#include "reports/faces/answer.h"
#include "reports/spreadsheet/book.h"

#include <stddef.h>

// The columns that an answer's tables take; no fewer than its sentence needs.
size_t answer_columns(const struct answer *answer);

// One of its notes, with its label.
const char *answer_note_text(const struct answer *answer, size_t note, struct arena *arena);

// The usual widths of that many columns.
void set_answer_widths(struct book *book, size_t columns);

// A whole sheet with an answer that does not follow the inputs, its tables unchanged, from a row
// on; returns the last row and, in tops[table_count] unless NULL, the first row of cells of each
// table. Sentences span `columns`: answer_columns, if these have the usual widths.
int write_answer_sheet(struct book *book, const struct answer *answer, size_t columns, int row,
                       const char *title, int *tops);

// The notes of one answer and the tables of another, below such a sheet's last row, from a row on;
// returns the next row.
int write_answer_end(struct book *book, const struct answer *notes, const struct answer *tables,
                     size_t columns, int row);

// An answer that is shown only as long as it holds.
struct live_answer {
  const char *state; // the cell that says whether it does
  int sentence;      // the row of the current sheet, column 0, with its sentence
  size_t columns;    // that sentences span
};

// The answer, with its notes, from a row of the current sheet on. Returns the row after it.
int write_live_answer(struct book *book, const struct answer *answer,
                      const struct live_answer *live, int row);

#endif
