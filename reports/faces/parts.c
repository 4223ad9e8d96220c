#include "reports/faces/parts.h"
#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

// ---- tables

struct answer_table answer_table_new(const char *key, const char *title, struct arena *arena) {
  return (struct answer_table){.key = key, .title = title, .arena = arena};
}

enum { WIDEST_BRIEF = 24 }; // columns: the length of the longest id

const char *label_brief(const char *id, const char *label) {
  return style_width(label) <= WIDEST_BRIEF ? label : id;
}

const char *option_brief(const struct option *option) {
  return label_brief(option->id, option->label);
}

struct answer_cell cell_option(const struct option *option) {
  return (struct answer_cell){.text = option->id, .shown = option_brief(option)};
}

void answer_column(struct answer_table *table, struct answer_column column) {
  column.title = column.title ? column.title : "";
  table->columns =
      arena_room(table->arena, table->columns, table->column_count, sizeof *table->columns);
  table->columns[table->column_count++] = column;
}

struct answer_table answer_table_of_options(const char *key, const char *title,
                                            const struct scenario *scenario, struct arena *arena) {
  struct answer_table table = answer_table_new(key, NULL, arena);
  ANSWER_COLUMN(&table, .key = "option", .title = title);
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    ANSWER_COLUMN(&table, .key = option->id, .title = option_brief(option),
                  .about = option_runs_on(option));
  }
  table.unit_column = 1;
  return table;
}

struct answer_table answer_table_of_facts(struct arena *arena) {
  struct answer_table facts = answer_table_new("facts", NULL, arena);
  ANSWER_COLUMN(&facts, .key = "fact");
  ANSWER_COLUMN(&facts, .key = "value");
  facts.json = "%r";
  return facts;
}

void answer_fact(struct answer_table *facts, const char *place, struct answer_cell cell) {
  answer_table_row_of(
      facts,
      (struct answer_row){.key = place, .label = place, .json = place, .faces = FACE_JSON})[1] =
      cell;
}

struct answer_cell *answer_table_row(struct answer_table *table) {
  const size_t columns = table->column_count, rows = table->row_count;
  if (rows == table->room) {
    table->room = 2 * rows + 8;
    table->cells =
        arena_grow(table->arena, table->cells, rows, table->room, sizeof(struct answer_cell *));
    if (table->rows)
      table->rows = arena_grow(table->arena, table->rows, rows, table->room, sizeof *table->rows);
  }
  struct answer_cell **row = &table->cells[table->row_count++];
  if (!*row) // no row that was taken back
    *row = arena_array(table->arena, columns, sizeof **row);
  for (size_t c = 0; c < columns; c++)
    (*row)[c] = cell_nothing();
  return *row;
}

void answer_table_add(struct answer_table *table, const struct answer_cell *cells) {
  memcpy(answer_table_row(table), cells, table->column_count * sizeof *cells);
}

struct answer_cell *answer_table_row_of(struct answer_table *table, struct answer_row row) {
  struct answer_cell *cells = answer_table_row(table);
  if (!table->rows)
    table->rows = arena_array(table->arena, table->room, sizeof *table->rows);
  table->rows[table->row_count - 1] = row;
  cells[0] = cell_words(row.label);
  for (size_t c = 1; c < table->column_count && table->unit_column; c++)
    cells[c] = cell_absent(NULL);
  return cells;
}

// ---- line items and inputs

// Figures for which the option's grade applies rather than the figure's own: a TDP that stands in
// for measured watts, a throughput projected from others.
static const struct {
  const char *item;
  size_t grade; // offset in struct option
} option_grades[] = {
    {"throughput", offsetof(struct option, throughput_grade)},
    {"load_power", offsetof(struct option, power_grade)},
    {"prefill_power", offsetof(struct option, power_grade)},
    {"list_price", offsetof(struct option, price_grade)},
    {"net_price", offsetof(struct option, price_grade)},
    {"rental_rate", offsetof(struct option, price_grade)},
    {"on_demand_rate", offsetof(struct option, price_grade)},
};

