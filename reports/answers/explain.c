#include "reports/answers/explain.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_PERIODS = -1, SHOWN_DIGITS = 10 };

enum {
  STEP_TITLE, // the name for people, with its period
  STEP_SHOWN, // the value for people
  STEP_DEPTH,
  STEP_NAME,
  STEP_LABEL,
  STEP_KIND,
  STEP_PERIOD,
  STEP_VALUE,
  STEP_VALUES, // of a series
  STEP_UNIT,
  STEP_TEXT,
  STEP_GRADE,
  STEP_SOURCE,
  STEP_DATE,
  STEP_PLACE,
  STEP_REPEATED,
  STEP_FORMULA,
  STEP_REMARK, // for people: what an input's columns say
  STEP_FROM,
  STEP_COLUMNS
};

enum { MACHINES = FACE_CSV | FACE_JSON };

static const struct {
  const char *key;
  unsigned faces;
} said[STEP_COLUMNS] = {
    {"title", FACE_TERMINAL}, {"shown", FACE_TERMINAL}, {"depth", FACE_CSV},
    {"name", MACHINES},       {"label", MACHINES},      {"kind", MACHINES},
    {"period", MACHINES},     {"value", MACHINES},      {"values", MACHINES},
    {"unit", MACHINES},       {"text", MACHINES},       {"grade", MACHINES},
    {"source", MACHINES},     {"date", MACHINES},       {"place", MACHINES},
    {"repeated", MACHINES},   {"formula", 0},           {"remark", FACE_TERMINAL},
    {"from", FACE_JSON}};

struct step {
  int declaration;
  int period; // ALL_PERIODS for scalars and whole series
};

struct derivation {
  const struct scenario *scenario;
  const struct option *option;
  bool *seen; // [model->count][1 + scenario->periods], the first for ALL_PERIODS
  struct answer_table table;
  struct arena *arena;
};

// What one step is computed from.
struct parts {
  struct step *list;
  size_t count;
};

static const struct declaration *declaration_of(const struct derivation *derivation,
                                                struct step step) {
  return &derivation->scenario->model->declarations[step.declaration];
}

// ---- what a step is computed from

static void add_part(const struct derivation *derivation, struct parts *parts, struct step step) {
  for (size_t i = 0; i < parts->count; i++)
    if (parts->list[i].declaration == step.declaration && parts->list[i].period == step.period)
      return;
  parts->list = arena_room(derivation->arena, parts->list, parts->count, sizeof step);
  parts->list[parts->count++] = step;
}

// The period that a reference reads, relative to `period`.
static int period_inside(const struct node *node, int period) {
  if (node->kind != NODE_CALL)
    return period;
  switch (node->function) {
  case FUNCTION_SUM:
  case FUNCTION_HIGHEST: return ALL_PERIODS;
  case FUNCTION_FIRST: return 0;
  case FUNCTION_PREV: return period == ALL_PERIODS ? period : period - 1;
  case FUNCTION_NEXT: return period == ALL_PERIODS ? period : period + 1;
  default: return period;
  }
}

// Whether a reference reads before the first period or after the last.
static bool looks_outside(const struct derivation *derivation, const struct node *node,
                          int period) {
  return (node_calls(node, FUNCTION_PREV) && period == 0) ||
         (node_calls(node, FUNCTION_NEXT) && period == derivation->scenario->periods - 1);
}

static void collect(const struct derivation *derivation, struct parts *parts,
                    const struct node *node, int period);

// The number of periods, and the periods in its window.
static void collect_recent(const struct derivation *derivation, struct parts *parts,
                           const struct node *node, int period) {
  const struct node *count = node->arguments[1];
  collect(derivation, parts, count, period);
  const double most =
      count->kind == NODE_NUMBER
          ? count->value
          : option_value(derivation->scenario, derivation->option, count->declaration, period);
  for (int earlier = period - 1; earlier >= 0 && period - earlier <= most; earlier--)
    collect(derivation, parts, node->arguments[0], earlier);
}

