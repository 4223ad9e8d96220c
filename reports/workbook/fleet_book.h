// fleet_book: a fleet's answer as an xlsx file: what was found on one sheet, with a chart of all nodes for
// each measure, and all nodes, ascending, on another.
//
// Results of measurements stand in it, and nothing is live. Equal records give equal bytes: the file is
// dated from SOURCE_DATE_EPOCH, else from 1970.
#ifndef PERTOKEN_REPORTS_WORKBOOK_FLEET_BOOK_H
#define PERTOKEN_REPORTS_WORKBOOK_FLEET_BOOK_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "reports/answers/answer.h"

// Of an answer of reports/answers/fleet.h. Writes beside `path` and renames. Returns 0, or -1 after an
// error.
int fleet_book_write(const struct answer *answer, const char *path, struct arena *arena,
                     struct diagnostics *diagnostics);

#endif
