#include "reports/page/data.h"

#include "base/source.h"
#include "base/version.h"
#include "model/chance/distribution.h"
#include "model/cost/graph.h"
#include "model/cost/list_text.h"
#include "model/cost/model.h"
#include "model/cost/schedule.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/questions/sensitivity.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/reading/shorthand.h"
#include "model/scenario/reading/tiers.h"
#include "model/scenario/resolution/grading.h"
#include "model/scenario/resolution/left_out.h"
#include "model/scenario/resolution/plausibility.h"
#include "model/whatif/variation.h"
#include "reports/page/graphs.h"
#include "reports/page/uncertainty.h"
#include "reports/print/json_out.h"

#include <math.h>
#include <string.h>

static void put_text(json_t *object, const char *key, const char *text) {
  json_object_set_new(object, key, json_out_text(text ? text : ""));
}

static void put_number(json_t *object, const char *key, double value) {
  json_object_set_new(object, key, json_out_number(value));
}

// The beginning of each operating period.
static json_t *begins_of(const struct scenario *scenario, struct arena *arena) {
  json_t *begins = json_array();
  for (int t = 1; t < scenario->periods; t++)
    json_array_append_new(begins, json_out_text(scenario_period_begins(scenario, t, arena)));
  return begins;
}

static json_t *scenario_of(const struct page *page, struct arena *arena) {
  const struct scenario *scenario = page->cases[0];
  json_t *object = json_object();
  put_text(object, "title", scenario->title);
  put_text(object, "file", source_file_name(scenario->path));
  put_text(object, "date", scenario->date);
  put_text(object, "currency", scenario->model->currency);
  put_text(object, "between", options_between(scenario));
  put_text(object, "sha256", scenario->digest);
  put_text(object, "stamp", scenario_lasting_stamp(scenario, arena));
  put_text(object, "arguments", page->arguments);
  json_object_set_new(object, "baseline", json_integer((json_int_t)scenario->baseline));
  json_object_set_new(object, "contender",
                      json_integer((json_int_t)ranking_contender(page->cases[page->start])));
  json_object_set_new(object, "last", json_integer(scenario->periods - 1));
  json_object_set_new(object, "begins", begins_of(scenario, arena));
  return object;
}

static void add_setting(json_t *settings, const char *section, const char *key, const char *value) {
  json_array_append_new(settings,
                        json_pack("{s:s,s:s,s:s}", "section", section, "key", key, "value", value));
}

// The first of the inputs that hold the values of a list by year or of volume tiers; -1 for other
// texts.
static int first_part(const struct model *model, int input, const char *value,
                      struct arena *arena) {
  const struct declaration *declaration = &model->declarations[input];
  if (declaration->tiers && text_is_tiers(value))
    return model_find(model, tiers_input(model, input, 0, 0, arena));
  return declaration->year_count && text_is_list(value) ? declaration->years[0] : -1;
}

// A list or tiers, for each option that takes it: its values can be stated only beside it.
static void add_list(json_t *settings, const struct scenario *scenario, const char *prefix,
                     const char *key, const char *value, struct arena *arena) {
  const int part = first_part(scenario->model, model_find(scenario->model, key), value, arena);
  for (size_t o = 0; o < scenario->option_count && part >= 0; o++) {
    const struct option *option = &scenario->options[o];
    const bool is_own = !strcmp(prefix, option->id);
    const int stated = option_stated(option, part);
    if ((is_own || !*prefix || section_is_common(prefix)) &&
        option_figure(scenario, option, 0, stated)->origin ==
            (is_own ? ORIGIN_SET_OPTION : ORIGIN_SET))
      add_setting(settings, arena_printf(arena, "option %s", option->id), key, value);
  }
}

// Whether the key sets figures, which an export states by themselves.
static bool is_shorthand(const char *key) {
  for (size_t i = 0; i < SHORTHANDS; i++)
    if (!strcmp(shorthands[i].key, key))
      return !shorthands[i].yields;
  return false;
}

