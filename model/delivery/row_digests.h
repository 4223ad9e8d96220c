// row_digests: a digest of every row and cell of the tables in an archive, so that a change in one
// can be pinpointed even if only the digests were kept.
//
// A table is a file *.csv whose rows each have a unique `id`: the catalogue's, and a user's own
// rows. The text is JSON: for each table its columns in order, and by its id each row's SHA-256 (of
// its cells in that order, with a NUL after each) and the first eight digits of each cell's digest,
// "-" for a blank cell.
#ifndef PERTOKEN_MODEL_DELIVERY_ROW_DIGESTS_H
#define PERTOKEN_MODEL_DELIVERY_ROW_DIGESTS_H

#include "base/arena.h"
#include "base/tar.h"

#include <jansson.h>
#include <stddef.h>

// ROW_REWRITTEN: a file with the same cells, but another order, quoting or line ends.
// ROW_UNREADABLE: a file that is no longer a table.
enum row_change { ROW_CHANGED, ROW_MISSING, ROW_ADDED, ROW_REWRITTEN, ROW_UNREADABLE, ROW_CHANGES };

struct row_difference {
  const char *file;
  const char *row;    // its id; "" if the whole column or file differs
  const char *column; // "" if the whole row or file differs
  enum row_change change;
  const char *found; // the current cell, or why it cannot be read; else ""
  const char *used;  // the inputs that come from the row: "h200.list_price, ..."; "" for none
};

struct row_differences {
  struct row_difference *list;
  size_t count;
};

// The digests of all tables among the members [count]; NULL if there are none.
const char *row_digests_of(const struct tar_member *members, size_t count, struct arena *arena);

// Adds the differences of a changed file from its digests, which are in `digests`, the text as
// JSON; adds nothing for a file without digests. Each row of `digests` is matched once, and then
// removed. All texts are readable.
void row_digests_compare(json_t *digests, const struct tar_member *member,
                         struct row_differences *differences, struct arena *arena);

#endif