static void collect(const struct derivation *derivation, struct parts *parts,
                    const struct node *node, int period) {
  if (node->kind == NODE_NAME && node->declaration >= 0) {
    const bool series = graph_is_series(derivation->option->graph, node->declaration);
    add_part(derivation, parts, (struct step){node->declaration, series ? period : ALL_PERIODS});
    return;
  }
  if (looks_outside(derivation, node, period))
    return;
  if (node_calls(node, FUNCTION_RECENT) && period != ALL_PERIODS) {
    collect_recent(derivation, parts, node, period);
    return;
  }
  const int inside = period_inside(node, period);
  for (int i = 0; i < node->argument_count; i++)
    collect(derivation, parts, node->arguments[i], inside);
}

// ---- a step's row

static const char *place_text(const struct figure *figure, struct arena *arena) {
  if (!figure->place.source)
    return "";
  if (!figure->place.line)
    return figure->place.source->name;
  return arena_printf(arena, "%s:%d", figure->place.source->name, figure->place.line);
}

static const char *or_empty(const char *text) {
  return text ? text : "";
}

// "[benchmark]  MLPerf v4.1, 2024-08  (throughput.csv:12)"
static const char *provenance(const struct figure *figure, struct arena *arena) {
  if (figure->origin == ORIGIN_DEFAULT)
    return "[default]";
  if (figure->origin == ORIGIN_RENT)
    return "[included in the rent]";
  const char *source = or_empty(figure->source), *date = or_empty(figure->date);
  const char *place = place_text(figure, arena);
  return arena_printf(arena, "[%s]%s%s%s%s%s%s%s", grade_name(figure->grade), *source ? "  " : "",
                      source,
                      !*date    ? ""
                      : *source ? ", "
                                : "  ",
                      date, *place ? "  (" : "", place, *place ? ")" : "");
}

static void fill_source(const struct derivation *derivation, struct answer_cell *cells,
                        const struct figure *figure) {
  static const char *const unstated[] = {
      [ORIGIN_DEFAULT] = "default", [ORIGIN_RENT] = "included in the rent"};
  const char *text = figure_is_stated(figure) ? figure->text : unstated[figure->origin];
  cells[STEP_REMARK] = cell_words(provenance(figure, derivation->arena));
  cells[STEP_TEXT] = cell_words(or_empty(text));
  cells[STEP_GRADE] = cell_words(grade_name(figure->grade));
  cells[STEP_SOURCE] = cell_words(or_empty(figure->source));
  cells[STEP_DATE] = cell_words(or_empty(figure->date));
  cells[STEP_PLACE] = cell_words(place_text(figure, derivation->arena));
}

// An input's value as typed: "22000 USD/gpu", "1 day", "metered".
static const char *input_text(const struct declaration *item, const struct figure *figure,
                              struct arena *arena) {
  const char *choice = declaration_choice(item, figure->value);
  return choice ? choice : number_of_figure(figure, &item->unit, arena);
}

