// The face of a comparison for people.
#include "reports/compare.h"
#include "reports/grid.h"
#include "reports/heading.h"
#include "reports/number.h"

#include <string.h>

enum { narrowest_label = 20, label_column = 0, unit_column = 1, first_option = 2 };

struct sheet {
  const struct scenario *scenario;
  const struct style *style;
  struct arena *arena;
  struct grid *grid;
  const struct option *cheapest;
};

// A row of the upper part: what a buyer looks for first. Not shown where it is zero everywhere.
static const struct fact {
  const char *item;
  bool graded;
} facts[] = {
    {"accelerators", false}, {"throughput", true}, {"load_power", true},  {"list_price", true},
    {"discount", false},     {"net_price", false}, {"rental_rate", true},
};

static const struct measure {
  const char *item, *suffix; // of the label
} savings[] = {{"cost_per_mtok", ""}, {"levelised_cost_per_mtok", ", levelised"}};

enum {
  FACTS = sizeof facts / sizeof facts[0],
  SAVINGS = sizeof savings / sizeof savings[0],
};

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

// The cheapest option's cost has a mark and, in colour, a colour.
static void mark_cheapest(const struct sheet *sheet) {
  const struct scenario *scenario = sheet->scenario;
  if (scenario->option_count < 2)
    return;
  struct cell *cells = sheet->grid->rows[sheet->grid->count - 1].cells;
  struct cell *cell = &cells[first_option + (size_t)(sheet->cheapest - scenario->options)];
  cell->text = arena_printf(sheet->arena, "* %s", cell->text);
  cell->emphasis = EMPHASIS_GOOD;
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
    if (d == cost)
      mark_cheapest(sheet);
  }
}

static const char *saving_text(const struct sheet *sheet, const struct option *option,
                               const char *item) {
  const struct option *baseline = &sheet->scenario->options[sheet->scenario->baseline];
  if (option == baseline || !compare_rankable(option, baseline))
    return "-";
  return number_fixed(100 * option_saving(sheet->scenario, option, item), 1, sheet->arena);
}

static void add_savings(const struct sheet *sheet) {
  const struct scenario *scenario = sheet->scenario;
  for (size_t m = 0; m < SAVINGS; m++) {
    struct cell *cells = grid_row(sheet->grid);
    const enum emphasis emphasis = m == 0 ? EMPHASIS_STRONG : EMPHASIS_NONE;
    const char *baseline = scenario->options[scenario->baseline].id;
    const char *label =
        arena_printf(sheet->arena, "Saving against %s%s", baseline, savings[m].suffix);
    cells[label_column] = (struct cell){label, emphasis};
    cells[unit_column] = (struct cell){"%", EMPHASIS_FAINT};
    for (size_t i = 0; i < scenario->option_count; i++)
      cells[first_option + i] =
          (struct cell){saving_text(sheet, &scenario->options[i], savings[m].item), emphasis};
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

enum { KEY_FIGURES = sizeof key_figures / sizeof key_figures[0], most_importance = 9 };

static void add_key_figure(const struct sheet *sheet, int column, const struct key_figure *figure) {
  const int declaration = model_find(sheet->scenario->model, figure->item);
  const struct scale scale = scale_of(sheet, declaration);
  sheet->grid->rows[0].cells[column] = (struct cell){figure->heading, EMPHASIS_STRONG};
  sheet->grid->rows[1].cells[column] = (struct cell){scale.unit, EMPHASIS_FAINT};
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    const struct option *option = &sheet->scenario->options[i];
    const bool marked = option == sheet->cheapest && !strcmp(figure->item, "cost_per_mtok");
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
    rows[3 + i].cells[column].text = saving_text(sheet, option, "cost_per_mtok");
    rows[3 + i].cells[column + 1].text = grade_name(option->headline_grade);
  }
}

static bool is_key_figure(const struct sheet *sheet, const struct key_figure *figure, int from) {
  const int declaration = model_find(sheet->scenario->model, figure->item);
  return figure->importance >= from && declaration >= 0 && !is_zero_everywhere(sheet, declaration);
}

static struct grid *lines_with(struct sheet *sheet, int from) {
  const struct scenario *scenario = sheet->scenario;
  int columns = 3;
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
  for (size_t k = 0; k < KEY_FIGURES; k++)
    if (is_key_figure(sheet, &key_figures[k], from))
      add_key_figure(sheet, column++, &key_figures[k]);
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

// What does not fit beside the figures: the part, and the evidence of each kind.
static struct grid *evidence_of(const struct sheet *sheet) {
  static const char *const headings[] = {"evidence", "accelerator", "throughput", "power", "price"};
  enum { columns = sizeof headings / sizeof headings[0] };
  struct grid *grid = grid_new(columns, sheet->arena);
  struct cell *head = grid_row(grid);
  for (int c = 0; c < columns; c++) {
    grid->left[c] = true;
    head[c] = (struct cell){headings[c], EMPHASIS_STRONG};
  }
  grid_rule(grid);
  for (size_t i = 0; i < sheet->scenario->option_count; i++) {
    const struct option *option = &sheet->scenario->options[i];
    struct cell *cells = grid_row(grid);
    cells[0].text = option->id;
    cells[1].text = option->accelerator;
    cells[2].text = grade_name(option->throughput_grade);
    cells[3].text = grade_name(option->power_grade);
    cells[4].text = grade_name(option->price_grade);
  }
  return grid;
}

static struct grid *lines_of(struct sheet *sheet) {
  const int label = longest_id(sheet->scenario);
  for (int from = 0;; from++) {
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
                        .cheapest = compare_cheapest(scenario)};
  const struct grid *grid = columns_of(&sheet);
  const bool fits = grid_width(grid, narrowest_label) <= style.width;
  heading_print(scenario, &style);
  grid_print(fits ? grid : lines_of(&sheet), &style);
  if (!fits) {
    putc('\n', out);
    grid_print(evidence_of(&sheet), &style);
  }
  compare_notes(scenario, &style);
}
