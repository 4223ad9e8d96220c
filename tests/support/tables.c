#include "tests/support/tables.h"

#include "base/source_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void tables_open(struct tables *tables, const char *directory) {
  *tables = (struct tables){0};
  tables->diagnostics.arena = &tables->arena;
  assert_int_equal(catalog_open(&tables->catalog, directory, &tables->arena, &tables->diagnostics),
                   0);
}

const struct table *tables_load(struct tables *tables, enum catalog_table which) {
  const struct table *table = catalog_table(&tables->catalog, which);
  if (!table) {
    diagnostics_print(&tables->diagnostics, stdout, false);
    fail_msg("%s has errors", catalog_table_names[which]);
  }
  return table;
}

double tables_number(const struct table *table, size_t row, const char *column) {
  double value = 0;
  table_number(table, row, column, &value);
  return value;
}

const char *directory_file(const struct directory *directory, enum catalog_table which,
                           char path[DIRECTORY_FILE]) {
  snprintf(path, DIRECTORY_FILE, "%s/%s.csv", directory->path, catalog_table_names[which]);
  return path;
}

void directory_make(struct directory *directory) {
  strcpy(directory->path, "/tmp/pertoken-catalog-XXXXXX");
  assert_non_null(mkdtemp(directory->path));
  for (int which = 0; which < CATALOG_TABLES; which++) {
    char path[DIRECTORY_FILE], name[64];
    snprintf(name, sizeof name, "data/%s.csv", catalog_table_names[which]);
    char *shipped = realpath(name, NULL);
    assert_non_null(shipped);
    assert_int_equal(symlink(shipped, directory_file(directory, (enum catalog_table)which, path)),
                     0);
    free(shipped);
  }
}

void directory_remove(const struct directory *directory) {
  char path[DIRECTORY_FILE];
  for (int which = 0; which < CATALOG_TABLES; which++)
    remove(directory_file(directory, (enum catalog_table)which, path));
  assert_int_equal(rmdir(directory->path), 0);
}

void directory_replace(const struct directory *directory, enum catalog_table which,
                       const char *bytes, size_t size) {
  char path[DIRECTORY_FILE];
  directory_file(directory, which, path);
  assert_int_equal(unlink(path), 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

void directory_edit(const struct directory *directory, enum catalog_table which, const char *old,
                    const char *new) {
  struct tables f = {0};
  f.diagnostics.arena = &f.arena;
  char path[DIRECTORY_FILE];
  const struct source *source =
      source_read(directory_file(directory, which, path), &f.arena, &f.diagnostics);
  assert_non_null(source);
  const char *found = strstr(source->text, old);
  if (!found)
    fail_msg("%s has no '%s'", path, old);
  const char *text = arena_printf(&f.arena, "%.*s%s%s", (int)(found - source->text), source->text,
                                  new, found + strlen(old));
  directory_replace(directory, which, text, strlen(text));
  arena_free(&f.arena);
}

void tables_check_error(const char *what, const struct diagnostic *error, int line, int column,
                        const char *message) {
  if (error->place.line != line || error->place.column != column ||
      !strstr(error->message, message))
    fail_msg("%s\nexpected %d:%d %s\nfound %d:%d %s", what, line, column, message,
             error->place.line, error->place.column, error->message);
}
