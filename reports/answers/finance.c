#include "reports/answers/finance.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/comparison.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/verdict.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// A measure of a difference: a number of struct comparison in the unit of a line item, or words.
static const struct measure {
  const char *key, *label, *unit_of; // unit_of: a declaration; NULL: words
  size_t place;                      // in struct comparison
  unsigned faces;
} measures[] = {
    {"saved", "Total saving", "cash", offsetof(struct comparison, saved_total), 0},
    {"npv_saved", "Saving, net present value", "cash", offsetof(struct comparison, npv_saved), 0},
    {"dearer_purchase", "The more expensive purchase", NULL, 0, FACE_CSV | FACE_JSON},
    {"examined", "Extra outlay examined", NULL, 0, 0},
    {"extra_outlay", "Amount of the extra outlay", "cash",
     offsetof(struct comparison, extra_outlay), 0},
    {"outlay_share", "Its share of the purchase", "discount",
     offsetof(struct comparison, outlay_share), 0},
    {"pays", "Does it pay?", NULL, 0, 0},
    {"not_ranked", "Why it is not ranked", NULL, 0, FACE_CSV | FACE_JSON},
    {"payback", "Payback time", "period", offsetof(struct comparison, payback), 0},
    {"discounted_payback", "Payback time, discounted", "period",
     offsetof(struct comparison, discounted_payback), 0},
    {"irr", "Internal rate of return (IRR)", "wacc", offsetof(struct comparison, irr), 0},
};

enum { MEASURES = sizeof measures / sizeof measures[0] };

const char *const finance_pays[OUTLAYS] = {[OUTLAY_NONE] = "no extra outlay",
                                           [OUTLAY_LOST] = "no",
                                           [OUTLAY_UNDISCOUNTED] = "only undiscounted",
                                           [OUTLAY_PAYS] = "yes"};