static void add_step(struct derivation *derivation, struct step step, int depth) {
  const struct declaration *item = declaration_of(derivation, step);
  struct arena *arena = derivation->arena;
  const struct graph *graph = derivation->option->graph;
  const bool input = graph->state[step.declaration] == GRAPH_INPUT;
  bool *seen =
      &derivation->seen[step.declaration * (1 + derivation->scenario->periods) + 1 + step.period];
  struct answer_cell *cells = answer_table_row_of(
      &derivation->table, (struct answer_row){.unit = &item->unit, .depth = depth});
  for (size_t c = 0; c < STEP_COLUMNS; c++)
    cells[c] = cell_absent("");
  const bool whole = step.period == ALL_PERIODS;
  const struct answer_cell value =
      whole ? computed_cell(derivation->scenario, derivation->option, step.declaration, arena)
            : cell_value(option_value(derivation->scenario, derivation->option, step.declaration,
                                      step.period));
  cells[STEP_TITLE] =
      cell_words(whole ? item->name : arena_printf(arena, "%s[%d]", item->name, step.period));
  cells[STEP_SHOWN] = cells[value.kind == CELL_SERIES ? STEP_VALUES : STEP_VALUE] = value;
  cells[STEP_DEPTH] = cell_in(depth, unit_known("-", arena));
  cells[STEP_NAME] = cell_words(item->name);
  cells[STEP_LABEL] = cell_words(item->label);
  cells[STEP_KIND] = cell_words(input ? "input" : "item");
  cells[STEP_UNIT] = cell_words(item->unit.text);
  const struct figure *figure = option_figure(derivation->scenario, derivation->option,
                                              derivation->scenario->selected, step.declaration);
  if (input)
    cells[STEP_SHOWN] = cell_words(input_text(item, figure, arena));
  if (!whole)
    cells[STEP_PERIOD] = cell_in(step.period, unit_known("-", arena));
  if (*seen) {
    cells[STEP_REPEATED] = cell_flag(true);
    cells[STEP_REMARK] = cell_words("(see above)");
    return;
  }
  *seen = true;
  if (input) {
    fill_source(derivation, cells, figure);
    return;
  }
  cells[STEP_FORMULA] = cell_words(graph_formula_text(graph, step.declaration, arena));
  cells[STEP_FROM] = cell_list((struct texts){0});
  struct parts parts = {0};
  collect(derivation, &parts, graph_formula(graph, step.declaration), step.period);
  for (size_t i = 0; i < parts.count; i++)
    add_step(derivation, parts.list[i], depth + 1);
}

// ---- the request

static const struct option *find_option(const struct scenario *scenario, const char *id,
                                        struct arena *arena, struct diagnostics *diagnostics) {
  const int option = scenario_option(scenario, id);
  if (option >= 0)
    return &scenario->options[option];
  diagnostics_error(diagnostics, nowhere, "'%s' has no option '%s'%s", scenario->path, id,
                    scenario_option_hint(scenario, id, arena));
  return NULL;
}

static int find_item(const struct derivation *derivation, const char *name,
                     struct diagnostics *diagnostics) {
  const struct model *model = derivation->scenario->model;
  const int found = model_find(model, name);
  if (found >= 0 && option_has(derivation->option, found))
    return found;
  if (found >= 0)
    diagnostics_error(diagnostics, nowhere, "option '%s' does not use '%s'", derivation->option->id,
                      name);
  else
    diagnostics_error(
        diagnostics, nowhere, "unknown line item or input '%s'%s", name,
        did_you_mean(model_nearest(model, name, false, derivation->arena), derivation->arena));
  return -1;
}

// The period after "@", checked against the item.
static int find_period(const struct derivation *derivation, int declaration, const char *text,
                       int *period, struct diagnostics *diagnostics) {
  *period = ALL_PERIODS;
  if (!text)
    return 0;
  const struct declaration *item = &derivation->scenario->model->declarations[declaration];
  if (!graph_is_series(derivation->option->graph, declaration)) {
    diagnostics_error(diagnostics, nowhere, "'%s' is a single number and has no periods",
                      item->name);
    return -1;
  }
  char *end;
  const long number = strtol(text, &end, 10);
  const int last =
      option_periods(derivation->scenario, derivation->option, derivation->scenario->selected);
  if (*text >= '0' && *text <= '9' && !*end && number <= last) {
    *period = (int)number;
    return 0;
  }
  diagnostics_error(diagnostics, nowhere, "expected a period from 0 to %d, found '%s'", last, text);
  return -1;
}

static struct answer_table facts_table(const struct derivation *derivation, const char *item,
                                       int period) {
  const struct scenario *scenario = derivation->scenario;
  const struct unit *plain = unit_known("-", derivation->arena);
  struct answer_table facts = answer_table_of_facts(derivation->arena);
  answer_fact(&facts, "option", cell_words(derivation->option->id));
  answer_fact(&facts, "accelerator",
              derivation->option->provider ? cell_value(NAN)
                                           : cell_words(derivation->option->accelerator));
  answer_fact(&facts, "item", cell_words(item));
  answer_fact(&facts, "period", period == ALL_PERIODS ? cell_nothing() : cell_in(period, plain));
  answer_fact(&facts, "case", cell_words(scenario->cases[scenario->selected]));
  answer_fact(&facts, "sha256", cell_words(scenario->digest));
  answer_fact(&facts, "decode_only", cell_flag(derivation->option->decode_only));
  return facts;
}

