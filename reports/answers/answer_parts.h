// answer_parts: what decisions are written with: cells, tables and words.
#ifndef PERTOKEN_REPORTS_ANSWERS_ANSWER_PARTS_H
#define PERTOKEN_REPORTS_ANSWERS_ANSWER_PARTS_H

#include "reports/answers/answer.h"

#include <math.h>

static inline struct decision_cell cell_words(const char *text) {
  return (struct decision_cell){.text = text};
}

static inline struct decision_cell cell_value(double value) {
  return (struct decision_cell){.value = value};
}

// unit: instead of its column's.
static inline struct decision_cell cell_in(double value, const struct unit *unit) {
  return (struct decision_cell){.value = value, .unit = unit};
}

// formula: NULL for a result that was computed once.
static inline struct decision_cell cell_live(double value, const char *formula) {
  return (struct decision_cell){.value = value, .formula = formula};
}

static inline struct decision_cell cell_nothing(void) {
  return (struct decision_cell){.value = NAN};
}

// A table without rows, that has room for so many. The columns are copied.
struct decision_table decision_table_new(const char *key, const char *title,
                                         const struct decision_column *columns, size_t column_count,
                                         size_t room, struct arena *arena);

// The next row of a table, with nothing in its cells.
struct decision_cell *decision_row(struct decision_table *table);

// A unit that stands in the program's text.
const struct unit *unit_known(const char *text, struct arena *arena);

// "1,234,567 USD"; the unit is the report's currency.
const char *money_text(double value, const struct unit *unit, struct arena *arena);

#endif
