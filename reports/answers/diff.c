#include "reports/answers/diff.h"

#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/questions/difference.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "reports/answers/offers.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <string.h>

struct diff {
  const struct difference *difference;
  struct arena *arena;
};

static const struct declaration *declared(const struct diff *diff, int declaration) {
  return &diff->difference->a->model->declarations[declaration];
}

// ---- inputs that differ

// How an aspect of an input is shown, and whether it differs.
struct aspect {
  const char *suffix; // after the input's name
  const char *(*text)(struct side, int digits, struct arena *);
  bool (*differs)(const struct difference *, size_t pair, int input);
};

// Digits of values that nobody typed: as many as elsewhere on a terminal, or enough to differ.
enum { SHOWN_DIGITS = 5, EXACT_DIGITS = 17 };

// "14 %", "700 W/gpu, computed"
static const char *value_text(struct side side, int digits, struct arena *arena) {
  if (!item_applies(side.scenario, side.option, side.input))
    return "-";
  const struct declaration *declaration = &side.scenario->model->declarations[side.input];
  const double value = option_value(side.scenario, side.option, side.input, 0);
  const char *choice = declaration_choice(declaration, value);
  const bool is_computed = side.option->graph->state[side.input] != GRAPH_INPUT;
  const bool is_typed =
      !is_computed &&
      option_figure(side.scenario, side.option, side.scenario->selected, side.input)->origin >=
          ORIGIN_COMMON;
  const char *text = choice     ? choice
                     : is_typed ? quantity_text(value, &declaration->unit, arena)
                                : quantity_rounded(value, &declaration->unit, digits, arena);
  return is_computed ? arena_printf(arena, "%s, computed", text) : text;
}

static const char *grade_name_of(struct side side) {
  return grade_name(
      option_figure(side.scenario, side.option, side.scenario->selected, side.input)->grade);
}

static const char *grade_text(struct side side, int digits, struct arena *arena) {
  (void)arena;
  (void)digits;
  return difference_is_stated(side) ? grade_name_of(side) : "-";
}

static const struct aspect aspects[] = {{"", value_text, difference_in_value},
                                        {", evidence", grade_text, difference_in_grade}};

enum { ASPECTS = sizeof aspects / sizeof aspects[0] };

// The input's name; of a value in lists with unlike steps, of which neither file has the common
// step, the list's name and when the value begins to hold: "accelerators, after 3 month".
static const char *name_of(const struct diff *diff, size_t pair, int input) {
  const struct difference *difference = diff->difference;
  const struct model *model = difference->a->model;
  const int list = model->declarations[model_named(model, input)].year_of;
  if (list < 0 || model->declarations[list].step_h == 0)
    return declared(diff, input)->name;
  const struct declaration *of = declared(diff, list);
  const struct side a = difference_side(difference, pair, list, false);
  const struct side b = difference_side(difference, pair, list, true);
  const double step_a = option_figure(a.scenario, a.option, a.scenario->selected, a.input)->step_h;
  const double step_b = option_figure(b.scenario, b.option, b.scenario->selected, b.input)->step_h;
  int number = 0;
  while (of->years[number] != model_named(model, input))
    number++;
  if (step_a == step_b)
    return declared(diff, input)->name;
  return number ? arena_printf(diff->arena, "%s, after %s", of->name,
                               step_text(number * of->step_h, diff->arena))
                : arena_printf(diff->arena, "%s, from the outset", of->name);
}

// A row for each option in which it differs by this change; a single row if all differ alike.
static void add_aspect(const struct diff *diff, struct answer_table *table,
                       const struct change *change, const struct aspect *aspect, int input) {
  const struct difference *difference = diff->difference;
  const size_t before = table->row_count;
  bool alike = difference->pair_count > 1;
  for (size_t p = 0; p < difference->pair_count; p++) {
    const struct pair *both = &difference->pairs[p];
    const bool differs = change->differs[p] && aspect->differs(difference, p, input);
    alike = alike && differs;
    if (!differs)
      continue;
    const struct side a = difference_side(difference, p, input, false);
    const struct side b = difference_side(difference, p, input, true);
    const bool shows = strcmp(aspect->text(a, SHOWN_DIGITS, diff->arena),
                              aspect->text(b, SHOWN_DIGITS, diff->arena)) != 0;
    const int digits = shows ? SHOWN_DIGITS : EXACT_DIGITS;
    const char *name = name_of(diff, p, input);
    ANSWER_ROW(table, cell_words(arena_printf(diff->arena, "%s%s", name, aspect->suffix)),
               cell_option(both->a), cell_words(aspect->text(a, digits, diff->arena)),
               cell_words(aspect->text(b, digits, diff->arena)));
    const struct answer_cell *first = table->cells[before];
    const struct answer_cell *last = table->cells[table->row_count - 1];
    alike = alike && !strcmp(first[2].text, last[2].text) && !strcmp(first[3].text, last[3].text);
  }
  if (!alike)
    return;
  table->row_count = before + 1;
  table->cells[before][1] = cell_words("all options");
}