// "Net price per accelerator of mi325x: 18,920 USD/gpu."
static const char *sentence_of(const struct derivation *derivation, struct step step) {
  const struct declaration *item = declaration_of(derivation, step);
  struct arena *arena = derivation->arena;
  const char *id = derivation->option->label;
  const bool series = graph_is_series(derivation->option->graph, step.declaration);
  if (series && step.period == ALL_PERIODS)
    return arena_printf(arena, "%s of %s, by period.", item->label, id);
  const char *none = option_none(derivation->scenario, derivation->option, step.declaration);
  if (none)
    return arena_printf(arena, "%s of %s: %s.", item->label, id, none);
  const double value = option_value(derivation->scenario, derivation->option, step.declaration,
                                    series ? step.period : 0);
  return arena_printf(arena, "%s of %s%s: %s.", item->label, id,
                      series ? arena_printf(arena, " in period %d", step.period) : "",
                      quantity_words(value, &item->unit, SHOWN_DIGITS, arena));
}

// The answer without its derivation, with the table ready for it.
static void start_answer(struct derivation *derivation, const char *name, const char *sentence,
                         struct answer *answer) {
  const struct scenario *scenario = derivation->scenario;
  struct arena *arena = derivation->arena;
  *answer = answer_new("explain", name, NULL, scenario, arena);
  answer->schema = 2;
  answer->sentence = sentence;
  answer_head(answer, "", "%s, case %s", scenario->title,
              scenario->case_labels[scenario->selected]);
  if (derivation->option->provider)
    answer_head(answer, "", "%s", derivation->option->accelerator_name);
  derivation->table = answer_table_new("derivation", NULL, arena);
  for (size_t c = 0; c < STEP_COLUMNS; c++)
    ANSWER_COLUMN(&derivation->table, .key = said[c].key, .faces = said[c].faces);
  derivation->table.branches = "from";
  derivation->table.is_wide = true;
  derivation->table.json = "derivation";
}

static void end_answer(const struct derivation *derivation, int period, struct answer *answer) {
  answer_push(answer, facts_table(derivation, answer->name, period));
  answer_push(answer, derivation->table);
}

static void write_answer(struct derivation *derivation, struct step step, struct answer *answer) {
  start_answer(derivation, declaration_of(derivation, step)->name, sentence_of(derivation, step),
               answer);
  add_step(derivation, step, 0);
  end_answer(derivation, step.period, answer);
}

// ---- a saving, computed from two options

static const struct saving {
  const char *name, *label, *cost;
} savings[] = {
    {"saving", "Saving", "cost_per_mtok"},
    {"saving_levelised", "Levelized saving", "levelised_cost_per_mtok"},
};

static const struct saving *find_saving(const struct scenario *scenario, const char *name) {
  for (size_t i = 0; i < sizeof savings / sizeof savings[0]; i++)
    if (!strcmp(savings[i].name, name) && model_find(scenario->model, name) < 0)
      return &savings[i];
  return NULL;
}

// The cost of one of the two, as a branch of its own; the option's id precedes its name.
static void add_cost(struct derivation *derivation, const struct option *option, const char *cost) {
  const struct scenario *scenario = derivation->scenario;
  const size_t row = derivation->table.row_count;
  derivation->option = option;
  memset(derivation->seen, 0,
         (size_t)scenario->model->count * (size_t)(1 + scenario->periods) *
             sizeof *derivation->seen);
  add_step(derivation, (struct step){model_find(scenario->model, cost), ALL_PERIODS}, 1);
  struct answer_cell *cells = derivation->table.cells[row];
  cells[STEP_TITLE] = cells[STEP_NAME] =
      cell_words(arena_printf(derivation->arena, "%s.%s", option->id, cost));
}

