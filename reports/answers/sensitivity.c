#include "reports/answers/sensitivity.h"

#include "reports/print/csv_out.h"
#include "reports/print/grid.h"
#include "reports/print/heading.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { SHOWN_DIGITS = 4 };

// A value in a unit as typed.
static double in_unit(double value, const struct unit *unit) {
  return number_in_unit(value, unit);
}

static const char *value_text(double value, const struct unit *unit, struct arena *arena) {
  return number_significant(in_unit(value, unit), SHOWN_DIGITS, arena);
}

static bool has_saving(const struct sensitivity *sensitivity) {
  return sensitivity->option != sensitivity->scenario->baseline;
}

// What the bars show of an end: the saving, or a single option's cost.
static double result_of(const struct sensitivity *sensitivity, const struct swing_end *end) {
  return has_saving(sensitivity) ? end->saving : end->costs[sensitivity->option];
}

static const struct unit *cost_unit(const struct scenario *scenario, int item) {
  return &scenario->model->declarations[item].unit;
}

static double base_cost(const struct sensitivity *sensitivity, size_t option) {
  return option_value(sensitivity->scenario, &sensitivity->scenario->options[option],
                      sensitivity->item, 0);
}

static double base_result(const struct sensitivity *sensitivity) {
  const double cost = base_cost(sensitivity, sensitivity->option);
  return has_saving(sensitivity)
             ? 1 - cost / base_cost(sensitivity, sensitivity->scenario->baseline)
             : cost;
}

// ---- the table

struct bars {
  double least, most; // results over all swings
  int columns;
  const char *block, *axis;
};

static int column_of(const struct bars *bars, double result) {
  const double share = (result - bars->least) / (bars->most - bars->least);
  return (int)lround(share * (bars->columns - 1));
}

// A bar from one end to the other, the base marked.
static const char *bar_text(const struct sensitivity *sensitivity, const struct bars *bars,
                            const struct swing *swing, struct arena *arena) {
  const double low = result_of(sensitivity, &swing->low);
  const double high = result_of(sensitivity, &swing->high);
  if (!isfinite(low) || !isfinite(high) || bars->most <= bars->least)
    return "";
  const int from = column_of(bars, fmin(low, high)), to = column_of(bars, fmax(low, high));
  const int base = column_of(bars, base_result(sensitivity));
  const char *text = "";
  for (int i = 0; i < bars->columns; i++)
    text = arena_printf(arena, "%s%s", text,
                        i == base              ? bars->axis
                        : i >= from && i <= to ? bars->block
                                               : " ");
  return text;
}

static struct bars bars_of(const struct sensitivity *sensitivity, const struct style *style) {
  const double base = base_result(sensitivity);
  struct bars bars = {base, base, 0, style->utf8 ? "█" : "#", style->utf8 ? "│" : "|"};
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing_end *ends[] = {&sensitivity->swings[i].low, &sensitivity->swings[i].high};
    for (size_t k = 0; k < 2; k++) {
      bars.least = fmin(bars.least, result_of(sensitivity, ends[k]));
      bars.most = fmax(bars.most, result_of(sensitivity, ends[k]));
    }
  }
  return bars;
}

static const char *result_text(const struct sensitivity *sensitivity, double result,
                               struct arena *arena) {
  if (!isfinite(result))
    return "-";
  if (has_saving(sensitivity))
    return number_fixed(100 * result, 1, arena);
  return value_text(result, cost_unit(sensitivity->scenario, sensitivity->item), arena);
}

// Both ends with the decimals that they need, and their unit.
static void put_ends(struct cell *cells, const struct sensitivity *sensitivity,
                     const struct swing *swing, struct arena *arena) {
  const struct unit *unit = &target_input(sensitivity->scenario, swing->target)->unit;
  const double ends[] = {swing->low.value, swing->high.value};
  const struct scale scale = number_scale(unit, ends, 2, arena);
  cells[0].text =
      arena_printf(arena, "%s%s", number_scaled(ends[0], scale, arena), swing->clipped ? "*" : "");
  cells[1].text = number_scaled(ends[1], scale, arena);
  cells[2] = (struct cell){scale.unit, EMPHASIS_FAINT};
}

static void put_base(struct cell *cells, const struct sensitivity *sensitivity,
                     const struct swing *swing, struct arena *arena) {
  const struct unit *unit = &target_input(sensitivity->scenario, swing->target)->unit;
  const struct scale scale = number_scale(unit, &swing->base, 1, arena);
  cells[0].text = arena_printf(arena, "%s%s", number_scaled(swing->base, scale, arena),
                               swing->clipped ? "*" : "");
  cells[1] = (struct cell){scale.unit, EMPHASIS_FAINT};
}

