// The face of a comparison for people.
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/print/grid.h"
#include "reports/print/heading.h"
#include "reports/print/interval.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { narrowest_label = 20, label_column = 0, unit_column = 1, first_option = 2 };

struct sheet {
  const struct scenario *scenario;
  const struct style *style;
  struct arena *arena;
  struct grid *grid;
  const struct ranking *ranking;
  const struct simulation *simulation; // NULL: there are no ranges
};

// A row of the upper part: what a buyer looks for first. Not shown where it is zero everywhere.
static const struct fact {
  const char *item;
  bool graded;
} facts[] = {
    {"accelerators", false}, {"throughput", true}, {"load_power", true},  {"list_price", true},
    {"discount", false},     {"net_price", false}, {"rental_rate", true},
};

enum { FACTS = sizeof facts / sizeof facts[0] };

static const struct declaration *declaration_of(const struct sheet *sheet, int declaration) {
  return &sheet->scenario->model->declarations[declaration];
}

// Whether the option has the figure, and it applies to it.
static bool applies(const struct sheet *sheet, const struct option *option, int declaration) {
  if (!option_has(option, declaration))
    return false;
  if (option->graph->state[declaration] != GRAPH_INPUT)
    return true;
  const struct figure *figure =
      option_figure(sheet->scenario, option, sheet->scenario->selected, declaration);
  return figure->origin != ORIGIN_RENT;
}

static double value_of(const struct sheet *sheet, const struct option *option, int declaration) {
  return option_value(sheet->scenario, option, declaration, 0);
}

static bool is_zero_everywhere(const struct sheet *sheet, int declaration) {
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    const struct option *option = &sheet->scenario->options[i];
    if (applies(sheet, option, declaration) && value_of(sheet, option, declaration) != 0)
      return false;
  }
  return true;
}

static struct scale scale_of(const struct sheet *sheet, int declaration) {
  const size_t options = sheet->scenario->option_count;
  double *values = arena_array(sheet->arena, options, sizeof *values);
  size_t count = 0;
  for (size_t i = 0; i < options; i++)
    if (applies(sheet, &sheet->scenario->options[i], declaration))
      values[count++] = value_of(sheet, &sheet->scenario->options[i], declaration);
  return number_scale(&declaration_of(sheet, declaration)->unit, values, count, sheet->arena);
}

static const char *value_text(const struct sheet *sheet, const struct option *option,
                              int declaration, struct scale scale) {
  if (!applies(sheet, option, declaration))
    return "-";
  return number_scaled(value_of(sheet, option, declaration), scale, sheet->arena);
}

static void add_values(const struct sheet *sheet, int declaration, enum emphasis emphasis) {
  struct cell *cells = grid_row(sheet->grid);
  const struct scale scale = scale_of(sheet, declaration);
  cells[label_column] = (struct cell){declaration_of(sheet, declaration)->label, emphasis};
  cells[unit_column] = (struct cell){scale.unit, EMPHASIS_FAINT};
  for (size_t i = 0; i < sheet->scenario->option_count; i++)
    cells[first_option + i] = (struct cell){
        value_text(sheet, &sheet->scenario->options[i], declaration, scale), emphasis};
}

static void add_grades(const struct sheet *sheet, int declaration) {
  struct cell *cells = grid_row(sheet->grid);
  cells[label_column] = (struct cell){"  evidence", EMPHASIS_FAINT};
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    const struct option *option = &sheet->scenario->options[i];
    const char *grade = compare_grade(sheet->scenario, option, declaration);
    if (grade && applies(sheet, option, declaration) && value_of(sheet, option, declaration) != 0)
      cells[first_option + i] = (struct cell){grade, EMPHASIS_FAINT};
  }
}

static void add_facts(const struct sheet *sheet) {
  for (size_t i = 0; i < FACTS; i++) {
    const int declaration = model_find(sheet->scenario->model, facts[i].item);
    if (declaration < 0 || is_zero_everywhere(sheet, declaration))
      continue;
    add_values(sheet, declaration, EMPHASIS_NONE);
    if (facts[i].graded)
      add_grades(sheet, declaration);
  }
}

static void add_categories(const struct sheet *sheet) {
  for (int d = 0; d < sheet->scenario->model->count; d++)
    if (declaration_of(sheet, d)->role == ROLE_CATEGORY && !is_zero_everywhere(sheet, d))
      add_values(sheet, d, EMPHASIS_NONE);
}

