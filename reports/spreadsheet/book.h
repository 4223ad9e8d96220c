// book: a workbook while it is written; shared by its sheets' files alone.
//
// Rows and columns count from 0, as in libxlsxwriter; -1 is none.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_BOOK_H
#define PERTOKEN_REPORTS_SPREADSHEET_BOOK_H

#include "model/questions/sensitivity.h"
#include "model/scenario/ranking.h"
#include "model/simulate/simulate.h"
#include "reports/answers/questions.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/steps.h"

// Columns of Outputs and of the calculation sheets: a period has one column on all of them.
enum { COLUMN_LABEL, COLUMN_KEY, COLUMN_UNIT, COLUMN_VALUE, COLUMN_PERIOD };

// Columns of Inputs; the cases' columns and those after them follow.
enum { COLUMN_LIVE = 3, COLUMN_CASE };

struct option_sheet {
  const struct option *option;
  lxw_worksheet *sheet;
  struct sheet_graph graph;
  int *rows;    // [graph.model.count] on the calculation sheet
  int time_row; // of the periods' numbers
  int cash_row; // on Outputs, of the cash cost per period
  // On Sensitivity: the cost per token at a price of zero, its address and what it shows; NULL
  // where the price is not negotiated.
  const char *free_cost_cell;
  double free_cost;
};

enum answer_part { PART_COST, PART_INTERVAL, PART_MARGIN, PART_GRADE, ANSWER_PARTS };

