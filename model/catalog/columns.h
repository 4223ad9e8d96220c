// columns: the contents of the catalogue's tables: the columns that each must have, what their
// cells must be, and which column is the figure that a row states.
//
// data/README.md describes them.
#ifndef PERTOKEN_MODEL_CATALOG_COLUMNS_H
#define PERTOKEN_MODEL_CATALOG_COLUMNS_H

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
  CATALOG_ALIASES, // other names that people use for an accelerator, a model or a precision
  CATALOG_TABLES
};

// "accelerators", "alternates", "models", ..., "aliases"; the file is DIRECTORY/NAME.csv.
extern const char *const catalog_table_names[CATALOG_TABLES];

// The table with this name, from the command line or a file, or CATALOG_TABLES.
enum catalog_table catalog_table_named(const char *name);

// The rules for a column's cells.
enum catalog_demand {
  CELL_IS_FILLED = 1,
  CELL_IS_NUMBER = 2, // finite
  CELL_IS_NOT_NEGATIVE = 4 | CELL_IS_NUMBER,
  CELL_IS_POSITIVE = 8 | CELL_IS_NUMBER,
  CELL_IS_DATE = 16,
  CELL_IS_KIND = 32,
  CELL_IS_CONFIDENCE = 64,
  CELL_IS_TOKEN_BASIS = 128,
  CELL_IS_ACCELERATOR = 256,    // an id of accelerators
  CELL_IS_MODEL = 512,          // an id of models
  CELL_IS_SPECIFICATION = 1024, // a column of accelerators
  CELL_IS_SHORT_TEXT = 2048,    // as short_text.h says
};

struct catalog_column {
  const char *name;
  unsigned demands;
};

enum { MAX_CATALOG_COLUMNS = 64, MAX_CATALOG_ALIKE = 8 };

// The columns that only this table must have, and those that every table must have; each list ends
// with a name of NULL. Cells may be blank unless FILLED, except in `id`, which table_index checks.
const struct catalog_column *catalog_own_columns(enum catalog_table which);
const struct catalog_column *catalog_common_columns(enum catalog_table which);

// The words of which such a cell must be one; NULL if it may be any.
const char *const *catalog_words(unsigned demands, size_t *count);

// The number that a row states.
struct catalog_figure {
  const char *name;                     // its column; NULL: a row states more than one
  const char *alike[MAX_CATALOG_ALIKE]; // columns that must agree for two figures to be comparable
  const char *same[MAX_CATALOG_ALIKE];  // and also these, for both to be about the same thing
};

const struct catalog_figure *catalog_figure(enum catalog_table which);

#endif
