// A grid of two inputs: its table, CSV and JSON.
#include "reports/answers/sensitivity.h"
#include "reports/print/csv_out.h"
#include "reports/print/grid.h"
#include "reports/print/heading.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

static const struct unit *axis_unit(const struct cost_grid *grid, size_t axis) {
  return &target_input(grid->scenario, grid->axes[axis].target)->unit;
}

static const struct unit *cost_unit(const struct cost_grid *grid) {
  return &grid->scenario->model->declarations[grid->item].unit;
}

static size_t inner_count(const struct cost_grid *grid) {
  return grid->axis_count == 2 ? grid->axes[1].count : 1;
}

static double axis_value(const struct cost_grid *grid, size_t axis, size_t cell) {
  const size_t inner = inner_count(grid), index = axis == 0 ? cell / inner : cell % inner;
  return number_in_unit(grid->axes[axis].values[index], axis_unit(grid, axis));
}

static double cost_of(const struct cost_grid *grid, size_t option, size_t cell) {
  return number_in_unit(grid->costs[option * grid->cells + cell], cost_unit(grid));
}

// ---- the table

static const char *result_text(const struct cost_grid *grid, size_t cell, struct arena *arena) {
  const double result = grid->saving ? 100 * grid->saving[cell] : cost_of(grid, grid->option, cell);
  if (!isfinite(result))
    return "-";
  return grid->saving ? number_fixed(result, 1, arena) : number_significant(result, 4, arena);
}

static const char *axis_label(const struct cost_grid *grid, size_t axis, struct arena *arena) {
  const char *unit = axis_unit(grid, axis)->text;
  const bool plain = !strcmp(unit, "-");
  return arena_printf(arena, "%s%s%s", grid->axes[axis].name, plain ? "" : ", ", plain ? "" : unit);
}

// What the figures of the table are.
static void print_question(const struct cost_grid *grid, const struct style *style) {
  const struct scenario *scenario = grid->scenario;
  const char *id = scenario->options[grid->option].id;
  const char *what = grid->saving
                         ? arena_printf(style->arena, "Saving of %s against %s, %%", id,
                                        scenario->options[scenario->baseline].id)
                         : arena_printf(style->arena, "Cost of %s, %s", id, cost_unit(grid)->text);
  style_paragraph(style, "", what);
  style_paragraph(style, "down:   ", axis_label(grid, 0, style->arena));
  if (grid->axis_count == 2)
    style_paragraph(style, "across: ", axis_label(grid, 1, style->arena));
  putc('\n', style->out);
}

static const char *axis_text(const struct cost_grid *grid, size_t axis, size_t cell,
                             struct arena *arena) {
  return number_significant(axis_value(grid, axis, cell), 4, arena);
}

// Columns `from` to `to` of the inner input.
static void print_part(const struct cost_grid *grid, size_t from, size_t to,
                       const struct style *style) {
  struct grid *table = grid_new(1 + (int)(to - from), style->arena);
  const size_t inner = inner_count(grid);
  if (grid->axis_count == 2) {
    struct cell *head = grid_row(table);
    for (size_t k = from; k < to; k++)
      head[1 + k - from] = (struct cell){axis_text(grid, 1, k, style->arena), EMPHASIS_STRONG};
    grid_rule(table);
  }
  for (size_t i = 0; i < grid->axes[0].count; i++) {
    struct cell *cells = grid_row(table);
    cells[0] = (struct cell){axis_text(grid, 0, i * inner, style->arena), EMPHASIS_STRONG};
    for (size_t k = from; k < to; k++) {
      const size_t cell = i * inner + k;
      const bool loses = grid->saving && grid->saving[cell] < 0;
      cells[1 + k - from] = (struct cell){result_text(grid, cell, style->arena),
                                          loses ? EMPHASIS_ALARM : EMPHASIS_NONE};
    }
  }
  grid_print(table, style);
}

