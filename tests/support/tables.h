// tables: the shipped tables, opened for a test, and directories with some of them replaced.
#ifndef PERTOKEN_TESTS_SUPPORT_TABLES_H
#define PERTOKEN_TESTS_SUPPORT_TABLES_H

#include "model/evidence/catalog.h"

struct tables {
  struct arena arena; // for everything here; free it with arena_free
  struct diagnostics diagnostics;
  struct catalog catalog;
};

// Fails if there is no such directory.
void tables_open(struct tables *tables, const char *directory);

// Fails, and shows the errors, if the table has any.
const struct table *tables_load(struct tables *tables, enum catalog_table which);

// 0 for a blank cell.
double tables_number(const struct table *table, size_t row, const char *column);

// A directory of links to the shipped tables, some of which a test replaces.
struct directory {
  char path[32];
};

enum { DIRECTORY_FILE = 96 }; // bytes of a file's path

void directory_make(struct directory *directory);
void directory_remove(const struct directory *directory);

// The path of a table's file, in `path`.
const char *directory_file(const struct directory *directory, enum catalog_table which,
                           char path[DIRECTORY_FILE]);

void directory_replace(const struct directory *directory, enum catalog_table which,
                       const char *bytes, size_t size);

// The shipped table with the first `old` replaced by `new`.
void directory_edit(const struct directory *directory, enum catalog_table which, const char *old,
                    const char *new);

// Fails unless the error is at this place and contains `message`.
void tables_check_error(const char *what, const struct diagnostic *error, int line, int column,
                        const char *message);

#endif
