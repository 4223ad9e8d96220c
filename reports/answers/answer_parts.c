#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"

#include <string.h>

struct answer_table answer_table_new(const char *key, const char *title,
                                     const struct answer_column *columns, size_t column_count,
                                     size_t room, struct arena *arena) {
  struct answer_column *own = arena_array(arena, column_count, sizeof *own);
  memcpy(own, columns, column_count * sizeof *own);
  return (struct answer_table){
      .key = key,
      .title = title,
      .columns = own,
      .column_count = column_count,
      .cells = arena_array(arena, room * column_count + 1, sizeof(struct answer_cell))};
}

struct answer_cell *answer_table_row(struct answer_table *table) {
  struct answer_cell *row = &table->cells[table->row_count++ * table->column_count];
  for (size_t c = 0; c < table->column_count; c++)
    row[c] = cell_nothing();
  return row;
}

const struct unit *unit_known(const char *text, struct arena *arena) {
  struct diagnostics none = {.arena = arena};
  struct unit *unit = arena_alloc(arena, sizeof *unit);
  unit_parse(text, (struct place){0}, unit, arena, &none);
  return unit;
}

const char *money_text(double value, const struct unit *unit, struct arena *arena) {
  return arena_printf(arena, "%s %s", number_fixed(value, 0, arena), unit->text);
}
