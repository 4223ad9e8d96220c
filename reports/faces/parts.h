// parts: building blocks of answers: cells, tables and words.
#ifndef PERTOKEN_REPORTS_FACES_PARTS_H
#define PERTOKEN_REPORTS_FACES_PARTS_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline struct answer_cell cell_words(const char *text) {
  return (struct answer_cell){.text = text};
}

static inline struct answer_cell cell_value(double value) {
  return (struct answer_cell){.value = value};
}

// An option by its id, shown to people as option_brief.
struct answer_cell cell_option(const struct option *option);

// An option's name where room is short: its label or, if that is wider than the longest id, its id.
const char *option_brief(const struct option *option);
const char *label_brief(const char *id, const char *label);

// unit: instead of its column's.
static inline struct answer_cell cell_in(double value, const struct unit *unit) {
  return (struct answer_cell){.value = value, .unit = unit};
}

// formula: NULL for a result computed once.
static inline struct answer_cell cell_live(double value, const char *formula) {
  return (struct answer_cell){.value = value, .formula = formula};
}

// 0.032: "+3.2 %".
static inline struct answer_cell cell_changed_by(double share) {
  return (struct answer_cell){.kind = CELL_CHANGE, .value = share};
}

// The change from a to b, as number_change has it: none from zero; a credit that shrinks is a rise.
static inline struct answer_cell cell_change(double a, double b) {
  return cell_changed_by(a == b ? 0 : a == 0 ? NAN : a < 0 ? 1 - b / a : b / a - 1);
}

static inline struct answer_cell cell_nothing(void) {
  return (struct answer_cell){.value = NAN};
}

static inline struct answer_cell cell_flag(bool value) {
  return (struct answer_cell){.kind = CELL_FLAG, .value = value};
}

// counts: [count], for JSON; a single one is shown everywhere.
static inline struct answer_cell cell_counts(const uint64_t *counts, size_t count) {
  return (struct answer_cell){
      .kind = count == 1 ? CELL_COUNT : CELL_COUNTS, .counts = counts, .value_count = count};
}

// Numbers of one unit, or NULL.
static inline struct answer_cell cell_series(const double *values, size_t count,
                                             const struct unit *unit) {
  return (struct answer_cell){
      .kind = CELL_SERIES, .values = values, .value_count = count, .unit = unit};
}

static inline struct answer_cell cell_list(struct texts list) {
  return (struct answer_cell){.kind = CELL_LIST, .list = list};
}

// otherwise: shown to people; NULL: "-".
static inline struct answer_cell cell_absent(const char *otherwise) {
  return (struct answer_cell){.kind = CELL_ABSENT, .otherwise = otherwise};
}

// A table without columns and rows; add either.
struct answer_table answer_table_new(const char *key, const char *title, struct arena *arena);

// Adds a column, before the first row.
// ANSWER_COLUMN(&table, .key = "cost", .title = "Cost", .unit = usd);
#define ANSWER_COLUMN(table, ...) answer_column(table, (struct answer_column){__VA_ARGS__})
void answer_column(struct answer_table *table, struct answer_column column);

// A table with a row for each line item or similar, and a column for each option, with its
// accelerator, after the label's. Units are shown after the label, the title above; NULL for none.
struct answer_table answer_table_of_options(const char *key, const char *title,
                                            const struct scenario *scenario, struct arena *arena);

// Single facts, a row each; JSON has only the second cell, at the row's place.
struct answer_table answer_table_of_facts(struct arena *arena);
void answer_fact(struct answer_table *facts, const char *place, struct answer_cell cell);

// The next row of a table, with empty cells.
struct answer_cell *answer_table_row(struct answer_table *table);

// Adds a row with all its cells, which are copied.
void answer_table_add(struct answer_table *table, const struct answer_cell *cells);

