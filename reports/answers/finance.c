#include "reports/answers/finance.h"
#include "model/questions/comparison.h"
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/print/grid.h"
#include "reports/print/heading.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { NARROWEST_LABEL = 20, LABEL_COLUMN = 0, UNIT_COLUMN, FIRST_OPTION };

// What is said of a difference: a number of struct comparison in the unit of a line item.
static const struct measure {
  const char *key, *label, *unit_of; // unit_of: a declaration
  size_t place;                      // in struct comparison
} measures[] = {
    {"extra_outlay", "Its extra outlay", "cash", offsetof(struct comparison, extra_outlay)},
    {"saved", "Saved against the baseline", "cash", offsetof(struct comparison, saved_total)},
    {"npv_saved", "Saved, net present value", "cash", offsetof(struct comparison, npv_saved)},
    {"payback", "Payback time", "period", offsetof(struct comparison, payback)},
    {"discounted_payback", "Payback time, discounted", "period",
     offsetof(struct comparison, discounted_payback)},
    {"irr", "Internal rate of return (IRR)", "wacc", offsetof(struct comparison, irr)},
};

enum { MEASURES = sizeof measures / sizeof measures[0] };

static double measured(const struct comparison *comparison, const struct measure *measure) {
  double value;
  memcpy(&value, (const char *)comparison + measure->place, sizeof value);
  // A rate is per year there; base units count in hours.
  return strcmp(measure->key, "irr") != 0 ? value
                                          : value / conversion_table[CONVERT_HOURS_PER_YEAR].value;
}

static const struct unit *unit_of(const struct scenario *scenario, const char *item) {
  return &scenario->model->declarations[model_find(scenario->model, item)].unit;
}

static const struct comparison *compared(const struct scenario *scenario,
                                         const struct option *option, struct arena *arena) {
  const struct option *baseline = &scenario->options[scenario->baseline];
  bool comparable = option != baseline && ranking_compares(option, baseline);
  return comparable ? comparison_ask(scenario, option, arena) : NULL;
}

static const char *dearer(const struct comparison *comparison) {
  const struct scenario *scenario = comparison->scenario;
  return comparison->direction > 0 ? comparison->option->id
                                   : scenario->options[scenario->baseline].id;
}

// ---- the terminal

// The options that stand side by side.
struct sheet {
  const struct scenario *scenario;
  struct arena *arena;
  struct grid *grid;
  size_t first, count;
};

static const struct option *option_at(const struct sheet *sheet, size_t i) {
  return &sheet->scenario->options[sheet->first + i];
}

// Numbers of a row in one scale; NAN has none.
static void add_row(const struct sheet *sheet, const char *label, const struct unit *unit,
                    const double *values, const char *none) {
  struct cell *cells = grid_row(sheet->grid);
  double *there = arena_array(sheet->arena, sheet->count + 1, sizeof *there);
  size_t count = 0;
  for (size_t i = 0; i < sheet->count; i++)
    if (!isnan(values[i]))
      there[count++] = values[i];
  const struct scale scale = number_scale(unit, there, count, sheet->arena);
  cells[LABEL_COLUMN].text = label;
  cells[UNIT_COLUMN] = (struct cell){scale.unit, EMPHASIS_FAINT};
  for (size_t i = 0; i < sheet->count; i++)
    cells[FIRST_OPTION + i].text =
        isnan(values[i]) ? none : number_scaled(values[i], scale, sheet->arena);
}

static void add_item(const struct sheet *sheet, int declaration) {
  const struct declaration *item = &sheet->scenario->model->declarations[declaration];
  double *values = arena_array(sheet->arena, sheet->count, sizeof *values);
  for (size_t i = 0; i < sheet->count; i++)
    values[i] = option_has(option_at(sheet, i), declaration)
                    ? option_value(sheet->scenario, option_at(sheet, i), declaration, 0)
                    : NAN;
  add_row(sheet, item->label, &item->unit, values, "-");
}

static bool is_shown(const struct scenario *scenario, int declaration, int group) {
  const struct declaration *item = &scenario->model->declarations[declaration];
  if (item->group != group || item->kind != DECLARATION_SCALAR)
    return false;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (option_has(&scenario->options[o], declaration))
      return true;
  return false;
}

static void add_heading(const struct sheet *sheet, const char *text) {
  if (sheet->grid->count > 1)
    grid_row(sheet->grid);
  grid_row(sheet->grid)[LABEL_COLUMN] = (struct cell){text, EMPHASIS_STRONG};
  grid_rule(sheet->grid);
}

static void add_view(const struct sheet *sheet, int group) {
  const struct model *model = sheet->scenario->model;
  bool headed = false;
  for (int d = 0; d < model->count; d++) {
    if (!is_shown(sheet->scenario, d, group))
      continue;
    if (!headed)
      add_heading(sheet, model->groups[group].label);
    headed = true;
    add_item(sheet, d);
  }
}

// One line per measure; options that are not compared stay blank.
static void add_measures(const struct sheet *sheet, const struct comparison *const *all) {
  double *values = arena_array(sheet->arena, sheet->count, sizeof *values);
  for (size_t m = 0; m < MEASURES; m++) {
    for (size_t i = 0; i < sheet->count; i++)
      values[i] = all[i] ? measured(all[i], &measures[m]) : NAN;
    add_row(sheet, measures[m].label, unit_of(sheet->scenario, measures[m].unit_of), values,
            "never");
    struct cell *cells = sheet->grid->rows[sheet->grid->count - 1].cells;
    for (size_t i = 0; i < sheet->count; i++)
      if (!all[i])
        cells[FIRST_OPTION + i].text = "";
  }
}

