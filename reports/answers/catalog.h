// catalog: a catalogue's rows.
#ifndef PERTOKEN_REPORTS_ANSWERS_CATALOG_H
#define PERTOKEN_REPORTS_ANSWERS_CATALOG_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "reports/answers/answer.h"

#include <stddef.h>

// The rows of a catalogue's table for which all `wheres` hold: "COLUMN=VALUE" (equal as texts or as
// numbers) or "COLUMN~TEXT" (contains); case does not count. "grade" is a column like others.
//
// A terminal shows the most telling columns; csv and json show all, numbers with the digits that
// they were published with. Json: { schema 2, rows: [ { COLUMN: value } ] }, a blank cell as null.
// Returns 0, or -1 after errors.
int catalog_answer(const struct table *table, const char *const *wheres, size_t where_count,
                   struct answer *answer, struct arena *arena, struct diagnostics *diagnostics);

#endif
