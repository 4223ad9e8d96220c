#include "model/cost/graph.h"

#include <string.h>

const struct node *graph_formula(const struct graph *graph, int declaration) {
  return graph->model->declarations[declaration].alternatives[graph->state[declaration]].formula;
}

struct builder {
  struct graph *graph;
  const enum given *given;
  bool *placed;
  struct place place;
  struct diagnostics *diagnostics; // NULL: nobody is told
  int gaps;                        // what is missing
};

static bool needs_met(const struct builder *builder, const struct alternative *alternative) {
  for (int i = 0; i < alternative->need_count; i++)
    if (builder->given[alternative->needs[i]] != GIVEN_VALUE)
      return false;
  return true;
}

static int first_usable(const struct builder *builder, const struct declaration *declaration) {
  for (int a = 0; a < declaration->alternative_count; a++)
    if (needs_met(builder, &declaration->alternatives[a]))
      return a;
  return GRAPH_ABSENT;
}

static void report_missing(struct builder *builder, const struct declaration *input) {
  builder->gaps++;
  if (!builder->diagnostics)
    return;
  const struct model *model = builder->graph->model;
  const char *instead = "";
  for (int a = 0; a < input->alternative_count; a++) {
    const struct alternative *alternative = &input->alternatives[a];
    const char *name =
        alternative->need_count ? model->declarations[alternative->needs[0]].name : "";
    if (*name && !strstr(instead, name))
      instead = arena_printf(model->arena, "%s, or '%s'", instead, name);
  }
  diagnostics_error(builder->diagnostics, builder->place, "option '%s' needs '%s' (%s)%s",
                    builder->graph->option, input->name, input->unit.text, instead);
}

static int choose_state(struct builder *builder, int d) {
  const struct declaration *declaration = &builder->graph->model->declarations[d];
  bool input = declaration->kind == DECLARATION_INPUT;
  int only_with = declaration->only_with;
  if (only_with >= 0 && builder->given[only_with] != GIVEN_VALUE)
    return GRAPH_ABSENT;
  if (input && builder->given[d] != GIVEN_NOT)
    return GRAPH_INPUT;
  int usable = first_usable(builder, declaration);
  if (usable != GRAPH_ABSENT)
    return usable;
  if (input && declaration->has_default)
    return GRAPH_INPUT;
  if (input && (declaration->required || only_with >= 0))
    report_missing(builder, declaration);
  return GRAPH_ABSENT;
}

static int place_item(struct builder *builder, int declaration);

static int place_needed(struct builder *builder, const struct node *node, int for_item) {
  const struct model *model = builder->graph->model;
  if (node->kind == NODE_NAME && node->declaration >= 0 && node->declaration != for_item) {
    if (builder->graph->state[node->declaration] != GRAPH_ABSENT)
      return place_item(builder, node->declaration);
    builder->gaps++;
    if (builder->diagnostics)
      diagnostics_error(builder->diagnostics, node->place,
                        "'%s' of option '%s' needs '%s', which the option does not have",
                        model->declarations[for_item].name, builder->graph->option, node->name);
    return -1;
  }
  for (int i = 0; i < node->argument_count; i++)
    if (place_needed(builder, node->arguments[i], for_item))
      return -1;
  return 0;
}

static int place_item(struct builder *builder, int declaration) {
  struct graph *graph = builder->graph;
  if (builder->placed[declaration] || graph->state[declaration] < 0)
    return 0;
  builder->placed[declaration] = true;
  if (place_needed(builder, graph_formula(graph, declaration), declaration))
    return -1;
  graph->order[graph->order_count++] = declaration;
  return 0;
}

static struct graph *build(const struct model *model, const char *option, struct place place,
                           const enum given *given, struct arena *arena,
                           struct diagnostics *diagnostics) {
  const size_t count = (size_t)model->count;
  struct graph *graph = arena_alloc(arena, sizeof *graph);
  *graph = (struct graph){.model = model, .option = option};
  graph->state = arena_array(arena, count, sizeof *graph->state);
  graph->order = arena_array(arena, count, sizeof *graph->order);
  struct builder builder = {graph, given, arena_alloc(arena, count), place, diagnostics, 0};
  for (int d = 0; d < model->count; d++)
    graph->state[d] = choose_state(&builder, d);
  for (int d = 0; d < model->count && !builder.gaps; d++)
    place_item(&builder, d);
  return builder.gaps ? NULL : graph;
}

struct graph *graph_build(const struct model *model, const char *option, struct place place,
                          const enum given *given, struct arena *arena,
                          struct diagnostics *diagnostics) {
  return build(model, option, place, given, arena, diagnostics);
}

struct graph *graph_try(const struct model *model, const char *option, const enum given *given,
                        struct arena *arena) {
  return build(model, option, (struct place){0}, given, arena, NULL);
}