static void add_inputs(const struct diff *diff, struct answer *answer) {
  const struct difference *difference = diff->difference;
  struct answer_table *table =
      ANSWER_TABLE(answer, "differences", NULL, {"input", "Inputs that differ", NULL},
                   {"option", "", NULL}, {"a", "A", NULL}, {"b", "B", NULL});
  for (size_t c = 0; c < table->column_count; c++)
    table->columns[c].align = c < 2 ? ALIGN_LEFT : ALIGN_RIGHT;
  table->faces = FACE_TERMINAL;
  for (size_t p = 0; p < difference->pair_count; p++) {
    const struct pair *both = &difference->pairs[p];
    if (strcmp(both->a->accelerator, both->b->accelerator) != 0)
      ANSWER_ROW(table, cell_words("accelerator"), cell_option(both->a),
                 cell_words(option_runs_on(both->a)), cell_words(option_runs_on(both->b)));
  }
  for (size_t c = 0; c < difference->change_count; c++)
    for (size_t i = 0; i < difference->changes[c].input_count; i++)
      for (size_t k = 0; k < ASPECTS; k++)
        add_aspect(diff, table, &difference->changes[c], &aspects[k],
                   difference->changes[c].inputs[i]);
}

// ---- workloads that differ

static struct answer_cell workload_cell(const struct option *option, enum workload_key key) {
  const char *text = option_workload(option, key);
  return *text ? cell_words(text) : cell_absent(NULL);
}

static void add_workload(const struct diff *diff, struct answer *answer) {
  const struct difference *difference = diff->difference;
  struct answer_table table = answer_table_new("workload", NULL, diff->arena);
  ANSWER_COLUMN(&table, .key = "name", .title = "Differences in workload", .align = ALIGN_LEFT);
  ANSWER_COLUMN(&table, .key = "option", .title = "", .align = ALIGN_LEFT,
                .faces = FACE_TERMINAL | FACE_JSON);
  ANSWER_COLUMN(&table, .key = "a", .title = "A", .align = ALIGN_RIGHT);
  ANSWER_COLUMN(&table, .key = "b", .title = "B", .align = ALIGN_RIGHT);
  table.json = "workload[#].%c";
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    for (size_t p = 0; p < difference->pair_count; p++) {
      const struct pair *both = &difference->pairs[p];
      if (!difference_in_workload(difference, p, (enum workload_key)key))
        continue;
      const char *name = workload_key_names[key];
      struct answer_cell *cells = answer_table_row_of(
          &table, (struct answer_row){.key = arena_printf(diff->arena, "%s.%s", both->a->id, name),
                                      .label = name});
      cells[1] = cell_option(both->a);
      cells[2] = workload_cell(both->a, (enum workload_key)key);
      cells[3] = workload_cell(both->b, (enum workload_key)key);
    }
  if (table.row_count)
    answer_push(answer, table);
}

// A warning for each way in which workloads are unlike, with the options of which that is true.
static void warn_of_unlike(const struct diff *diff, struct answer *answer) {
  const struct difference *difference = diff->difference;
  const char **unlike = arena_array(diff->arena, difference->pair_count, sizeof *unlike);
  for (size_t p = 0; p < difference->pair_count; p++)
    unlike[p] = difference_unlike(difference, p, diff->arena);
  for (size_t p = 0; p < difference->pair_count; p++) {
    const char *names = "", *what = unlike[p];
    for (size_t other = p; other < difference->pair_count && what; other++)
      if (unlike[other] && !strcmp(unlike[other], what)) {
        names =
            options_joined(difference->a, names, difference->pairs[other].a->label, diff->arena);
        unlike[other] = NULL;
      }
    if (what)
      answer_warn(answer, "%s: the costs of A and B are of unlike workloads, %s", names, what);
  }
}

// ---- line items that differ

