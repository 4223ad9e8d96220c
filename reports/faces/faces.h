// faces: the ways in which answers are shown. None knows any command.
#ifndef PERTOKEN_REPORTS_FACES_FACES_H
#define PERTOKEN_REPORTS_FACES_FACES_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
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
// Table: the scenario's heading, then each answer's sentence, tables, notes and warnings.
// Csv: a line for each cell after the first of a row, or for each period of a cell; or a line for
// each row.
// Json: { schema, scenario { title, case, sha256 } } and a document's { answer, no, warnings,
// reasons, notes }, with its tables in the places that they specify; or answers: [ { kind, name,
// title, ... } ], where a table without a place goes into tables: { KEY: { units: { COLUMN: unit },
// rows: [ { COLUMN: value } ] } }; a cell's own unit is in COLUMN_unit.
// scenario: NULL if there is none.
void answers_print(const struct scenario *scenario, const struct answers *answers,
                   enum output_format format, FILE *out, struct arena *arena);

// Prints an answer with its reasons and all digits: `explain SCENARIO KIND.NAME`.
void answer_explain(const struct scenario *scenario, const struct answer *answer,
                    enum output_format format, FILE *out, struct arena *arena);

#endif
