#include "reports/answers/explain.h"

#include "reports/print/grid.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_PERIODS = -1, shown_digits = 10, narrowest_text = 24 };

// One number (or series) of the derivation and what it was computed from.
struct step {
  int declaration;
  int period; // ALL_PERIODS for scalars and whole series
  bool repeated;
  struct step *first, *last; // of what it was computed from
  struct step *next;         // beside it
};

struct derivation {
  const struct scenario *scenario;
  const struct option *option;
  struct arena *arena;
  bool *seen; // [model->count][1 + scenario->periods], the first for ALL_PERIODS
};

static const struct declaration *declaration_of(const struct derivation *derivation,
                                                const struct step *step) {
  return &derivation->scenario->model->declarations[step->declaration];
}

static bool is_input(const struct derivation *derivation, const struct step *step) {
  return derivation->option->graph->state[step->declaration] == GRAPH_INPUT;
}

static const struct figure *figure_of(const struct derivation *derivation,
                                      const struct step *step) {
  return option_figure(derivation->scenario, derivation->option, derivation->scenario->selected,
                       step->declaration);
}

static struct step *build_step(struct derivation *derivation, int declaration, int period);

static void add_child(struct derivation *derivation, struct step *step, int declaration,
                      int period) {
  for (const struct step *child = step->first; child; child = child->next)
    if (child->declaration == declaration && child->period == period)
      return;
  struct step *child = build_step(derivation, declaration, period);
  if (step->last)
    step->last->next = child;
  else
    step->first = child;
  step->last = child;
}

// The period that a call looks at, seen from `period`.
static int period_inside(const struct node *node, int period) {
  if (node->kind != NODE_CALL)
    return period;
  if (node->function == FUNCTION_SUM)
    return ALL_PERIODS;
  if (node->function == FUNCTION_FIRST)
    return 0;
  if (node->function == FUNCTION_PREV && period != ALL_PERIODS)
    return period - 1;
  return period;
}

static void collect(struct derivation *derivation, struct step *step, const struct node *node,
                    int period) {
  if (node->kind == NODE_NAME && node->declaration >= 0) {
    const bool series =
        derivation->scenario->model->declarations[node->declaration].kind == DECLARATION_SERIES;
    add_child(derivation, step, node->declaration, series ? period : ALL_PERIODS);
    return;
  }
  const int inside = period_inside(node, period);
  const bool before_purchase =
      node->kind == NODE_CALL && node->function == FUNCTION_PREV && inside == -1 && period == 0;
  for (int i = 0; i < node->argument_count && !before_purchase; i++)
    collect(derivation, step, node->arguments[i], inside);
}

static struct step *build_step(struct derivation *derivation, int declaration, int period) {
  struct step *step = arena_alloc(derivation->arena, sizeof *step);
  *step = (struct step){.declaration = declaration, .period = period};
  bool *seen = &derivation->seen[declaration * (1 + derivation->scenario->periods) + 1 + period];
  step->repeated = *seen;
  *seen = true;
  if (!step->repeated && !is_input(derivation, step))
    collect(derivation, step, graph_formula(derivation->option->graph, declaration), period);
  return step;
}

static double shown(const struct derivation *derivation, const struct step *step, int period) {
  return number_in_unit(
      option_value(derivation->scenario, derivation->option, step->declaration, period),
      &declaration_of(derivation, step)->unit);
}

static int last_period(const struct derivation *derivation) {
  return option_periods(derivation->scenario, derivation->option, derivation->scenario->selected);
}

static bool is_series(const struct derivation *derivation, const struct step *step) {
  return declaration_of(derivation, step)->kind == DECLARATION_SERIES;
}

// "[0] 0, [1-3] 2,039,904": equal neighbours share an entry.
static const char *series_text(const struct derivation *derivation, const struct step *step) {
  const char *text = "";
  const int last = last_period(derivation);
  for (int t = 0; t <= last;) {
    int end = t;
    const double value = shown(derivation, step, t);
    while (end < last && shown(derivation, step, end + 1) == value)
      end++;
    const char *range = end > t ? arena_printf(derivation->arena, "[%d-%d]", t, end)
                                : arena_printf(derivation->arena, "[%d]", t);
    text = arena_printf(derivation->arena, "%s%s%s %s", text, *text ? ", " : "", range,
                        number_significant(value, shown_digits, derivation->arena));
    t = end + 1;
  }
  return text;
}

