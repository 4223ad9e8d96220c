// sheets: the sheets of the workbook, and what they know of one another. Places are recorded by the
// sheet that owns them when the book is laid out; who reads them may stand before it or behind it.
//
// Rows and columns count from 0; -1 is none.
#ifndef PERTOKEN_REPORTS_WORKBOOK_SHEETS_H
#define PERTOKEN_REPORTS_WORKBOOK_SHEETS_H

#include "model/questions/sensitivity.h"
#include "model/questions/solve_spread.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/answers/answer.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/names.h"
#include "reports/spreadsheet/steps.h"

#include <stddef.h>

// Names of sheets that others read; an option's is called by its id.
#define SHEET_INPUTS      "Inputs"
#define SHEET_OUTPUTS     "Outputs"
#define SHEET_SENSITIVITY "Sensitivity"
#define SHEET_SIMULATION  "Simulation"
#define SHEET_EVIDENCE    "Evidence"

// Columns of Outputs and of the calculation sheets: a period has one column on all of them.
enum { COLUMN_LABEL, COLUMN_KEY, COLUMN_UNIT, COLUMN_VALUE, COLUMN_PERIOD };

// Columns of Inputs; the cases' columns and those after them follow.
enum { COLUMN_LIVE = 3, COLUMN_CASE };

// The rows of when the periods begin and of their numbers on every calculation sheet.
enum { DATE_ROW = 3, TIME_ROW };

// An option's calculation sheet, and where other sheets hold what is the option's.
struct option_sheet {
  const struct option *option;
  struct sheet_graph graph;
  int *rows;       // [graph.model.count] on the calculation sheet
  int *input_rows; // the same on Inputs, -1 where it has none
  int cash_row;    // on Outputs, of the cash cost per period
  // On Sensitivity: the cost per token at a price of zero, its address and what it shows; NULL
  // where the price is not negotiated.
  const char *free_cost_cell;
  double free_cost;
};

enum answer_part { PART_COST, PART_MARGIN, PART_RANGES, PART_GRADE, ANSWER_PARTS };

// A row of Outputs, for whoever reads it there: one column per option from COLUMN_VALUE on.
struct output_rows {
  int options, tco, cost, levelised, saving, saving_levelised, grade;
  int first_category, last_category;
  int cheapest;        // COLUMN_VALUE says which options are, or why none is
  int ranked, why_not; // of several options: whether each is ranked; why it is not
  // The parts of the answer's sentence, which COLUMN_VALUE holds; row 0 for one that is not there.
  struct {
    int row;
    const char *text; // in the selected case
  } words[ANSWER_PARTS];
};

// Where Inputs holds the live values, and beside them those of the simulation's run.
struct input_area {
  int first_row, last_row, run_column;
};

// Rows of Simulation, for whoever reads it there; an option in each column from COLUMN_VALUE on.
struct simulation_rows {
  int state, differing, case_name, draws;
  int cheapest; // where two options may be ranked
  int words;    // what the verdict is over the ranges
  int bars;     // of the first bar; its own
};

// Where Inputs counts what has been typed over: its rows and the column of the running number.
struct typed_rows {
  int first, last, number_column, source_column;
};

struct sheets {
  const struct ranking *ranking;
  struct option_sheet *options;        // [option_count]
  const struct sensitivity *tornado;   // NULL: there is none
  const struct simulation *simulation; // NULL: there is none
  // [option_count] of the price at which an option costs as much as the other side's; NULL: none
  const struct solve_spread **price_spreads;
  struct answers answers;     // to the scenario's questions
  struct cost_curves *curves; // of Sensitivity, see cost_curves.h
  struct watts_table *watts;  // of Evidence, by option, see evidence_watts.h
  struct outputs *outputs;    // see outputs.h
  struct output_rows rows;
  struct input_area area;
  struct typed_rows typed;
  int grades_row; // of Sensitivity: in COLUMN_VALUE the first option's weakest grade that matters
  struct simulation_rows simulation_rows;
  struct name *case_name, *case_index, *checks_ok;
  bool checks_pass; // in the selected case
};

