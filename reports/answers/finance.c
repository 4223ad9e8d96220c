#include "reports/answers/finance.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/comparison.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

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

static const struct option *baseline_of(const struct scenario *scenario) {
  return &scenario->options[scenario->baseline];
}

static const struct comparison *compared(const struct scenario *scenario,
                                         const struct option *option, struct arena *arena) {
  const struct option *baseline = baseline_of(scenario);
  bool comparable = option != baseline && ranking_compares(option, baseline);
  return comparable ? comparison_ask(scenario, option, arena) : NULL;
}

static const char *dearer(const struct comparison *comparison) {
  return comparison->direction > 0 ? comparison->option->id : baseline_of(comparison->scenario)->id;
}

struct answer_table finance_difference(const struct scenario *scenario, struct arena *arena) {
  struct answer_table table = answer_table_of_options(
      "difference", arena_printf(arena, "Against %s, at its output", baseline_of(scenario)->id),
      scenario, MEASURES + 1, arena);
  struct answer_cell *dearest = answer_table_row_of(
      &table, (struct answer_row){.key = "dearer_purchase", .label = "The dearer purchase"});
  for (size_t m = 0; m < MEASURES; m++)
    answer_table_row_of(&table,
                        (struct answer_row){.key = measures[m].key,
                                            .label = measures[m].label,
                                            .unit = unit_of_item(scenario, measures[m].unit_of)});
  table.faces = FACE_CSV | FACE_JSON;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct comparison *comparison = compared(scenario, &scenario->options[o], arena);
    dearest[1 + o] = comparison ? cell_words(dearer(comparison)) : cell_absent("");
    for (size_t m = 0; m < MEASURES; m++)
      dearest[(1 + m) * table.column_count + 1 + o] =
          comparison ? (struct answer_cell){.value = measured(comparison, &measures[m]),
                                            .otherwise = "never"}
                     : cell_absent("");
    if (comparison)
      table.faces = 0;
  }
  table.json = "difference.options.%c.%r";
  table.json_units = "difference.units.%r";
  table.by_columns = true;
  return table;
}

// "h200 costs 2,769,572 USD more to buy than mi325x and earns that back in 2.1 yr"
static const char *earning(const struct comparison *comparison, struct arena *arena) {
  const struct scenario *scenario = comparison->scenario;
  const struct unit *time = unit_of_item(scenario, "period");
  const char *baseline = baseline_of(scenario)->id, *more = dearer(comparison);
  const char *back =
      isnan(comparison->payback)
          ? "does not earn that back"
          : arena_printf(arena, "earns that back in %s %s",
                         number_significant(number_in_unit(comparison->payback, time), 3, arena),
                         time->text);
  return arena_printf(arena, "%s costs %s more to buy than %s and %s", more,
                      money_text(comparison->extra_outlay, unit_of_item(scenario, "cash"), arena),
                      comparison->direction > 0 ? baseline : comparison->option->id, back);
}

static const char *sentence(const struct scenario *scenario, struct arena *arena) {
  const char *all = "";
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct comparison *comparison = compared(scenario, &scenario->options[o], arena);
    if (comparison)
      all = arena_printf(arena, "%s%s%s", all, *all ? "; " : "", earning(comparison, arena));
  }
  return *all ? arena_printf(arena, "For the same output, %s.", all) : "";
}

// A view: on a terminal, its scalars.
static struct answer_table view_table(const struct scenario *scenario, int group,
                                      struct answer_table *facts, struct arena *arena) {
  const struct model *model = scenario->model;
  const char *name = model->groups[group].name;
  struct answer_table table = answer_table_of_options(name, model->groups[group].label, scenario,
                                                      (size_t)model->count, arena);
  table.faces = FACE_CSV | FACE_JSON;
  for (int d = 0; d < model->count; d++) {
    const bool series = model->declarations[d].kind == DECLARATION_SERIES;
    bool any = false;
    for (size_t o = 0; o < scenario->option_count; o++)
      any |= option_has(&scenario->options[o], d);
    if (!any || model->declarations[d].group != group ||
        model->declarations[d].kind == DECLARATION_INPUT)
      continue;
    answer_item_row(&table, scenario, d,
                    (struct answer_row){.faces = series ? FACE_CSV | FACE_JSON : 0}, arena);
    if (!series)
      table.faces = 0;
  }
  table.json = arena_printf(arena, "views[name=%s].options.%%c.%%r", name);
  table.json_units = arena_printf(arena, "views[name=%s].units.%%r", name);
  table.by_columns = true;
  answer_fact(facts, arena_printf(arena, "views[name=%s].label", name),
              cell_words(model->groups[group].label));
  return table;
}

struct answer finance_answer(const struct scenario *scenario, struct arena *arena) {
  static const struct csv_field fields[] = {
      {"view", CSV_TABLE},  {"option", CSV_COLUMN}, {"case", CSV_CASE},     {"item", CSV_ROW},
      {"label", CSV_LABEL}, {"unit", CSV_UNIT},     {"period", CSV_PERIOD}, {"value", CSV_VALUE}};
  const size_t groups = (size_t)scenario->model->group_count;
  struct answer_table *tables = arena_array(arena, groups + 2, sizeof *tables);
  size_t count = 1;
  tables[0] = answer_table_of_facts(groups + 1, arena);
  answer_fact(&tables[0], "baseline", cell_words(baseline_of(scenario)->id));
  for (int g = 0; g < scenario->model->group_count; g++)
    if (scenario->model->groups[g].view)
      tables[count++] = view_table(scenario, g, &tables[0], arena);
  tables[count++] = finance_difference(scenario, arena);
  struct answer answer = {.kind = "finance",
                          .name = "views",
                          .sentence = sentence(scenario, arena),
                          .schema = 1,
                          .csv = fields,
                          .csv_count = sizeof fields / sizeof fields[0]};
  answer_set_tables(&answer, tables, count, arena);
  return answer;
}
