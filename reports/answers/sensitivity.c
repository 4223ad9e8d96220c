#include "reports/answers/sensitivity.h"

#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"
#include "reports/answers/compare_notes.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <math.h>
#include <string.h>

// The result under study: the saving of an option or, if it is the only one, its cost.
struct result {
  const struct scenario *scenario;
  size_t option;
  bool is_saving;
  const struct unit *unit, *cost_unit, *plain;
  const char *name;          // "Saving of mi325x against h200"
  struct answer_table facts; // the head of the JSON document
  struct arena *arena;
};

static struct result result_in(const struct scenario *scenario, int item, size_t option,
                               struct arena *arena) {
  const char *id = scenario->options[option].label,
             *baseline = scenario->options[scenario->baseline].label;
  const struct declaration *cost = &scenario->model->declarations[item];
  const bool is_saving = sensitivity_is_of_saving(scenario, option, item);
  struct result result = {.scenario = scenario,
                          .option = option,
                          .is_saving = is_saving,
                          .unit = is_saving ? unit_known("%", arena) : &cost->unit,
                          .cost_unit = &cost->unit,
                          .plain = unit_known("-", arena),
                          .name = is_saving
                                      ? arena_printf(arena, "Saving of %s against %s", id, baseline)
                                      : arena_printf(arena, "Cost of %s", id),
                          .facts = answer_table_of_facts(arena),
                          .arena = arena};
  answer_fact(&result.facts, "item", cell_words(cost->name));
  answer_fact(&result.facts, "unit", cell_words(cost->unit.text));
  answer_fact(&result.facts, "option", cell_words(scenario->options[option].id));
  answer_fact(&result.facts, "baseline", cell_words(scenario->options[scenario->baseline].id));
  return result;
}

// "14.3 %"; a saving against a cost of zero is "not defined".
static const char *result_text(const struct result *result, double value) {
  if (!isfinite(value))
    return "not defined";
  const struct scale scale = number_scale(result->unit, &value, 1, result->arena);
  return arena_printf(result->arena, "%s %s", number_scaled(value, scale, result->arena),
                      scale.unit);
}

static struct answer_cell result_cell(double value) {
  return isfinite(value) ? cell_value(value) : cell_nothing();
}

static const struct unit *unit_of(const struct scenario *scenario, struct target target) {
  return &target_input(scenario, target)->unit;
}

static void add_standing(struct answer *answer, const struct result *result) {
  standing_notes(answer, result->scenario, result->option, result->option, result->arena);
}

// ---- the tornado

static double result_at(const struct result *result, const struct swing_end *end) {
  return result->is_saving ? end->saving : end->costs[result->option];
}

// The range of the finite results, which the bars lie in, and the current result; NAN without one.
struct bounds {
  double least, most, base;
};

static void widen(struct bounds *bounds, double value) {
  if (!isfinite(value))
    return;
  bounds->least = fmin(bounds->least, value);
  bounds->most = fmax(bounds->most, value);
}

static struct bounds bounds_of(const struct sensitivity *sensitivity, const struct result *result) {
  const struct option *options = result->scenario->options;
  double base = option_value(result->scenario, &options[result->option], sensitivity->item, 0);
  if (result->is_saving)
    base = cost_saving(base, option_value(result->scenario, &options[result->scenario->baseline],
                                          sensitivity->item, 0));
  struct bounds bounds = {NAN, NAN, base};
  widen(&bounds, base);
  for (size_t i = 0; i < 2 * sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i / 2];
    widen(&bounds, result_at(result, i % 2 ? &swing->high : &swing->low));
  }
  return bounds;
}

static struct answer_cell bar_cell(struct bounds bounds, double low, double high,
                                   struct arena *arena) {
  const double ends[] = {fmin(low, high), fmax(low, high), bounds.base};
  double *shares = arena_array(arena, 3, sizeof *shares);
  for (size_t i = 0; i < 3; i++)
    shares[i] = (ends[i] - bounds.least) / (bounds.most - bounds.least);
  const bool there =
      isfinite(low) && isfinite(high) && isfinite(bounds.base) && bounds.most > bounds.least;
  return (struct answer_cell){.kind = CELL_BAR, .values = shares, .value_count = there ? 3 : 0};
}

