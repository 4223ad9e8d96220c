// sheets: what the sheets of a scenario's workbook know about one another, and what they share. The
// sheet that owns a place records it when the book is laid out; sheets that read it may come before
// or after.
//
// Rows and columns count from 0; -1 means none.
#ifndef PERTOKEN_REPORTS_SHEETS_SHEETS_H
#define PERTOKEN_REPORTS_SHEETS_SHEETS_H

#include "model/cost/units.h"
#include "model/questions/sensitivity.h"
#include "model/questions/solve_spread.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/faces/answer.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/names.h"
#include "reports/spreadsheet/row_order.h"
#include "reports/spreadsheet/steps.h"

#include <stdbool.h>
#include <stddef.h>

// Names of sheets that others read; an option's sheet is named after its label.
#define SHEET_SUMMARY     "Summary"
#define SHEET_SCOPE       "Scope and assumptions"
#define SHEET_INPUTS      "Inputs"
#define SHEET_OUTPUTS     "Outputs"
#define SHEET_SENSITIVITY "Sensitivity"
#define SHEET_SIMULATION  "Simulation"
#define SHEET_DECISIONS   "Decisions"
#define SHEET_EVIDENCE    "Evidence"

// Columns of Outputs and of the calculation sheets: a period has one column on all of them.
enum { COLUMN_LABEL, COLUMN_KEY, COLUMN_UNIT, COLUMN_VALUE, COLUMN_PERIOD };

// Columns of Inputs; the cases' columns and those after them follow.
enum { COLUMN_LIVE = 3, COLUMN_CASE };

// On every calculation sheet: the row with the beginnings of the periods, and the row with their
// numbers.
enum { DATE_ROW = 3, TIME_ROW };

// An option's calculation sheet, and where other sheets hold the option's data.
struct option_sheet {
  const struct option *option;
  const char *tab; // the name of the sheet
  struct sheet_graph graph;
  bool *whole;     // [graph.model.count] is it a whole number?
  int *rows;       // [graph.model.count] on the calculation sheet
  int *input_rows; // the same on Inputs, -1 if it has none
  int cash_row;    // on Outputs, with the cash cost per period
  // On Sensitivity: the cost per token at a price of zero, its address and its value; NULL if the
  // price is not negotiated.
  const char *free_cost_cell;
  double free_cost;
  // The address of the cost with no delay of what is late; NULL if nothing is.
  const char *on_time_cost_cell;
};

// Units of what is counted on several sheets; a flag is 1 or 0.
extern const struct unit unit_flag, unit_inputs;

enum answer_part { PART_COST, PART_MARGIN, PART_RANGES, PART_GRADE, ANSWER_PARTS };

// Rows of Outputs that other sheets read: one column per option from COLUMN_VALUE on.
struct output_rows {
  int options, tco, cost, levelised, saving, saving_levelised, grade;
  int first_category, last_category;
  int cheapest;          // COLUMN_VALUE says which options, or why none
  int ranked, why_not;   // for several options: whether each is ranked; why it is not
  int alternative;       // for more than two: what the cheapest of the others costs; 0: not there
  int free;              // COLUMN_VALUE says which option has a price of zero, or nothing
  const char *free_text; // in the selected case
  // COLUMN_VALUE says which option costs least by levelized cost, if that is another; 0: not there.
  int turned;
  const char *turned_text; // in the selected case
  int *not_included; // [option_count]: the costs that it leaves out; -1: it can leave out none
  // The parts of the answer's sentence, in COLUMN_VALUE; row 0 for a missing one.
  struct {
    int row;
    const char *text; // in the selected case
  } words[ANSWER_PARTS];
};

// Rows of Decisions that other sheets read.
struct decision_rows {
  int state;      // in column 1: whether the answers still hold
  int *sentences; // [answers.count], in column 0; their titles are above them
  int workings;   // the case of the run, and below it the sentences
};

// Where Inputs holds the live values, and the simulation run's values beside them.
struct input_area {
  int first_row, last_row, run_column;
};

// Rows of Simulation that other sheets read; an option in each column from COLUMN_VALUE on.
struct simulation_rows {
  int state, differing, case_name, draws;
  int cheapest; // if two options may be ranked
  int words;    // the verdict over the ranges
  int bars;     // the first bar; read by Simulation itself
};

