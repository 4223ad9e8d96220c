#include "reports/sheets/cost_columns.h"

#include "base/arena.h"
#include "model/cost/evaluate.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"
#include "reports/spreadsheet/steps.h"

#include <string.h>

// How a column uses a declaration: read where it is, a series linked into the column, or computed
// in the column.
enum part { PART_ELSEWHERE, PART_LINKED, PART_COMPUTED };

// Rows longer than in any workbook, for measuring a formula before its addresses are known.
enum { FAR_ROW = 999999 };

struct replica {
  struct book *book;
  const struct option_sheet *option;
  int wanted, row, end, first_column;
  const struct replica_column *columns;
  size_t count;
  struct evaluation *evaluation; // one column of cases each
  enum part *parts;              // [count][model.count]
  int *rows;                     // [model.count]: its first row, -1 for none
};

static const struct model *model_of(const struct replica *replica) {
  return &replica->option->graph.model;
}

static enum part *parts_of(const struct replica *replica, size_t column) {
  return replica->parts + column * (size_t)model_of(replica)->count;
}

// Calls `visit` for every declaration that a formula names.
static void visit_names(const struct node *node, void (*visit)(void *, int), void *context) {
  if (node->kind == NODE_NAME && node->declaration >= 0)
    visit(context, node->declaration);
  for (int i = 0; i < node->argument_count; i++)
    visit_names(node->arguments[i], visit, context);
}

struct search {
  const enum part *parts;
  int input;
  bool found;
};

static void look_for(void *context, int declaration) {
  struct search *search = context;
  if (declaration == search->input || search->parts[declaration] == PART_COMPUTED)
    search->found = true;
}

static void mark_needed(void *context, int declaration) {
  ((bool *)context)[declaration] = true;
}

static void find_computed(const struct replica *replica, size_t column) {
  const struct graph *graph = &replica->option->graph.graph;
  enum part *parts = parts_of(replica, column);
  bool *needed =
      arena_array(replica->book->arena, (size_t)model_of(replica)->count, sizeof *needed);
  for (int i = 0; i < graph->order_count; i++) {
    struct search search = {parts, replica->columns[column].input, false};
    visit_names(graph_formula(graph, graph->order[i]), look_for, &search);
    if (search.found)
      parts[graph->order[i]] = PART_COMPUTED;
  }
  needed[replica->wanted] = true;
  for (int i = graph->order_count - 1; i >= 0; i--) {
    const int d = graph->order[i];
    if (!needed[d])
      parts[d] = PART_ELSEWHERE;
    if (parts[d] == PART_COMPUTED)
      visit_names(graph_formula(graph, d), mark_needed, needed);
  }
}

static int periods_of(const struct replica *replica, int declaration) {
  const bool series = model_of(replica)->declarations[declaration].kind == DECLARATION_SERIES;
  return series ? replica->book->scenario->periods : 1;
}

static bool has_row(const struct replica *replica, int declaration) {
  for (size_t c = 0; c < replica->count; c++)
    if (parts_of(replica, c)[declaration] != PART_ELSEWHERE)
      return true;
  return false;
}

// A heading, then the rows in the order of computation.
static void lay_out(struct replica *replica) {
  const struct graph *graph = &replica->option->graph.graph;
  int row = replica->row + 1;
  for (int i = 0; i < graph->order_count; i++) {
    const int d = graph->order[i];
    replica->rows[d] = -1;
    if (!has_row(replica, d))
      continue;
    replica->rows[d] = row;
    row += periods_of(replica, d);
  }
  replica->end = row;
}

static void compute(struct replica *replica) {
  const struct scenario *scenario = replica->book->scenario;
  const struct graph *graph = &replica->option->graph.graph;
  for (size_t c = 0; c < replica->count; c++)
    graph = graph_given(graph, replica->columns[c].input, replica->book->arena);
  replica->evaluation =
      evaluation_new(graph, scenario->periods, replica->count, replica->book->arena);
  for (int d = 0; d < scenario->model->count; d++)
    for (size_t c = 0; c < replica->count && graph->state[d] == GRAPH_INPUT; c++)
      evaluation_at(replica->evaluation, d, 0)[c] =
          d == replica->columns[c].input ? replica->columns[c].value
                                         : amount_in(replica->option, d, 0, scenario->selected);
  evaluate(replica->evaluation);
}

int replica_end(const struct replica *replica) {
  return replica->end;
}

const char *replica_cell(const struct replica *replica, size_t column) {
  if (parts_of(replica, column)[replica->wanted] == PART_ELSEWHERE)
    return option_name_used(replica->option, replica->wanted);
  return cell_fixed(replica->book, replica->rows[replica->wanted],
                    replica->first_column + (int)column);
}

