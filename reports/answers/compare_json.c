// The JSON face of a comparison.
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/answers/finance.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <string.h>

static double shown(const struct scenario *scenario, const struct option *option, int declaration,
                    int period) {
  return number_in_unit(option_value(scenario, option, declaration, period),
                        &scenario->model->declarations[declaration].unit);
}

static json_t *item_value(const struct scenario *scenario, const struct option *option,
                          int declaration) {
  if (scenario->model->declarations[declaration].kind != DECLARATION_SERIES)
    return json_out_number(shown(scenario, option, declaration, 0));
  json_t *values = json_array();
  const int last = option_periods(scenario, option, scenario->selected);
  for (int t = 0; t <= last; t++)
    json_array_append_new(values, json_out_number(shown(scenario, option, declaration, t)));
  return values;
}

static json_t *items_of(const struct scenario *scenario, const struct option *option) {
  json_t *items = json_object();
  for (int d = 0; d < scenario->model->count; d++)
    if (compare_has_item(scenario, option, d))
      json_object_set_new(items, scenario->model->declarations[d].name,
                          item_value(scenario, option, d));
  return items;
}

static json_t *input_of(const struct scenario *scenario, const struct option *option,
                        int declaration) {
  const struct figure *figure = option_figure(scenario, option, scenario->selected, declaration);
  json_t *input = json_object();
  json_object_set_new(input, "value", json_out_number(shown(scenario, option, declaration, 0)));
  json_object_set_new(input, "unit",
                      json_out_text(scenario->model->declarations[declaration].unit.text));
  json_object_set_new(input, "source", json_out_text(figure->source ? figure->source : ""));
  json_object_set_new(input, "date", json_out_text(figure->date ? figure->date : ""));
  json_object_set_new(input, "grade", json_out_text(grade_name(figure->grade)));
  return input;
}

static json_t *inputs_of(const struct scenario *scenario, const struct option *option) {
  json_t *inputs = json_object();
  for (int d = 0; d < scenario->model->count; d++)
    if (option->graph->state[d] == GRAPH_INPUT)
      json_object_set_new(inputs, scenario->model->declarations[d].name,
                          input_of(scenario, option, d));
  return inputs;
}

static json_t *grades_of(const struct option *option) {
  json_t *grades = json_object();
  json_object_set_new(grades, "throughput", json_out_text(grade_name(option->throughput_grade)));
  json_object_set_new(grades, "power", json_out_text(grade_name(option->power_grade)));
  json_object_set_new(grades, "price", json_out_text(grade_name(option->price_grade)));
  return grades;
}

// "server, network" as a list.
static json_t *words_of(const char *text, struct arena *arena) {
  json_t *list = json_array();
  char *rest = arena_copy(arena, text), *word;
  while ((word = strsep(&rest, ","))) {
    word += strspn(word, " ");
    if (*word)
      json_array_append_new(list, json_out_text(word));
  }
  return list;
}

static json_t *workload_of(const struct workload *workload) {
  json_t *object = json_object();
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (*workload->values[key])
      json_object_set_new(object, workload_key_names[key], json_out_text(workload->values[key]));
  return object;
}

static json_t *option_of(const struct scenario *scenario, const struct option *option,
                         struct arena *arena) {
  json_t *object = json_object();
  json_object_set_new(object, "id", json_out_text(option->id));
  json_object_set_new(object, "accelerator", json_out_text(option->accelerator));
  json_object_set_new(object, "grade", json_out_text(grade_name(option->headline_grade)));
  json_object_set_new(object, "grades", grades_of(option));
  json_object_set_new(object, "workload", workload_of(&option->workload));
  json_object_set_new(object, "items", items_of(scenario, option));
  json_object_set_new(object, "inputs", inputs_of(scenario, option));
  json_object_set_new(object, "decode_only", json_boolean(option->decode_only));
  json_object_set_new(object, "not_included", words_of(option->not_included, arena));
  json_object_set_new(object, "warnings",
                      json_out_texts(option->warnings.list, option->warnings.count));
  return object;
}

static json_t *options_of(const struct scenario *scenario, struct arena *arena) {
  json_t *options = json_array();
  for (size_t i = 0; i < scenario->option_count; i++)
    json_array_append_new(options, option_of(scenario, &scenario->options[i], arena));
  return options;
}

static json_t *scenario_of(const struct scenario *scenario) {
  json_t *object = json_object();
  const int horizon = model_find(scenario->model, "horizon");
  json_object_set_new(object, "title", json_out_text(scenario->title));
  json_object_set_new(object, "horizon",
                      json_out_number(shown(scenario, &scenario->options[0], horizon, 0)));
  json_object_set_new(object, "sha256", json_out_text(scenario->digest));
  json_object_set_new(object, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(object, "date", json_out_text(scenario->date));
  json_object_set_new(object, "currency", json_out_text(scenario->model->currency));
  return object;
}

static json_t *units_of(const struct scenario *scenario) {
  json_t *units = json_object();
  for (int d = 0; d < scenario->model->count; d++) {
    bool used = false;
    for (size_t i = 0; i < scenario->option_count; i++)
      used |= compare_has_item(scenario, &scenario->options[i], d);
    const struct declaration *item = &scenario->model->declarations[d];
    if (used)
      json_object_set_new(units, item->name, json_out_text(item->unit.text));
  }
  return units;
}

// What is saved, and the verdict: who is the cheapest, and who is not ranked, why.
static void set_ranking(json_t *root, const struct scenario *scenario,
                        const struct ranking *ranking) {
  json_t *saving = json_object(), *levelised = json_object();
  json_t *cheapest = json_array(), *not_ranked = json_object();
  for (size_t i = 0; i < ranking->option_count; i++) {
    const struct standing *standing = &ranking->options[i];
    const char *id = scenario->options[i].id;
    if (standing->compared && i != scenario->baseline) {
      json_object_set_new(saving, id, json_out_number(standing->saving));
      json_object_set_new(levelised, id, json_out_number(standing->saving_levelised));
    }
    if (standing->cheapest)
      json_array_append_new(cheapest, json_out_text(id));
    if (!standing->ranked)
      json_object_set_new(not_ranked, id, json_out_text(standing->why_not));
  }
  json_object_set_new(root, "saving", saving);
  json_object_set_new(root, "saving_levelised", levelised);
  json_object_set_new(root, "cheapest", cheapest);
  json_object_set_new(root, "not_ranked", not_ranked);
  if (*ranking->why_none)
    json_object_set_new(root, "why_none", json_out_text(ranking->why_none));
}

void compare_json(const struct scenario *scenario, FILE *out, struct arena *arena) {
  json_t *root = json_object();
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(root, "scenario", scenario_of(scenario));
  json_object_set_new(root, "units", units_of(scenario));
  json_object_set_new(root, "options", options_of(scenario, arena));
  json_object_set_new(root, "baseline", json_out_text(scenario->options[scenario->baseline].id));
  set_ranking(root, scenario, ranking_of(scenario, arena));
  json_object_set_new(root, "difference", difference_json(scenario, arena));
  json_object_set_new(root, "mixed", json_boolean(scenario->mixed));
  if (scenario->mixed)
    json_object_set_new(root, "mixed_reason", json_out_text(scenario->mixed_reason));
  json_object_set_new(root, "warnings",
                      json_out_texts(scenario->warnings.list, scenario->warnings.count));
  json_out_print(root, out);
}