// A row of Outputs, for whoever reads it there: one column per option from COLUMN_VALUE on.
struct output_rows {
  int state, options, tco, cost, levelised, saving, saving_levelised;
  int first_category, last_category;
  int cheapest; // COLUMN_VALUE says which options are, or why none is
  int ranked,
      why_not; // of several options: whether each is ranked; why it is not, -1 where nothing bars any
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

// Rows of Simulation, for whoever reads it there. `cheapest` is -1 when nothing may be ranked.
struct simulation_rows {
  int state, differing, case_name, draws, cheapest;
  int cost_p5, cost_p95; // an option in each column from COLUMN_VALUE on
};

struct book {
  const struct scenario *scenario;
  const struct ranking *ranking;
  struct arena *arena;
  struct diagnostics *diagnostics;
  lxw_workbook *workbook;
  struct formats formats;
  struct names names;
  struct constants constants;
  struct option_sheet *options; // [scenario->option_count]
  lxw_worksheet *cover, *inputs, *finance, *outputs, *evidence, *checks, *log;
  lxw_worksheet *sensitivity, *negotiation, *decisions_sheet; // NULL: not there
  struct answers answers;            // to the scenario's questions: the sheet Decisions
  const struct sensitivity *tornado; // shown on the one
  lxw_worksheet *simulation_sheet;
  const struct simulation *simulation; // shown there; NULL: there is none
  struct input_area area;
  struct simulation_rows simulation_rows;
  struct cost_curves *curves;    // shown there, too
  struct watts_table *watts;     // on Evidence, by option
  struct outputs *outputs_table; // what was written on Outputs
  struct name *case_name, *case_index, *checks_ok;
  struct output_rows rows;
  bool checks_pass; // in the selected case
  bool failed;      // a cell could not be written
};

// Text that is neither formula nor number, whatever it begins with. What is no UTF-8, control
// characters and what is over a cell's length are replaced or cut.
void put_text(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
              enum text_format format);
void put_typed_text(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
                    enum cell_role role);
void put_number(struct book *book, lxw_worksheet *sheet, int row, int column, double value,
                lxw_format *format);

// A text that may be long, such as a source: wrapped at that many characters, the row as high as it
// needs to be.
void put_wrapped(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
                 size_t width, enum text_format format);

// A formula with the value that it has in the selected case, as the cell shows it.
void put_formula(struct book *book, lxw_worksheet *sheet, int row, int column, const char *formula,
                 double value, lxw_format *format);
void put_formula_text(struct book *book, lxw_worksheet *sheet, int row, int column,
                      const char *formula, const char *value, lxw_format *format);

// "=pt_NAME", green when the name is on another sheet.
void put_link(struct book *book, lxw_worksheet *sheet, int row, int column, struct name *name,
              double value, const struct unit *unit);

// The width of an option's column in characters: its id shall fit.
int option_width(const struct scenario *scenario);

// Makes a row high enough for a text of each option, wrapped.
void set_option_height(struct book *book, lxw_worksheet *sheet, int row, const char *const *texts);

// A text for each option, from `column` on, wrapped, in a row that is high enough.
void put_option_texts(struct book *book, lxw_worksheet *sheet, int row, int column,
                      const char *const *texts);

// A table's heading row from column 0 on.
void put_header(struct book *book, lxw_worksheet *sheet, int row, const char *const *texts,
                int count);

// Merges columns 0..last of a row, `width` characters wide together, and makes it as high as a text
// of that many characters in that size needs; the text is written by the caller.
void merge_line(struct book *book, lxw_worksheet *sheet, int row, int last, double width,
                size_t characters, int size, enum text_format format);

// A group's heading over columns 0..last.
void put_heading(struct book *book, lxw_worksheet *sheet, int row, int last, const char *text);

// "'h200'!F12"
const char *sheet_address(const struct book *book, const char *sheet, int row, int column,
                          enum address fixed);

// A formula that says `good` or `bad`, in colours; is_good: in the selected case.
void put_state(struct book *book, lxw_worksheet *sheet, int row, int column, const char *formula,
               const char *good, const char *bad, bool is_good);

// "all pass" or "a check FAILS", live.
void put_check_state(struct book *book, lxw_worksheet *sheet, int row, int column);

// The sample of a role in a legend: locked, whatever the role.
void put_sample(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
                enum cell_role role);

// A hyperlink to another sheet of the workbook.
void put_jump(struct book *book, lxw_worksheet *sheet, int row, int column,
              const lxw_worksheet *target, const char *text);

// Text that is safe and no longer than `length` characters.
const char *safe_text(const char *text, size_t length, struct arena *arena);

// Title in A1 and all that makes a sheet ready to print; `title_rows` are repeated and frozen.
void begin_sheet(struct book *book, lxw_worksheet *sheet, const char *title, int title_rows,
                 int frozen_columns);

// Without a password.
void protect_sheet(lxw_worksheet *sheet);

// Print area and protection. A sheet of texts alone needs no area: all of it is printed.
void end_sheet(lxw_worksheet *sheet, int last_row, int last_column);

// What may not be overlooked, or "".
const char *stamp_text(const struct book *book);

// A line of warning under the title where the comparison needs one; returns the next free row.
int put_stamps(struct book *book, lxw_worksheet *sheet, int row);

struct name *option_name(const struct option_sheet *sheet, int declaration);

// In the selected case, as a cell shows it.
double shown_value(const struct book *book, const struct option_sheet *sheet, int declaration,
                   int period);

// A figure's provenance as every sheet shows it; none is blank.
const char *figure_source(const struct figure *figure);
const char *figure_date(const struct figure *figure, struct arena *arena);
const char *figure_grade(const struct figure *figure);
const char *figure_place(const struct book *book, const struct figure *figure, int declaration);

// "='Inputs'!$E$6:$H$6": the names of the cases.
const char *inputs_cases(const struct book *book);

void write_calculation(struct book *book, struct option_sheet *sheet);
void write_inputs(struct book *book);  // after all that marks constants as used
void write_finance(struct book *book); // after the calculation sheets
void write_outputs(struct book *book);
void write_checks(struct book *book);        // after the outputs
void write_outputs_state(struct book *book); // after the checks

// Outputs' first chart once more, on the Cover. Returns the row behind it.
int insert_cover_chart(struct book *book, int row, int width);
void write_evidence(struct book *book);
void write_log(struct book *book);

// The tornado of the first option that is not the baseline; NULL where its saving means nothing.
const struct sensitivity *sensitivity_shown(const struct book *book);
void write_sensitivity(struct book *book);

void write_simulation(struct book *book);       // after the outputs
void write_simulation_state(struct book *book); // after the inputs
// Where it says whether its results still hold.
const char *simulation_state(const struct book *book);
// Where the share of draws stands in which an option is the cheapest.
const char *simulation_cheapest(const struct book *book, size_t option);

// The input that is negotiated with the option's vendor: list_price or rental_rate; -1 for none.
int negotiated_price(const struct book *book, const struct option *option);
bool negotiation_shown(const struct book *book); // after the tornado
void write_negotiation(struct book *book);
void write_decisions(struct book *book);
void write_cover(struct book *book); // after the checks

#endif