// The declaration with the amount of the user's own item, or -1.
static int amount_of(const struct model *model, const char *item, struct arena *arena) {
  const int scalar = model_find(model, item);
  const int series = model_find(model, arena_printf(arena, "%s_cost", item));
  if (scalar >= 0 && model->declarations[scalar].own != OWN_NONE)
    return scalar;
  return series >= 0 && model->declarations[series].own != OWN_NONE ? series : -1;
}

// An item's amount over the horizon; empty in a scenario or an option that does not have it.
static struct answer_cell amount_cell(const struct scenario *scenario, const struct option *option,
                                      int declaration) {
  if (declaration < 0 || !option_has(option, declaration))
    return cell_absent(NULL);
  double sum = option_value(scenario, option, declaration, 0);
  for (int t = 1; t < scenario->periods && graph_is_series(option->graph, declaration); t++)
    sum += option_value(scenario, option, declaration, t);
  return cell_value(sum);
}

static void add_items(const struct diff *diff, struct answer *answer) {
  const struct difference *difference = diff->difference;
  struct answer_table table = answer_table_new("own_items", NULL, diff->arena);
  ANSWER_COLUMN(&table, .key = "item", .title = "Own items that differ, total",
                .align = ALIGN_LEFT);
  ANSWER_COLUMN(&table, .key = "option", .title = "", .align = ALIGN_LEFT);
  ANSWER_COLUMN(&table, .key = "a", .title = "A", .align = ALIGN_RIGHT);
  ANSWER_COLUMN(&table, .key = "b", .title = "B", .align = ALIGN_RIGHT);
  table.unit_column = 2;
  table.json = "own_items[#].%c";
  for (size_t i = 0; i < difference->item_count; i++) {
    const char *name = difference->items[i];
    const int in_a = amount_of(difference->a->model, name, diff->arena);
    const int in_b = amount_of(difference->b->model, name, diff->arena);
    for (size_t p = 0; p < difference->pair_count && (in_a >= 0 || in_b >= 0); p++) {
      const struct pair *both = &difference->pairs[p];
      const struct model *model = in_a >= 0 ? difference->a->model : difference->b->model;
      struct answer_cell *cells = answer_table_row_of(
          &table, (struct answer_row){.key = arena_printf(diff->arena, "%s.%s", both->a->id, name),
                                      .label = name,
                                      .unit = &model->declarations[in_a >= 0 ? in_a : in_b].unit});
      cells[1] = cell_option(both->a);
      cells[2] = amount_cell(difference->a, both->a, in_a);
      cells[3] = amount_cell(difference->b, both->b, in_b);
    }
  }
  if (table.row_count)
    answer_push(answer, table);
}

// ---- lines of vendors' offers that differ

static void add_offers(const struct diff *diff, struct answer *answer) {
  const struct difference *difference = diff->difference;
  struct answer_table table = answer_table_new("offer_lines", NULL, diff->arena);
  ANSWER_COLUMN(&table, .key = "line", .title = "Lines of offers that differ", .align = ALIGN_LEFT);
  ANSWER_COLUMN(&table, .key = "option", .title = "", .align = ALIGN_LEFT);
  ANSWER_COLUMN(&table, .key = "a", .title = "A", .align = ALIGN_RIGHT);
  ANSWER_COLUMN(&table, .key = "b", .title = "B", .align = ALIGN_RIGHT);
  table.json = "offer_lines[#].%c";
  for (size_t p = 0; p < difference->pair_count; p++) {
    const struct pair *both = &difference->pairs[p];
    const struct scenario_offer *a = option_offer(difference->a, both->a, difference->a->selected);
    const struct scenario_offer *b = option_offer(difference->b, both->b, difference->b->selected);
    if (!a || !b)
      continue;
    offers_add_lines(&table, both->a, a->offer, b->offer);
  }
  if (table.row_count)
    answer_push(answer, table);
}

// ---- the same for programs

enum { INPUT_A = 3, INPUT_B = 6 };

static void fill_side(struct answer_cell *cells, struct side side) {
  for (size_t i = 0; i < 3; i++)
    cells[i] = (struct answer_cell){.kind = CELL_EMPTY};
  if (!option_has(side.option, side.input))
    return;
  const bool computed = side.option->graph->state[side.input] != GRAPH_INPUT;
  cells[0] = cell_value(option_value(side.scenario, side.option, side.input, 0));
  cells[1] = cell_flag(computed);
  if (!computed)
    cells[2] = cell_words(grade_name_of(side));
}