// Inputs whose swing has no effect are counted, not listed.
static bool does_nothing(const struct swing *swing) {
  return swing->effect < 1e-12;
}

// A row for each input. A wide terminal shows both ends, a narrow one the current value. For JSON,
// further columns have each option's cost at both ends.
static const struct answer_column swing_columns[] = {
    {.key = "input", .title = "input"},
    {.key = "unit", .faces = FACE_JSON},
    {.key = "base", .title = "at present", .room = ROOM_NARROW},
    {.key = "low", .title = "from", .room = ROOM_WIDE, .json = "swings[#].low.value"},
    {.key = "high", .title = "to", .room = ROOM_WIDE, .json = "swings[#].high.value"},
    {.key = "low.saving", .faces = FACE_JSON},
    {.key = "high.saving", .faces = FACE_JSON},
    {.key = "ranged", .faces = FACE_JSON},
    {.key = "effect", .faces = FACE_JSON},
    {.title = "at from", .room = ROOM_WIDE, .faces = FACE_TERMINAL, .unit_said = true},
    {.title = "at to", .room = ROOM_WIDE, .faces = FACE_TERMINAL, .unit_said = true},
    {.title = "low", .room = ROOM_NARROW, .faces = FACE_TERMINAL, .unit_said = true},
    {.title = "high", .room = ROOM_NARROW, .faces = FACE_TERMINAL, .unit_said = true},
    {.align = ALIGN_LEFT, .faces = FACE_TERMINAL},
};

enum { SWING_COLUMNS = sizeof swing_columns / sizeof swing_columns[0], UNIT_COLUMN = 5 };

static struct answer_table swings_columns(const struct result *result) {
  struct answer_table table = answer_table_new("swings", NULL, result->arena);
  for (size_t c = 0; c < SWING_COLUMNS; c++) {
    struct answer_column column = swing_columns[c];
    column.unit = column.unit_said ? result->unit : NULL;
    answer_column(&table, column);
  }
  for (size_t k = 0; k < 2 * result->scenario->option_count; k++)
    ANSWER_COLUMN(&table,
                  .key = arena_printf(result->arena, "%s.costs.%s", k % 2 ? "high" : "low",
                                      result->scenario->options[k / 2].id),
                  .faces = FACE_JSON);
  table.unit_column = UNIT_COLUMN;
  table.json = "swings[#].%c";
  table.faces = FACE_TERMINAL | FACE_JSON;
  return table;
}

static void add_swing(struct answer_table *table, const struct swing *swing,
                      const struct result *result, struct bounds bounds) {
  const struct scenario *scenario = result->scenario;
  const struct unit *unit = unit_of(scenario, swing->target), *plain = result->plain;
  const double low = result_at(result, &swing->low), high = result_at(result, &swing->high);
  const double *at_low = swing->low.costs, *at_high = swing->high.costs;
  const unsigned faces = does_nothing(swing) ? FACE_JSON : 0;
  struct answer_cell *cells = answer_table_row_of(
      table, (struct answer_row){.label = swing->name, .unit = unit, .faces = faces});
  const struct answer_cell about[SWING_COLUMNS - 1] = {
      cell_words(unit->text),
      {.value = swing->base, .starred = swing->clipped},
      {.value = swing->low.value, .starred = swing->clipped},
      cell_value(swing->high.value),
      cell_in(swing->low.saving, plain),
      cell_in(swing->high.saving, plain),
      cell_flag(swing->ranged),
      cell_in(swing->effect, plain),
      result_cell(low),
      result_cell(high),
      result_cell(low),
      result_cell(high),
      bar_cell(bounds, low, high, result->arena)};
  memcpy(cells + 1, about, sizeof about);
  for (size_t k = 0; k < 2 * scenario->option_count; k++)
    cells[SWING_COLUMNS + k] = cell_in((k % 2 ? at_high : at_low)[k / 2], result->cost_unit);
}