// Adds a choice of evidence or workload, "mi325x.evidence=tp0090", or a list.
static void add_settings_of(json_t *settings, const struct scenario *scenario, const char *text,
                            struct arena *arena) {
  const char *equals = text + strcspn(text, "="), *point = strchr(text, '.');
  const bool has_prefix = point && point < equals;
  const char *prefix = has_prefix ? arena_copy_n(arena, text, (size_t)(point - text)) : "";
  const char *name = has_prefix ? point + 1 : text;
  const char *key = arena_copy_n(arena, name, strcspn(name, "=. "));
  const char *value = equals + 1 + strspn(equals + 1, " ");
  if (model_find(scenario->model, prefix) >= 0 || is_shorthand(key))
    return;
  if (model_find(scenario->model, key) >= 0)
    add_list(settings, scenario, prefix, key, value, arena);
  else if (has_prefix)
    add_setting(settings,
                section_is_common(prefix) ? "workload" : arena_printf(arena, "option %s", prefix),
                key, value);
}

static json_t *settings_of(const struct scenario *scenario, struct arena *arena) {
  json_t *settings = json_array();
  for (size_t i = 0; i < scenario->setting_count; i++)
    add_settings_of(settings, scenario, scenario->settings[i], arena);
  return settings;
}

static json_t *groups_of(const struct model *model) {
  json_t *groups = json_array();
  for (int g = 0; g < model->group_count; g++) {
    json_t *group = json_object();
    put_text(group, "name", model->groups[g].name);
    put_text(group, "label", model->groups[g].label);
    json_array_append_new(groups, group);
  }
  return groups;
}

static json_t *choices_of(const struct declaration *input) {
  json_t *choices = json_array();
  for (int i = 0; i < input->choice_count; i++) {
    json_t *choice = json_object();
    put_text(choice, "name", input->choices[i].name);
    put_number(choice, "value", input->choices[i].value);
    json_array_append_new(choices, choice);
  }
  return choices;
}

// The name in a scenario file: list_price of list_price_usd.
static const char *key_of(const struct model *model, const struct declaration *declaration) {
  const int of = declaration->usd_of;
  return of < 0 ? declaration->name : model->declarations[of].name;
}

// Of a value in a list, adds the input that the list belongs to, and from when it holds.
static void add_year(json_t *item, const struct scenario *scenario,
                     const struct declaration *declaration, struct arena *arena) {
  const struct declaration *of = &scenario->model->declarations[declaration->year_of];
  int year = 1;
  while (&scenario->model->declarations[of->years[year - 1]] != declaration)
    year++;
  put_text(item, "year_of", of->name);
  put_text(item, "by", of->ages ? "by age" : step_words(of->step_h, arena));
  put_text(item, "from",
           of->ages ? arena_printf(arena, "at %d yr", year)
                    : scenario_value_begins(scenario, of, year, arena));
}

// What the scenario file may not state alone.
static void add_companions(json_t *item, const struct model *model,
                           const struct declaration *input) {
  if (input->needed_with >= 0)
    put_text(item, "needed_with", model->declarations[input->needed_with].name);
  if (input->idle_without >= 0)
    put_text(item, "idle_without", model->declarations[input->idle_without].name);
}

static json_t *item_of(const struct scenario *scenario, const struct declaration *declaration,
                       struct arena *arena) {
  const struct model *model = scenario->model;
  static const char *const kinds[] = {[DECLARATION_INPUT] = "input",
                                      [DECLARATION_SCALAR] = "scalar",
                                      [DECLARATION_SERIES] = "series"};
  static const char *const roles[] = {[ROLE_NONE] = "",
                                      [ROLE_HEADLINE] = "headline",
                                      [ROLE_CATEGORY] = "category",
                                      [ROLE_CHECK] = "check"};
  json_t *item = json_object();
  put_text(item, "name", declaration->name);
  put_text(item, "label", declaration->label);
  put_text(item, "unit", declaration->unit.text);
  put_number(item, "factor", unit_factor(&declaration->unit));
  put_text(item, "kind", kinds[declaration->kind]);
  json_object_set_new(item, "group", json_integer(declaration->group));
  put_text(item, "role", roles[declaration->role]);
  if (declaration->none_below >= 0)
    put_text(item, "none_below", model->declarations[declaration->none_below].name);
  if (declaration->none_without >= 0)
    put_text(item, "none_without", model->declarations[declaration->none_without].name);
  if (declaration->none_below >= 0 || declaration->none_without >= 0)
    put_text(item, "none", declaration->none);
  if (declaration->kind != DECLARATION_INPUT)
    return item;
  json_object_set_new(item, "integer", json_boolean(declaration->integer));
  json_object_set_new(item, "property", json_boolean(declaration->property));
  json_object_set_new(item, "choices", choices_of(declaration));
  put_text(item, "key", key_of(model, declaration));
  const int d = (int)(declaration - model->declarations);
  if (scenario->finds[d])
    put_text(item, "fixed", scenario_why_fixed(scenario, d, arena));
  if (target_would_spread(scenario, d))
    json_object_set_new(item, "spreads", json_true());
  add_companions(item, model, declaration);
  if (declaration->year_of >= 0)
    add_year(item, scenario, declaration, arena);
  return item;
}