static void add_machine_row(const struct diff *diff, struct answer_table *table, size_t pair,
                            int input) {
  const struct pair *both = &diff->difference->pairs[pair];
  const struct declaration *item = declared(diff, input);
  struct answer_cell *cells = answer_table_row_of(
      table, (struct answer_row){.key = arena_printf(diff->arena, "%s.%s", both->a->id, item->name),
                                 .label = item->label,
                                 .unit = &item->unit});
  cells[0] = cell_words(item->name);
  cells[1] = cell_words(both->a->id);
  cells[2] = cell_words(item->unit.text);
  fill_side(cells + INPUT_A, difference_side(diff->difference, pair, input, false));
  fill_side(cells + INPUT_B, difference_side(diff->difference, pair, input, true));
}

static void add_machine_inputs(const struct diff *diff, struct answer *answer) {
  const struct difference *difference = diff->difference;
  struct answer_table *table = ANSWER_TABLE(
      answer, "inputs", NULL, {"name", "", NULL}, {"option", "", NULL}, {"unit", "", NULL},
      {"a.value", "", NULL}, {"a.computed", "", NULL}, {"a.grade", "", NULL}, {"b.value", "", NULL},
      {"b.computed", "", NULL}, {"b.grade", "", NULL});
  table->columns[1].faces = table->columns[2].faces = FACE_JSON;
  table->json = "inputs[#].%c";
  table->faces = FACE_CSV | FACE_JSON;
  for (size_t c = 0; c < difference->change_count; c++)
    for (size_t p = 0; p < difference->pair_count; p++)
      for (size_t i = 0;
           difference->changes[c].differs[p] && i < difference->changes[c].input_count; i++)
        add_machine_row(diff, table, p, difference->changes[c].inputs[i]);
}

// ---- results of an option

// The headlines, and the result that tax inputs move, as they move no headline.
static bool is_result(const struct declaration *item) {
  return item->role == ROLE_HEADLINE || !strcmp(item->name, "after_tax_npv");
}

static void add_results(const struct diff *diff, struct answer *answer, size_t pair) {
  const struct difference *difference = diff->difference;
  const struct pair *both = &difference->pairs[pair];
  struct answer_table *table =
      ANSWER_TABLE(answer, both->a->id, NULL, {"item", option_brief(both->a), NULL},
                   {"a", "A", NULL}, {"b", "B", NULL}, {"change", "change", NULL});
  table->unit_column = 1;
  table->json = arena_printf(diff->arena, "options[id=%s].results.%%r.%%c", both->a->id);
  table->json_units = "units.%r";
  for (int d = 0; d < difference->a->model->count; d++) {
    const struct declaration *item = declared(diff, d);
    if (!is_result(item) || !option_has(both->a, d) || !option_has(both->b, d))
      continue;
    struct answer_row row = {.key = item->name, .label = item->label, .unit = &item->unit};
    if (!strcmp(item->name, "cost_per_mtok"))
      row.emphasis = EMPHASIS_STRONG;
    struct answer_cell *cells = answer_table_row_of(table, row);
    cells[1] = cell_value(option_value(difference->a, both->a, d, 0));
    cells[2] = cell_value(option_value(difference->b, both->b, d, 0));
    cells[3] = cell_change(cells[1].value, cells[2].value);
  }
}

static void add_effect(const struct diff *diff, struct answer_table *table, size_t pair,
                       struct answer_row row, const struct change *changes, size_t count) {
  const struct difference *difference = diff->difference;
  const int item = model_cost_item(difference->a->model);
  const double before = option_value(difference->a, difference->pairs[pair].a, item, 0);
  double after;
  struct answer_cell *cells = answer_table_row_of(table, row);
  if (!difference_cost(difference, pair, changes, count, diff->arena, &after))
    return;
  cells[1] = cell_value(after);
  cells[2] = cell_change(before, after);
}

static const char *change_name(const struct diff *diff, const struct change *change) {
  return change->input < 0 ? "bought_or_rented" : declared(diff, change->input)->name;
}

