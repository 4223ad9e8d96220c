// Scope and assumptions: which costs are in the result and which are not, and a sentence about each
// figure without a source, as the scenario had them when the workbook was written.
#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/sheets/answer_sheet.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/workbook/writers.h"

#include <stdbool.h>
#include <stddef.h>

enum { NOTE_ROW = 1, TABLES_ROW = 3, MANY = 8 };

enum kind { KIND_ASSUMED, KIND_DEFAULT, KIND_ZERO, KIND_SOURCED, KINDS };

// An input of an option, or of all that share its row on Inputs.
struct entry {
  int declaration, row;
  const struct option_sheet *owner;
};

static const struct figure *figure_of(const struct book *book, const struct entry *entry) {
  return option_figure(book->scenario, entry->owner->option, book->scenario->selected,
                       entry->declaration);
}

static double amount_of(const struct entry *entry, size_t which_case) {
  return amount_in(entry->owner, entry->declaration, 0, which_case);
}

static bool is_zero(const struct book *book, const struct entry *entry) {
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (amount_of(entry, c) != 0)
      return false;
  return true;
}

// The factor on a list of years that nobody has touched says nothing about the list.
static bool is_untouched(const struct book *book, const struct entry *entry) {
  bool untouched = book->scenario->model->declarations[entry->declaration].scale_of >= 0;
  for (size_t c = 0; c < book->scenario->case_count && untouched; c++)
    untouched = amount_of(entry, c) == 1;
  return untouched;
}

static enum kind kind_of(const struct book *book, const struct entry *entry) {
  const struct figure *figure = figure_of(book, entry);
  if (figure->origin == ORIGIN_RENT)
    return KIND_DEFAULT;
  if (figure->origin == ORIGIN_DEFAULT)
    return is_zero(book, entry) ? KIND_ZERO : KIND_DEFAULT;
  return figure->grade == GRADE_ASSUMED ? KIND_ASSUMED : KIND_SOURCED;
}

// An amount as somebody typed it, if that is shorter: "1 day".
static const char *amount_text(const struct book *book, const struct entry *entry,
                               size_t which_case) {
  const struct unit *unit = &book->scenario->model->declarations[entry->declaration].unit;
  const struct figure *figure =
      option_figure(book->scenario, entry->owner->option, which_case, entry->declaration);
  const double amount = amount_of(entry, which_case);
  return number_grouped(figure->value == amount ? number_of_figure(figure, unit, book->arena)
                                                : quantity_text(amount, unit, book->arena),
                        book->arena);
}

// "; 0.14 USD/kWh in case dear_power", for each case with a value of its own.
static const char *other_cases(const struct book *book, const struct entry *entry) {
  const struct scenario *scenario = book->scenario;
  const char *text = "";
  for (size_t c = 0; c < scenario->case_count; c++)
    if (amount_of(entry, c) != amount_of(entry, scenario->selected))
      text = arena_printf(book->arena, "%s; %s in case %s", text, amount_text(book, entry, c),
                          scenario->case_labels[c]);
  return text;
}

// " (Bank X, 2026-11)" of an assumption that the scenario gives a source for.
static const char *basis_of(const struct book *book, const struct entry *entry) {
  const struct figure *figure = figure_of(book, entry);
  if (!figure_has_source(figure))
    return "";
  return arena_printf(book->arena, " (%s%s%s)", figure->source, *figure->date ? ", " : "",
                      figure->date);
}

static const char *sentence_of(const struct book *book, const struct entry *entry, enum kind kind) {
  const char *label = book->scenario->model->declarations[entry->declaration].label;
  const char *amount = amount_text(book, entry, book->scenario->selected);
  const char *others = other_cases(book, entry);
  switch (kind) {
  case KIND_ASSUMED:
    return arena_printf(book->arena, "%s: assumed to be %s%s%s.", label, amount,
                        basis_of(book, entry), others);
  case KIND_DEFAULT:
    return arena_printf(book->arena, "%s: %s, %s%s.", label, amount,
                        figure_of(book, entry)->origin == ORIGIN_RENT
                            ? written_text(book, entry->owner, entry->declaration, WRITTEN_SOURCE)
                            : "the default of the cost model",
                        others);
  default:
    return arena_printf(book->arena, "%s: zero, as the scenario does not specify it.", label);
  }
}

