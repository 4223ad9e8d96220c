// answer_parts: what answers are built with: cells, tables and words.
#ifndef PERTOKEN_REPORTS_ANSWERS_ANSWER_PARTS_H
#define PERTOKEN_REPORTS_ANSWERS_ANSWER_PARTS_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline struct answer_cell cell_words(const char *text) {
  return (struct answer_cell){.text = text};
}

static inline struct answer_cell cell_value(double value) {
  return (struct answer_cell){.value = value};
}

// unit: instead of its column's.
static inline struct answer_cell cell_in(double value, const struct unit *unit) {
  return (struct answer_cell){.value = value, .unit = unit};
}

// formula: NULL for a result that was computed once.
static inline struct answer_cell cell_live(double value, const char *formula) {
  return (struct answer_cell){.value = value, .formula = formula};
}

static inline struct answer_cell cell_nothing(void) {
  return (struct answer_cell){.value = NAN};
}

static inline struct answer_cell cell_flag(bool value) {
  return (struct answer_cell){.kind = CELL_FLAG, .value = value};
}

// counts: [count], for JSON; of one alone, for all.
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

// otherwise: what people read there; NULL: "-".
static inline struct answer_cell cell_absent(const char *otherwise) {
  return (struct answer_cell){.kind = CELL_ABSENT, .otherwise = otherwise};
}

// A table without columns and rows; it grows by either.
struct answer_table answer_table_new(const char *key, const char *title, struct arena *arena);

// One more column, before the first row.
// ANSWER_COLUMN(&table, .key = "cost", .title = "Cost", .unit = usd);
#define ANSWER_COLUMN(table, ...) answer_column(table, (struct answer_column){__VA_ARGS__})
void answer_column(struct answer_table *table, struct answer_column column);

// A table of a row for each line item or the like and a column for each option, with its
// accelerator, behind the label's. Units stand behind the label, and the title, NULL for none, above.
struct answer_table answer_table_of_options(const char *key, const char *title,
                                            const struct scenario *scenario, struct arena *arena);

// Single facts, a row each, of which JSON has just the second cell, at the row's place.
struct answer_table answer_table_of_facts(struct arena *arena);
void answer_fact(struct answer_table *facts, const char *place, struct answer_cell cell);

// The next row of a table, with nothing in its cells; good until the one after it.
struct answer_cell *answer_table_row(struct answer_table *table);

// One more row, of all its cells: copied.
void answer_table_add(struct answer_table *table, const struct answer_cell *cells);

// The next row, of which something is said, with its label in the first cell and nothing in the others, or
// absent in a table of options.
struct answer_cell *answer_table_row_of(struct answer_table *table, struct answer_row row);

// What a line item or input of an option is in the selected case: a series where it is one; absent
// where the option has none. With the grade that option_item_grade says, and an input's source and
// date.
struct answer_cell option_cell(const struct scenario *scenario, const struct option *option,
                               int declaration, struct arena *arena);

// The same of what it computes with and faces do not show, too, such as another option's inputs.
struct answer_cell computed_cell(const struct scenario *scenario, const struct option *option,
                                 int declaration, struct arena *arena);

// The grade of an input, of a figure that the option knows better (a TDP that stands in for watts),
// or of a headline item that of the option; else NULL.
const char *option_item_grade(const struct scenario *scenario, const struct option *option,
                              int declaration);

// The next row of a table of options: a line item or input, as declared, of which `row` may say
// more; its cells are filled in. Returns them.
struct answer_cell *answer_item_row(struct answer_table *table, const struct scenario *scenario,
                                    int declaration, struct answer_row row, struct arena *arena);

// Whether an option has the item, and it is no input of a purchase that a rented one does not make.
bool item_applies(const struct scenario *scenario, const struct option *option, int declaration);

// Whether the item applies to no option, or is zero for all to which it does.
bool item_is_zero(const struct scenario *scenario, int declaration);

// The unit of a declaration by its name.
const struct unit *unit_of_item(const struct scenario *scenario, const char *name);

// One more table of the answer: there, and good until the one after it.
struct answer_table *answer_push(struct answer *answer, struct answer_table table);

// One more paragraph below the tables.
void answer_note(struct answer *answer, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same above the sentence.
void answer_head(struct answer *answer, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// An answer without tables, of a scenario or of none.
struct answer answer_new(const char *kind, const char *name, const char *title,
                         const struct scenario *scenario, struct arena *arena);

// How a column begins. `unit`: as the program writes it, "USD/Mtok", where USD stands for the
// report's currency; NULL: words, or a unit for each cell.
struct heading {
  const char *key, *title, *unit;
};

// One more table of the answer, without rows; good until the one after it.
// ANSWER_TABLE(&answer, "split", "What is bought", {"option", "Option", NULL}, {"cost", "Cost",
// "USD"});
#define ANSWER_TABLE(answer, key, title, ...)                                                      \
  answer_add_table(answer, key, title, (const struct heading[]){__VA_ARGS__},                      \
                   sizeof((const struct heading[]){__VA_ARGS__}) / sizeof(struct heading))
struct answer_table *answer_add_table(struct answer *answer, const char *key, const char *title,
                                      const struct heading *headings, size_t count);

// One more row of a table, of as many cells as it has columns.
// ANSWER_ROW(table, cell_words("h200"), cell_value(cost));
#define ANSWER_ROW(table, ...) answer_table_add(table, (const struct answer_cell[]){__VA_ARGS__})

// One more sentence of how the answer was got; one more warning.
void answer_reason(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void answer_warn(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// One more answer of a question.
void answers_add(struct answers *answers, struct answer answer);

// A unit that stands in the program's text.
const struct unit *unit_known(const char *text, struct arena *arena);

// "18,920 USD/gpu": a base-unit value in its unit, with so many significant digits.
const char *quantity_words(double value, const struct unit *unit, int digits, struct arena *arena);

// "14.3 %": a share, with three significant digits.
const char *percent_words(double share, struct arena *arena);

// "1,234,567 USD"; the unit is the report's currency.
const char *money_text(double value, const struct unit *unit, struct arena *arena);

// "a, b": a list that grows.
const char *joined(const char *list, const char *word, struct arena *arena);

#endif