static const char *with_unit(const struct derivation *derivation, const char *number,
                             const struct unit *unit) {
  if (!strcmp(unit->text, "-"))
    return number;
  return arena_printf(derivation->arena, "%s %s", number, unit->text);
}

static const char *value_text(const struct derivation *derivation, const struct step *step) {
  const struct declaration *item = declaration_of(derivation, step);
  if (is_input(derivation, step)) {
    const double value =
        option_value(derivation->scenario, derivation->option, step->declaration, 0);
    const char *choice = declaration_choice(item, value);
    return choice ? choice : quantity_text(value, &item->unit, derivation->arena);
  }
  if (is_series(derivation, step) && step->period == ALL_PERIODS)
    return with_unit(derivation, series_text(derivation, step), &item->unit);
  const int period = step->period == ALL_PERIODS ? 0 : step->period;
  const char *number =
      number_significant(shown(derivation, step, period), shown_digits, derivation->arena);
  return with_unit(derivation, number, &item->unit);
}

static const char *name_text(const struct derivation *derivation, const struct step *step) {
  const char *name = declaration_of(derivation, step)->name;
  if (step->period == ALL_PERIODS)
    return name;
  return arena_printf(derivation->arena, "%s[%d]", name, step->period);
}

static const char *formula_of(const struct derivation *derivation, const struct step *step) {
  const int alternative = derivation->option->graph->state[step->declaration];
  return declaration_of(derivation, step)->alternatives[alternative].text;
}

static const char *place_text(const struct derivation *derivation, const struct figure *figure) {
  if (!figure->place.source)
    return "";
  if (!figure->place.line)
    return figure->place.source->name;
  return arena_printf(derivation->arena, "%s:%d", figure->place.source->name, figure->place.line);
}

static bool has(const char *text) {
  return text && *text;
}

// "[benchmark]  MLPerf v4.1, 2024-08 (throughput.csv:12)"
static const char *provenance(const struct derivation *derivation, const struct figure *figure) {
  struct arena *arena = derivation->arena;
  if (figure->origin == ORIGIN_DEFAULT)
    return "[default]";
  if (figure->origin == ORIGIN_RENT)
    return "[not for a rented option]";
  const char *text = arena_printf(arena, "[%s]", grade_name(figure->grade));
  if (has(figure->source))
    text = arena_printf(arena, "%s  %s", text, figure->source);
  if (has(figure->date))
    text = arena_printf(arena, "%s%s %s", text, has(figure->source) ? "," : " ", figure->date);
  const char *place = place_text(derivation, figure);
  return *place ? arena_printf(arena, "%s  (%s)", text, place) : text;
}

struct branches {
  const char *fork, *last, *line, *blank, *arrow;
};

static const struct branches drawn = {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   ",
                                      "\u2190"};
static const struct branches plain = {"|- ", "`- ", "|  ", "   ", "<-"};

// Breaks a line at the width of a terminal; elsewhere it stays whole, for grep.
static void print_line(const struct style *style, const char *head, const char *rest,
                       const char *text) {
  const char **lines;
  const int first = style_width(head), others = style_width(rest);
  const int room = style->terminal ? style->width - (first > others ? first : others) : INT_MAX;
  const size_t count = style_wrap(
      style_text(style, text), room > narrowest_text ? room : narrowest_text, style->arena, &lines);
  for (size_t i = 0; i < count; i++)
    fprintf(style->out, "%s%s\n", style_mark(style, EMPHASIS_FAINT, i ? rest : head), lines[i]);
}

static void print_tree(const struct derivation *derivation, const struct style *style,
                       const struct step *step, const char *head, const char *below) {
  const struct branches *branches = style->utf8 ? &drawn : &plain;
  struct arena *arena = derivation->arena;
  const char *text =
      arena_printf(arena, "%s = %s", name_text(derivation, step), value_text(derivation, step));
  if (step->repeated)
    text = arena_printf(arena, "%s  (see above)", text);
  else if (is_input(derivation, step))
    text = arena_printf(arena, "%s  %s", text, provenance(derivation, figure_of(derivation, step)));
  else
    text = arena_printf(arena, "%s  %s  %s", text, branches->arrow, formula_of(derivation, step));
  const char *under = step->first ? branches->line : branches->blank;
  print_line(style, head, arena_printf(arena, "%s%s  ", below, under), text);
  for (const struct step *child = step->first; child; child = child->next)
    print_tree(derivation, style, child,
               arena_printf(arena, "%s%s", below, child->next ? branches->fork : branches->last),
               arena_printf(arena, "%s%s", below, child->next ? branches->line : branches->blank));
}