const char *finance_no_rate(bool is_minor) {
  return is_minor ? "n.m." : "none";
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

// The more expensive purchase, or the less expensive one.
static const char *purchase(const struct comparison *comparison, bool dearer) {
  return (comparison->direction > 0) == dearer ? comparison->option->label
                                               : baseline_of(comparison->scenario)->label;
}

const char *finance_examined(const char *dearer, const char *cheaper, struct arena *arena) {
  return arena_printf(arena, "%s over %s", dearer, cheaper);
}

const char *finance_bar(const struct scenario *scenario, const struct ranking *ranking,
                        size_t option, struct arena *arena) {
  const size_t both[] = {scenario->baseline, option};
  for (size_t i = 0; i < 2; i++)
    if (!ranking->options[both[i]].ranked)
      return verdict_not_ranked(scenario, ranking, both[i], arena);
  return "";
}

static struct answer_cell measured(const struct comparison *comparison, const char *bar,
                                   const struct measure *measure, struct arena *arena) {
  double value;
  if (measure->unit_of) {
    memcpy(&value, (const char *)comparison + measure->place, sizeof value);
    // Shown as a rate per year; base units count in hours.
    if (!strcmp(measure->key, "irr"))
      value /= HOURS_PER_YEAR;
    return (struct answer_cell){.value = value, .otherwise = finance_no_rate(comparison->is_minor)};
  }
  if (!strcmp(measure->key, "pays"))
    return cell_words(*bar ? FINANCE_UNRANKED : finance_pays[comparison->outlay]);
  if (!strcmp(measure->key, "not_ranked"))
    return *bar ? cell_words(bar) : cell_absent("");
  const char *dearer = purchase(comparison, true);
  if (!strcmp(measure->key, "dearer_purchase"))
    return cell_words(dearer);
  return cell_words(comparison->outlay == OUTLAY_NONE
                        ? "none"
                        : finance_examined(dearer, purchase(comparison, false), arena));
}

// Where taxes are a view, a title says of the others that they are not counted.
static const char *title(const struct scenario *scenario, const char *name, const char *label,
                         struct arena *arena) {
  const int tax = model_find(scenario->model, "after_tax_npv");
  const bool is_before = strcmp(name, "tax") != 0 && tax >= 0 && scenario_has(scenario, tax);
  return is_before ? arena_printf(arena, "%s, before tax", label) : label;
}

struct answer_table finance_difference(const struct scenario *scenario, struct arena *arena) {
  struct answer_table table = answer_table_of_options(
      "difference",
      title(scenario, "difference",
            arena_printf(arena, "Against %s, at its output", baseline_of(scenario)->label), arena),
      scenario, arena);
  const struct ranking *ranking = ranking_of(scenario, arena);
  table.faces = FACE_CSV | FACE_JSON;
  for (size_t m = 0; m < MEASURES; m++) {
    const struct measure *measure = &measures[m];
    struct answer_cell *cells = answer_table_row_of(
        &table, (struct answer_row){
                    .key = measure->key,
                    .label = measure->label,
                    .unit = measure->unit_of ? unit_of_item(scenario, measure->unit_of) : NULL,
                    .faces = measure->faces});
    for (size_t o = 0; o < scenario->option_count; o++) {
      const struct comparison *comparison = compared(scenario, &scenario->options[o], arena);
      cells[1 + o] = comparison ? measured(comparison, finance_bar(scenario, ranking, o, arena),
                                           measure, arena)
                                : cell_absent("");
      if (comparison)
        table.faces = 0;
      if (comparison && comparison->is_minor)
        table.note = "n.m.: not meaningful, as so small an extra outlay has almost any rate of "
                     "return if prices change a little.";
    }
  }
  table.json = "difference.options.%c.%r";
  table.json_units = "difference.units.%r";
  table.by_columns = true;
  return table;
}

// "saves 4,561,690 USD in all"
static const char *saved_text(const struct comparison *comparison, bool dearer,
                              struct arena *arena) {
  const double saved =
      (comparison->direction > 0) == dearer ? comparison->saved_total : -comparison->saved_total;
  return arena_printf(arena, "%s %s%s in all", saved < 0 ? "costs" : "saves",
                      money_text(fabs(saved), unit_of_item(comparison->scenario, "cash"), arena),
                      saved < 0 ? " more" : "");
}

// ", which it earns back in 2.49 yr"; of an outlay too small for that, " and saves 850 USD in all".
static const char *payback_text(const struct comparison *comparison, struct arena *arena) {
  if (comparison->is_minor)
    return arena_printf(arena, " and %s", saved_text(comparison, true, arena));
  const struct unit *time = unit_of_item(comparison->scenario, "period");
  const char *number = number_significant(number_in_unit(comparison->payback, time), 3, arena);
  return isnan(comparison->payback)
             ? ""
             : arena_printf(arena, ", which it earns back in %s %s", number, time->text);
}

// " (0.026 % of the purchase, too little for ...)"
static const char *minor_text(const struct comparison *comparison, struct arena *arena) {
  return comparison->is_minor
             ? arena_printf(arena,
                            " (%s of the purchase: too little for a payback time or a rate of "
                            "return to mean anything)",
                            percent_words(comparison->outlay_share, arena))
             : "";
}

// If one of the two buys in stages, the outlay is only the initial one.
static const char *to_buy(const struct comparison *comparison) {
  const struct scenario *scenario = comparison->scenario;
  const int purchases = model_find(scenario->model, "purchases");
  const bool staged = purchases >= 0 && (option_has(comparison->option, purchases) ||
                                         option_has(baseline_of(scenario), purchases));
  return staged ? "to buy at the outset" : "to buy";
}

// "mi325x costs 7,375,776 USD less to buy than h200 and saves 4,561,690 USD in all: the extra
// outlay for h200 does not pay"
static const char *earning(const struct comparison *comparison, struct arena *arena) {
  const char *dearer = purchase(comparison, true), *cheaper = purchase(comparison, false);
  const char *outlay =
      money_text(comparison->extra_outlay, unit_of_item(comparison->scenario, "cash"), arena);
  switch (comparison->outlay) {
  case OUTLAY_NONE:
    return arena_printf(arena, "%s costs the same %s as %s and %s", dearer, to_buy(comparison),
                        cheaper, saved_text(comparison, true, arena));
  case OUTLAY_LOST:
    return arena_printf(
        arena, "%s costs %s less %s than %s and %s: the extra outlay for %s does not pay", cheaper,
        outlay, to_buy(comparison), dearer, saved_text(comparison, false, arena), dearer);
  default:
    return arena_printf(arena, "%s costs %s more %s than %s%s: the extra outlay for %s pays%s%s",
                        dearer, outlay, to_buy(comparison), cheaper,
                        payback_text(comparison, arena), dearer,
                        comparison->outlay == OUTLAY_PAYS ? "" : ", but not once it is discounted",
                        minor_text(comparison, arena));
  }
}

// "No verdict: small: at worst it serves 58.2 % of the demand.": of the baseline, which leaves
// nothing to compare with, or of all others.
static const char *bars_text(const struct scenario *scenario, const struct ranking *ranking,
                             struct arena *arena) {
  struct texts bars = {0};
  const bool alone = !ranking->options[scenario->baseline].ranked;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (!ranking->options[o].ranked && (!alone || o == scenario->baseline))
      texts_add(&bars, arena, "%s", verdict_not_ranked(scenario, ranking, o, arena));
  return bars.count ? arena_printf(arena, "No verdict: %s.", texts_joined_by(&bars, "; ", arena))
                    : "";
}

static const char *sentence(const struct scenario *scenario, struct arena *arena) {
  const struct ranking *ranking = ranking_of(scenario, arena);
  struct texts all = {0};
  if (scenario->option_count < 2)
    return "";
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct comparison *comparison = compared(scenario, &scenario->options[o], arena);
    if (comparison && !*finance_bar(scenario, ranking, o, arena))
      texts_add(&all, arena, "%s", earning(comparison, arena));
  }
  const char *bars = bars_text(scenario, ranking, arena);
  return all.count ? arena_printf(arena, "For the same output, %s.%s%s",
                                  texts_joined_by(&all, "; ", arena), *bars ? " " : "", bars)
                   : bars;
}