// The costs for CSV: a row for each input and option.
static struct answer_table costs_table(const struct sensitivity *sensitivity,
                                       const struct result *result) {
  const struct scenario *scenario = result->scenario;
  struct answer_table table = answer_table_new("costs", NULL, result->arena);
  static const char *const keys[] = {"input",      "unit",        "base",     "low",
                                     "high",       "option",      "cost_low", "cost_high",
                                     "saving_low", "saving_high", "label"};
  for (size_t c = 0; c < sizeof keys / sizeof keys[0]; c++)
    ANSWER_COLUMN(&table, .key = keys[c]);
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    const struct unit *unit = unit_of(scenario, swing->target), *plain = result->plain;
    const double *at_low = swing->low.costs, *at_high = swing->high.costs;
    for (size_t o = 0; o < scenario->option_count; o++)
      answer_table_add(
          &table, (const struct answer_cell[]){
                      cell_words(swing->name), cell_words(unit->text), cell_in(swing->base, unit),
                      cell_in(swing->low.value, unit), cell_in(swing->high.value, unit),
                      cell_option(&scenario->options[o]), cell_in(at_low[o], result->cost_unit),
                      cell_in(at_high[o], result->cost_unit),
                      cell_in(cost_saving(at_low[o], at_low[scenario->baseline]), plain),
                      cell_in(cost_saving(at_high[o], at_high[scenario->baseline]), plain),
                      cell_words(scenario->options[o].label)});
  }
  table.is_wide = true;
  table.faces = FACE_CSV;
  return table;
}

static bool is_swung(const struct sensitivity *sensitivity, int declaration) {
  for (size_t i = 0; i < sensitivity->count; i++)
    if (sensitivity->swings[i].target.declaration == declaration)
      return true;
  return false;
}

// The properties of the hardware that some option has, and that have no range.
static const char *properties_of(const struct sensitivity *sensitivity, struct arena *arena) {
  const struct scenario *scenario = sensitivity->scenario;
  const char *names = "";
  for (int d = 0; d < scenario->model->count; d++) {
    bool stated = false;
    for (size_t o = 0; o < scenario->option_count; o++)
      stated |= scenario->options[o].graph->state[d] == GRAPH_INPUT;
    if (stated && scenario->model->declarations[d].property && !is_swung(sensitivity, d))
      names = joined(names, scenario->model->declarations[d].name, arena);
  }
  return names;
}

// What the table leaves out, and what its mark means.
static void add_notes(struct answer *answer, const struct sensitivity *sensitivity,
                      struct arena *arena) {
  const char *idle = "", *still = "";
  bool clipped = false, unsaved = false;
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    unsaved |= sensitivity->of_saving && (isnan(swing->low.saving) || isnan(swing->high.saving));
    clipped |= swing->clipped && !does_nothing(swing);
    if (does_nothing(swing))
      idle = joined(idle, swing->name, arena);
  }
  for (size_t i = 0; i < sensitivity->still_count; i++)
    still = joined(still, sensitivity->still[i], arena);
  if (clipped)
    answer_note(answer, "* ", "one end was limited to the input's allowed range");
  if (unsaved)
    answer_note(answer, "-: ", "no saving, as one of the two would cost less than nothing");
  if (*idle)
    answer_note(answer, "No effect on this result: ", "%s", idle);
  if (*still)
    answer_note(answer, "At zero, so not swung: ", "%s", still);
  const struct scenario *scenario = sensitivity->scenario;
  for (int d = 0; d < scenario->model->count; d++)
    if (scenario->finds[d])
      answer_note(answer, "Not swung: ", "%s, as %s", scenario->model->declarations[d].name,
                  scenario_why_fixed(scenario, d, arena));
  const char *properties = properties_of(sensitivity, arena);
  if (*properties)
    answer_note(answer, "Not swung: ", "%s, a property of the hardware", properties);
  if (sensitivity->aside)
    answer_note(answer,
                "Not examined: ", "%zu inputs of other options, which do not affect this result",
                sensitivity->aside);
}