static json_t *items_of(const struct scenario *scenario, struct arena *arena) {
  const struct model *model = scenario->model;
  json_t *items = json_array();
  for (int d = 0; d < model->count; d++)
    json_array_append_new(items, item_of(scenario, &model->declarations[d], arena));
  return items;
}

static json_t *graph_of(const struct graph *graph) {
  json_t *formulas = json_object();
  for (int i = 0; i < graph->order_count; i++) {
    const struct declaration *item = &graph->model->declarations[graph->order[i]];
    put_text(formulas, item->name, graph_formula_text(graph, graph->order[i], graph->model->arena));
  }
  return json_pack("{s:o}", "formulas", formulas);
}

// The part of an option's standing that no change on the page can affect.
static void add_standing(json_t *object, const struct fixed_bar *standing) {
  put_text(object, "why", standing->why);
  json_object_set_new(object, "compared", json_boolean(standing->bar != RANK_UPPER_BOUND));
}

static json_t *amount_rule(const struct ranking_amount *amount) {
  json_t *object = json_object();
  put_text(object, "item", amount->item);
  json_object_set_new(object, "at_most", json_boolean(amount->at_most));
  put_number(object, "limit", amount->limit);
  put_number(object, "shown", amount->shown);
  put_text(object, "before", amount->before);
  put_text(object, "after", amount->after);
  put_text(object, "beside", amount->beside);
  put_text(object, "beside_words", amount->beside_words);
  return object;
}

static json_t *ranking_rules(const struct scenario *scenario, struct arena *arena) {
  const char *asked = ranking_asked(scenario);
  json_t *object = json_object(), *amounts = json_array();
  for (size_t a = 0; a < RANKING_AMOUNTS; a++)
    json_array_append_new(amounts, amount_rule(&ranking_amounts[a]));
  json_object_set_new(object, "amounts", amounts);
  put_text(object, "asked", asked);
  put_text(object, "one", ranking_why_none(1, 0, asked, arena));
  put_text(object, "unlike", ranking_why_none(2, 1, asked, arena));
  put_text(object, "unmet", ranking_why_none(2, 0, asked, arena));
  return object;
}

// Inputs that are borrowed from another option, which no face shows.
static json_t *lent_of(const struct scenario *scenario, const struct option *option) {
  json_t *names = json_array();
  for (int d = 0; d < scenario->model->count; d++)
    if (option_is_lent(option, d))
      json_array_append_new(names, json_string(scenario->model->declarations[d].name));
  return names;
}

static json_t *names_of(const struct scenario *scenario, const int *declarations, int count) {
  json_t *names = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(names, json_string(scenario->model->declarations[declarations[i]].name));
  return names;
}

// Costs that an option may leave out, with the inputs that state them.
static json_t *omissible_of(const struct scenario *scenario, const struct option *option) {
  json_t *costs = json_array();
  for (int d = 0; d < scenario->model->count; d++) {
    int inputs[MAX_LIST], priced[MAX_LIST];
    const int count = left_out_inputs(scenario, option, d, inputs);
    if (!count)
      continue;
    const int scale = left_out_scale(option, d), sum = left_out_sum(option, d);
    json_array_append_new(
        costs, json_pack("{s:s,s:o,s:o,s:s,s:s}", "notice", left_out_notice(scenario, d), "inputs",
                         names_of(scenario, inputs, count), "priced",
                         names_of(scenario, priced, left_out_priced(option, d, priced)), "sum",
                         sum < 0 ? "" : scenario->model->declarations[sum].name, "scale",
                         scale < 0 ? "" : scenario->model->declarations[scale].name));
  }
  return costs;
}