enum { OPTION_GRADES = sizeof option_grades / sizeof option_grades[0] };

// The figure that states a declaration, in either currency; NULL if it is computed.
static const struct figure *stated_figure(const struct scenario *scenario,
                                          const struct option *option, int declaration) {
  const int stated = option_stated(option, declaration);
  return option->graph->state[stated] == GRAPH_INPUT
             ? option_figure(scenario, option, scenario->selected, stated)
             : NULL;
}

const char *option_item_grade(const struct scenario *scenario, const struct option *option,
                              int declaration) {
  const struct declaration *item = &scenario->model->declarations[declaration];
  const struct figure *figure = stated_figure(scenario, option, declaration);
  enum grade grade;
  if (figure && figure->origin <= ORIGIN_RENT)
    return NULL; // a default is not evidence
  for (size_t i = 0; i < OPTION_GRADES; i++) {
    if (strcmp(option_grades[i].item, item->name) != 0)
      continue;
    memcpy(&grade, (const char *)option + option_grades[i].grade, sizeof grade);
    return grade_name(grade);
  }
  if (item->role == ROLE_HEADLINE)
    return grade_name(option->headline_grade);
  return figure ? grade_name(figure->grade) : NULL;
}

struct answer_cell computed_cell(const struct scenario *scenario, const struct option *option,
                                 int declaration, struct arena *arena) {
  const struct figure *figure = stated_figure(scenario, option, declaration);
  struct answer_cell cell = {.value = option_value(scenario, option, declaration, 0),
                             .grade = option_item_grade(scenario, option, declaration),
                             .source = figure ? figure->source : NULL,
                             .date = figure ? figure->date : NULL,
                             .otherwise = option_none(scenario, option, declaration)};
  if (cell.otherwise)
    cell.value = NAN;
  if (!graph_is_series(option->graph, declaration))
    return cell;
  cell.kind = CELL_SERIES;
  cell.value_count = 1 + (size_t)option_periods(scenario, option, scenario->selected);
  double *values = arena_array(arena, cell.value_count, sizeof *values);
  for (size_t t = 0; t < cell.value_count; t++)
    values[t] = option_value(scenario, option, declaration, (int)t);
  cell.values = values;
  return cell;
}

struct answer_cell *answer_item_row(struct answer_table *table, const struct scenario *scenario,
                                    int declaration, struct answer_row row, struct arena *arena) {
  const struct declaration *item = &scenario->model->declarations[declaration];
  row.key = item->name;
  row.label = item->label;
  row.unit = &item->unit;
  struct answer_cell *cells = answer_table_row_of(table, row);
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    cells[1 + o] = option_has(option, declaration)
                       ? computed_cell(scenario, option, declaration, arena)
                       : cell_absent(NULL);
  }
  return cells;
}

bool item_applies(const struct scenario *scenario, const struct option *option, int declaration) {
  return option_has(option, declaration) &&
         (option->graph->state[declaration] != GRAPH_INPUT ||
          option_figure(scenario, option, scenario->selected, declaration)->origin != ORIGIN_RENT);
}

bool item_is_zero(const struct scenario *scenario, int declaration) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (item_applies(scenario, &scenario->options[o], declaration) &&
        option_value(scenario, &scenario->options[o], declaration, 0) != 0)
      return false;
  return true;
}

// ---- answers

struct answer answer_new(const char *kind, const char *name, const char *title,
                         const struct scenario *scenario, struct arena *arena) {
  struct answer answer = {.kind = kind,
                          .name = name,
                          .title = title,
                          .scenario = scenario,
                          .stamp = "",
                          .arena = arena};
  if (scenario) {
    answer.stamp = scenario_stamp(scenario, arena);
    answer.inherited = scenario_all_warnings(scenario, arena);
  }
  return answer;
}

struct answer_table *answer_push(struct answer *answer, struct answer_table table) {
  answer->tables =
      arena_room(answer->arena, answer->tables, answer->table_count, sizeof *answer->tables);
  answer->tables[answer->table_count++] = table;
  return &answer->tables[answer->table_count - 1];
}

