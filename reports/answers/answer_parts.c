#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"

#include <string.h>

struct decision_table decision_table_new(const char *key, const char *title,
                                         const struct decision_column *columns, size_t column_count,
                                         size_t room, struct arena *arena) {
  struct decision_column *own = arena_array(arena, column_count, sizeof *own);
  memcpy(own, columns, column_count * sizeof *own);
  return (struct decision_table){
      .key = key,
      .title = title,
      .columns = own,
      .column_count = column_count,
      .cells = arena_array(arena, room * column_count + 1, sizeof(struct decision_cell))};
}

struct decision_cell *decision_row(struct decision_table *table) {
  struct decision_cell *row = &table->cells[table->row_count++ * table->column_count];
  for (size_t c = 0; c < table->column_count; c++)
    row[c] = cell_nothing();
  return row;
}

const struct unit *unit_known(const char *text, struct arena *arena) {
  return unit_constant(text, arena);
}

const char *money_text(double value, const struct unit *unit, struct arena *arena) {
  return arena_printf(arena, "%s %s", number_fixed(value, 0, arena), unit->text);
}