static double shown(const struct replica *replica, size_t column, int declaration, int period) {
  const struct unit *unit = &model_of(replica)->declarations[declaration].unit;
  return evaluation_at(replica->evaluation, declaration, period)[column] / unit_cell_factor(unit);
}

double replica_value(const struct replica *replica, size_t column) {
  return shown(replica, column, replica->wanted, 0);
}

void replica_put(const struct replica *replica, size_t column, int row, int in_column) {
  struct book *book = replica->book;
  const struct unit *unit = &model_of(replica)->declarations[replica->wanted].unit;
  const char *cell = replica_cell(replica, column);
  put_formula_or_dash(book, row, in_column, replica_value(replica, column),
                      formats_cell(&book->formats, CELL_FORMULA, unit),
                      arena_printf(book->arena, "=IF(ISNUMBER(%s),%s,\"-\")", cell, cell));
}

// ---- the formulas of a column

struct place_in {
  const struct replica *replica;
  size_t column;
  int row; // of the formula
};

static const char *own_address(const struct place_in *place, int declaration, int period) {
  const struct replica *replica = place->replica;
  return cell_here(replica->book, replica->rows[declaration] + period,
                   replica->first_column + (int)place->column);
}

static const char *scalar_there(const struct formula_references *references, int declaration) {
  const struct place_in *place = references->elsewhere;
  const struct replica *replica = place->replica;
  if (declaration == replica->columns[place->column].input)
    return replica->columns[place->column].cell;
  if (parts_of(replica, place->column)[declaration] == PART_COMPUTED)
    return own_address(place, declaration, 0);
  return NULL;
}

static const char *series_there(const struct formula_references *references, int declaration,
                                int column) {
  const struct place_in *place = references->elsewhere;
  const struct replica *replica = place->replica;
  if (parts_of(replica, place->column)[declaration] != PART_ELSEWHERE)
    return own_address(place, declaration, column - references->first_period);
  return series_cell(replica->book, replica->option, declaration, column);
}

// The period number of the formula's own row, or the one beside a series' value.
static const char *time_there(const struct formula_references *references, int series, int column) {
  const struct place_in *place = references->elsewhere;
  const struct replica *replica = place->replica;
  if (series >= 0 && parts_of(replica, place->column)[series] == PART_ELSEWHERE)
    return sheet_address(replica->option->tab, TIME_ROW, column, ADDRESS_RELATIVE,
                         replica->book->arena);
  const int row =
      series < 0 ? place->row : replica->rows[series] + column - references->first_period;
  return cell_address(row, replica->first_column - 1, ADDRESS_COLUMN, replica->book->arena);
}

static struct formula_references references_of(const struct place_in *place) {
  const struct replica *replica = place->replica;
  return (struct formula_references){.model = model_of(replica),
                                     .names = replica->option->graph.names,
                                     .rows = replica->rows,
                                     .first_period = COLUMN_PERIOD,
                                     .periods = replica->book->scenario->periods,
                                     .constants = &replica->book->constants,
                                     .arena = replica->book->arena,
                                     .final = true,
                                     .scalar = scalar_there,
                                     .series = series_there,
                                     .time = time_there,
                                     .elsewhere = place};
}

static const char *column_formula(const struct place_in *place, int declaration, int period,
                                  bool final) {
  const struct replica *replica = place->replica;
  struct formula_references references = references_of(place);
  references.final = final;
  return spreadsheet_formula(&model_of(replica)->declarations[declaration],
                             graph_formula(&replica->option->graph.graph, declaration),
                             COLUMN_PERIOD + period, &references);
}

// ---- the links

struct still {
  const struct model *model;
  const enum part *parts;
  int *series; // those that a formula reads on other sheets
  int count;
};

static void note_still(void *context, int declaration) {
  struct still *still = context;
  if (still->model->declarations[declaration].kind == DECLARATION_SERIES &&
      still->parts[declaration] != PART_COMPUTED)
    still->series[still->count++] = declaration;
}

// An address on another sheet is long: if that makes a formula too long, the column gets links to
// what it reads.
static void link_formula(const struct replica *replica, size_t column, int declaration,
                         struct still *still) {
  const struct place_in place = {replica, column, FAR_ROW};
  const int last = replica->book->scenario->periods - 1;
  still->count = 0;
  visit_names(graph_formula(&replica->option->graph.graph, declaration), note_still, still);
  if (still->count == 0 ||
      strlen(column_formula(&place, declaration, last, false)) <= FORMULA_MAX_LENGTH)
    return;
  for (int i = 0; i < still->count; i++)
    parts_of(replica, column)[still->series[i]] = PART_LINKED;
}

