#include "model/delivery/row_digests.h"

#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/short_text.h"
#include "base/source.h"
#include "base/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE = 64, SHORT = 8 };

static const char ID[] = "id";

static const char *sha256(const char *bytes, size_t size, struct arena *arena) {
  const struct source source = {"", bytes, size};
  return source_sha256(&source, arena);
}

// The member as a table. *why: what is wrong with it if it is not one, else NULL.
static const struct table *read_table(const struct tar_member *member, const char **why,
                                      struct arena *arena) {
  struct diagnostics heard = {.arena = arena};
  struct source *source = arena_alloc(arena, sizeof *source);
  *source =
      (struct source){member->name, arena_copy_n(arena, member->bytes, member->size), member->size};
  *why = NULL;
  if (source_invalid_utf8(source->text, source->size) || strlen(source->text) != source->size) {
    *why = "not plain text";
    return NULL;
  }
  const struct table *table = csv_read(source, member->name, arena, &heard);
  if (!table)
    *why = arena_printf(arena, "line %d: %s", heard.list[0].place.line, heard.list[0].message);
  else if (table_column(table, ID) < 0)
    *why = "no column 'id'";
  return *why ? NULL : table;
}

// ---- making them

// The digest of a row's cells in the columns at these places, -1 for a missing column.
static const char *row_digest(const struct table *table, size_t row, const int *places,
                              size_t count, struct arena *arena) {
  const char *const *cells = table->cells + row * table->columns;
  size_t size = 0, at = 0;
  for (size_t c = 0; c < count; c++)
    size += places[c] < 0 ? 1 : strlen(cells[places[c]]) + 1;
  char *text = arena_alloc(arena, size + 1);
  for (size_t c = 0; c < count; c++) {
    const char *cell = places[c] < 0 ? "" : cells[places[c]];
    const size_t length = strlen(cell) + 1;
    memcpy(text + at, cell, length);
    at += length;
  }
  return sha256(text, size, arena);
}

static const char *cell_digest(const char *cell, struct arena *arena) {
  return *cell ? arena_copy_n(arena, sha256(cell, strlen(cell), arena), SHORT) : "-";
}

static json_t *row_of(const struct table *table, size_t row, const int *places,
                      struct arena *arena) {
  char *text = arena_alloc(arena, WHOLE + table->columns * (SHORT + 1) + 1);
  char *end = stpcpy(text, row_digest(table, row, places, table->columns, arena));
  for (size_t c = 0; c < table->columns; c++) {
    *end++ = ' ';
    end = stpcpy(end, cell_digest(table->cells[row * table->columns + c], arena));
  }
  return json_string(text);
}

// The digests of a table's rows; NULL if two rows have the same id, or one has none.
static json_t *table_digests(const struct table *table, struct arena *arena) {
  const size_t id = (size_t)table_column(table, ID);
  int *places = arena_array(arena, table->columns, sizeof *places);
  json_t *columns = json_array(), *rows = json_object();
  for (size_t c = 0; c < table->columns; c++) {
    places[c] = (int)c;
    json_array_append_new(columns, json_string(table->column_names[c]));
  }
  for (size_t r = 0; r < table->rows; r++) {
    const char *key = table->cells[r * table->columns + id];
    if (*key)
      json_object_set_new(rows, key, row_of(table, r, places, arena));
  }
  if (json_object_size(rows) == table->rows)
    return json_pack("{s:o, s:o}", "columns", columns, "rows", rows);
  json_decref(columns);
  json_decref(rows);
  return NULL;
}

const char *row_digests_of(const struct tar_member *members, size_t count, struct arena *arena) {
  json_t *all = json_object();
  for (size_t i = 0; i < count; i++) {
    const char *why;
    const struct table *table =
        text_ends_in(members[i].name, ".csv") ? read_table(&members[i], &why, arena) : NULL;
    json_t *digests = table ? table_digests(table, arena) : NULL;
    if (digests)
      json_object_set_new(all, members[i].name, digests);
  }
  char *text = json_object_size(all) ? json_dumps(all, JSON_INDENT(1)) : NULL;
  const char *kept = text ? arena_printf(arena, "%s\n", text) : NULL;
  free(text);
  json_decref(all);
  return kept;
}

// ---- comparing a table with them