// A cheapest option's cost has a mark and, in colour, a colour.
static void mark_cheapest(const struct sheet *sheet) {
  struct cell *cells = sheet->grid->rows[sheet->grid->count - 1].cells;
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    struct cell *cell = &cells[first_option + i];
    if (!sheet->ranking->options[i].cheapest)
      continue;
    cell->text = arena_printf(sheet->arena, "* %s", cell->text);
    cell->emphasis = EMPHASIS_GOOD;
  }
}

// An end of the interval of an option's cost, or of its saving; "-" where there is none.
static const char *end_text(const struct sheet *sheet, enum outcome_kind kind, size_t option,
                            bool low, struct scale scale) {
  const struct interval interval = interval_of(sheet->simulation, kind, option);
  const double end = low ? interval.low : interval.high;
  if (isnan(end))
    return "-";
  if (kind == OUTCOME_SAVING)
    return number_fixed(100 * end, 1, sheet->arena);
  const int cost = model_find(sheet->scenario->model, "cost_per_mtok");
  return number_scaled(end * unit_cell_factor(&declaration_of(sheet, cost)->unit), scale,
                       sheet->arena);
}

// Two rows below a result: what 5 % and 95 % of the draws are below.
static void add_interval(const struct sheet *sheet, enum outcome_kind kind) {
  const int cost = model_find(sheet->scenario->model, "cost_per_mtok");
  const struct scale scale = scale_of(sheet, cost);
  for (int end = 0; sheet->simulation && end < 2; end++) {
    struct cell *cells = grid_row(sheet->grid);
    cells[label_column] = (struct cell){end ? "  P95" : "  P5", EMPHASIS_FAINT};
    for (size_t i = 0; i < sheet->scenario->option_count; i++)
      cells[first_option + i] =
          (struct cell){end_text(sheet, kind, i, end == 0, scale), EMPHASIS_FAINT};
  }
}

static void add_results(const struct sheet *sheet) {
  const struct model *model = sheet->scenario->model;
  const int cost = model_find(model, "cost_per_mtok");
  for (int d = 0; d < model->count; d++) {
    const bool result = model->declarations[d].group == model->declarations[cost].group &&
                        model->declarations[d].role == ROLE_NONE;
    if (model->declarations[d].role != ROLE_HEADLINE && !result)
      continue;
    if (result && is_zero_everywhere(sheet, d))
      continue;
    const bool strong = d == cost || !strcmp(model->declarations[d].name, "tco");
    add_values(sheet, d, strong ? EMPHASIS_STRONG : EMPHASIS_NONE);
    if (d != cost)
      continue;
    mark_cheapest(sheet);
    add_interval(sheet, OUTCOME_COST);
  }
}

static const char *saving_text(const struct sheet *sheet, size_t option, bool levelised) {
  const struct standing *standing = &sheet->ranking->options[option];
  const double saving = levelised ? standing->saving_levelised : standing->saving;
  return isnan(saving) ? "-" : number_fixed(100 * saving, 1, sheet->arena);
}

static void add_savings(const struct sheet *sheet) {
  const struct scenario *scenario = sheet->scenario;
  for (int levelised = 0; levelised < 2; levelised++) {
    struct cell *cells = grid_row(sheet->grid);
    const enum emphasis emphasis = levelised ? EMPHASIS_NONE : EMPHASIS_STRONG;
    const char *baseline = scenario->options[scenario->baseline].id;
    const char *label =
        arena_printf(sheet->arena, "Saving against %s%s", baseline, levelised ? ", levelised" : "");
    cells[label_column] = (struct cell){label, emphasis};
    cells[unit_column] = (struct cell){"%", EMPHASIS_FAINT};
    for (size_t i = 0; i < scenario->option_count; i++)
      cells[first_option + i] = (struct cell){saving_text(sheet, i, levelised), emphasis};
    if (!levelised)
      add_interval(sheet, OUTCOME_SAVING);
  }
}

static void add_headline_grade(const struct sheet *sheet) {
  struct cell *cells = grid_row(sheet->grid);
  cells[label_column].text = "Weakest evidence that matters";
  for (size_t i = 0; i < sheet->scenario->option_count; i++)
    cells[first_option + i].text = grade_name(sheet->scenario->options[i].headline_grade);
}