// The next row, with the given properties, its label in the first cell; the others are empty, or
// absent in a table of options.
struct answer_cell *answer_table_row_of(struct answer_table *table, struct answer_row row);

// The value of a line item or input in an option's computation, shown or not, in the selected case;
// a series if it is one. With the grade of option_item_grade, and an input's source and date.
struct answer_cell computed_cell(const struct scenario *scenario, const struct option *option,
                                 int declaration, struct arena *arena);

// The grade of an input, in either currency; for a figure that the option grades itself (a TDP that
// stands in for watts) or a headline item, the option's grade; else NULL.
const char *option_item_grade(const struct scenario *scenario, const struct option *option,
                              int declaration);

// The next row of a table of options: a line item or input, as declared, to which `row` adds
// properties; its cells are filled in. Returns them.
struct answer_cell *answer_item_row(struct answer_table *table, const struct scenario *scenario,
                                    int declaration, struct answer_row row, struct arena *arena);

// Whether an option has the item, and it is not an input of a purchase, which a rented option does
// not make.
bool item_applies(const struct scenario *scenario, const struct option *option, int declaration);

// Whether the item applies to no option, or is zero for all to which it does.
bool item_is_zero(const struct scenario *scenario, int declaration);

// The unit of a declaration, by name.
const struct unit *unit_of_item(const struct scenario *scenario, const char *name);

// Adds a table to the answer. Returns it; valid until the next one is added.
struct answer_table *answer_push(struct answer *answer, struct answer_table table);

// Adds a paragraph below the tables.
void answer_note(struct answer *answer, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Adds one above the sentence.
void answer_head(struct answer *answer, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// An answer without tables, about a scenario, whose stamp and warnings it has, or none.
struct answer answer_new(const char *kind, const char *name, const char *title,
                         const struct scenario *scenario, struct arena *arena);

// The head of a column. `unit`: as the program writes it, "USD/Mtok", where USD stands for the
// report's currency; NULL: words, or a unit for each cell.
struct heading {
  const char *key, *title, *unit;
};

// Adds a table to the answer, without rows; valid until the next one is added.
// ANSWER_TABLE(&answer, "split", "What is bought", {"option", "Option", NULL}, {"cost", "Cost",
// "USD"});
#define ANSWER_TABLE(answer, key, title, ...)                                                      \
  answer_add_table(answer, key, title, (const struct heading[]){__VA_ARGS__},                      \
                   sizeof((const struct heading[]){__VA_ARGS__}) / sizeof(struct heading))
struct answer_table *answer_add_table(struct answer *answer, const char *key, const char *title,
                                      const struct heading *headings, size_t count);

// Adds a row to a table, with as many cells as it has columns.
// ANSWER_ROW(table, cell_words("h200"), cell_value(cost));
#define ANSWER_ROW(table, ...) answer_table_add(table, (const struct answer_cell[]){__VA_ARGS__})

// "65,536 draws (sobol, seed 1)"
const char *draws_words(const struct draws_made *draws, struct arena *arena);

// Adds a sentence about how the answer was computed; adds a warning.
void answer_reason(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void answer_warn(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Warns that an answer is for the base values only, if its scenario has ranges.
void answer_warn_undrawn(struct answer *answer);

// Adds an answer to those of a question.
void answers_add(struct answers *answers, struct answer answer);

// A unit from the program's text.
const struct unit *unit_known(const char *text, struct arena *arena);

// "18,920 USD/gpu": a base-unit value in its unit, with that many significant digits.
const char *quantity_words(double value, const struct unit *unit, int digits, struct arena *arena);

// "14.3 %": a share, with three significant digits, or as many more as tell it from 100 %.
const char *percent_words(double share, struct arena *arena);

// "1,234,567 USD", "0.32 USD"; the unit is the report's currency.
const char *money_text(double value, const struct unit *unit, struct arena *arena);

// "a, b": a list that grows.
const char *joined(const char *list, const char *word, struct arena *arena);

#endif