// The table of a view; on a terminal, only its scalars.
static struct answer_table view_table(const struct scenario *scenario, int group,
                                      struct answer_table *facts, struct arena *arena) {
  const struct model *model = scenario->model;
  const char *name = model->groups[group].name;
  struct answer_table table = answer_table_of_options(
      name, title(scenario, name, model->groups[group].label, arena), scenario, arena);
  table.faces = FACE_CSV | FACE_JSON;
  for (int d = 0; d < model->count; d++) {
    const bool series = declaration_is_series(&model->declarations[d]);
    if (!scenario_has(scenario, d) || model->declarations[d].group != group ||
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

// Sales count what each option serves, the difference what the baseline does.
static void add_unlike_outputs(const struct scenario *scenario, struct answer *answer) {
  const int sold = model_find(scenario->model, "revenue_total");
  struct texts unlike = {0};
  if (sold < 0 || !scenario_has(scenario, sold))
    return;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct comparison *comparison = compared(scenario, &scenario->options[o], answer->arena);
    const double more = comparison ? 1 / comparison->scale - 1 : 0;
    if (fabs(more) > 1e-9)
      texts_add(&unlike, answer->arena, "%s serves %s %s tokens than %s",
                scenario->options[o].label, percent_words(fabs(more), answer->arena),
                more > 0 ? "more" : "fewer", baseline_of(scenario)->label);
  }
  if (unlike.count)
    answer_note(
        answer, "Note: ",
        "%s: tokens sold are at each option's own output, the comparison with %s at that of "
        "%s, so the two may favor different options",
        texts_joined_by(&unlike, "; ", answer->arena), baseline_of(scenario)->label,
        baseline_of(scenario)->label);
}

struct answer finance_answer(const struct scenario *scenario, struct arena *arena) {
  static const struct csv_field fields[] = {
      {"view", CSV_TABLE},  {"option", CSV_COLUMN}, {"case", CSV_CASE},     {"item", CSV_ROW},
      {"label", CSV_LABEL}, {"unit", CSV_UNIT},     {"period", CSV_PERIOD}, {"value", CSV_VALUE}};
  struct answer answer = answer_new("finance", "views", NULL, scenario, arena);
  struct answer_table facts = answer_table_of_facts(arena);
  answer.sentence = sentence(scenario, arena);
  answer.schema = 1;
  answer.csv = fields;
  answer.csv_count = sizeof fields / sizeof fields[0];
  answer_fact(&facts, "baseline", cell_words(baseline_of(scenario)->id));
  for (int g = 0; g < scenario->model->group_count; g++)
    if (scenario->model->groups[g].view)
      answer_push(&answer, view_table(scenario, g, &facts, arena));
  answer_push(&answer, finance_difference(scenario, arena));
  answer_push(&answer, facts);
  add_unlike_outputs(scenario, &answer);
  return answer;
}