struct answer_table *answer_add_table(struct answer *answer, const char *key, const char *title,
                                      const struct heading *headings, size_t count) {
  struct answer_table table = answer_table_new(key, title, answer->arena);
  for (size_t c = 0; c < count; c++) {
    const char *unit = headings[c].unit;
    if (unit && answer->scenario)
      unit = model_unit_text(answer->scenario->model, unit);
    ANSWER_COLUMN(&table, .key = headings[c].key, .title = headings[c].title,
                  .unit = unit ? unit_known(unit, answer->arena) : NULL);
  }
  return answer_push(answer, table);
}

void answer_reason(struct answer *answer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  texts_add(&answer->reasons, answer->arena, "%s", arena_vprintf(answer->arena, format, arguments));
  va_end(arguments);
}

void answer_warn(struct answer *answer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  texts_add(&answer->warnings, answer->arena, "%s",
            arena_vprintf(answer->arena, format, arguments));
  va_end(arguments);
}

void answer_warn_undrawn(struct answer *answer) {
  if (answer->scenario->range_count)
    answer_warn(answer, "the ranges are not drawn here: all figures use the base values");
}

void answers_add(struct answers *answers, struct answer answer) {
  struct answer *list =
      arena_grow(answer.arena, answers->list, answers->count, answers->count + 1, sizeof *list);
  list[answers->count++] = answer;
  answers->list = list;
}

const char *draws_words(const struct draws_made *draws, struct arena *arena) {
  return arena_printf(arena, "%s (%s, seed %" PRIu64 ")",
                      number_counted((double)draws->count, "draw", arena),
                      draw_method_names[draws->method], draws->seed);
}

static void add_note(struct answer_note **notes, size_t *count, const char *label, const char *text,
                     struct arena *arena) {
  *notes = arena_room(arena, *notes, *count, sizeof **notes);
  (*notes)[(*count)++] = (struct answer_note){.label = label, .text = text};
}

void answer_note(struct answer *answer, const char *label, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_note(&answer->notes, &answer->note_count, label,
           arena_vprintf(answer->arena, format, arguments), answer->arena);
  va_end(arguments);
}

void answer_head(struct answer *answer, const char *label, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_note(&answer->heads, &answer->head_count, label,
           arena_vprintf(answer->arena, format, arguments), answer->arena);
  va_end(arguments);
}

// ---- words and units

const struct unit *unit_of_item(const struct scenario *scenario, const char *name) {
  return &scenario->model->declarations[model_find(scenario->model, name)].unit;
}

const struct unit *unit_known(const char *text, struct arena *arena) {
  return unit_constant(text, arena);
}

const char *quantity_words(double value, const struct unit *unit, int digits, struct arena *arena) {
  const char *number = number_significant(number_in_unit(value, unit), digits, arena);
  return strcmp(unit->text, "-") != 0 ? arena_printf(arena, "%s %s", number, unit->text) : number;
}

const char *percent_words(double share, struct arena *arena) {
  enum { DIGITS = 3, MOST_DIGITS = 6 };
  const double percent = 100 * share, lack = 100 - fabs(percent);
  int digits = DIGITS;
  while (lack > 1e-9 && lack <= 0.5 * pow(10, DIGITS - 1 - digits) && digits < MOST_DIGITS)
    digits++;
  return arena_printf(arena, "%s %%",
                      fabs(percent) < 1000 ? number_significant(percent, digits, arena)
                                           : number_fixed(percent, 0, arena));
}

const char *money_text(double value, const struct unit *unit, struct arena *arena) {
  const bool little = fabs(value) >= 1e-4 && fabs(value) < 0.5;
  return arena_printf(arena, "%s %s",
                      little ? number_significant(value, 2, arena) : number_fixed(value, 0, arena),
                      unit->text);
}

const char *joined(const char *list, const char *word, struct arena *arena) {
  return *list ? arena_printf(arena, "%s, %s", list, word) : word;
}