static void add_header(const struct sheet *sheet) {
  struct cell *ids = grid_row(sheet->grid), *parts = grid_row(sheet->grid);
  parts[label_column] = (struct cell){"Accelerator", EMPHASIS_NONE};
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    ids[first_option + i] = (struct cell){sheet->scenario->options[i].id, EMPHASIS_STRONG};
    parts[first_option + i].text = sheet->scenario->options[i].accelerator;
  }
}

static struct grid *columns_of(struct sheet *sheet) {
  sheet->grid = grid_new(first_option + (int)sheet->scenario->option_count, sheet->arena);
  sheet->grid->left[unit_column] = true;
  add_header(sheet);
  add_facts(sheet);
  grid_rule(sheet->grid);
  add_categories(sheet);
  grid_rule(sheet->grid);
  add_results(sheet);
  if (sheet->scenario->option_count > 1)
    add_savings(sheet);
  add_headline_grade(sheet);
  return sheet->grid;
}

// One line per option. The columns that matter least are left out first where room is short.
static const struct key_figure {
  const char *item, *heading;
  int importance;
} key_figures[] = {
    {"accelerators", "gpus", 3},
    {"throughput", "output", 4},
    {"load_power", "", 1},
    {"net_price", "net price", 2},
    {"tco", "TCO", 6},
    {"cost_per_mtok", "cost", 9},
    {"levelised_cost_per_mtok", "levelised", 5},
};

enum {
  KEY_FIGURES = sizeof key_figures / sizeof key_figures[0],
  interval_importance = 7,
  most_importance = 9
};

static void add_key_figure(const struct sheet *sheet, int column, const struct key_figure *figure) {
  const int declaration = model_find(sheet->scenario->model, figure->item);
  const struct scale scale = scale_of(sheet, declaration);
  sheet->grid->rows[0].cells[column] = (struct cell){figure->heading, EMPHASIS_STRONG};
  sheet->grid->rows[1].cells[column] = (struct cell){scale.unit, EMPHASIS_FAINT};
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    const struct option *option = &sheet->scenario->options[i];
    const bool marked =
        sheet->ranking->options[i].cheapest && !strcmp(figure->item, "cost_per_mtok");
    const char *text = value_text(sheet, option, declaration, scale);
    sheet->grid->rows[3 + i].cells[column] =
        (struct cell){marked ? arena_printf(sheet->arena, "* %s", text) : text,
                      marked ? EMPHASIS_GOOD : EMPHASIS_NONE};
  }
}

static void add_last_columns(const struct sheet *sheet, int column) {
  struct grid_row *rows = sheet->grid->rows;
  rows[0].cells[column] = (struct cell){"saving", EMPHASIS_STRONG};
  rows[1].cells[column] = (struct cell){"%", EMPHASIS_FAINT};
  rows[0].cells[column + 1] = (struct cell){"evidence", EMPHASIS_STRONG};
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    const struct option *option = &sheet->scenario->options[i];
    rows[3 + i].cells[column].text = saving_text(sheet, i, false);
    rows[3 + i].cells[column + 1].text = grade_name(option->headline_grade);
  }
}

// Behind the cost: the ends of its interval.
static int add_ends(const struct sheet *sheet, int column) {
  static const char *const headings[] = {"P5", "P95"};
  const struct scale scale = scale_of(sheet, model_find(sheet->scenario->model, "cost_per_mtok"));
  for (int end = 0; end < 2; end++, column++) {
    sheet->grid->rows[0].cells[column] = (struct cell){headings[end], EMPHASIS_STRONG};
    sheet->grid->rows[1].cells[column] = (struct cell){scale.unit, EMPHASIS_FAINT};
    for (size_t i = 0; i < sheet->scenario->option_count; i++)
      sheet->grid->rows[3 + i].cells[column].text =
          end_text(sheet, OUTCOME_COST, i, end == 0, scale);
  }
  return column;
}

static bool is_key_figure(const struct sheet *sheet, const struct key_figure *figure, int from) {
  const int declaration = model_find(sheet->scenario->model, figure->item);
  return figure->importance >= from && declaration >= 0 && !is_zero_everywhere(sheet, declaration);
}