static void add_effects(const struct diff *diff, struct answer *answer, size_t pair) {
  const struct difference *difference = diff->difference;
  const char *id = difference->pairs[pair].a->id;
  const struct declaration *cost = declared(diff, model_cost_item(difference->a->model));
  struct answer_table *table = ANSWER_TABLE(
      answer, arena_printf(diff->arena, "%s.alone", id), NULL,
      {"input", arena_printf(diff->arena, "%s, with one input of B", cost->label), NULL},
      {"cost_per_mtok", "B", NULL}, {"change", "change", NULL});
  struct answer_row row = {.unit = &cost->unit};
  table->unit_column = 1;
  table->json = arena_printf(diff->arena, "options[id=%s].alone.%%r.%%c", id);
  if (!difference_has_parts(difference, pair))
    table->faces = FACE_CSV | FACE_JSON;
  for (size_t c = 0; c < difference->change_count; c++) {
    row.key = row.label = change_name(diff, &difference->changes[c]);
    if (difference->changes[c].matters[pair])
      add_effect(diff, table, pair, row, &difference->changes[c], 1);
  }
  row.key = "together";
  row.label = "all of them together";
  row.json = arena_printf(diff->arena, "options[id=%s].together.%%c", id);
  add_effect(diff, table, pair, row, difference->changes, difference->change_count);
}

// ---- the complete answer

// `shown`: the text shown to people.
static void add_names(struct answer *answer, struct answer_table *facts, const char *key,
                      const char *label, struct texts names, struct texts shown) {
  answer_fact(facts, key, cell_list(names));
  facts->rows[facts->row_count - 1].faces = FACE_CSV | FACE_JSON;
  if (shown.count)
    answer_head(answer, label, "%s", texts_joined(&shown, answer->arena));
}

static void add_only(struct answer *answer, struct answer_table *facts, const char *key,
                     const char *label, struct texts ids, const struct scenario *scenario) {
  struct texts labels = {0};
  for (size_t i = 0; i < ids.count; i++)
    texts_add(&labels, answer->arena, "%s",
              scenario->options[scenario_option(scenario, ids.list[i])].label);
  add_names(answer, facts, key, label, ids, labels);
}

