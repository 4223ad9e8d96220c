// calculation: line items of one or more graphs as a list of operations on vectors of cases.
//
// What several items need is computed once, what depends on no variable not at all, and what no
// wanted item needs neither. The vectors, one number a case, stand one after another in a
// workspace: first those of the variables, which the caller fills. A calculation is only read when
// it runs: any number of threads may share one, each with a workspace of its own.
#ifndef PERTOKEN_MODEL_COST_CALCULATION_H
#define PERTOKEN_MODEL_COST_CALCULATION_H

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"

#include <stdbool.h>
#include <stddef.h>

// What an input is: the number of a variable, or (-1) a constant, in base units.
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
  int periods; // of a series: 1 and the longest horizon of any case
  int variable_count;
  int late_variables; // how many of them, the last ones, change between a run and its reruns
  const struct calculation_item *items;
  size_t item_count;
  // Powers up to the 64th as products: many times faster, other last bits.
  bool products;
};

struct calculation_step;

struct calculation {
  int vectors;      // of a workspace: [vectors][width]
  const int *items; // [item_count of the request] where each stands, a vector's number
  size_t item_count;
  size_t step_count, late_from; // steps from there on depend on late variables
  const struct calculation_step *steps;
  size_t constant_count;
  const struct calculation_step *constants;
};

// In the arena; neither the request nor the graphs need to outlive the call.
const struct calculation *calculation_new(const struct calculation_request *request,
                                          struct arena *arena);

// Makes a workspace of `width` cases ready: once, before the first run.
void calculation_prepare(const struct calculation *calculation, double *workspace, size_t width);

// Computes the items from the variables, and leaves those as they are. Arithmetic errors give
// infinities or NaN.
void calculation_run(const struct calculation *calculation, double *workspace, size_t width);

// The same after a run in which only late variables had other values: the rest stands.
void calculation_rerun(const struct calculation *calculation, double *workspace, size_t width);

// The value of a part of a formula in a period, where every input is a constant.
double calculation_value(const struct calculation_graph *graph, int periods,
                         const struct node *node, int period);

#endif