static void find_links(const struct replica *replica) {
  const struct graph *graph = &replica->option->graph.graph;
  struct book *book = replica->book;
  struct arena *arena = book->arena, scratch = {NULL}; // the texts are only measured
  book->arena = &scratch;
  for (int d = 0; d < model_of(replica)->count; d++)
    replica->rows[d] = FAR_ROW;
  struct still still = {.model = model_of(replica),
                        .series = arena_array(&scratch, FORMULA_MAX_LENGTH, sizeof(int))};
  for (size_t c = 0; c < replica->count; c++) {
    still.parts = parts_of(replica, c);
    for (int i = 0; i < graph->order_count; i++)
      if (still.parts[graph->order[i]] == PART_COMPUTED)
        link_formula(replica, c, graph->order[i], &still);
  }
  book->arena = arena;
  arena_free(&scratch);
}

struct replica *replica_new(struct book *book, const struct option_sheet *option, int wanted,
                            int row, int first_column, const struct replica_column *columns,
                            size_t count) {
  struct replica *replica = arena_alloc(book->arena, sizeof *replica);
  *replica = (struct replica){.book = book,
                              .option = option,
                              .wanted = wanted,
                              .row = row,
                              .first_column = first_column,
                              .columns = columns,
                              .count = count};
  const size_t declarations = (size_t)option->graph.model.count;
  replica->parts = arena_array(book->arena, declarations * count, sizeof *replica->parts);
  replica->rows = arena_array(book->arena, declarations, sizeof *replica->rows);
  for (size_t c = 0; c < count; c++)
    find_computed(replica, c);
  find_links(replica);
  lay_out(replica);
  compute(replica);
  return replica;
}

// A formula that is only a name or an address shows what is on another sheet.
static enum cell_role role_of(const struct replica *replica, const char *formula) {
  const struct name *name = names_find(&replica->book->names, formula + 1);
  return name || strchr(formula, '!') ? CELL_LINK : CELL_FORMULA;
}

// The name of a sheet may contain what separates the parts of a formula.
static bool is_alone(const char *formula) {
  const char *quoted = formula[1] == '\'' ? strstr(formula + 2, "'!") : NULL;
  return !strpbrk(quoted ? quoted : formula + 1, "+-*/^(,<>");
}

static void write_cell(const struct replica *replica, size_t column, int declaration, int period) {
  struct book *book = replica->book;
  const struct place_in place = {replica, column, replica->rows[declaration] + period};
  const struct declaration *item = &model_of(replica)->declarations[declaration];
  const bool linked = parts_of(replica, column)[declaration] == PART_LINKED;
  const char *formula =
      linked ? arena_printf(book->arena, "=%s",
                            series_cell(book, replica->option, declaration, COLUMN_PERIOD + period))
             : column_formula(&place, declaration, period, true);
  const enum cell_role role = is_alone(formula) ? role_of(replica, formula) : CELL_FORMULA;
  put_formula_or_error(book, replica->rows[declaration] + period,
                       replica->first_column + (int)column,
                       shown(replica, column, declaration, period),
                       formats_cell(&book->formats, role, &item->unit), formula);
}

static void write_row(const struct replica *replica, int declaration, int t) {
  struct book *book = replica->book;
  struct arena *arena = book->arena, scratch = {NULL}; // no text outlives its row
  book->arena = &scratch;
  const struct declaration *item = &model_of(replica)->declarations[declaration];
  const int row = replica->rows[declaration] + t;
  put_labels(book, row, item->label, item->name, item->unit.text);
  if (item->kind == DECLARATION_SERIES) {
    static const struct unit period = {.text = "period", .counts = true};
    const char *time = sheet_address(replica->option->tab, TIME_ROW, COLUMN_PERIOD + t,
                                     ADDRESS_RELATIVE, book->arena);
    put_formula(book, row, replica->first_column - 1, t, CELL_LINK, &period, "=%s", time);
  }
  for (size_t c = 0; c < replica->count; c++)
    if (parts_of(replica, c)[declaration] != PART_ELSEWHERE)
      write_cell(replica, c, declaration, t);
  book->arena = arena;
  arena_free(&scratch);
}

void replica_write(const struct replica *replica) {
  const struct graph *graph = &replica->option->graph.graph;
  struct book *book = replica->book;
  const char *const headings[] = {arena_printf(book->arena, "%s: lines that change with the input",
                                               replica->option->option->label),
                                  "Key", "Unit"};
  static const char *const period[] = {"Period"};
  put_header(book, replica->row, headings, 3);
  put_headings(book, replica->row, replica->first_column - 1, period, 1);
  for (size_t c = 0; c < replica->count; c++)
    put_headings(book, replica->row, replica->first_column + (int)c, &replica->columns[c].title, 1);
  for (int i = 0; i < graph->order_count; i++) {
    const int d = graph->order[i];
    for (int t = 0; replica->rows[d] >= 0 && t < periods_of(replica, d); t++)
      write_row(replica, d, t);
  }
}
