#include "model/catalog/own_rows.h"

#include "base/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define uthash_malloc(size)       arena_alloc(arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

const char own_rows_table_column[] = "table";

const struct own_rows *own_rows_read(const struct source *source, struct arena *arena,
                                     struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct table *table = csv_read(source, "own rows", arena, diagnostics);
  if (!table)
    return NULL;
  if (table_column(table, own_rows_table_column) < 0) {
    diagnostics_error(diagnostics, table_header_place(table),
                      "expected a column '%s' that names the catalogue table of each row",
                      own_rows_table_column);
    return NULL;
  }
  enum catalog_table *tables = arena_array(arena, table->rows + 1, sizeof *tables);
  for (size_t row = 0; row < table->rows; row++) {
    const char *name = table_cell(table, row, own_rows_table_column);
    tables[row] = catalog_table_named(name);
    if (tables[row] == CATALOG_TABLES)
      diagnostics_error(diagnostics, table_place(table, row, own_rows_table_column),
                        "expected a table of the catalogue, found '%s'%s", name,
                        name_hint(name, catalog_table_names, CATALOG_TABLES, arena));
  }
  if (diagnostics->errors > errors)
    return NULL;
  struct own_rows *own = arena_alloc(arena, sizeof *own);
  *own = (struct own_rows){table, tables};
  return own;
}

size_t own_rows_count(const struct own_rows *own, enum catalog_table which) {
  size_t count = 0;
  for (size_t row = 0; row < own->table->rows; row++)
    count += own->tables[row] == which;
  return count;
}

// A value in a column that the row's table lacks would go unread.
static void check_columns(const struct table *shipped, const struct table *own, size_t row,
                          struct diagnostics *diagnostics) {
  for (size_t c = 0; c < own->columns; c++) {
    const char *name = own->column_names[c];
    if (!*own->cells[row * own->columns + c] || table_column(shipped, name) >= 0 ||
        !strcmp(name, own_rows_table_column))
      continue;
    diagnostics_error(diagnostics, table_place(own, row, name),
                      "'%s' is not a column of the table %s%s", name, shipped->name,
                      name_hint(name, shipped->column_names, shipped->columns, diagnostics->arena));
  }
}

struct table *own_rows_join(struct table *shipped, const struct own_rows *const *own, size_t count,
                            struct arena *arena, struct diagnostics *diagnostics) {
  struct table *joined = shipped;
  for (size_t i = 0; i < count; i++) {
    const struct table *table = own[i]->table;
    size_t *rows = arena_array(arena, table->rows + 1, sizeof *rows), chosen = 0;
    for (size_t row = 0; row < table->rows; row++)
      if ((int)own[i]->tables[row] == shipped->kind) {
        check_columns(shipped, table, row, diagnostics);
        rows[chosen++] = row;
      }
    if (chosen)
      joined = table_with(joined, table, rows, chosen, arena);
  }
  return joined;
}

// The rows about the same thing: the shipped ones, then the user's first one.
struct same_rows {
  const char *key;
  size_t *rows; // [count]
  size_t count;
  bool has_own;
  UT_hash_handle hh;
};

static const char *add_cells(const char *key, const struct table *table, size_t row,
                             const char *const *columns, struct arena *arena) {
  for (size_t i = 0; i < MAX_CATALOG_ALIKE && columns[i]; i++)
    key = arena_printf(arena, "%s%s\n", key, table_cell(table, row, columns[i]));
  return key;
}

// The key by which two rows are about the same thing, ignoring case.
static const char *key_of(const struct table *table, const struct catalog_figure *figure,
                          size_t row, struct arena *arena) {
  const char *key = add_cells("", table, row, figure->alike, arena);
  char *lower = arena_copy(arena, add_cells(key, table, row, figure->same, arena));
  for (char *c = lower; *c; c++)
    *c = (char)tolower((unsigned char)*c);
  return lower;
}

// "pr031 (data/prices.csv:32)"
static const char *name_of(const struct table *table, size_t row, struct arena *arena) {
  const struct place place = table_place(table, row, "id");
  return arena_printf(arena, "%s (%s:%d)", table_cell(table, row, "id"), place.source->name,
                      place.line);
}

static void hold_against(const struct table *table, const struct catalog_figure *figure, size_t row,
                         size_t other, struct arena *arena, struct diagnostics *diagnostics) {
  const char *id = table_cell(table, row, "id"), *there = name_of(table, other, arena);
  if (!figure->name) {
    diagnostics_error(diagnostics, table_place(table, row, "name"),
                      "'%s' is already %s; a figure from another source belongs in the table "
                      "alternates, as a row with that id",
                      table_cell(table, row, "name"), there);
    return;
  }
  double own, shipped;
  if (!table_number(table, row, figure->name, &own) ||
      !table_number(table, other, figure->name, &shipped))
    return;
  const struct place place = table_place(table, row, figure->name);
  if (own < shipped || own > shipped)
    diagnostics_warning(diagnostics, place,
                        "%s contradicts %s: %s is %s there and %s here, from the same source and "
                        "date; both are used",
                        id, there, figure->name, table_cell(table, other, figure->name),
                        table_cell(table, row, figure->name));
  else
    diagnostics_warning(diagnostics, place, "%s repeats %s: both are used", id, there);
}

void own_rows_compare(const struct table *joined, struct arena *arena,
                      struct diagnostics *diagnostics) {
  const struct catalog_figure *figure = catalog_figure((enum catalog_table)joined->kind);
  struct same_rows *index = NULL, *same;
  if ((!figure->name && !figure->same[0]) || !joined->rows || !joined->places[joined->rows - 1].of)
    return;
  for (size_t row = 0; row < joined->rows; row++) {
    const char *key = key_of(joined, figure, row, arena);
    const bool is_own = joined->places[row].of;
    HASH_FIND_STR(index, key, same);
    if (!same) {
      same = arena_alloc(arena, sizeof *same);
      *same = (struct same_rows){.key = key};
      HASH_ADD_KEYPTR(hh, index, same->key, strlen(same->key), same);
    }
    for (size_t i = 0; is_own && i < same->count; i++)
      hold_against(joined, figure, row, same->rows[i], arena, diagnostics);
    if (same->has_own)
      continue;
    same->rows = arena_room(arena, same->rows, same->count, sizeof *same->rows);
    same->rows[same->count++] = row;
    same->has_own = is_own;
  }
}
