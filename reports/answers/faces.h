// faces: the ways in which answers are shown. None knows a command.
#ifndef PERTOKEN_REPORTS_ANSWERS_FACES_H
#define PERTOKEN_REPORTS_ANSWERS_FACES_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"
#include "reports/print/format.h"

#include <stdbool.h>
#include <stdio.h>

// exact: with all digits and the reasons, for explain.
void terminal_print(const struct scenario *scenario, const struct answers *answers, bool exact,
                    FILE *out, struct arena *arena);
void csv_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
               struct arena *arena);
void json_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
                struct arena *arena);

// Prints what a command answers.
// Table: the scenario's heading, then of each answer its sentence, tables, notes and warnings.
// Csv: a line for each cell, or period of a cell, behind the first of a row; or a line for each row.
// Json: { schema, scenario { title, case, sha256 } } and a document's { answer, no, warnings,
// reasons, notes } with its tables where they say; or answers: [ { kind, name, title, ... } ],
// where a table that does not say lies in tables: { KEY: { units: { COLUMN: unit }, rows: [ {
// COLUMN: value } ] } }; the unit of a cell of its own is in COLUMN_unit.
// scenario: NULL when there is none.
void answers_print(const struct scenario *scenario, const struct answers *answers,
                   enum output_format format, FILE *out, struct arena *arena);

// Prints an answer with its reasons and all digits: what `explain SCENARIO KIND.NAME` says.
void answer_explain(const struct scenario *scenario, const struct answer *answer,
                    enum output_format format, FILE *out, struct arena *arena);

#endif
