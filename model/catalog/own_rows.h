// own_rows: a user's own rows beside the catalogue's, from one CSV file for all tables.
//
// Its column `table` says which table each row belongs to. The other columns are those of the
// tables; a row leaves the columns of other tables blank. A row is checked as a shipped one is.
#ifndef PERTOKEN_MODEL_CATALOG_OWN_ROWS_H
#define PERTOKEN_MODEL_CATALOG_OWN_ROWS_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/catalog/columns.h"

#include <stddef.h>

// The column that names a row's table.
extern const char own_rows_table_column[];

struct own_rows {
  const struct table *table;
  const enum catalog_table *tables; // [table->rows]
};

// Reads a file of the user's own rows. NULL after errors: a file that is not a CSV table, has no
// column `table`, or names an unknown table.
const struct own_rows *own_rows_read(const struct source *source, struct arena *arena,
                                     struct diagnostics *diagnostics);

// The number of rows that belong to the table.
size_t own_rows_count(const struct own_rows *own, enum catalog_table which);

// The shipped table, followed by the files' rows for it. A cell in a column that the table lacks is
// an error.
struct table *own_rows_join(struct table *shipped, const struct own_rows *const *own, size_t count,
                            struct arena *arena, struct diagnostics *diagnostics);

// Compares each of the user's rows with the shipped rows of the same subject and with the user's
// first one. An error: an accelerator or a model of the same name under another id. A warning: a
// figure that differs from that of a row of the same subject, provider and day, or the same row
// twice.
void own_rows_compare(const struct table *joined, struct arena *arena,
                      struct diagnostics *diagnostics);

#endif
