// plan_book: a plan as an xlsx file to hand over: the answer, a one-page purchase calendar, the
// fleet over time and the cash, each with charts.
//
// All of it comes from a search; nothing is live.
#ifndef PERTOKEN_REPORTS_RESULTS_PLAN_BOOK_H
#define PERTOKEN_REPORTS_RESULTS_PLAN_BOOK_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "reports/faces/answer.h"

// Writes an answer of reports/plans/answer.h, to a temporary file beside `path` that is renamed
// when it is complete. Returns 0, or -1 after an error.
int plan_book_write(const struct answer *answer, const char *path, struct arena *arena,
                    struct diagnostics *diagnostics);

#endif