struct comparison {
  const char *file;
  const struct table *table;
  json_t *rows;         // those not found yet
  const char **columns; // as packed [count], with their places now, -1: missing
  int *places;
  size_t count;
  bool lacks_columns;
  struct row_differences *differences;
  struct arena *arena;
};

static void add(const struct comparison *comparison, enum row_change change, const char *row,
                const char *column, const char *found) {
  struct row_differences *all = comparison->differences;
  struct arena *arena = comparison->arena;
  all->list = arena_room(arena, all->list, all->count, sizeof *all->list);
  all->list[all->count++] = (struct row_difference){
      comparison->file, text_readable(row, arena),   text_readable(column, arena),
      change,           text_readable(found, arena), ""};
}

static void find_columns(struct comparison *comparison, const json_t *columns) {
  const struct table *table = comparison->table;
  const size_t count = json_array_size(columns);
  comparison->columns = arena_array(comparison->arena, count + 1, sizeof *comparison->columns);
  comparison->places = arena_array(comparison->arena, count + 1, sizeof *comparison->places);
  bool *known = arena_array(comparison->arena, table->columns, sizeof *known);
  for (size_t c = 0; c < count; c++) {
    const char *name = json_string_value(json_array_get(columns, c));
    const int place = name ? table_column(table, name) : -1;
    comparison->columns[c] = name ? name : "";
    comparison->places[c] = place;
    if (place >= 0)
      known[place] = true;
    else
      add(comparison, ROW_MISSING, "", comparison->columns[c], "");
    comparison->lacks_columns |= place < 0;
  }
  comparison->count = count;
  for (size_t c = 0; c < table->columns; c++)
    if (!known[c])
      add(comparison, ROW_ADDED, "", table->column_names[c], "");
}

static bool is_word(const char *word, size_t length, const char *other) {
  return strlen(other) == length && !strncmp(word, other, length);
}

// Eight digits may agree by chance or by design; all 64 of the row's do not.
static void compare_row(const struct comparison *comparison, size_t row, const char *id,
                        const char *packed) {
  const struct table *table = comparison->table;
  const size_t before = comparison->differences->count;
  size_t length = strcspn(packed, " ");
  if (!comparison->lacks_columns &&
      is_word(packed, length,
              row_digest(table, row, comparison->places, comparison->count, comparison->arena)))
    return;
  for (size_t c = 0; c < comparison->count; c++) {
    packed += length;
    packed += *packed == ' ';
    length = strcspn(packed, " ");
    if (comparison->places[c] < 0)
      continue;
    const char *cell = table->cells[row * table->columns + (size_t)comparison->places[c]];
    if (!is_word(packed, length, cell_digest(cell, comparison->arena)))
      add(comparison, ROW_CHANGED, id, comparison->columns[c], cell);
  }
  if (!comparison->lacks_columns && comparison->differences->count == before)
    add(comparison, ROW_CHANGED, id, "", "");
}

static void compare_rows(const struct comparison *comparison) {
  const struct table *table = comparison->table;
  const int column = table_column(table, ID);
  for (size_t r = 0; r < table->rows; r++) {
    const char *id = table->cells[r * table->columns + (size_t)column];
    const char *packed = json_string_value(json_object_get(comparison->rows, id));
    if (packed)
      compare_row(comparison, r, id, packed);
    else
      add(comparison, ROW_ADDED, id, "", "");
    json_object_del(comparison->rows, id);
  }
  const char *id;
  json_t *packed;
  json_object_foreach(comparison->rows, id, packed) {
    add(comparison, ROW_MISSING, id, "", "");
  }
}

void row_digests_compare(json_t *digests, const struct tar_member *member,
                         struct row_differences *differences, struct arena *arena) {
  const json_t *packed = json_object_get(digests, member->name);
  const size_t before = differences->count;
  struct comparison comparison = {.file = member->name,
                                  .rows = json_object_get(packed, "rows"),
                                  .differences = differences,
                                  .arena = arena};
  const char *why;
  if (!comparison.rows)
    return;
  comparison.table = read_table(member, &why, arena);
  if (!comparison.table) {
    add(&comparison, ROW_UNREADABLE, "", "", why);
    return;
  }
  find_columns(&comparison, json_object_get(packed, "columns"));
  compare_rows(&comparison);
  if (differences->count == before)
    add(&comparison, ROW_REWRITTEN, "", "", "");
}