// One sheet each. What is asked before any is written stands beside it.
void write_cover(struct book *book);
void write_inputs(struct book *book);
void write_calculation(struct book *book, struct option_sheet *sheet);
void write_finance(struct book *book);
void write_outputs(struct book *book);
void write_sensitivity(struct book *book);
void write_simulation(struct book *book);
void write_negotiation(struct book *book);
void write_decisions(struct book *book);
void write_evidence(struct book *book);
void write_checks(struct book *book);
void write_log(struct book *book);

// The tornado of the first option that is not the baseline; NULL where its saving means nothing.
const struct sensitivity *sensitivity_shown(const struct book *book);

// The input that is negotiated with the option's vendor: list_price or rental_rate; -1 for none.
int negotiated_price(const struct book *book, const struct option *option);
bool negotiation_shown(const struct book *book);

// What the ranges make of the prices that are negotiated. Returns 0, or -1 after errors.
int negotiation_plan(struct book *book);

// What the sheet of that name is for; "" of one that nobody knows.
const char *sheet_about(const struct book *book, const char *name);

// ---- what sheets have in common

struct name *option_name(const struct option_sheet *sheet, int declaration);

// The same, marked as read by a formula.
const char *option_name_used(const struct option_sheet *sheet, int declaration);

// An amount in base units, in any case; shown_value: in the selected one, as a cell shows it.
double amount_in(const struct option_sheet *sheet, int declaration, int period, size_t which_case);
double shown_value(const struct book *book, const struct option_sheet *sheet, int declaration,
                   int period);

// "'h200'!F12": a period of an option's series on the calculation sheet.
const char *series_cell(const struct book *book, const struct option_sheet *sheet, int declaration,
                        int column);

// A link to an option's number, or to what a series is in its first period of operation.
void put_option_value(struct book *book, int row, int column, const struct option_sheet *sheet,
                      int declaration);

// A table's heading of two rows: when each period begins, "" past the horizon, and its number. Returns
// the row below.
int put_periods(struct book *book, int row, const char *title, const char *value);

// Series have columns for longer horizons than the one at present: the periods' cells of rows
// first..last where the formula, for the first of them, holds look like blank paper.
void blank_periods(struct book *book, const char *condition, int first, int last);

// The same below a heading of put_periods.
void blank_undated(struct book *book, int head, int last);

// The longest horizon that the columns have room for, in years.
double columns_years(const struct scenario *scenario);

// "2027-01"; of period 0, "purchase".
const char *period_begins(const struct book *book, int period);

// What a reader is told of it, with what the columns have room for.
const char *horizon_note(const struct book *book);

// The width of an option's column in characters: its id shall fit.
int option_width(const struct scenario *scenario);

// Makes a row high enough for a text of each option, wrapped.
void set_option_height(struct book *book, int row, const char *const *texts);

// A text for each option, from `column` on, wrapped, in a row that is high enough.
void put_option_texts(struct book *book, int row, int column, const char *const *texts);

// A line of warning under the title where the comparison needs one; returns the next free row.
int put_stamps(struct book *book, int row);

// "all pass" or "a check FAILS", live.
void put_check_state(struct book *book, int row, int column);

// Whether anything can keep an option from being ranked.
bool verdict_has_bars(struct book *book);

// Outputs' weakest grade that matters of an option.
const char *outputs_grade(const struct book *book, size_t option);

// "='Inputs'!$E$6:$H$6": the names of the cases.
const char *inputs_cases(const struct book *book);

// Outputs' first chart once more, on the Cover. Returns the row behind it.
int insert_cover_chart(struct book *book, int row, int width);

// Where Simulation says whether its results still hold, and the share of draws in which an option
// is the cheapest.
const char *simulation_state(const struct book *book);
const char *simulation_cheapest(const struct book *book, size_t option);

// A whole sheet of an answer without a scenario, its tables as they are, from a row on; returns the last
// row, and in *top, unless NULL, the row of the last table's first cells. And how many columns it has.
int write_answer_sheet(struct book *book, const struct answer *answer, int row, const char *title,
                       int *top);
size_t answer_columns(const struct answer *answer);

#endif