static void add_difference(const struct sheet *sheet) {
  const struct scenario *scenario = sheet->scenario;
  const size_t pointer = sizeof(const struct comparison *);
  const struct comparison **all = arena_array(sheet->arena, sheet->count, pointer);
  bool any = false;
  for (size_t i = 0; i < sheet->count; i++) {
    all[i] = compared(scenario, option_at(sheet, i), sheet->arena);
    any |= all[i] != NULL;
  }
  if (!any)
    return;
  add_heading(sheet, arena_printf(sheet->arena, "Against %s, at its output",
                                  scenario->options[scenario->baseline].id));
  struct cell *cells = grid_row(sheet->grid);
  cells[LABEL_COLUMN].text = "The dearer purchase";
  for (size_t i = 0; i < sheet->count; i++)
    cells[FIRST_OPTION + i].text = all[i] ? dearer(all[i]) : "";
  add_measures(sheet, all);
}

static void fill(struct sheet *sheet) {
  const struct model *model = sheet->scenario->model;
  sheet->grid = grid_new(FIRST_OPTION + (int)sheet->count, sheet->arena);
  sheet->grid->left[UNIT_COLUMN] = true;
  struct cell *ids = grid_row(sheet->grid);
  for (size_t i = 0; i < sheet->count; i++)
    ids[FIRST_OPTION + i] = (struct cell){option_at(sheet, i)->id, EMPHASIS_STRONG};
  for (int g = 0; g < model->group_count; g++)
    if (model->groups[g].view)
      add_view(sheet, g);
  add_difference(sheet);
}

static void print_table(const struct scenario *scenario, FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  heading_print(scenario, &style);
  struct sheet sheet = {.scenario = scenario, .arena = arena};
  for (; sheet.first < scenario->option_count; sheet.first += sheet.count) {
    sheet.count = scenario->option_count - sheet.first;
    for (fill(&sheet); grid_width(sheet.grid, NARROWEST_LABEL) > style.width && sheet.count > 1;
         fill(&sheet))
      sheet.count--;
    if (sheet.first)
      putc('\n', out);
    grid_print(sheet.grid, &style);
  }
}

// ---- JSON

static json_t *number_json(const struct scenario *scenario, const struct option *option,
                           int declaration, int period) {
  return json_out_number(number_in_unit(option_value(scenario, option, declaration, period),
                                        &scenario->model->declarations[declaration].unit));
}

static json_t *item_json(const struct scenario *scenario, const struct option *option,
                         int declaration) {
  if (scenario->model->declarations[declaration].kind != DECLARATION_SERIES)
    return number_json(scenario, option, declaration, 0);
  json_t *values = json_array();
  const int last = option_periods(scenario, option, scenario->selected);
  for (int t = 0; t <= last; t++)
    json_array_append_new(values, number_json(scenario, option, declaration, t));
  return values;
}

static json_t *view_json(const struct scenario *scenario, int group) {
  const struct model *model = scenario->model;
  json_t *view = json_object(), *units = json_object(), *options = json_object();
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    json_t *items = json_object();
    for (int d = 0; d < model->count; d++) {
      const struct declaration *item = &model->declarations[d];
      if (item->group != group || item->kind == DECLARATION_INPUT || !option_has(option, d))
        continue;
      json_object_set_new(items, item->name, item_json(scenario, option, d));
      json_object_set_new(units, item->name, json_out_text(item->unit.text));
    }
    if (json_object_size(items))
      json_object_set(options, option->id, items);
    json_decref(items);
  }
  json_object_set_new(view, "name", json_out_text(model->groups[group].name));
  json_object_set_new(view, "label", json_out_text(model->groups[group].label));
  json_object_set_new(view, "units", units);
  json_object_set_new(view, "options", options);
  return view;
}

json_t *difference_json(const struct scenario *scenario, struct arena *arena) {
  json_t *difference = json_object(), *units = json_object(), *options = json_object();
  for (size_t m = 0; m < MEASURES; m++)
    json_object_set_new(units, measures[m].key,
                        json_out_text(unit_of(scenario, measures[m].unit_of)->text));
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct comparison *comparison = compared(scenario, &scenario->options[o], arena);
    if (!comparison)
      continue;
    json_t *one = json_object();
    json_object_set_new(one, "dearer_purchase", json_out_text(dearer(comparison)));
    for (size_t m = 0; m < MEASURES; m++)
      json_object_set_new(one, measures[m].key,
                          json_out_number(number_in_unit(measured(comparison, &measures[m]),
                                                         unit_of(scenario, measures[m].unit_of))));
    json_object_set_new(options, scenario->options[o].id, one);
  }
  json_object_set_new(difference, "units", units);
  json_object_set_new(difference, "options", options);
  return difference;
}

static void print_json(const struct scenario *scenario, FILE *out, struct arena *arena) {
  json_t *root = json_object(), *head = json_object(), *views = json_array();
  json_object_set_new(head, "title", json_out_text(scenario->title));
  json_object_set_new(head, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(head, "sha256", json_out_text(scenario->digest));
  for (int g = 0; g < scenario->model->group_count; g++)
    if (scenario->model->groups[g].view)
      json_array_append_new(views, view_json(scenario, g));
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(root, "scenario", head);
  json_object_set_new(root, "baseline", json_out_text(scenario->options[scenario->baseline].id));
  json_object_set_new(root, "views", views);
  json_object_set_new(root, "difference", difference_json(scenario, arena));
  json_out_print(root, out);
}

void finance_print(const struct scenario *scenario, enum output_format format, FILE *out,
                   struct arena *arena) {
  if (format == FORMAT_JSON)
    print_json(scenario, out, arena);
  else
    print_table(scenario, out, arena);
}
