// answer_parts: what answers are written with: cells, tables and words.
#ifndef PERTOKEN_REPORTS_ANSWERS_ANSWER_PARTS_H
#define PERTOKEN_REPORTS_ANSWERS_ANSWER_PARTS_H

#include "reports/answers/answer.h"

#include <math.h>

static inline struct answer_cell cell_words(const char *text) {
  return (struct answer_cell){.text = text};
}

static inline struct answer_cell cell_value(double value) {
  return (struct answer_cell){.value = value};
}

// unit: instead of its column's.
static inline struct answer_cell cell_in(double value, const struct unit *unit) {
  return (struct answer_cell){.value = value, .unit = unit};
}

// formula: NULL for a result that was computed once.
static inline struct answer_cell cell_live(double value, const char *formula) {
  return (struct answer_cell){.value = value, .formula = formula};
}

static inline struct answer_cell cell_nothing(void) {
  return (struct answer_cell){.value = NAN};
}

// A table without rows, that has room for so many. The columns are copied.
struct answer_table answer_table_new(const char *key, const char *title,
                                     const struct answer_column *columns, size_t column_count,
                                     size_t room, struct arena *arena);

// The next row of a table, with nothing in its cells.
struct answer_cell *answer_table_row(struct answer_table *table);

// A unit that stands in the program's text.
const struct unit *unit_known(const char *text, struct arena *arena);

// "1,234,567 USD"; the unit is the report's currency.
const char *money_text(double value, const struct unit *unit, struct arena *arena);

#endif