static void print_heading(const struct derivation *derivation, const struct style *style,
                          const struct step *step) {
  const struct scenario *scenario = derivation->scenario;
  const struct declaration *item = declaration_of(derivation, step);
  style_block(style, EMPHASIS_STRONG,
              arena_printf(derivation->arena, "%s: %s", derivation->option->id, item->label));
  style_block(style, EMPHASIS_NONE,
              arena_printf(derivation->arena, "%s, case %s", scenario->title,
                           scenario->cases[scenario->selected]));
  if (scenario->mixed)
    style_block(style, EMPHASIS_ALARM,
                arena_printf(derivation->arena, "MIXED: %s", scenario->mixed_reason));
  if (derivation->option->decode_only)
    style_block(style, EMPHASIS_ALARM, "Upper bound, decode only");
  putc('\n', style->out);
}

static void print_periods(const struct derivation *derivation, const struct style *style,
                          const struct step *step) {
  const int last = last_period(derivation);
  struct grid *grid = grid_new(3, derivation->arena);
  grid->left[2] = true;
  for (int t = 0; t <= last; t++) {
    struct cell *cells = grid_row(grid);
    cells[0].text = arena_printf(derivation->arena, "period %d", t);
    cells[1].text = number_significant(shown(derivation, step, t), shown_digits, derivation->arena);
    cells[2].text = declaration_of(derivation, step)->unit.text;
  }
  grid_print(grid, style);
  putc('\n', style->out);
}

static void print_table(const struct derivation *derivation, const struct step *step, FILE *out) {
  const struct style style = style_of(out, derivation->arena);
  print_heading(derivation, &style, step);
  if (is_series(derivation, step) && step->period == ALL_PERIODS)
    print_periods(derivation, &style, step);
  print_tree(derivation, &style, step, "", "");
}

static json_t *series_json(const struct derivation *derivation, const struct step *step) {
  json_t *values = json_array();
  for (int t = 0; t <= last_period(derivation); t++)
    json_array_append_new(values, json_out_number(shown(derivation, step, t)));
  return values;
}

static void set_provenance(json_t *object, const struct derivation *derivation,
                           const struct figure *figure) {
  static const char *const unstated[] = {
      [ORIGIN_DEFAULT] = "default", [ORIGIN_RENT] = "not for a rented option"};
  const bool stated = figure->origin > ORIGIN_RENT;
  const char *text = stated ? figure->text : unstated[figure->origin];
  json_object_set_new(object, "text", json_out_text(text ? text : ""));
  json_object_set_new(object, "grade", json_out_text(grade_name(figure->grade)));
  json_object_set_new(object, "source", json_out_text(has(figure->source) ? figure->source : ""));
  json_object_set_new(object, "date", json_out_text(has(figure->date) ? figure->date : ""));
  json_object_set_new(object, "place", json_out_text(place_text(derivation, figure)));
}

static json_t *step_json(const struct derivation *derivation, const struct step *step) {
  const struct declaration *item = declaration_of(derivation, step);
  json_t *object = json_object();
  json_object_set_new(object, "name", json_out_text(item->name));
  json_object_set_new(object, "label", json_out_text(item->label));
  json_object_set_new(object, "kind", json_out_text(is_input(derivation, step) ? "input" : "item"));
  if (is_series(derivation, step) && step->period == ALL_PERIODS)
    json_object_set_new(object, "values", series_json(derivation, step));
  else
    json_object_set_new(
        object, "value",
        json_out_number(shown(derivation, step, step->period == ALL_PERIODS ? 0 : step->period)));
  if (step->period != ALL_PERIODS)
    json_object_set_new(object, "period", json_integer(step->period));
  json_object_set_new(object, "unit", json_out_text(item->unit.text));
  if (step->repeated) {
    json_object_set_new(object, "repeated", json_true());
    return object;
  }
  if (is_input(derivation, step)) {
    set_provenance(object, derivation, figure_of(derivation, step));
    return object;
  }
  json_object_set_new(object, "formula", json_out_text(formula_of(derivation, step)));
  json_t *from = json_array();
  for (const struct step *child = step->first; child; child = child->next)
    json_array_append_new(from, step_json(derivation, child));
  json_object_set_new(object, "from", from);
  return object;
}

