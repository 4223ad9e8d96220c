// answer: the answer to a question about buying (audit, fit, route, wait, rent), as data that
// every face shows alike: terminal, CSV, JSON, the sheet Decisions, and explain.
#ifndef PERTOKEN_REPORTS_ANSWERS_ANSWER_H
#define PERTOKEN_REPORTS_ANSWERS_ANSWER_H

#include "model/scenario/scenario.h"
#include "reports/print/format.h"

#include <stdio.h>

// One cell of a table: a text, a number, or nothing.
struct answer_cell {
  const char *text;        // NULL: a number
  double value;            // in base units; NAN with no text: nothing to show
  const struct unit *unit; // of the number; NULL: its column's
  // The cell's live formula on the sheet Decisions, or NULL: a result that was computed once.
  // Between brackets stand references: [h200.tco] an option's item or input, [@2,1] this table's
  // row 2 and column 1 (both from 0), [=5 %] a literal of the column's unit, which gets a named
  // cell on Inputs. No other number but 0, 1 and 100 stands in it. A formula that refers to a cell
  // without one is not written: what it gives is a result, too.
  const char *formula;
};

struct answer_column {
  const char *key;         // "break_even_utilization": the JSON and CSV name
  const char *title;       // "Break-even utilization"
  const struct unit *unit; // of its numbers; NULL: texts, or a unit per cell
};

struct answer_table {
  const char *key, *title;
  const struct answer_column *columns; // the first names the row
  size_t column_count;
  struct answer_cell *cells; // [row_count][column_count]
  size_t row_count;
  const char *note; // a sentence below it, or NULL
};

struct answer {
  const char *kind;     // "rent": the command
  const char *name;     // an identifier, unique within its kind: what explain calls it
  const char *title;    // "Rent or own: mi325x"
  const char *sentence; // the answer, in one or two
  bool no;              // the answer is "no": exit status 1
  struct texts reasons; // how it was got, step by step: what explain shows; sentences
  const struct answer_table *tables;
  size_t table_count;
  struct texts warnings; // sentences without full stop
};

struct answers {
  const struct answer *list;
  size_t count;
};

// Prints what a command answers.
// Table: the scenario's heading, then of each answer its answer, its tables and its warnings.
// Csv: kind, name, table, row (its first cell), column, unit, value: a line per cell.
// Json: { schema 1, scenario { title, case, sha256 }, answers: [ { kind, name, title, answer, no,
// warnings, reasons, tables: { KEY: { units: { COLUMN: unit }, rows: [ { COLUMN: value } ] } } } ]
// }; the unit of a cell of its own is in COLUMN_unit.
// scenario: NULL when there is none.
void answers_print(const struct scenario *scenario, const struct answers *answers,
                   enum output_format format, FILE *out, struct arena *arena);

// Prints an answer with its reasons: what `explain SCENARIO KIND.NAME` says.
void answer_explain(const struct scenario *scenario, const struct answer *answer,
                    enum output_format format, FILE *out, struct arena *arena);

#endif