static void write_saving(struct derivation *derivation, const struct saving *saving,
                         struct answer *answer) {
  const struct scenario *scenario = derivation->scenario;
  struct arena *arena = derivation->arena;
  const struct unit *percent = unit_known("%", arena);
  const struct option *option = derivation->option;
  const struct option *baseline = &scenario->options[scenario->baseline];
  const double value = option_saving(scenario, option, saving->cost);
  start_answer(
      derivation, saving->name,
      arena_printf(arena, "%s of %s against %s: %s.", saving->label, option->label, baseline->label,
                   isnan(value) ? "none, as what costs less than nothing is no share of a cost"
                                : quantity_words(value, percent, SHOWN_DIGITS, arena)),
      answer);
  struct answer_cell *cells =
      answer_table_row_of(&derivation->table, (struct answer_row){.unit = percent, .depth = 0});
  for (size_t c = 0; c < STEP_COLUMNS; c++)
    cells[c] = cell_absent("");
  cells[STEP_TITLE] = cells[STEP_NAME] = cell_words(saving->name);
  cells[STEP_SHOWN] = cells[STEP_VALUE] = cell_value(value);
  cells[STEP_DEPTH] = cell_in(0, unit_known("-", arena));
  cells[STEP_LABEL] = cell_words(saving->label);
  cells[STEP_KIND] = cell_words("item");
  cells[STEP_UNIT] = cell_words("%");
  cells[STEP_FORMULA] = cell_words(arena_printf(arena, "1 - %s.%s / %s.%s", option->id,
                                                saving->cost, baseline->id, saving->cost));
  cells[STEP_FROM] = cell_list((struct texts){0});
  add_cost(derivation, option, saving->cost);
  add_cost(derivation, baseline, saving->cost);
  derivation->option = option;
  end_answer(derivation, ALL_PERIODS, answer);
}

// An option that the judge does not compare has no saving.
static int explain_saving(struct derivation *derivation, const struct saving *saving,
                          struct answer *answer, struct diagnostics *diagnostics) {
  const struct scenario *scenario = derivation->scenario;
  const char *baseline = scenario->options[scenario->baseline].id;
  const size_t number = (size_t)(derivation->option - scenario->options);
  const struct standing *standing = &ranking_of(scenario, derivation->arena)->options[number];
  if (number == scenario->baseline)
    diagnostics_error(diagnostics, nowhere,
                      "'%s' is the baseline that savings are measured against", baseline);
  else if (!standing->compared)
    diagnostics_error(diagnostics, nowhere, "'%s' is not compared with '%s': %s",
                      derivation->option->id, baseline, standing->why_not);
  else {
    write_saving(derivation, saving, answer);
    return 0;
  }
  return -1;
}

int explain_answer(const struct scenario *scenario, const char *wanted, struct answer *answer,
                   struct arena *arena, struct diagnostics *diagnostics) {
  char *id = arena_copy(arena, wanted), *dot = strchr(id, '.');
  if (!dot || dot == id || !dot[1]) {
    diagnostics_error(diagnostics, nowhere,
                      "expected OPTION.ITEM, such as %s.cost_per_mtok, found '%s'",
                      scenario->options[0].id, wanted);
    return -1;
  }
  *dot = 0;
  char *name = dot + 1, *period_text = strchr(name, '@');
  if (period_text)
    *period_text++ = 0;
  struct derivation derivation = {
      .scenario = scenario,
      .seen = arena_array(arena, (size_t)scenario->model->count,
                          (size_t)(1 + scenario->periods) * sizeof *derivation.seen),
      .arena = arena};
  derivation.option = find_option(scenario, id, arena, diagnostics);
  if (!derivation.option)
    return -1;
  const struct saving *saving = period_text ? NULL : find_saving(scenario, name);
  if (saving)
    return explain_saving(&derivation, saving, answer, diagnostics);
  struct step step;
  step.declaration = find_item(&derivation, name, diagnostics);
  if (step.declaration < 0 ||
      find_period(&derivation, step.declaration, period_text, &step.period, diagnostics))
    return -1;
  write_answer(&derivation, step, answer);
  return 0;
}
