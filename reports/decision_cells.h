// decision_cells: the cells of a decision's tables, in short.
#ifndef PERTOKEN_DECISION_CELLS_H
#define PERTOKEN_DECISION_CELLS_H

#include "reports/decision.h"

#include <math.h>

static inline struct decision_cell cell_words(const char *text) {
  return (struct decision_cell){.text = text};
}

static inline struct decision_cell cell_value(double value) {
  return (struct decision_cell){.value = value};
}

// formula: NULL for a result that was computed once.
static inline struct decision_cell cell_live(double value, const char *formula) {
  return (struct decision_cell){.value = value, .formula = formula};
}

static inline struct decision_cell cell_nothing(void) {
  return (struct decision_cell){.value = NAN};
}

// A unit that stands in the program's text.
static inline const struct unit *unit_known(const char *text, struct arena *arena) {
  struct diagnostics none = {.arena = arena};
  struct unit *unit = arena_alloc(arena, sizeof *unit);
  unit_parse(text, (struct place){0}, unit, arena, &none);
  return unit;
}

#endif
