// faces: the ways in which answers are shown, and what they have in common.
#ifndef PERTOKEN_REPORTS_ANSWERS_FACES_H
#define PERTOKEN_REPORTS_ANSWERS_FACES_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// exact: with all digits and the reasons, for explain.
void terminal_print(const struct scenario *scenario, const struct answers *answers, bool exact,
                    FILE *out, struct arena *arena);
void csv_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
               struct arena *arena);
void json_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
                struct arena *arena);

// Whether the table, or a row or column of it, is shown on a face, or on any of several.
bool table_shown(const struct answer_table *table, enum face face);
bool row_shown(const struct answer_table *table, size_t row, unsigned faces);
bool column_shown(const struct answer_table *table, size_t column, enum face face);

const struct answer_cell *cell_at(const struct answer_table *table, size_t row, size_t column);

// The cell's own unit, or its row's, or its column's; NULL where there is none.
const struct unit *unit_at(const struct answer_table *table, size_t row, size_t column);

// Whether the cell is a number that is there: neither nothing nor words; it may be infinite.
bool cell_has_number(const struct answer_cell *cell);

// "USD/Mtok"; "" for none.
const char *unit_name(const struct unit *unit);

// A base-unit value as the files for machines have it: in the unit, as typed.
double machine_number(double value, const struct unit *unit);

#endif
