// calculation: line items of one or more graphs as a list of operations on vectors of cases.
//
// What several items need is computed once; what depends on no variable is computed only when a
// workspace is prepared; what no wanted item needs is not computed. The vectors, one number per
// case, lie one after another in a workspace: first those of the variables, which the caller fills.
// Running does not change a calculation, so any number of threads may share one, each with its own
// workspace.
#ifndef PERTOKEN_MODEL_COST_CALCULATION_H
#define PERTOKEN_MODEL_COST_CALCULATION_H

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"

#include <stdbool.h>
#include <stddef.h>

// An input: the number of a variable, or (-1) a constant, in base units.
struct calculation_input {
  int variable;
  double constant;
};

struct calculation_graph {
  const struct graph *graph;
  const struct calculation_input
      *inputs; // [graph->model->count]; read where the graph has an input
};

// A line item or input that the graph has; `period` is 0 for scalars and inputs.
struct calculation_item {
  size_t graph; // its place in the request
  int declaration, period;
};

struct calculation_request {
  const struct calculation_graph *graphs;
  size_t graph_count;
  int periods; // of a series: 1 plus the longest horizon of any case
  int variable_count;
  int late_variables; // how many of them, the last ones, change between a run and its reruns
  const struct calculation_item *items;
  size_t item_count;
  // Powers up to the 64th as products: many times faster, but with different last bits.
  bool products;
};

struct calculation_step;

struct calculation {
  int vectors;      // of a workspace: [vectors][width]
  const int *items; // [item_count of the request] the number of each item's vector
  size_t item_count;
  size_t step_count, late_from; // steps from late_from on depend on late variables
  const struct calculation_step *steps;
  size_t constant_count;
  const struct calculation_step *constants;
};

// Makes the calculation, in the arena; neither the request nor the graphs need to outlive the call.
const struct calculation *calculation_new(const struct calculation_request *request,
                                          struct arena *arena);

struct value_table; // model/cost/value.h

// The values that the items are made of, for code that computes them elsewhere; items: [item_count]
// the value that each item is. In the arena.
const struct value_table *calculation_values(const struct calculation_request *request, int *items,
                                             struct arena *arena);

// Prepares a workspace of `width` cases: once, before the first run.
void calculation_prepare(const struct calculation *calculation, double *workspace, size_t width);

// Computes the items from the variables, and leaves the variables unchanged. Arithmetic errors give
// infinities or NaN.
void calculation_run(const struct calculation *calculation, double *workspace, size_t width);

// The same after a run, if only late variables have changed: everything else is kept.
void calculation_rerun(const struct calculation *calculation, double *workspace, size_t width);

// The value of part of a formula in a period, where every input is a constant.
double calculation_value(const struct calculation_graph *graph, int periods,
                         const struct node *node, int period);

#endif
