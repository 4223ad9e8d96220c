// catalog: the shipped tables of accelerators, models, prices, benchmarks, ..., every row with its
// source and date.
//
// A table is read and checked on first use, together with the tables that it refers to.
// data/README.md describes the columns.
#ifndef PERTOKEN_MODEL_EVIDENCE_CATALOG_H
#define PERTOKEN_MODEL_EVIDENCE_CATALOG_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>

struct own_rows;

struct catalog {
  const char *directory;
  struct arena *arena;
  struct diagnostics *diagnostics;
  const struct table *tables[CATALOG_TABLES];  // NULL until read, and after errors
  struct diagnostics findings[CATALOG_TABLES]; // of the reading, kept until the table is needed
  bool tried[CATALOG_TABLES], reported[CATALOG_TABLES];
  const struct own_rows **own; // [own_count]
  size_t own_count;
};

// Reads no table yet. A missing directory is an error. Returns 0 or -1.
int catalog_open(struct catalog *catalog, const char *directory, struct arena *arena,
                 struct diagnostics *diagnostics);

// Adds the rows of the user's own files (own_rows.h) to the shipped ones, before any table is used.
// Every table that the files have rows for is read at once, so that their errors are reported.
// Returns 0 or -1.
int catalog_add_files(struct catalog *catalog, const char *const *paths, size_t count);

// The same for a text; its rows are checked by a later catalog_add_files, possibly of zero files.
int catalog_add_text(struct catalog *catalog, const struct source *source);

// The number of the table's rows that are the user's own.
size_t catalog_own_count(const struct table *table);

// Reads a table. NULL after errors, which are reported once: a file that cannot be read, a missing
// column, a duplicate or blank id, a malformed, infinite or out-of-range number, an unknown kind, a
// dangling reference, a row without source or date or that contradicts itself, and one of the
// user's own with a date after today.
const struct table *catalog_table(struct catalog *catalog, enum catalog_table which);

// The same for a table that is useful but not required: NULL after errors, which are held back
// until catalog_table asks for the table.
const struct table *catalog_glance(struct catalog *catalog, enum catalog_table which);

// The row with an id, or -1.
long catalog_find(const struct table *table, const char *id);

// Whether `name` is in the list in a cell, whose entries are separated by semicolons.
bool catalog_lists(const char *list, const char *name);

// The row of accelerators for a device by its name, as its driver reports it (NVML and CUDA, or
// HIP): "NVIDIA H200". -1 for an unknown name, and for an ambiguous one, such as "NVIDIA GB200",
// which is used in racks and boards of different power.
long catalog_device(const struct table *accelerators, const char *name);

// Follows from the row's kind, see data/README.md. If a TDP is used in place of measured watts, the
// caller must grade it projected.
enum grade catalog_grade(const struct table *table, size_t row);

// The row's as_of; false if blank, which only a claim's may be.
bool catalog_date(const struct table *table, size_t row, struct date *out);

// The fault of a cell of that column, in words; NULL if it has none. A column that no table has
// rules for may contain anything.
const char *catalog_fault(struct catalog *catalog, enum catalog_table which, const char *column,
                          const char *cell);

// Whether the catalogue requires a number in every non-blank cell of the column.
bool catalog_is_number(const struct table *table, const char *column);

#endif
