// answer: what a command answers, as data that every face shows: terminal, CSV, JSON, the sheet
// Decisions, and explain. A builder fills it in (parts.h helps); a face knows no command.
// Everything in it lives in an arena.
#ifndef PERTOKEN_REPORTS_FACES_ANSWER_H
#define PERTOKEN_REPORTS_FACES_ANSWER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "reports/print/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where something is shown; 0 means everywhere.
enum face {
  FACE_TERMINAL = 1,
  FACE_CSV = 2,
  FACE_JSON = 4,
  FACE_SHEET = 8,
  FACE_TURNED = 16 // on a terminal, when the table is turned
};

enum cell_kind {
  CELL_PLAIN,     // a text, a number, or empty
  CELL_ABSENT,    // CSV and JSON leave it out
  CELL_EMPTY,     // absent too, but the object or list that would hold it in JSON is there
  CELL_PUBLISHED, // a number as the source wrote it, `text`; JSON has its `value`
  CELL_FLAG,      // true if `value` is not 0
  CELL_COUNT,     // `counts[0]`: an integer with all its digits
  CELL_COUNTS,    // `counts`: JSON only
  CELL_LIST,      // `list`
  CELL_SERIES,    // `values`: a number for each period from 0, the purchase
  CELL_CHANGE,    // a share with its sign: "+3.2 %"
  CELL_BAR,       // `values`: where a bar begins, ends, and has its mark, as shares of its width
  CELL_HISTOGRAM, // `values`: heights of bars, as shares of the highest
};

struct answer_cell {
  enum cell_kind kind;
  enum emphasis emphasis;  // in addition to its row's
  const char *text;        // NULL: a number
  const char *shown;       // shown to people instead of the text; NULL: the text
  const char *brief;       // the same on a terminal, which then explains it; NULL: no other
  double value;            // in base units; NAN without text: nothing to show
  const struct unit *unit; // of the number; NULL: its row's or column's
  union {                  // by its kind
    struct {
      union {
        const double *values;
        const uint64_t *counts;
      };
      size_t value_count;
    };
    struct texts list;
  };
  const char *grade, *source, *date; // of a figure; NULL where it has none
  const char *otherwise;             // shown to people instead of a number; NULL: "-"
  int digits;   // significant digits, if its column or row shows too few; 0: their decimals
  bool starred; // a mark that a note explains
  // The cell's live formula on the sheet Decisions, or NULL: a result computed once. References are
  // in brackets: [h200.tco] an option's item or input, [@2,1] row 2 and column 1 of this table
  // (both from 0), [=5 %] a literal in the column's unit, which gets a named cell on Inputs. It
  // contains no other number but 0, 1 and 100. A formula that refers to a cell without a formula is
  // not written: its value is a result, too.
  const char *formula;
};

enum column_align { ALIGN_USUAL, ALIGN_LEFT, ALIGN_RIGHT }; // usual: words left, numbers right
enum column_room { ROOM_ANY, ROOM_WIDE, ROOM_NARROW };      // on a terminal with that much room

struct answer_column {
  const char *key;         // "break_even_utilization": the JSON and CSV name
  const char *title;       // "Break-even utilization"
  const struct unit *unit; // of its numbers; NULL: texts, or units of rows or cells
  unsigned faces;
  const char *about; // another CSV field of the column, such as an option's accelerator
  enum column_align align;
  enum column_room room;
  bool may_cut;     // a terminal without enough room truncates its texts
  bool unit_said;   // its text states the unit, so a terminal shows none below the heading
  const char *json; // instead of its table's
};

// Properties of a row in addition to its cells.
struct answer_row {
  const char *key;         // the JSON and CSV name
  const char *label;       // its first cell
  const struct unit *unit; // of its numbers; NULL: its columns'
  enum emphasis emphasis;
  unsigned faces;
  bool ruled; // with a rule above it
  int depth;  // in a tree: 0 for the root
  // The column's title if rows become columns, or NULL for a row that is then left out. If room is
  // short, the lowest weight is dropped first; weight 0 goes into a table below.
  const char *brief;
  int weight;
  const char *json; // instead of its table's
  bool sourced;     // an object of value, unit, source, date and grade in JSON
};