static json_t *options_of(const struct scenario *scenario, const struct page_graphs *graphs,
                          struct arena *arena) {
  const struct fixed_bar *standings = ranking_lasting_bars(scenario, arena);
  json_t *options = json_array();
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    json_t *object = json_object();
    put_text(object, "id", option->id);
    put_text(object, "label", option->label);
    put_text(object, "accelerator",
             *option->accelerator_name ? option->accelerator_name : option->accelerator);
    json_object_set_new(object, "graph", json_integer((json_int_t)graphs->of_option[o]));
    json_object_set_new(object, "lent", lent_of(scenario, option));
    json_object_set_new(object, "decode_only", json_boolean(option->decode_only));
    json_object_set_new(object, "serving_estimate", json_boolean(option->serving_estimate));
    json_object_set_new(object, "omissible", omissible_of(scenario, option));
    add_standing(object, &standings[o]);
    json_array_append_new(options, object);
  }
  return options;
}

// The section that contains a place: "common", "option h200"; "common" for a number in an item, as
// a setting of it goes there. A section's bracket begins its line (base/ini.h).
static const char *section_at(struct place place, struct arena *arena) {
  const char *start;
  size_t length;
  for (int line = place.line; place.source && line > 0; line--) {
    if (!source_line(place.source, line, &start, &length) || !length || *start != '[')
      continue;
    const char *end = memchr(start, ']', length);
    if (end && end - start > 6 && !strncmp(start, "[item ", 6))
      return "common";
    return end ? arena_copy_n(arena, start + 1, (size_t)(end - start - 1)) : "";
  }
  return "";
}

static json_t *figure_of(const struct figure *figure, struct arena *arena) {
  json_t *object = json_object();
  put_number(object, "value", figure->value);
  put_text(object, "origin", origin_layers[figure->origin].name);
  if (figure->origin == ORIGIN_COMMON)
    put_text(object, "section", section_at(figure->place, arena));
  put_text(object, "source", figure->source);
  put_text(object, "date", figure->date);
  put_text(object, "grade", grade_name(figure->grade));
  return object;
}

static bool same_figure(const struct figure *a, const struct figure *b) {
  return a->value == b->value && a->origin == b->origin && a->grade == b->grade &&
         !strcmp(a->source, b->source) && !strcmp(a->date, b->date);
}

// The inputs of the rent that a figure is part of.
static void put_rent(json_t *object, const struct scenario *scenario, const struct option *option,
                     int declaration) {
  int inputs[MAX_LIST];
  const int count = left_out_rent(scenario, option, scenario->selected, declaration, inputs);
  if (!count)
    return;
  json_t *names = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(names, json_string(scenario->model->declarations[inputs[i]].name));
  json_object_set_new(object, "rent", names);
}

static json_t *figures_of(const struct scenario *scenario, const struct option *option,
                          struct arena *arena) {
  json_t *figures = json_object();
  for (int d = 0; d < scenario->model->count; d++) {
    const struct figure *figure = option_figure(scenario, option, scenario->selected, d);
    if (option->graph->state[d] != GRAPH_INPUT ||
        (scenario->selected && same_figure(figure, option_figure(scenario, option, 0, d))))
      continue;
    json_t *object = figure_of(figure, arena);
    const int within = left_out_within(scenario, option, scenario->selected, d);
    if (option_is_lent(option, d))
      put_text(object, "origin", "lent");
    if (within >= 0)
      put_text(object, "part_of", scenario->model->declarations[within].name);
    put_rent(object, scenario, option, d);
    json_object_set_new(figures, scenario->model->declarations[d].name, object);
  }
  return figures;
}

// The range of a target, also of one that moves together with an earlier one; NULL without.
static const struct swing *swing_of(const struct sensitivity *sensitivity, struct target target) {
  for (size_t i = 0; i < sensitivity->count; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    const bool same = swing->target.option == target.option ||
                      (target.option >= 0 && swing->target.option >= 0 &&
                       swing_moves(sensitivity->scenario, swing, (size_t)target.option));
    if (swing->ranged && swing->target.declaration == target.declaration && same)
      return swing;
  }
  return NULL;
}

// The ends of a range, and the options with a target of their own that is the same quantity.
static void put_swing(json_t *object, const struct scenario *scenario, const struct swing *swing) {
  json_t *together = json_array();
  for (size_t o = 0; o < scenario->option_count && swing->target.option >= 0; o++) {
    const struct target own = {swing->target.declaration, (int)o};
    if (swing_moves(scenario, swing, o) && target_moves(scenario, own, o))
      json_array_append_new(together, json_integer((json_int_t)o));
  }
  json_object_set_new(
      object, "swing",
      json_pack("[oo]", json_out_number(swing->low.value), json_out_number(swing->high.value)));
  json_object_set_new(object, "together", together);
}