// Whether one sentence covers both: figures of the same row of Inputs, or values that are unstated
// for both.
static bool is_alike(const struct book *book, const struct entry *one, const struct entry *other) {
  if (one->row == other->row)
    return true;
  const enum kind kind = kind_of(book, one);
  if ((kind != KIND_DEFAULT && kind != KIND_ZERO) || kind_of(book, other) != kind)
    return false;
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (amount_of(one, c) != amount_of(other, c))
      return false;
  return true;
}

static struct entry entry_of(const struct book *book, int declaration, size_t option) {
  const struct option_sheet *sheet = &book->sheets->options[option];
  return (struct entry){declaration, sheet->input_rows[declaration], sheet};
}

static const char *holders_of(const struct book *book, const struct entry *entry) {
  const struct scenario *scenario = book->scenario;
  const char *labels = "";
  size_t count = 0;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct entry own = entry_of(book, entry->declaration, o);
    if (own.row < 0 || !is_alike(book, entry, &own))
      continue;
    labels = options_joined(scenario, labels, scenario->options[o].label, book->arena);
    count++;
  }
  return count == scenario->option_count ? "all options" : labels;
}

// The inputs in the order of Inputs, which knows their rows once it is laid out; without untouched
// factors. Returns their number.
static size_t list_entries(const struct book *book, struct entry *entries) {
  size_t count = 0;
  for (int d = 0; d < book->scenario->model->count; d++)
    for (size_t o = 0; o < book->scenario->option_count; o++) {
      const struct entry entry = entry_of(book, d, o);
      bool known = entry.row < 0 || is_untouched(book, &entry);
      for (size_t k = count; !known && k > 0 && entries[k - 1].declaration == d; k--)
        known = is_alike(book, &entries[k - 1], &entry);
      if (!known)
        entries[count++] = entry;
    }
  return count;
}

// ---- the tables

enum coverage { COVERAGE_IN, COVERAGE_ZERO, COVERAGE_NONE, COVERAGES };

static const char *const coverage_words[COVERAGES] = {"in", "zero", "does not apply"};

static enum coverage coverage_of(const struct option_sheet *sheet, int declaration,
                                 size_t selected) {
  if (!option_has(sheet->option, declaration))
    return COVERAGE_NONE;
  return amount_in(sheet, declaration, 0, selected) != 0 ? COVERAGE_IN : COVERAGE_ZERO;
}

// The options that a category covers in this way.
static struct answer_cell covered(const struct book *book, int declaration,
                                  enum coverage coverage) {
  const struct scenario *scenario = book->scenario;
  const char *labels = "";
  size_t count = 0;
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (coverage_of(&book->sheets->options[o], declaration, scenario->selected) != coverage)
      continue;
    labels = options_joined(scenario, labels, scenario->options[o].label, book->arena);
    count++;
  }
  return cell_words(count == scenario->option_count ? "all options" : count ? labels : "none");
}

// Each category of cost, and which options have it: of many, a column for each would be too wide.
static void add_costs_of_many(const struct book *book, struct answer *answer) {
  const struct model *model = book->scenario->model;
  struct answer_table *table =
      ANSWER_TABLE(answer, "costs", "Costs in the result", {"cost", "Cost", NULL},
                   {"in", "In", NULL}, {"zero", "Zero", NULL}, {"none", "Does not apply", NULL});
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].role == ROLE_CATEGORY)
      ANSWER_ROW(table, cell_words(model->declarations[d].label), covered(book, d, COVERAGE_IN),
                 covered(book, d, COVERAGE_ZERO), covered(book, d, COVERAGE_NONE));
}

// Each category of cost, and whether it is in an option's.
static void add_costs(const struct book *book, struct answer *answer) {
  const struct scenario *scenario = book->scenario;
  struct answer_table *table =
      answer_push(answer, answer_table_new("costs", "Costs in the result", book->arena));
  ANSWER_COLUMN(table, .key = "cost", .title = "Cost");
  for (size_t o = 0; o < scenario->option_count; o++)
    ANSWER_COLUMN(table, .key = scenario->options[o].id, .title = scenario->options[o].label);
  for (int d = 0; d < scenario->model->count; d++) {
    if (scenario->model->declarations[d].role != ROLE_CATEGORY)
      continue;
    struct answer_cell *cells = answer_table_row(table);
    cells[0] = cell_words(scenario->model->declarations[d].label);
    for (size_t o = 0; o < scenario->option_count; o++)
      cells[1 + o] =
          cell_words(coverage_words[coverage_of(&book->sheets->options[o], d, scenario->selected)]);
  }
}