static void add_scenario(struct answer *answer, struct answer_table *facts, const char *side,
                         const char *label, const struct scenario *scenario, struct arena *arena) {
  const struct {
    const char *key;
    struct answer_cell cell;
  } said[] = {{"path", cell_words(scenario->path)},
              {"title", cell_words(scenario->title)},
              {"sha256", cell_words(scenario->digest)},
              {"case", cell_words(scenario->cases[scenario->selected])}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
    answer_fact(facts, arena_printf(arena, "%s.%s", side, said[i].key), said[i].cell);
  answer_head(answer, label, "%s: %s, case %s", scenario->path, scenario->title,
              scenario->case_labels[scenario->selected]);
}

// The stamps and warnings of both.
static void inherit(struct answer *answer, const struct difference *difference,
                    struct arena *arena) {
  const struct scenario *const both[] = {difference->a, difference->b};
  struct texts stamps = {0};
  for (size_t i = 0; i < 2; i++) {
    const char *side = i ? "B" : "A", *stamp = scenario_stamp(both[i], arena);
    const struct texts warnings = scenario_all_warnings(both[i], arena);
    if (*stamp)
      texts_add(&stamps, arena, "%s: %s", side, stamp);
    for (size_t k = 0; k < warnings.count; k++)
      texts_add(&answer->inherited, arena, "%s: %s", side, warnings.list[k]);
  }
  answer->stamp = texts_joined_by(&stamps, " ", arena);
}

// Counts each input once: if some options are rented, it may be in several changes.
static size_t count_inputs(const struct diff *diff) {
  const struct difference *difference = diff->difference;
  bool *counted = arena_array(diff->arena, (size_t)difference->a->model->count, sizeof *counted);
  size_t count = 0;
  for (size_t c = 0; c < difference->change_count; c++)
    for (size_t i = 0; i < difference->changes[c].input_count; i++) {
      bool *before = &counted[difference->changes[c].inputs[i]];
      count += !*before;
      *before = true;
    }
  return count;
}

static bool is_in_workload(const struct difference *difference) {
  for (size_t p = 0; p < difference->pair_count; p++)
    for (int key = 0; key < WORKLOAD_KEYS; key++)
      if (difference_in_workload(difference, p, (enum workload_key)key))
        return true;
  return false;
}

static void add_count(const struct diff *diff, struct texts *places, size_t count,
                      const char *what) {
  texts_add(places, diff->arena, "in %zu %s%s", count, what, count == 1 ? "" : "s");
}

// "in 5 inputs, in 2 line items and in the workload"
static const char *where_of(const struct diff *diff) {
  struct texts places = {0};
  const size_t inputs = count_inputs(diff), items = diff->difference->item_count;
  const bool in_workload = is_in_workload(diff->difference);
  if (inputs || (!items && !in_workload))
    add_count(diff, &places, inputs, "input");
  if (items)
    add_count(diff, &places, items, "line item");
  if (in_workload)
    texts_add(&places, diff->arena, "in the workload");
  const char *text = places.list[0];
  for (size_t i = 1; i < places.count; i++)
    text = arena_printf(diff->arena, "%s%s%s", text, i + 1 < places.count ? ", " : " and ",
                        places.list[i]);
  return text;
}

// ", of unlike workloads"
static const char *unlike_words(const struct diff *diff) {
  const struct difference *difference = diff->difference;
  size_t unlike = 0;
  for (size_t p = 0; p < difference->pair_count; p++)
    unlike += difference_unlike(difference, p, diff->arena) != NULL;
  if (!unlike)
    return "";
  return unlike == difference->pair_count ? ", of unlike workloads" : ", some of unlike workloads";
}

// "B differs from A in 5 inputs; cost per million output tokens: H200 -14.6 %, MI325X -6.8 %."
static const char *sentence_of(const struct diff *diff) {
  const struct difference *difference = diff->difference;
  const int cost = model_cost_item(difference->a->model);
  const char *costs = "";
  if (difference_is_empty(difference))
    return "No difference in options, inputs, workloads and line items.";
  for (size_t p = 0; p < difference->pair_count; p++) {
    const struct pair *both = &difference->pairs[p];
    const double a = option_value(difference->a, both->a, cost, 0);
    const double b = option_value(difference->b, both->b, cost, 0);
    costs = options_joined(
        difference->a, costs,
        arena_printf(diff->arena, "%s %s", both->a->label, number_change(a, b, diff->arena)),
        diff->arena);
  }
  if (*costs)
    costs = arena_printf(diff->arena, "; cost per million output tokens%s: %s", unlike_words(diff),
                         costs);
  return arena_printf(diff->arena, "B differs from A %s%s.", where_of(diff), costs);
}

struct answer diff_answer(const struct scenario *a, const struct scenario *b, struct arena *arena) {
  static const struct csv_field fields[] = {{"table", CSV_TABLE}, {"row", CSV_ROW},
                                            {"label", CSV_LABEL}, {"column", CSV_COLUMN},
                                            {"unit", CSV_UNIT},   {"value", CSV_VALUE}};
  const struct difference *difference = difference_of(a, b, arena);
  const struct diff diff = {difference, arena};
  struct answer answer = answer_new("diff", "scenarios", NULL, NULL, arena);
  struct answer_table facts = answer_table_of_facts(arena);
  answer.sentence = sentence_of(&diff);
  answer.schema = 3;
  answer.csv = fields;
  answer.csv_count = sizeof fields / sizeof fields[0];
  inherit(&answer, difference, arena);
  warn_of_unlike(&diff, &answer);
  add_scenario(&answer, &facts, "a", "A  ", a, arena);
  add_scenario(&answer, &facts, "b", "B  ", b, arena);
  add_only(&answer, &facts, "only_a",
           "Only in A: ", (struct texts){difference->only_a, difference->only_a_count}, a);
  add_only(&answer, &facts, "only_b",
           "Only in B: ", (struct texts){difference->only_b, difference->only_b_count}, b);
  const struct texts items = {difference->items, difference->item_count};
  add_names(&answer, &facts, "items", "Line items that differ: ", items, items);
  ANSWER_TABLE(&answer, "options", NULL, {"id", "", NULL})->json = "options[id=%c].%r";
  add_offers(&diff, &answer);
  add_items(&diff, &answer);
  add_workload(&diff, &answer);
  add_inputs(&diff, &answer);
  add_machine_inputs(&diff, &answer);
  for (size_t p = 0; p < difference->pair_count; p++) {
    const struct pair *both = &difference->pairs[p];
    if (!difference_in_pair(difference, p))
      continue;
    struct texts accelerators = {0};
    if (strcmp(both->a->id, both->a->label) != 0)
      answer_fact(&facts, arena_printf(arena, "options[id=%s].label", both->a->id),
                  cell_words(both->a->label));
    texts_add(&accelerators, arena, "%s", option_runs_on(both->a));
    texts_add(&accelerators, arena, "%s", option_runs_on(both->b));
    answer_fact(&facts, arena_printf(arena, "options[id=%s].accelerators", both->a->id),
                cell_list(accelerators));
    if (strcmp(option_brief(both->a), both->a->label) != 0)
      answer_note(&answer, "Option: ", "%s is %s", both->a->id, both->a->label);
    add_results(&diff, &answer, p);
    add_effects(&diff, &answer, p);
  }
  answer_push(&answer, facts);
  return answer;
}
