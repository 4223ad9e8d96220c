#include "reports/page/graphs.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/scenario/option.h"

#include <stdbool.h>
#include <string.h>

static bool same_graph(const struct graph *a, const struct graph *b) {
  return !memcmp(a->state, b->state, (size_t)a->model->count * sizeof *a->state);
}

struct page_graphs page_graphs_of(const struct scenario *scenario, struct arena *arena) {
  const size_t options = scenario->option_count;
  struct page_graphs graphs = {.graphs = arena_array(arena, options, sizeof(struct graph *)),
                               .of_option = arena_array(arena, options, sizeof(size_t))};
  for (size_t o = 0; o < options; o++) {
    const struct graph *graph = scenario->options[o].graph;
    size_t g = 0;
    while (g < graphs.count && !same_graph(graphs.graphs[g], graph))
      g++;
    if (g == graphs.count)
      graphs.graphs[graphs.count++] = graph;
    graphs.of_option[o] = g;
  }
  return graphs;
}