static void add_entries(const struct book *book, struct answer *answer, const char *title,
                        enum kind kind, const struct entry *entries, size_t count) {
  struct answer_table *table = ANSWER_TABLE(answer, "inputs", title, {"input", "Assumption", NULL},
                                            {"options", "Options", NULL}, {"place", "From", NULL});
  for (size_t i = 0; i < count; i++)
    if (kind_of(book, &entries[i]) == kind)
      ANSWER_ROW(
          table, cell_words(sentence_of(book, &entries[i], kind)),
          cell_words(holders_of(book, &entries[i])),
          cell_words(written_text(book, entries[i].owner, entries[i].declaration, WRITTEN_PLACE)));
  if (!table->row_count)
    answer->table_count--;
}

// What the program itself warns about.
static void add_cautions(const struct book *book, struct answer *answer) {
  const struct scenario *scenario = book->scenario;
  struct answer_table *table = ANSWER_TABLE(answer, "cautions", "Warnings",
                                            {"text", "Warning", NULL}, {"option", "Options", NULL});
  for (size_t i = 0; i < scenario->warnings.count; i++)
    ANSWER_ROW(table, cell_words(scenario->warnings.list[i]), cell_words("the comparison"));
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t i = 0; i < scenario->options[o].warnings.count; i++)
      ANSWER_ROW(table, cell_words(scenario->options[o].warnings.list[i]),
                 cell_words(scenario->options[o].label));
  if (!table->row_count)
    answer->table_count--;
}

static const char *counts_text(const struct book *book, const struct entry *entries, size_t count) {
  size_t counts[KINDS] = {0};
  for (size_t i = 0; i < count; i++)
    counts[kind_of(book, &entries[i])]++;
  return arena_printf(book->arena,
                      "Of %zu inputs, %zu rest on evidence, %zu are assumptions of the scenario, "
                      "%zu are defaults of the cost model, and %zu are zero because not specified.",
                      count, counts[KIND_SOURCED], counts[KIND_ASSUMED], counts[KIND_DEFAULT],
                      counts[KIND_ZERO]);
}

static struct answer scope_of(const struct book *book) {
  const size_t most = (size_t)book->scenario->model->count * book->scenario->option_count;
  struct entry *entries = arena_array(book->arena, most + 1, sizeof *entries);
  const size_t count = list_entries(book, entries);
  struct answer answer =
      answer_new("report", "scope", book->scenario->title, book->scenario, book->arena);
  answer.sentence = counts_text(book, entries, count);
  if (book->scenario->option_count > MANY)
    add_costs_of_many(book, &answer);
  else
    add_costs(book, &answer);
  add_entries(book, &answer, "Assumptions of the scenario", KIND_ASSUMED, entries, count);
  add_entries(book, &answer, "Defaults of the cost model", KIND_DEFAULT, entries, count);
  add_entries(book, &answer, "Not in the result", KIND_ZERO, entries, count);
  add_cautions(book, &answer);
  return answer;
}

// The answer's columns: its first one is wide enough for the sentence.
static size_t columns_of(const struct answer *answer) {
  size_t columns = 1;
  for (size_t t = 0; t < answer->table_count; t++)
    if (answer->tables[t].column_count > columns)
      columns = answer->tables[t].column_count;
  return columns;
}

void write_scope(struct book *book) {
  const struct answer answer = scope_of(book);
  const size_t columns = columns_of(&answer);
  const int last = write_answer_sheet(book, &answer, columns, TABLES_ROW, SHEET_SCOPE, NULL);
  set_widths(book, (const int[]){90, 28, 28, option_width(book->scenario)}, 4, (int)columns - 1);
  put_text(book, NOTE_ROW, 0,
           arena_printf(book->arena, "Case %s, as it was when the workbook was written.",
                        book->scenario->case_labels[book->scenario->selected]),
           TEXT_NOTE);
  written_put_not_following(book, NOTE_ROW + 1);
  end_sheet(book, last, (int)columns - 1);
}
