// The JSON face of a difference.
#include "reports/answers/diff.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

static const struct declaration *declaration_of(const struct difference *difference,
                                                int declaration) {
  return &difference->a->model->declarations[declaration];
}

static json_t *scenario_json(const struct scenario *scenario) {
  json_t *object = json_object();
  json_object_set_new(object, "path", json_out_text(scenario->path));
  json_object_set_new(object, "title", json_out_text(scenario->title));
  json_object_set_new(object, "sha256", json_out_text(scenario->digest));
  json_object_set_new(object, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(object, "mixed", json_boolean(scenario->mixed));
  return object;
}

static json_t *input_side(const struct scenario *scenario, const struct option *option, int input) {
  json_t *object = json_object();
  if (!option_has(option, input))
    return object;
  json_object_set_new(object, "value", json_out_number(diff_shown(scenario, option, input)));
  const bool computed = option->graph->state[input] != GRAPH_INPUT;
  json_object_set_new(object, "computed", json_boolean(computed));
  const struct figure *figure = option_figure(scenario, option, scenario->selected, input);
  if (!computed)
    json_object_set_new(object, "grade", json_out_text(grade_name(figure->grade)));
  return object;
}

static void append_inputs(json_t *inputs, const struct difference *difference,
                          const struct change *change, size_t pair) {
  const struct pair *both = &difference->pairs[pair];
  for (size_t i = 0; i < change->input_count; i++) {
    const struct declaration *input = declaration_of(difference, change->inputs[i]);
    json_t *object = json_object();
    json_object_set_new(object, "option", json_out_text(both->a->id));
    json_object_set_new(object, "name", json_out_text(input->name));
    json_object_set_new(object, "unit", json_out_text(input->unit.text));
    json_object_set_new(object, "a", input_side(difference->a, both->a, change->inputs[i]));
    json_object_set_new(object, "b", input_side(difference->b, both->b, change->inputs[i]));
    json_array_append_new(inputs, object);
  }
}

static json_t *inputs_json(const struct difference *difference) {
  json_t *inputs = json_array();
  for (size_t c = 0; c < difference->change_count; c++)
    for (size_t p = 0; p < difference->pair_count; p++)
      if (difference->changes[c].differs[p])
        append_inputs(inputs, difference, &difference->changes[c], p);
  return inputs;
}

static json_t *both_json(double a, double b) {
  json_t *object = json_object();
  json_object_set_new(object, "a", json_out_number(a));
  json_object_set_new(object, "b", json_out_number(b));
  json_object_set_new(object, "change", json_out_number(b / a - 1));
  return object;
}

static json_t *results_json(const struct difference *difference, size_t pair) {
  const struct pair *both = &difference->pairs[pair];
  json_t *results = json_object();
  for (int d = 0; d < difference->a->model->count; d++)
    if (diff_is_result(difference, pair, d))
      json_object_set_new(
          results, declaration_of(difference, d)->name,
          both_json(diff_shown(difference->a, both->a, d), diff_shown(difference->b, both->b, d)));
  return results;
}

static json_t *effect_json(const struct difference *difference, size_t pair,
                           const struct change *changes, size_t count, struct arena *arena) {
  double cost;
  if (!difference_cost(difference, pair, changes, count, arena, &cost))
    return json_null();
  json_t *object = json_object();
  const int item = model_find(difference->a->model, "cost_per_mtok");
  const double before = diff_shown(difference->a, difference->pairs[pair].a, item);
  const double after = number_in_unit(cost, &declaration_of(difference, item)->unit);
  json_object_set_new(object, "cost_per_mtok", json_out_number(after));
  json_object_set_new(object, "change", json_out_number(after / before - 1));
  return object;
}

static json_t *alone_json(const struct difference *difference, size_t pair, struct arena *arena) {
  json_t *alone = json_object();
  for (size_t c = 0; c < difference->change_count; c++) {
    const struct change *change = &difference->changes[c];
    if (change->matters[pair])
      json_object_set_new(alone, diff_change_name(difference, change),
                          effect_json(difference, pair, change, 1, arena));
  }
  return alone;
}

static json_t *options_json(const struct difference *difference, struct arena *arena) {
  json_t *options = json_array();
  for (size_t p = 0; p < difference->pair_count; p++) {
    if (!difference_in_pair(difference, p))
      continue;
    json_t *object = json_object();
    const struct pair *both = &difference->pairs[p];
    json_object_set_new(object, "id", json_out_text(both->a->id));
    json_object_set_new(object, "accelerators",
                        json_pack("[s, s]", both->a->accelerator, both->b->accelerator));
    json_object_set_new(object, "results", results_json(difference, p));
    json_object_set_new(object, "alone", alone_json(difference, p, arena));
    json_object_set_new(
        object, "together",
        effect_json(difference, p, difference->changes, difference->change_count, arena));
    json_array_append_new(options, object);
  }
  return options;
}

static json_t *units_json(const struct difference *difference) {
  json_t *units = json_object();
  for (int d = 0; d < difference->a->model->count; d++) {
    const struct declaration *item = declaration_of(difference, d);
    if (item->role == ROLE_HEADLINE)
      json_object_set_new(units, item->name, json_out_text(item->unit.text));
  }
  return units;
}

void diff_json(const struct difference *difference, FILE *out, struct arena *arena) {
  json_t *root = json_object();
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(root, "a", scenario_json(difference->a));
  json_object_set_new(root, "b", scenario_json(difference->b));
  json_object_set_new(root, "units", units_json(difference));
  json_object_set_new(root, "only_a", json_out_texts(difference->only_a, difference->only_a_count));
  json_object_set_new(root, "only_b", json_out_texts(difference->only_b, difference->only_b_count));
  json_object_set_new(root, "items", json_out_texts(difference->items, difference->item_count));
  json_object_set_new(root, "inputs", inputs_json(difference));
  json_object_set_new(root, "options", options_json(difference, arena));
  json_out_print(root, out);
}