struct answer sensitivity_answer(const struct sensitivity *sensitivity, struct arena *arena) {
  struct result result =
      result_in(sensitivity->scenario, sensitivity->item, sensitivity->option, arena);
  const struct bounds bounds = bounds_of(sensitivity, &result);
  const struct texts still = {(const char **)sensitivity->still, sensitivity->still_count};
  struct answer_table swings = swings_columns(&result);
  bool ranged = false;
  for (size_t i = 0; i < sensitivity->count; i++) {
    ranged |= sensitivity->swings[i].ranged;
    add_swing(&swings, &sensitivity->swings[i], &result, bounds);
  }
  answer_fact(&result.facts, "share", cell_value(sensitivity->share));
  answer_fact(&result.facts, "still", cell_list(still));
  struct answer answer = answer_new("sensitivity", "inputs", NULL, sensitivity->scenario, arena);
  answer.schema = 1;
  answer.sentence = arena_printf(arena, "%s: %s at present; each input alone by ±%s %%%s.",
                                 result.name, result_text(&result, bounds.base),
                                 number_significant(100 * sensitivity->share, 3, arena),
                                 ranged ? " or from P5 to P95 of its range" : "");
  answer_push(&answer, result.facts);
  answer_push(&answer, swings);
  answer_push(&answer, costs_table(sensitivity, &result));
  add_notes(&answer, sensitivity, arena);
  add_standing(&answer, &result);
  return answer;
}

// ---- the grid

static const struct unit *axis_unit(const struct cost_grid *grid, size_t axis) {
  return unit_of(grid->scenario, grid->axes[axis].target);
}

// "electricity_price, USD/kWh"
static const char *axis_label(const struct cost_grid *grid, size_t axis, struct arena *arena) {
  const char *unit = axis_unit(grid, axis)->text;
  return strcmp(unit, "-") != 0 ? arena_printf(arena, "%s, %s", grid->axes[axis].name, unit)
                                : grid->axes[axis].name;
}

static size_t inner_count(const struct cost_grid *grid) {
  return grid->axis_count == 2 ? grid->axes[1].count : 1;
}

// Rows: the first input; columns: the second. In JSON, series over the second of all costs and the
// saving.
static struct answer_table squares_columns(const struct cost_grid *grid,
                                           const struct result *result) {
  const size_t inner = inner_count(grid), options = grid->scenario->option_count;
  const struct unit *across = axis_unit(grid, grid->axis_count - 1);
  struct answer_table table = answer_table_new("cells", NULL, result->arena);
  if (grid->axis_count == 2)
    table.title = arena_printf(result->arena, "across: %s", axis_label(grid, 1, result->arena));
  ANSWER_COLUMN(&table, .key = "down", .title = grid->axes[0].name, .unit = axis_unit(grid, 0),
                .faces = FACE_TERMINAL);
  for (size_t k = 0; k < inner; k++)
    ANSWER_COLUMN(&table, .key = "across",
                  .title = grid->axis_count == 2
                               ? number_significant(number_in_unit(grid->axes[1].values[k], across),
                                                    4, result->arena)
                               : result->unit->text,
                  .unit = result->unit, .faces = FACE_TERMINAL, .unit_said = true);
  for (size_t o = 0; o < options; o++)
    ANSWER_COLUMN(&table, .key = grid->scenario->options[o].id, .unit = result->cost_unit,
                  .faces = FACE_JSON);
  if (result->is_saving)
    ANSWER_COLUMN(&table, .key = "saving", .faces = FACE_JSON, .json = "saving[#]");
  table.json = "costs.%c[#]";
  table.faces = FACE_TERMINAL | FACE_JSON;
  return table;
}