static void print_json(const struct derivation *derivation, const struct step *step, FILE *out) {
  const struct scenario *scenario = derivation->scenario;
  json_t *root = json_object();
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(root, "option", json_out_text(derivation->option->id));
  json_object_set_new(root, "accelerator", json_out_text(derivation->option->accelerator));
  json_object_set_new(root, "item", json_out_text(declaration_of(derivation, step)->name));
  json_object_set_new(root, "period",
                      step->period == ALL_PERIODS ? json_null() : json_integer(step->period));
  json_object_set_new(root, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(root, "sha256", json_out_text(scenario->digest));
  json_object_set_new(root, "decode_only", json_boolean(derivation->option->decode_only));
  json_object_set_new(root, "mixed", json_boolean(scenario->mixed));
  json_object_set_new(root, "derivation", step_json(derivation, step));
  json_out_print(root, out);
}

static const struct option *find_option(const struct scenario *scenario, const char *id,
                                        struct arena *arena, struct diagnostics *diagnostics) {
  const int option = scenario_option(scenario, id);
  if (option >= 0)
    return &scenario->options[option];
  diagnostics_error(diagnostics, (struct place){0}, "'%s' has no option '%s'%s", scenario->path, id,
                    did_you_mean(scenario_nearest_option(scenario, id, arena), arena));
  return NULL;
}

static int find_item(const struct derivation *derivation, const char *name,
                     struct diagnostics *diagnostics) {
  const struct model *model = derivation->scenario->model;
  const int found = model_find(model, name);
  if (found >= 0 && option_has(derivation->option, found))
    return found;
  if (found >= 0)
    diagnostics_error(diagnostics, (struct place){0}, "option '%s' does not use '%s'",
                      derivation->option->id, name);
  else
    diagnostics_error(
        diagnostics, (struct place){0}, "unknown line item or input '%s'%s", name,
        did_you_mean(model_nearest(model, name, false, derivation->arena), derivation->arena));
  return -1;
}

// The period behind "@", checked against the item.
static int find_period(const struct derivation *derivation, int declaration, const char *text,
                       int *period, struct diagnostics *diagnostics) {
  *period = ALL_PERIODS;
  if (!text)
    return 0;
  const struct declaration *item = &derivation->scenario->model->declarations[declaration];
  if (item->kind != DECLARATION_SERIES) {
    diagnostics_error(diagnostics, (struct place){0}, "'%s' is one number, it has no periods",
                      item->name);
    return -1;
  }
  char *end;
  const long number = strtol(text, &end, 10);
  const int last = last_period(derivation);
  if (*text >= '0' && *text <= '9' && !*end && number <= last) {
    *period = (int)number;
    return 0;
  }
  diagnostics_error(diagnostics, (struct place){0}, "expected a period from 0 to %d, found '%s'",
                    last, text);
  return -1;
}

int explain_print(const struct scenario *scenario, const char *wanted, enum output_format format,
                  FILE *out, struct arena *arena, struct diagnostics *diagnostics) {
  char *id = arena_copy(arena, wanted), *dot = strchr(id, '.');
  if (!dot || dot == id || !dot[1]) {
    diagnostics_error(diagnostics, (struct place){0},
                      "expected OPTION.ITEM, such as %s.cost_per_mtok, found '%s'",
                      scenario->options[0].id, wanted);
    return -1;
  }
  *dot = 0;
  char *name = dot + 1, *period_text = strchr(name, '@');
  if (period_text)
    *period_text++ = 0;

  struct derivation derivation = {.scenario = scenario, .arena = arena};
  derivation.option = find_option(scenario, id, arena, diagnostics);
  if (!derivation.option)
    return -1;
  int period;
  const int declaration = find_item(&derivation, name, diagnostics);
  if (declaration < 0 || find_period(&derivation, declaration, period_text, &period, diagnostics))
    return -1;
  derivation.seen = arena_array(arena, (size_t)scenario->model->count,
                                (size_t)(1 + scenario->periods) * sizeof *derivation.seen);
  const struct step *step = build_step(&derivation, declaration, period);
  if (format == FORMAT_JSON)
    print_json(&derivation, step, out);
  else
    print_table(&derivation, step, out);
  return 0;
}