static void put_results(struct cell *cells, const struct sensitivity *sensitivity,
                        const struct bars *bars, const struct swing *swing, struct arena *arena) {
  cells[0].text = result_text(sensitivity, result_of(sensitivity, &swing->low), arena);
  cells[1].text = result_text(sensitivity, result_of(sensitivity, &swing->high), arena);
  cells[2].text = bar_text(sensitivity, bars, swing, arena);
}

// What a line shows of an input: both ends where there is room, else the value at present.
static const struct layout {
  int columns, results; // the first of the columns of results
  int bar;              // columns of a terminal
  const char *heads[7];
  void (*put)(struct cell *, const struct sensitivity *, const struct swing *, struct arena *);
} layouts[] = {
    {7, 4, 24, {"input", "from", "to", "", "at from", "at to", ""}, put_ends},
    {6, 3, 10, {"input", "at present", "", "low", "high", ""}, put_base},
};

// Inputs whose swing does nothing are counted, not listed.
static bool does_nothing(const struct swing *swing) {
  return swing->effect < 1e-12;
}

static struct grid *grid_of(const struct sensitivity *sensitivity, const struct layout *layout,
                            struct bars bars, struct arena *arena) {
  bars.columns = layout->bar;
  struct grid *grid = grid_new(layout->columns, arena);
  grid->left[layout->results - 1] = grid->left[layout->columns - 1] = true;
  struct cell *head = grid_row(grid);
  for (int i = 0; i < layout->columns; i++)
    head[i] = (struct cell){layout->heads[i], EMPHASIS_STRONG};
  grid_rule(grid);
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    if (does_nothing(swing))
      continue;
    struct cell *cells = grid_row(grid);
    cells[0].text = swing->name;
    layout->put(cells + 1, sensitivity, swing, arena);
    put_results(cells + layout->results, sensitivity, &bars, swing, arena);
  }
  return grid;
}

static const char *result_name(const struct sensitivity *sensitivity, struct arena *arena) {
  const struct scenario *scenario = sensitivity->scenario;
  const char *id = scenario->options[sensitivity->option].id;
  if (!has_saving(sensitivity))
    return arena_printf(arena, "Cost of %s, %s", id, cost_unit(scenario, sensitivity->item)->text);
  return arena_printf(arena, "Saving of %s against %s, %%", id,
                      scenario->options[scenario->baseline].id);
}

static void print_still(const struct sensitivity *sensitivity, const struct style *style) {
  const char *names = "";
  for (size_t i = 0; i < sensitivity->still_count; i++)
    names = arena_printf(style->arena, "%s%s%s", names, i ? ", " : "", sensitivity->still[i]);
  if (sensitivity->still_count)
    style_paragraph(style, "At zero, so without a swing: ", names);
}

// What the table leaves out, and what its mark means.
static void print_notes(const struct sensitivity *sensitivity, const struct style *style) {
  const char *idle = "";
  bool clipped = false;
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    clipped = clipped || (swing->clipped && !does_nothing(swing));
    if (does_nothing(swing))
      idle = arena_printf(style->arena, "%s%s%s", idle, *idle ? ", " : "", swing->name);
  }
  putc('\n', style->out);
  if (clipped)
    style_paragraph(style, "* ", "one end was pulled back to what the input may be");
  if (*idle)
    style_paragraph(style, "Without effect on this result: ", idle);
  print_still(sensitivity, style);
}

static int longest_name(const struct sensitivity *sensitivity) {
  int longest = 0;
  for (size_t i = 0; i < sensitivity->count; i++) {
    const int length = (int)strlen(sensitivity->swings[i].name);
    longest = length > longest ? length : longest;
  }
  return longest;
}

static bool any_ranged(const struct sensitivity *sensitivity) {
  for (size_t i = 0; i < sensitivity->count; i++)
    if (sensitivity->swings[i].ranged)
      return true;
  return false;
}

static void table_print(const struct sensitivity *sensitivity, FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  const struct bars bars = bars_of(sensitivity, &style);
  heading_print(sensitivity->scenario, &style);
  style_paragraph(&style, "",
                  arena_printf(arena, "%s, at present %s; each input alone by ±%s %%%s",
                               result_name(sensitivity, arena),
                               result_text(sensitivity, base_result(sensitivity), arena),
                               number_significant(100 * sensitivity->share, 3, arena),
                               any_ranged(sensitivity) ? " or from P5 to P95 of its range" : ""));
  putc('\n', out);
  const struct grid *grid = grid_of(sensitivity, &layouts[0], bars, arena);
  if (grid_width(grid, longest_name(sensitivity)) > style.width)
    grid = grid_of(sensitivity, &layouts[1], bars, arena);
  grid_print(grid, &style);
  print_notes(sensitivity, &style);
}