static void table_print(const struct cost_grid *grid, FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  const size_t inner = inner_count(grid), at_once = (size_t)(style.width / 8 - 1);
  heading_print(grid->scenario, &style);
  print_question(grid, &style);
  for (size_t from = 0; from < inner; from += at_once) {
    if (from)
      putc('\n', out);
    print_part(grid, from, from + at_once < inner ? from + at_once : inner, &style);
  }
}

// ---- CSV and JSON

static void csv_print(const struct cost_grid *grid, FILE *file, struct arena *arena) {
  const struct scenario *scenario = grid->scenario;
  struct csv_out out = {.file = file};
  for (size_t a = 0; a < grid->axis_count; a++)
    csv_out_text(&out, axis_label(grid, a, arena));
  for (size_t o = 0; o < scenario->option_count; o++)
    csv_out_text(&out,
                 arena_printf(arena, "%s, %s", scenario->options[o].id, cost_unit(grid)->text));
  if (grid->saving)
    csv_out_text(&out, arena_printf(arena, "saving of %s", scenario->options[grid->option].id));
  csv_out_end_row(&out);
  for (size_t cell = 0; cell < grid->cells; cell++) {
    for (size_t a = 0; a < grid->axis_count; a++)
      csv_out_number(&out, axis_value(grid, a, cell));
    for (size_t o = 0; o < scenario->option_count; o++)
      csv_out_number(&out, cost_of(grid, o, cell));
    if (grid->saving)
      csv_out_number(&out, grid->saving[cell]);
    csv_out_end_row(&out);
  }
}

// Rows over the first input, columns over the second.
static json_t *cells_json(const struct cost_grid *grid, const double *values, double factor) {
  const size_t inner = inner_count(grid);
  json_t *rows = json_array();
  for (size_t i = 0; i < grid->axes[0].count; i++) {
    json_t *row = json_array();
    for (size_t k = 0; k < inner; k++)
      json_array_append_new(row, json_out_number(values[i * inner + k] / factor));
    json_array_append_new(rows, row);
  }
  return rows;
}

static json_t *axes_json(const struct cost_grid *grid) {
  json_t *axes = json_array();
  for (size_t a = 0; a < grid->axis_count; a++) {
    json_t *axis = json_object(), *values = json_array();
    for (size_t i = 0; i < grid->axes[a].count; i++)
      json_array_append_new(
          values, json_out_number(number_in_unit(grid->axes[a].values[i], axis_unit(grid, a))));
    json_object_set_new(axis, "input", json_out_text(grid->axes[a].name));
    json_object_set_new(axis, "unit", json_out_text(axis_unit(grid, a)->text));
    json_object_set_new(axis, "values", values);
    json_array_append_new(axes, axis);
  }
  return axes;
}

static void json_print(const struct cost_grid *grid, FILE *out) {
  const struct scenario *scenario = grid->scenario;
  json_t *root = json_object(), *costs = json_object();
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(root, "title", json_out_text(scenario->title));
  json_object_set_new(root, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(root, "sha256", json_out_text(scenario->digest));
  json_object_set_new(root, "item", json_out_text(scenario->model->declarations[grid->item].name));
  json_object_set_new(root, "unit", json_out_text(cost_unit(grid)->text));
  json_object_set_new(root, "option", json_out_text(scenario->options[grid->option].id));
  json_object_set_new(root, "baseline", json_out_text(scenario->options[scenario->baseline].id));
  json_object_set_new(root, "axes", axes_json(grid));
  for (size_t o = 0; o < scenario->option_count; o++)
    json_object_set_new(
        costs, scenario->options[o].id,
        cells_json(grid, grid->costs + o * grid->cells, unit_factor(cost_unit(grid))));
  json_object_set_new(root, "costs", costs);
  if (grid->saving)
    json_object_set_new(root, "saving", cells_json(grid, grid->saving, 1));
  json_out_print(root, out);
}

void cost_grid_print(const struct cost_grid *grid, enum output_format format, FILE *out,
                     struct arena *arena) {
  if (format == FORMAT_CSV)
    csv_print(grid, out, arena);
  else if (format == FORMAT_JSON)
    json_print(grid, out);
  else
    table_print(grid, out, arena);
}
