#include "reports/faces/answer.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

bool note_shown(const struct answer_note *note, enum face face) {
  return !note->faces || note->faces & face;
}

bool table_shown(const struct answer_table *table, enum face face) {
  return !table->faces || table->faces & face;
}

bool row_shown(const struct answer_table *table, size_t row, unsigned faces) {
  return !table->rows || !table->rows[row].faces || table->rows[row].faces & faces;
}

bool column_shown(const struct answer_table *table, size_t column, enum face face) {
  return !table->columns[column].faces || table->columns[column].faces & face;
}

const struct answer_cell *cell_at(const struct answer_table *table, size_t row, size_t column) {
  return &table->cells[row][column];
}

const struct unit *unit_at(const struct answer_table *table, size_t row, size_t column) {
  const struct answer_cell *cell = cell_at(table, row, column);
  if (cell->kind == CELL_CHANGE || cell->kind == CELL_FLAG)
    return NULL;
  if (cell->unit || table->columns[column].unit || !table->rows)
    return cell->unit ? cell->unit : table->columns[column].unit;
  return table->rows[row].unit;
}

bool cell_has_number(const struct answer_cell *cell) {
  if (cell->kind == CELL_PUBLISHED)
    return true;
  return (cell->kind == CELL_PLAIN || cell->kind == CELL_CHANGE) && !cell->text &&
         !isnan(cell->value);
}

const char *cell_placeholder(const struct answer_cell *cell) {
  if (cell->otherwise)
    return cell->otherwise;
  const bool is_infinite =
      cell->kind != CELL_ABSENT && cell->kind != CELL_EMPTY && isinf(cell->value);
  return !is_infinite ? "-" : cell->value > 0 ? "no limit" : "none";
}

const char *unit_name(const struct unit *unit) {
  return unit && strcmp(unit->text, "-") != 0 ? unit->text : "";
}

double machine_number(double value, const struct unit *unit) {
  return unit ? number_in_unit(value, unit) : value;
}

const struct answer *answer_find(const struct answers *answers, const char *name) {
  for (size_t i = 0; i < answers->count; i++)
    if (!strcmp(answers->list[i].name, name))
      return &answers->list[i];
  return NULL;
}
