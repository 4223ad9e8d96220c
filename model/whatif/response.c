#include "model/whatif/response.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/vector.h"
#include "model/cost/calculation.h"
#include "model/cost/graph.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct response {
  const struct calculation *calculation;
  int *items; // [option][item]: their index in the calculation, -1 if not wanted
  size_t item_count;
};

static const struct calculation_input *inputs_of(const struct response_request *request, size_t o,
                                                 struct arena *arena) {
  const struct scenario *scenario = request->scenario;
  const struct option *option = &scenario->options[o];
  const size_t count = (size_t)scenario->model->count;
  struct calculation_input *inputs = arena_array(arena, count, sizeof *inputs);
  for (size_t d = 0; d < count; d++)
    if (option->graph->state[d] == GRAPH_INPUT)
      inputs[d] = (struct calculation_input){
          request->variables[o * count + d],
          option_figure(scenario, option, scenario->selected, (int)d)->value};
  return inputs;
}

// Lists the wanted items of an option. Returns 0 or -1.
static int want_items(struct response *response, const struct response_request *request, size_t o,
                      struct calculation_item *items, size_t *count,
                      struct diagnostics *diagnostics) {
  const struct option *option = &request->scenario->options[o];
  for (size_t i = 0; i < request->item_count; i++) {
    int *place = &response->items[o * request->item_count + i];
    *place = -1;
    if (request->wanted && !request->wanted[o * request->item_count + i])
      continue;
    if (!option_has(option, request->items[i])) {
      diagnostics_error(diagnostics, option->place, "option '%s' has no '%s'", option->id,
                        request->scenario->model->declarations[request->items[i]].name);
      return -1;
    }
    *place = (int)*count;
    items[(*count)++] = (struct calculation_item){o, request->items[i], 0};
  }
  return 0;
}

const struct response *response_new(const struct response_request *request, struct arena *arena,
                                    struct diagnostics *diagnostics) {
  const size_t options = request->scenario->option_count, count = options * request->item_count;
  struct arena scratch = {NULL};
  struct calculation_graph *graphs = arena_array(&scratch, options, sizeof *graphs);
  struct calculation_item *items = arena_array(&scratch, count, sizeof *items);
  struct response *response = arena_alloc(arena, sizeof *response);
  response->item_count = request->item_count;
  response->items = arena_array(arena, count, sizeof *response->items);
  struct calculation_request all = {.graphs = graphs,
                                    .graph_count = options,
                                    .periods = request->periods,
                                    .variable_count = request->variable_count,
                                    .late_variables = request->late_variables,
                                    .items = items,
                                    .products = true};
  int failed = 0;
  for (size_t o = 0; o < options && !failed; o++) {
    graphs[o] = (struct calculation_graph){request->scenario->options[o].graph,
                                           inputs_of(request, o, &scratch)};
    failed = want_items(response, request, o, items, &all.item_count, diagnostics);
  }
  if (!failed)
    response->calculation = calculation_new(&all, arena);
  arena_free(&scratch);
  return failed ? NULL : response;
}

double *response_workspace_new(const struct response *response) {
  const size_t vectors = (size_t)response->calculation->vectors;
  const size_t size = (vectors ? vectors : 1) * VECTOR_BLOCK * sizeof(double);
  double *workspace = aligned_alloc(VECTOR_ALIGNMENT, size);
  if (!workspace)
    return NULL;
  memset(workspace, 0, size);
  calculation_prepare(response->calculation, workspace, VECTOR_BLOCK);
  return workspace;
}

void response_workspace_free(double *workspace) {
  free(workspace);
}

double *response_variable(double *workspace, int variable) {
  return workspace + (size_t)variable * VECTOR_BLOCK;
}

void response_run(const struct response *response, double *workspace) {
  calculation_run(response->calculation, workspace, VECTOR_BLOCK);
}

void response_rerun(const struct response *response, double *workspace) {
  calculation_rerun(response->calculation, workspace, VECTOR_BLOCK);
}

const double *response_item(const struct response *response, const double *workspace, size_t option,
                            size_t item) {
  const int place = response->items[option * response->item_count + item];
  return place < 0 ? NULL : workspace + (size_t)response->calculation->items[place] * VECTOR_BLOCK;
}

size_t response_steps(const struct response *response) {
  return response->calculation->step_count;
}
