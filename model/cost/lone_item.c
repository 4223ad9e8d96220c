#include "model/cost/lone_item.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/calculation.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"

#include <math.h>

struct lone_item {
  const struct model *model;
  int declaration;
};

const struct lone_item *lone_item_new(const char *name, struct arena *arena) {
  struct lone_item *item = arena_alloc(arena, sizeof *item);
  struct diagnostics unheard = {.arena = arena};
  struct model *model =
      model_read(source_from_text("built-in model", model_default_text, arena), arena, &unheard);
  model_check(model, &unheard);
  *item = (struct lone_item){model, model_find(model, name)};
  return item;
}

// Every declaration by its first formula, or as an input.
static struct graph first_formulas(const struct model *model, struct arena *arena) {
  const size_t count = (size_t)model->count;
  struct graph graph = {.model = model,
                        .option = "",
                        .state = arena_array(arena, count, sizeof *graph.state),
                        .formulas = arena_array(arena, count, sizeof(const struct node *))};
  for (size_t d = 0; d < count; d++) {
    const struct declaration *declaration = &model->declarations[d];
    graph.state[d] = declaration->alternative_count ? 0 : GRAPH_INPUT;
    graph.formulas[d] =
        declaration->alternative_count ? declaration->alternatives[0].formula : NULL;
  }
  return graph;
}

double lone_item_value(const struct lone_item *item, const struct lone_value *values,
                       size_t count) {
  struct arena scratch = {NULL};
  const struct graph graph = first_formulas(item->model, &scratch);
  const size_t declarations = (size_t)item->model->count;
  struct calculation_input *inputs = arena_array(&scratch, declarations, sizeof *inputs);
  for (size_t d = 0; d < declarations; d++)
    inputs[d] = (struct calculation_input){-1, NAN};
  for (size_t v = 0; v < count; v++) {
    const int d = model_find(item->model, values[v].name);
    graph.state[d] = GRAPH_INPUT;
    inputs[d].constant = values[v].value;
  }
  const struct calculation_graph of = {&graph, inputs};
  const double value = calculation_value(&of, 1, graph.formulas[item->declaration], 0);
  arena_free(&scratch);
  return value;
}
