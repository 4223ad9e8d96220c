// catalog: the shipped tables of accelerators, models, prices, benchmarks, ..., every row of them
// with its source and its date.
//
// A table is read and checked when first asked for, with the tables that it refers to.
// data/README.md describes the columns.
#ifndef PERTOKEN_MODEL_EVIDENCE_CATALOG_H
#define PERTOKEN_MODEL_EVIDENCE_CATALOG_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>

enum catalog_table {
  CATALOG_ACCELERATORS,
  CATALOG_ALTERNATES, // other sources' figures for a cell of accelerators, most of them different
  CATALOG_MODELS,
  CATALOG_THROUGHPUT,
  CATALOG_PRICES,
  CATALOG_POWER,
  CATALOG_OVERHEADS,
  CATALOG_BANDWIDTH,
  CATALOG_CLAIMS, // the only table whose rows may lack a date
  CATALOG_TYPICAL_VALUES,
  CATALOG_API_PRICES,
  CATALOG_CARBON,
  CATALOG_DAY_PROFILES,
  CATALOG_ALIASES, // what else people call an accelerator, a model or a precision
  CATALOG_TABLES
};

// "accelerators", "alternates", "models", ..., "aliases"; the file is DIRECTORY/NAME.csv.
extern const char *const catalog_table_names[CATALOG_TABLES];

struct catalog {
  const char *directory;
  struct arena *arena;
  struct diagnostics *diagnostics;
  const struct table *tables[CATALOG_TABLES];  // NULL until read, and after errors
  struct diagnostics findings[CATALOG_TABLES]; // of the reading, until somebody needs the table
  bool tried[CATALOG_TABLES], reported[CATALOG_TABLES];
};

// Reads nothing yet. A directory that is not there is an error. Returns 0 or -1.
int catalog_open(struct catalog *catalog, const char *directory, struct arena *arena,
                 struct diagnostics *diagnostics);

// NULL after errors, which are reported once: a file that cannot be read, a missing column, a
// duplicate or blank id, a malformed, infinite or out-of-range number, an unknown kind, a
// reference to nothing, a row without source or date.
const struct table *catalog_table(struct catalog *catalog, enum catalog_table which);

// The same where a table is of use but not needed: NULL after errors, which wait to be reported
// until catalog_table asks for it.
const struct table *catalog_glance(struct catalog *catalog, enum catalog_table which);

// The table of a name from the command line, or CATALOG_TABLES.
enum catalog_table catalog_table_named(const char *name);

// The row of an id, or -1.
long catalog_find(const struct table *table, const char *id);

// Whether `name` is one of a list in a cell, with semicolons between.
bool catalog_lists(const char *list, const char *name);

// The row of accelerators that a device of this name is, in the words of its driver (NVML and CUDA,
// or HIP): "NVIDIA H200". -1 for a name that no row has, and for one that says too little, such as
// "NVIDIA GB200", which stands in racks and boards of different power.
long catalog_device(const struct table *accelerators, const char *name);

// Follows from the row's kind, see data/README.md. A TDP that stands in for measured watts is the
// caller's to call projected.
enum grade catalog_grade(const struct table *table, size_t row);

// The row's as_of; false when blank, which only a claim's can be.
bool catalog_date(const struct table *table, size_t row, struct date *out);

// Whether the catalogue demands a number in every cell of the column that is not blank.
bool catalog_is_number(const struct table *table, const char *column);

#endif
