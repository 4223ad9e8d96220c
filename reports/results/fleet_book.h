// fleet_book: the findings about a fleet's nodes as an xlsx file: the answer on one sheet, with a
// chart of all nodes for each measure; all nodes, ascending, on another; and, if the answer has
// them, every record on a third.
//
// It holds results of measurements; nothing is live. Equal records give identical bytes: the file
// is dated from SOURCE_DATE_EPOCH, else from 1970.
#ifndef PERTOKEN_REPORTS_RESULTS_FLEET_BOOK_H
#define PERTOKEN_REPORTS_RESULTS_FLEET_BOOK_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "reports/faces/answer.h"
#include "reports/spreadsheet/book.h"

// Sheets of results computed once. `first`: the first sheet; `write` is called for each pass over
// the book, with `pages`.
struct result_book {
  const char *title, *first;
  void (*write)(struct book *book, const void *pages);
  const void *pages;
};

// Writes to a temporary file beside `path` and renames it. Returns 0, or -1 after an error.
int result_book_write(const struct result_book *written, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics);

// Writes an answer of reports/records/fleet.h or acceptance.h, with tables "node_values" (its first
// columns: node, workload or guarantee, measure, value) and, if present, "records"; `title` and
// `sheet` name the findings. The file is a temporary one beside `path` until it is complete.
// Returns 0, or -1 after an error.
int fleet_book_write(const struct answer *answer, const char *title, const char *sheet,
                     const char *path, struct arena *arena, struct diagnostics *diagnostics);

#endif