static struct grid *lines_with(struct sheet *sheet, int from) {
  const struct scenario *scenario = sheet->scenario;
  const bool ends = sheet->simulation != NULL;
  int columns = ends ? 5 : 3;
  for (size_t k = 0; k < KEY_FIGURES; k++)
    columns += is_key_figure(sheet, &key_figures[k], from);
  struct grid *grid = sheet->grid = grid_new(columns, sheet->arena);
  grid->left[columns - 1] = true;
  grid_row(grid)[0] = (struct cell){"option", EMPHASIS_STRONG};
  grid_row(grid);
  grid_rule(grid);
  for (size_t i = 0; i < scenario->option_count; i++)
    grid_row(grid)[0].text = scenario->options[i].id;
  int column = 1;
  for (size_t k = 0; k < KEY_FIGURES; k++) {
    if (!is_key_figure(sheet, &key_figures[k], from))
      continue;
    add_key_figure(sheet, column++, &key_figures[k]);
    if (ends && !strcmp(key_figures[k].item, "cost_per_mtok"))
      column = add_ends(sheet, column);
  }
  add_last_columns(sheet, column);
  return grid;
}

static int longest_id(const struct scenario *scenario) {
  int longest = 0;
  for (size_t i = 0; i < scenario->option_count; i++) {
    const int length = (int)strlen(scenario->options[i].id);
    longest = length > longest ? length : longest;
  }
  return longest;
}

static const char *id_of(const struct option *option) {
  return option->id;
}

static const char *accelerator_of(const struct option *option) {
  return option->accelerator;
}

static const char *throughput_of(const struct option *option) {
  return grade_name(option->throughput_grade);
}

static const char *power_of(const struct option *option) {
  return grade_name(option->power_grade);
}

static const char *price_of(const struct option *option) {
  return grade_name(option->price_grade);
}

// What does not fit beside the figures: the part, and the evidence of each kind.
static const struct {
  const char *heading;
  const char *(*text)(const struct option *);
} evidence_columns[] = {
    {"evidence", id_of},           {"accelerator", accelerator_of},
    {"throughput", throughput_of}, {"power", power_of},
    {"price", price_of},
};

enum { EVIDENCE_COLUMNS = sizeof evidence_columns / sizeof evidence_columns[0] };

// The columns from `first` up to `end`, behind the id.
static struct grid *evidence_of(const struct sheet *sheet, int first, int end) {
  const int columns = 1 + end - first;
  struct grid *grid = grid_new(columns, sheet->arena);
  struct cell *head = grid_row(grid);
  for (int c = 0; c < columns; c++) {
    grid->left[c] = true;
    head[c] = (struct cell){evidence_columns[c ? first + c - 1 : 0].heading, EMPHASIS_STRONG};
  }
  grid_rule(grid);
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    struct cell *cells = grid_row(grid);
    for (int c = 0; c < columns; c++)
      cells[c].text = evidence_columns[c ? first + c - 1 : 0].text(&sheet->scenario->options[i]);
  }
  return grid;
}

// In one table, or where that is too wide the part in one and the grades in another.
static void print_evidence(const struct sheet *sheet) {
  const int label = longest_id(sheet->scenario);
  const struct grid *all = evidence_of(sheet, 1, EVIDENCE_COLUMNS);
  putc('\n', sheet->style->out);
  if (grid_width(all, label) <= sheet->style->width) {
    grid_print(all, sheet->style);
    return;
  }
  grid_print(evidence_of(sheet, 1, 2), sheet->style);
  putc('\n', sheet->style->out);
  grid_print(evidence_of(sheet, 2, EVIDENCE_COLUMNS), sheet->style);
}

static struct grid *lines_of(struct sheet *sheet) {
  const int label = longest_id(sheet->scenario);
  for (int from = 0;; from++) {
    if (from > interval_importance)
      sheet->simulation = NULL;
    struct grid *grid = lines_with(sheet, from);
    if (grid_width(grid, label) <= sheet->style->width || from == most_importance)
      return grid;
  }
}

void compare_table(const struct scenario *scenario, FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  struct sheet sheet = {.scenario = scenario,
                        .style = &style,
                        .arena = arena,
                        .ranking = ranking_of(scenario, arena),
                        .simulation = interval_simulate(scenario, arena)};
  const struct grid *grid = columns_of(&sheet);
  const bool fits = grid_width(grid, narrowest_label) <= style.width;
  heading_print(scenario, &style);
  grid_print(fits ? grid : lines_of(&sheet), &style);
  if (!fits)
    print_evidence(&sheet);
  compare_notes(scenario, sheet.ranking, sheet.simulation, &style);
}