static struct answer_table squares_table(const struct cost_grid *grid, const struct result *result,
                                         const double *results) {
  const size_t inner = inner_count(grid), options = grid->scenario->option_count;
  struct answer_table table = squares_columns(grid, result);
  for (size_t i = 0; i < grid->axes[0].count; i++) {
    struct answer_cell *cells = answer_table_row(&table);
    cells[0] = (struct answer_cell){.value = grid->axes[0].values[i], .emphasis = EMPHASIS_STRONG};
    for (size_t k = 0; k < inner; k++) {
      cells[1 + k] = result_cell(results[i * inner + k]);
      if (result->is_saving && cells[1 + k].value < 0)
        cells[1 + k].emphasis = EMPHASIS_ALARM;
    }
    for (size_t o = 0; o < options; o++)
      cells[1 + inner + o] =
          cell_series(&grid->costs[o * grid->cells + i * inner], inner, result->cost_unit);
    if (result->is_saving)
      cells[1 + inner + options] = cell_series(&grid->saving[i * inner], inner, NULL);
  }
  return table;
}

static struct answer_table cells_table(const struct cost_grid *grid, const struct result *result) {
  const size_t axes = grid->axis_count, options = grid->scenario->option_count;
  const size_t inner = inner_count(grid);
  struct answer_table table = answer_table_new("lines", NULL, result->arena);
  for (size_t a = 0; a < axes; a++)
    ANSWER_COLUMN(&table, .key = axis_label(grid, a, result->arena), .unit = axis_unit(grid, a));
  for (size_t o = 0; o < options; o++)
    ANSWER_COLUMN(&table,
                  .key = arena_printf(result->arena, "%s, %s", grid->scenario->options[o].id,
                                      result->cost_unit->text),
                  .unit = result->cost_unit);
  if (result->is_saving)
    ANSWER_COLUMN(&table, .key = arena_printf(result->arena, "saving of %s",
                                              grid->scenario->options[grid->option].id));
  for (size_t i = 0; i < grid->cells; i++) {
    struct answer_cell *cells = answer_table_row(&table);
    for (size_t a = 0; a < axes; a++)
      cells[a] = cell_value(grid->axes[a].values[a ? i % inner : i / inner]);
    for (size_t o = 0; o < options; o++)
      cells[axes + o] = cell_value(grid->costs[o * grid->cells + i]);
    if (result->is_saving)
      cells[axes + options] = cell_value(grid->saving[i]);
  }
  table.is_wide = true;
  table.faces = FACE_CSV;
  return table;
}

static struct answer_table axes_table(const struct cost_grid *grid, struct arena *arena) {
  struct answer_table table = answer_table_new("axes", NULL, arena);
  ANSWER_COLUMN(&table, .key = "input");
  ANSWER_COLUMN(&table, .key = "unit");
  ANSWER_COLUMN(&table, .key = "values");
  for (size_t a = 0; a < grid->axis_count; a++) {
    const struct unit *unit = axis_unit(grid, a);
    answer_table_add(&table, (const struct answer_cell[]){
                                 cell_words(grid->axes[a].name), cell_words(unit->text),
                                 cell_series(grid->axes[a].values, grid->axes[a].count, unit)});
  }
  table.json = "axes[#].%c";
  table.faces = FACE_JSON;
  return table;
}

struct answer cost_grid_answer(const struct cost_grid *grid, struct arena *arena) {
  const struct result result = result_in(grid->scenario, grid->item, grid->option, arena);
  const double *results =
      result.is_saving ? grid->saving : grid->costs + grid->option * grid->cells;
  struct bounds bounds = {NAN, NAN, NAN};
  for (size_t i = 0; i < grid->cells; i++)
    widen(&bounds, results[i]);
  struct answer answer = answer_new("sensitivity", "grid", NULL, grid->scenario, arena);
  const char *least = result_text(&result, bounds.least);
  answer.sentence = isnan(bounds.least) ? arena_printf(arena, "%s: %s.", result.name, least)
                                        : arena_printf(arena, "%s: %s to %s.", result.name, least,
                                                       result_text(&result, bounds.most));
  answer.schema = 2;
  answer_push(&answer, result.facts);
  answer_push(&answer, squares_table(grid, &result, results));
  answer_push(&answer, cells_table(grid, &result));
  answer_push(&answer, axes_table(grid, arena));
  add_standing(&answer, &result);
  return answer;
}
