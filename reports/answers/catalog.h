// catalog: `pertoken catalog TABLE`, a catalogue's rows as text, CSV or JSON.
#ifndef PERTOKEN_REPORTS_ANSWERS_CATALOG_H
#define PERTOKEN_REPORTS_ANSWERS_CATALOG_H

#include "base/csv.h"
#include "reports/print/format.h"

#include <stddef.h>
#include <stdio.h>

// Prints the rows of a catalogue's table for which all `wheres` hold: "COLUMN=VALUE" (equal as
// texts or as numbers) or "COLUMN~TEXT" (contains); case does not count. "grade" is a column like
// others.
//
// A table shows the most telling columns in some 100 characters and how many rows there are; csv
// and json show all columns. CSV quotes every cell and puts an apostrophe before a text that a
// spreadsheet would take for a formula; JSON is an array of objects, numbers as numbers, a blank
// cell as null.
// Returns 0, or -1 after errors. That `out` could not be written is the caller's to find by ferror.
int catalog_view_print(const struct table *table, const char *const *wheres, size_t where_count,
                       enum output_format format, FILE *out, struct diagnostics *diagnostics);

#endif
