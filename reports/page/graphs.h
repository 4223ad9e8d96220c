// graphs: the distinct graphs of the cost model among the options of a page's scenario.
#ifndef PERTOKEN_REPORTS_PAGE_GRAPHS_H
#define PERTOKEN_REPORTS_PAGE_GRAPHS_H

#include "base/arena.h"
#include "model/cost/graph.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

struct page_graphs {
  const struct graph **graphs;
  size_t count;
  size_t *of_option; // [option_count]
};

struct page_graphs page_graphs_of(const struct scenario *scenario, struct arena *arena);

#endif