// Where Inputs counts the overwritten inputs: its rows and columns. `number_column` has the running
// count.
struct typed_rows {
  int first, last, changed_column, number_column, said_column, outside_column, source_column;
};

struct sheets {
  const struct ranking *ranking;
  struct option_sheet *options;        // [option_count]
  const struct row_order *order;       // the rows of their calculation sheets
  const struct sensitivity *tornado;   // NULL: there is none
  const struct simulation *simulation; // NULL: there is none
  // [option_count], over the price at which an option costs the same as the other side's; NULL:
  // none
  const struct solve_spread **price_spreads;
  struct answers answers;            // to the scenario's questions
  const struct answer *cases;        // all of them side by side; NULL if there is only one
  struct cost_curves *curves;        // on Sensitivity, see cost_curves.h
  struct equal_shares *equal_shares; // on Sensitivity, see equal_shares.h; NULL: there are none
  struct watts_table *watts;         // on Evidence, by option, see evidence_watts.h
  struct outputs *outputs;           // see reports/outputs/rows.h
  struct output_rows rows;
  struct input_area area;
  struct typed_rows typed;
  int grades_row; // on Sensitivity: in COLUMN_VALUE the first option's weakest grade that matters
  struct simulation_rows simulation_rows;
  struct decision_rows decision_rows;
  struct name *case_name, *case_index, *checks_ok;
  bool checks_pass; // in the selected case
  // What the sheet of that name is for; "" for an unknown one.
  const char *(*about)(const struct book *book, const char *tab);
};

struct name *option_name(const struct option_sheet *sheet, int declaration);

// The text of that name, for a formula: marks the name as used.
const char *option_name_used(const struct option_sheet *sheet, int declaration);

// An amount in base units, in any case; shown_value: in the selected case, as a cell shows it.
double amount_in(const struct option_sheet *sheet, int declaration, int period, size_t which_case);
double shown_value(const struct book *book, const struct option_sheet *sheet, int declaration,
                   int period);

// The unit by which a number is shown: a whole one of no unit has no decimals.
const struct unit *shown_unit(const struct option_sheet *sheet, int declaration);

// "'h200'!F12": an option's series in a period, on the calculation sheet.
const char *series_cell(const struct book *book, const struct option_sheet *sheet, int declaration,
                        int column);

// The next row: a label, and a text beside it.
void put_line(struct book *book, const char *label, const char *text);

// A link to an option's number, or to the value of a series in its first period of operation.
void put_option_value(struct book *book, int row, int column, const struct option_sheet *sheet,
                      int declaration);

// A table's heading of two rows: the beginning of each period, "" past the horizon, and its number.
// Returns the row below.
int put_periods(struct book *book, int row, const char *title, const char *value);

// The number of operating periods in the longest case of any option.
int longest_periods(const struct scenario *scenario);

// Series have columns for horizons longer than the current one: in rows first..last, periods for
// which the formula (written for the first cell) is true look like blank paper. The sheet's columns
// past the longest case are its blank ones.
void blank_periods(struct book *book, const char *condition, int first, int last);

// Periods past the horizon look like blank paper below a heading of put_periods.
void blank_undated(struct book *book, int head, int last);

// "2027-01"; of period 0, "purchase".
const char *period_begins(const struct book *book, int period);

// The width of an option's column in characters, so that its id fits.
int option_width(const struct scenario *scenario);

// An option's label in a chart, abridged, as its axis or legend would else leave no room for the
// plot; or its id, if two would then be the same.
const char *chart_label(const struct book *book, size_t option);

// The heading, of two rows, of what the rows above are computed from: last on a sheet and not
// printed.
void put_workings(struct book *book, int row);

// A warning line under the title if the comparison needs one; returns the next free row.
int put_stamps(struct book *book, int row);

// Words for whether results of a run still hold.
#define STATE_CURRENT "current"
#define STATE_STALE   "stale"

// A text that is only there, in red, if something must be said: `formula` without its "=".
void put_notice(struct book *book, int row, const char *value, const char *formula);

// "all pass" or "a check FAILS", live.
void put_check_state(struct book *book, int row, int column);

// Where Simulation says whether its results still hold, and an option's share of draws in which it
// is the cheapest.
const char *simulation_state(const struct book *book);
const char *simulation_cheapest(const struct book *book, size_t option);

#endif
