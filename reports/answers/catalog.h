// catalog: a catalogue's rows.
#ifndef PERTOKEN_REPORTS_ANSWERS_CATALOG_H
#define PERTOKEN_REPORTS_ANSWERS_CATALOG_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/evidence/catalog.h"
#include "reports/faces/answer.h"

#include <stdbool.h>
#include <stddef.h>

// Which rows of a table to show.
struct catalog_request {
  const char *const *wheres; // [where_count], of which all must hold
  size_t where_count;
  bool latest;     // for each accelerator and model, only those of the newest day
  bool stale;      // those older than 12 months
  bool spread;     // their range instead of the rows themselves
  const char *day; // the day from which age is counted, YYYY-MM-DD
};

// What each table is, how many rows it has, their oldest and newest day, and how many are stale.
// Json: { schema 2, tables: [ { name, about, rows, oldest, newest, stale } ] }. Returns 0, or -1
// after errors.
int catalog_tables_answer(struct catalog *catalog, const char *day, struct answer *answer,
                          struct arena *arena);

// The rows of a catalogue's table that meet all `wheres`: "COLUMN=VALUE" (equal as texts or as
// numbers) or "COLUMN~TEXT" (contains), case-insensitive. "grade" is a column like any other.
//
// A terminal shows the most informative columns; csv and json show all, with numbers in the digits
// in which they were published. Json: { schema 2, rows: [ { COLUMN: value } ] }, a blank cell as
// null.
//
// With `spread`, one row for each accelerator, model and whatever else makes figures comparable,
// such as the unit and the basis of a price: number of rows, low, median and high, oldest and
// newest. Json: { schema 2, figure, spread: [ { COLUMN: value, rows, low, median, high, oldest,
// newest } ] }; an error for a table that has no such figure. Returns 0, or -1 after errors.
int catalog_answer(const struct table *table, const struct catalog_request *request,
                   struct answer *answer, struct arena *arena, struct diagnostics *diagnostics);

#endif