// Whether some option has it from the catalogue: a common value would replace that figure.
static bool is_found(const struct scenario *scenario, int input) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (option_figure(scenario, &scenario->options[o], scenario->selected, input)->origin ==
        ORIGIN_CATALOGUE)
      return true;
  return false;
}

// pertoken refuses a value beside a range from a record: reading/range.h.
static bool is_measured(const struct scenario *scenario, const struct option *option, int input) {
  const int range = option_range(scenario, option, input);
  return range >= 0 && scenario->ranges[range].distribution.kind == DISTRIBUTION_MEASURED;
}

static bool may_move(const struct scenario *scenario, struct target target, size_t o) {
  return target_moves(scenario, target, o) &&
         !is_measured(scenario, &scenario->options[o], target.declaration);
}

// The lowest roofline among the options that the target moves.
static double most_of(const struct scenario *scenario, struct target target) {
  double most = INFINITY;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (may_move(scenario, target, o))
      most = fmin(most, plausibility_most(scenario, &scenario->options[o], target.declaration));
  return most;
}

// The input, and what follows it in a list, in any option that the target moves.
static json_t *inputs_of(const struct scenario *scenario, struct target target) {
  json_t *names = json_array();
  size_t o = 0;
  while (!may_move(scenario, target, o))
    o++;
  for (int d = target.declaration; d >= 0; d = option_follower(scenario, &scenario->options[o], d))
    json_array_append_new(names, json_string(scenario->model->declarations[d].name));
  return names;
}

static void add_target(json_t *targets, const struct sensitivity *sensitivity,
                       struct target target) {
  const struct scenario *scenario = sensitivity->scenario;
  const struct limits limits = target_limits(scenario, target);
  json_t *moves = json_array(), *object = json_object();
  for (size_t o = 0; o < scenario->option_count; o++)
    if (may_move(scenario, target, o))
      json_array_append_new(moves, json_integer((json_int_t)o));
  put_text(object, "input", target_input(scenario, target)->name);
  json_object_set_new(object, "option", json_integer(target.option));
  json_object_set_new(object, "moves", moves);
  json_object_set_new(object, "inputs", inputs_of(scenario, target));
  put_number(object, "low", limits.low);
  put_number(object, "high", limits.high);
  put_number(object, "most", most_of(scenario, target));
  const struct swing *swing = swing_of(sensitivity, target);
  if (swing)
    put_swing(object, scenario, swing);
  json_array_append_new(targets, object);
}

// Every input that the page may set, including choices: the common value and each option's own.
static json_t *targets_of_case(const struct sensitivity *sensitivity) {
  const struct scenario *scenario = sensitivity->scenario;
  json_t *targets = json_array();
  for (int d = 0; d < scenario->model->count; d++) {
    const struct target common = {d, -1};
    bool any = false;
    if (scenario->model->declarations[d].kind != DECLARATION_INPUT)
      continue;
    const bool common_may = !is_found(scenario, d);
    for (size_t o = 0; o < scenario->option_count && common_may; o++)
      any |= may_move(scenario, common, o);
    if (any)
      add_target(targets, sensitivity, common);
    for (size_t o = 0; o < scenario->option_count; o++) {
      const struct target own = {d, (int)o};
      if (may_move(scenario, own, o) && !(any && may_move(scenario, common, o)))
        add_target(targets, sensitivity, own);
    }
  }
  return targets;
}

static json_t *case_of(const struct scenario *scenario, struct arena *arena,
                       struct diagnostics *diagnostics) {
  static const double usual_share = 0.2;
  struct arena scratch = {NULL}; // of each case only
  const struct sensitivity *sensitivity =
      sensitivity_ask(scenario, NULL, usual_share, &scratch, diagnostics);
  if (!sensitivity)
    return NULL;
  json_t *object = json_object(), *options = json_array();
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    json_t *one = json_object();
    json_object_set_new(one, "warnings",
                        json_out_texts(option->warnings.list, option->warnings.count));
    json_object_set_new(one, "figures", figures_of(scenario, option, arena));
    json_array_append_new(options, one);
  }
  put_text(object, "name", scenario->cases[scenario->selected]);
  put_text(object, "label", scenario->case_labels[scenario->selected]);
  json_object_set_new(object, "warnings",
                      json_out_texts(scenario->warnings.list, scenario->warnings.count));
  json_object_set_new(object, "options", options);
  json_object_set_new(object, "targets", targets_of_case(sensitivity));
  json_object_set_new(object, "uncertainty", uncertainty_of_case(scenario));
  arena_free(&scratch);
  return object;
}

