// answer: what a command answers, as data that every face shows: terminal, CSV, JSON, the sheet
// Decisions, and explain. A builder fills it in (answer_parts.h helps); a face knows no command.
// Everything in it lives in an arena.
#ifndef PERTOKEN_REPORTS_ANSWERS_ANSWER_H
#define PERTOKEN_REPORTS_ANSWERS_ANSWER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "reports/print/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where something is shown; 0 counts as everywhere.
enum face {
  FACE_TERMINAL = 1,
  FACE_CSV = 2,
  FACE_JSON = 4,
  FACE_SHEET = 8,
  FACE_TURNED = 16 // on a terminal, where the table is turned
};

enum cell_kind {
  CELL_PLAIN,     // a text, a number, or nothing
  CELL_ABSENT,    // not there: CSV and JSON leave it out
  CELL_EMPTY,     // absent too, but what would hold it in JSON is there
  CELL_PUBLISHED, // a number as a source wrote it, `text`; JSON has its `value`
  CELL_FLAG,      // true where `value` is not 0
  CELL_COUNT,     // `counts[0]`: a whole number with all its digits
  CELL_COUNTS,    // `counts`: JSON alone has them
  CELL_LIST,      // `list`
  CELL_SERIES,    // `values`: a number for each period from 0, the purchase
  CELL_CHANGE,    // a share with its sign: "+3.2 %"
  CELL_BAR,       // `values`: where a bar begins, ends, and has its mark; shares of its width
  CELL_HISTOGRAM, // `values`: heights of bars, as shares of the highest
};

struct answer_cell {
  enum cell_kind kind;
  const char *text;        // NULL: a number
  double value;            // in base units; NAN with no text: nothing to show
  const struct unit *unit; // of the number; NULL: its row's, or its column's
  const double *values;
  const uint64_t *counts;
  size_t value_count; // of either
  struct texts list;
  const char *grade, *source, *date; // of a figure; NULL where it has none
  const char *otherwise;             // what people read where there is no number; NULL: "-"
  enum emphasis emphasis;            // beyond its row's
  bool starred;                      // a mark that a note explains
  int digits; // so many significant ones, where a column's or row's decimals say too little; 0: those
  // The cell's live formula on the sheet Decisions, or NULL: a result that was computed once.
  // Between brackets stand references: [h200.tco] an option's item or input, [@2,1] this table's
  // row 2 and column 1 (both from 0), [=5 %] a literal of the column's unit, which gets a named
  // cell on Inputs. No other number but 0, 1 and 100 stands in it. A formula that refers to a cell
  // without one is not written: what it gives is a result, too.
  const char *formula;
};

enum column_align { ALIGN_USUAL, ALIGN_LEFT, ALIGN_RIGHT }; // usual: words left, numbers right
enum column_room { ROOM_ANY, ROOM_WIDE, ROOM_NARROW };      // on a terminal with that much room

struct answer_column {
  const char *key;         // "break_even_utilization": the JSON and CSV name
  const char *title;       // "Break-even utilization"
  const struct unit *unit; // of its numbers; NULL: texts, or units of rows or cells
  unsigned faces;
  const char *about; // a further CSV field of the column, such as an option's accelerator
  enum column_align align;
  enum column_room room;
  bool may_cut;     // a terminal without room cuts its texts short
  bool unit_said;   // words say its unit, so that a terminal has none below its heading
  const char *json; // instead of its table's
};

// What is said of a row beyond its cells.
struct answer_row {
  const char *key;         // the JSON and CSV name
  const char *label;       // its first cell
  const struct unit *unit; // of its numbers; NULL: its columns'
  enum emphasis emphasis;
  unsigned faces;
  bool ruled; // begins below a rule
  int depth;  // in a tree: 0 for the root
  // Where rows become columns: the column's title, or NULL for a row that is left out then; where
  // room is short, the least weight goes first, and 0 goes into a table below.
  const char *brief;
  int weight;
  const char *json; // instead of its table's
  bool sourced;     // in JSON an object of value, unit, source, date and grade
};

struct answer_table {
  const char *key, *title;
  struct answer_column *columns; // the first names the row
  size_t column_count;
  struct answer_cell *cells; // [row_count][column_count]
  struct answer_row *rows;   // [row_count], or NULL
  size_t row_count, room;    // room: for so many, before it grows
  struct arena *arena;
  const char *note; // a sentence below it, or NULL
  unsigned faces;
  // How many columns stand in front of the one where a terminal shows the units of rows; 0: rows
  // have none. A table that is too wide then goes on below, unless it turns.
  size_t unit_column;
  bool turns; // with too many columns for a terminal, they become rows
  // Rows are a tree by their depths. A terminal draws it: "first = second  <-  third  fourth".
  // In JSON it lies at `json`, what is below a step in its list of this name.
  const char *branches;
  bool by_columns; // CSV takes column after column
  bool is_wide; // CSV has a line for each row, with the columns' keys above: the answer's only one
  // Where a cell lies in JSON; NULL: in `tables`, with its row. Keys with a point between them; %r
  // is the row's key or first cell, %c the column's, which may be a place itself, and %k the
  // column's as it is; LIST[id=%c] the object of LIST whose id is the column's key, and LIST[#] one
  // for each row: "options[id=%c].items.%r"; a value itself where it stands last. `json_units`: the
  // same for units.
  const char *json, *json_units;
};

// A paragraph below the tables: "Exchange rate: ", "1.1 USD/EUR".
struct answer_note {
  const char *label, *text;
};

// A field of each CSV line: the names differ between commands, the line is the same.
enum csv_what {
  CSV_KIND,
  CSV_NAME,
  CSV_TABLE,
  CSV_ROW,
  CSV_LABEL,
  CSV_COLUMN,
  CSV_ABOUT,
  CSV_CASE,
  CSV_UNIT,
  CSV_PERIOD,
  CSV_VALUE,
  CSV_GRADE
};

struct csv_field {
  const char *name;
  enum csv_what what;
};

struct answer {
  const char *kind;                // "rent": the command
  const char *name;                // an identifier, unique within its kind: what explain calls it
  const char *title;               // "Rent or own: mi325x"; NULL where the scenario's says it
  const struct answer_note *heads; // above it all, where no scenario's heading stands
  size_t head_count;
  const char *sentence;            // the answer, in one or two
  bool no;                         // the answer is "no": exit status 1
  const struct scenario *scenario; // that it was built of; NULL for none
  struct arena *arena;             // that it was built in
  struct texts reasons;            // how it was got, step by step: what explain shows; sentences
  struct answer_table *tables;
  size_t table_count;
  const struct answer_note *notes;
  size_t note_count;
  struct texts warnings; // sentences without full stop
  // Above 0: the answer is JSON's whole document, of that schema, and its places begin at the
  // root. 0: one of a list of answers.
  int schema;
  const struct csv_field *csv; // [csv_count]; NULL: kind, name, table, row, column, unit, value
  size_t csv_count;
};

struct answers {
  const struct answer *list;
  size_t count;
};

// Answers all questions of one kind that a scenario asks. `only`: the name of one of them (--for), or
// NULL. Returns 0 with any number of answers added, or -1 after errors.
typedef int answer_function(const struct scenario *scenario, const char *only,
                            struct answers *answers, struct arena *arena,
                            struct diagnostics *diagnostics);

// The answer of that name, or NULL.
const struct answer *answer_find(const struct answers *answers, const char *name);

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