// ---- CSV and JSON

static void put_number(struct csv_out *out, double value) {
  if (isfinite(value))
    csv_out_number(out, value);
  else
    csv_out_blank(out);
}

static void csv_print(const struct sensitivity *sensitivity, FILE *file) {
  static const char *const header[] = {"input",      "unit",       "base",     "low",
                                       "high",       "option",     "cost_low", "cost_high",
                                       "saving_low", "saving_high"};
  const struct scenario *scenario = sensitivity->scenario;
  const struct unit *cost = cost_unit(scenario, sensitivity->item);
  struct csv_out out = {.file = file};
  csv_out_header(&out, header, sizeof header / sizeof header[0]);
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    const struct unit *unit = &target_input(scenario, swing->target)->unit;
    for (size_t o = 0; o < scenario->option_count; o++) {
      const size_t baseline = scenario->baseline;
      csv_out_text(&out, swing->name);
      csv_out_text(&out, unit->text);
      put_number(&out, in_unit(swing->base, unit));
      put_number(&out, in_unit(swing->low.value, unit));
      put_number(&out, in_unit(swing->high.value, unit));
      csv_out_text(&out, scenario->options[o].id);
      put_number(&out, in_unit(swing->low.costs[o], cost));
      put_number(&out, in_unit(swing->high.costs[o], cost));
      put_number(&out, 1 - swing->low.costs[o] / swing->low.costs[baseline]);
      put_number(&out, 1 - swing->high.costs[o] / swing->high.costs[baseline]);
      csv_out_end_row(&out);
    }
  }
}

static json_t *head_json(const struct scenario *scenario, int item, size_t option) {
  json_t *root = json_object(), *head = json_object();
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(head, "title", json_out_text(scenario->title));
  json_object_set_new(head, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(head, "sha256", json_out_text(scenario->digest));
  json_object_set_new(root, "scenario", head);
  json_object_set_new(root, "item", json_out_text(scenario->model->declarations[item].name));
  json_object_set_new(root, "unit", json_out_text(cost_unit(scenario, item)->text));
  json_object_set_new(root, "option", json_out_text(scenario->options[option].id));
  json_object_set_new(root, "baseline", json_out_text(scenario->options[scenario->baseline].id));
  return root;
}

static json_t *end_json(const struct sensitivity *sensitivity, const struct swing_end *end,
                        const struct unit *unit) {
  const struct scenario *scenario = sensitivity->scenario;
  json_t *object = json_object(), *costs = json_object();
  json_object_set_new(object, "value", json_out_number(in_unit(end->value, unit)));
  for (size_t o = 0; o < scenario->option_count; o++)
    json_object_set_new(
        costs, scenario->options[o].id,
        json_out_number(in_unit(end->costs[o], cost_unit(scenario, sensitivity->item))));
  json_object_set_new(object, "costs", costs);
  json_object_set_new(object, "saving", json_out_number(end->saving));
  return object;
}

static void json_print(const struct sensitivity *sensitivity, FILE *out) {
  json_t *root = head_json(sensitivity->scenario, sensitivity->item, sensitivity->option);
  json_t *swings = json_array();
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    const struct unit *unit = &target_input(sensitivity->scenario, swing->target)->unit;
    json_t *object = json_object();
    json_object_set_new(object, "input", json_out_text(swing->name));
    json_object_set_new(object, "unit", json_out_text(unit->text));
    json_object_set_new(object, "base", json_out_number(in_unit(swing->base, unit)));
    json_object_set_new(object, "low", end_json(sensitivity, &swing->low, unit));
    json_object_set_new(object, "high", end_json(sensitivity, &swing->high, unit));
    json_object_set_new(object, "ranged", json_boolean(swing->ranged));
    json_object_set_new(object, "effect", json_out_number(swing->effect));
    json_array_append_new(swings, object);
  }
  json_object_set_new(root, "share", json_out_number(sensitivity->share));
  json_object_set_new(root, "swings", swings);
  json_object_set_new(root, "still", json_out_texts(sensitivity->still, sensitivity->still_count));
  json_out_print(root, out);
}

void sensitivity_print(const struct sensitivity *sensitivity, enum output_format format, FILE *out,
                       struct arena *arena) {
  if (format == FORMAT_CSV)
    csv_print(sensitivity, out);
  else if (format == FORMAT_JSON)
    json_print(sensitivity, out);
  else
    table_print(sensitivity, out, arena);
}