struct answer_table {
  const char *key, *title;
  struct answer_column *columns; // the first names the row
  size_t column_count;
  struct answer_cell **cells; // [row_count][column_count]; parts.h adds rows
  struct answer_row *rows;    // [row_count], or NULL
  size_t row_count, room;     // room: pointers to rows
  struct arena *arena;
  const char *note; // a sentence below it, or NULL
  unsigned faces;
  // The number of columns before the one in which a terminal shows the units of rows; 0: rows have
  // none. If the table is too wide, it continues below, unless it turns.
  size_t unit_column;
  bool turns; // if it has too many columns for a terminal, they become rows
  // Rows form a tree by their depths. A terminal draws it: "first = second  <-  third  fourth". In
  // JSON the tree is at `json`, and the children of a step are in its list of this name.
  const char *branches;
  bool by_columns; // CSV goes column by column
  bool is_wide;    // CSV has a line per row below a line of column keys: the answer's only table
  // Where a cell goes in JSON; NULL: into `tables`, with its row. Keys are joined by dots; %r is
  // the row's key or first cell, %c the column's key, which may be a place itself, and %k the
  // column's key unchanged; LIST[id=%c] is the object of LIST whose id is the column's key, and
  // LIST[#] one for each row: "options[id=%c].items.%r"; a value is itself an element if the list
  // comes last. `json_units`: the same for units.
  const char *json, *json_units;
};

// A paragraph below the tables: "Exchange rate: ", "1.1 USD/EUR".
struct answer_note {
  const char *label, *text;
  unsigned faces;
};

// A field of each CSV line: field names differ between commands, the structure of a line does not.
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

// Where figures over draws come from.
struct draws_made {
  uint64_t count, seed;
  enum draw_method method;
};

struct answer {
  const char *kind;          // "rent": the command
  const char *name;          // an identifier, unique within its kind: what explain calls it
  const char *title;         // "Rent or own: mi325x"; NULL if the scenario's title is enough
  struct answer_note *heads; // above everything else, if there is no scenario heading
  size_t head_count;
  const char *sentence;            // the answer, in one or two
  bool no;                         // the answer is "no": exit status 1
  bool undecided;                  // too little evidence for an answer: exit status 4
  const struct scenario *scenario; // that it is about; NULL for none
  const char *stamp;               // what every face must say about what is compared, or ""
  struct arena *arena;             // that it was built in
  struct texts reasons;            // sentences: how it was computed, step by step, for explain
  struct answer_table *tables;
  size_t table_count;
  struct answer_note *notes;
  size_t note_count;
  struct texts warnings; // sentences without full stop
  // Warnings of what it is computed from, the same for all answers of a command: in files for
  // programs only, as people read them on standard error.
  struct texts inherited;
  // Above 0, the answer is the whole JSON document, of that schema, and its places begin at the
  // root. 0: it is one of a list of answers.
  int schema;
  // What programs read as `drawn`; what people read of it is up to the answer. Count 0: no figure
  // is over draws, or the tables have it.
  struct draws_made drawn;
  const struct csv_field *csv; // [csv_count]; NULL: kind, name, table, row, column, unit, value
  size_t csv_count;
};

struct answers {
  const struct answer *list;
  size_t count;
};

// Answers all questions of one kind that a scenario asks. `only`: the name of one of them (--for),
// or NULL. Adds any number of answers. Returns 0, or -1 after errors. Such a function is called
// answer_KIND ("answer_rent"); one that builds a single answer, X_answer ("compare_answer").
typedef int answer_function(const struct scenario *scenario, const char *only,
                            struct answers *answers, struct arena *arena,
                            struct diagnostics *diagnostics);

// The answer of that name, or NULL.
const struct answer *answer_find(const struct answers *answers, const char *name);

// Whether the note, the table, or a row or column of it, is shown on a face, or on any of several.
bool note_shown(const struct answer_note *note, enum face face);
bool table_shown(const struct answer_table *table, enum face face);
bool row_shown(const struct answer_table *table, size_t row, unsigned faces);
bool column_shown(const struct answer_table *table, size_t column, enum face face);

const struct answer_cell *cell_at(const struct answer_table *table, size_t row, size_t column);

// The unit of the cell, its row or its column; NULL if there is none.
const struct unit *unit_at(const struct answer_table *table, size_t row, size_t column);

// Whether the cell holds a number rather than words or nothing; it may be infinite.
bool cell_has_number(const struct answer_cell *cell);

// What people read in a cell that has neither a text nor a finite number.
const char *cell_placeholder(const struct answer_cell *cell);

// "USD/Mtok"; "" for none.
const char *unit_name(const struct unit *unit);

// A base-unit value in the form of files for programs: in the unit as typed.
double machine_number(double value, const struct unit *unit);

#endif