// The years of a list whose factor the input is, in both currencies; none for any other input.
static json_t *years_moved(const struct model *model, int declaration) {
  json_t *years = json_array();
  const int of = model->declarations[declaration].scale_of;
  const struct declaration *list = of < 0 ? NULL : &model->declarations[of];
  for (int i = 0; list && i < list->year_count; i++) {
    const struct declaration *year = &model->declarations[list->years[i]];
    json_array_append_new(years, json_string(year->name));
    if (year->in_usd >= 0)
      json_array_append_new(years, json_string(model->declarations[year->in_usd].name));
  }
  return years;
}

// An input of the table in each form that an option may have it in: in either currency, by year.
static void add_graded(json_t *inputs, const struct model *model,
                       const struct graded_input *graded) {
  static const char *const shown[SHOWN_GRADES] = {
      [SHOWN_THROUGHPUT] = "throughput", [SHOWN_POWER] = "power", [SHOWN_PRICE] = "price"};
  const int d = model_find(model, graded->input);
  const int forms[] = {d, d < 0 ? -1 : model->declarations[d].in_usd,
                       d < 0 ? -1 : model->declarations[d].scale};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (forms[i] >= 0)
      json_array_append_new(
          inputs, json_pack("{s:s,s:s,s:o}", "input", model->declarations[forms[i]].name, "shown",
                            shown[graded->shown], "years", years_moved(model, forms[i])));
}

// The numbers of the user's items that have the largest effect in any option.
static void add_graded_numbers(json_t *inputs, const struct scenario *scenario,
                               struct arena *arena) {
  bool *added = arena_array(arena, (size_t)scenario->model->count, sizeof *added);
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t i = 0; i < scenario->options[o].graded_count; i++) {
      const int d = scenario->options[o].graded[i];
      if (!scenario->model->declarations[d].literal || added[d])
        continue;
      added[d] = true;
      json_array_append_new(
          inputs, json_pack("{s:s,s:[]}", "input", scenario->model->declarations[d].name, "years"));
    }
}

static json_t *grading(const struct scenario *scenario, struct arena *arena) {
  json_t *object = json_object(), *grades = json_array(), *inputs = json_array();
  for (int grade = 0; grade < GRADES; grade++)
    json_array_append_new(grades, json_out_text(grade_name((enum grade)grade)));
  for (size_t i = 0; i < GRADED_INPUTS; i++)
    add_graded(inputs, scenario->model, &graded_inputs[i]);
  add_graded_numbers(inputs, scenario, arena);
  json_object_set_new(object, "grades", grades);
  json_object_set_new(object, "inputs", inputs);
  put_number(object, "swing", GRADE_SWING);
  put_number(object, "matters", GRADE_MATTERS);
  return object;
}

json_t *page_data(const struct page *page, const struct page_graphs *graphs, struct arena *arena,
                  struct diagnostics *diagnostics) {
  const struct scenario *scenario = page->cases[0];
  json_t *cases = json_array(), *formulas = json_array();
  for (size_t c = 0; c < scenario->case_count; c++) {
    json_t *one = case_of(page->cases[c], arena, diagnostics);
    if (!one)
      return NULL;
    json_array_append_new(cases, one);
  }
  for (size_t g = 0; g < graphs->count; g++)
    json_array_append_new(formulas, graph_of(graphs->graphs[g]));
  json_t *root = json_object();
  put_text(root, "program", "pertoken " PERTOKEN_VERSION);
  json_object_set_new(root, "scenario", scenario_of(page, arena));
  json_object_set_new(root, "settings", settings_of(scenario, arena));
  json_object_set_new(root, "groups", groups_of(scenario->model));
  json_object_set_new(root, "items", items_of(scenario, arena));
  json_object_set_new(root, "graphs", formulas);
  json_object_set_new(root, "options", options_of(scenario, graphs, arena));
  json_object_set_new(root, "cases", cases);
  json_object_set_new(root, "start", json_integer((json_int_t)page->start));
  json_object_set_new(root, "grading", grading(scenario, arena));
  json_object_set_new(root, "ranking", ranking_rules(scenario, arena));
  json_object_set_new(root, "uncertainty", uncertainty_of(scenario, graphs));
  return root;
}
