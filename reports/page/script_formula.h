// script_formula: a line item's formula as the JavaScript that the what-if page computes.
//
// The page computes as the engine does, in base units, so nothing is converted here. All values of
// an option are properties of one object, `v`: a number, or for a series an array by period.
// Anything that is not a single operation of the processor is a function of
// reports/page/arithmetic.js, which matches model/cost/arithmetic.h:
//   divide(a, b)  power(a, b)  equal(a, b)  unequal  less  less_equal  greater  greater_equal
//   choose(condition, then, else)  min(a, ...)  max(a, ...)  round(x, digits)  ceil(x)
//   growth(g, years)
//   sum(series)  first(series)  prev(series, t)
#ifndef PERTOKEN_REPORTS_PAGE_SCRIPT_FORMULA_H
#define PERTOKEN_REPORTS_PAGE_SCRIPT_FORMULA_H

#include "base/arena.h"
#include "model/cost/graph.h"

// The statement that computes one item of a graph:
//   "v.net_price = v.list_price * (1 - v.discount);"
//   "v.cash = [];\n  fill(v.cash, last, (t) => v.opex[t] + v.residual[t]);"
// where `last` is the last period.
const char *script_item(const struct graph *graph, int declaration, struct arena *arena);

// A function that computes every item of a graph, "(v, last) => { ... }", in order.
const char *script_graph(const struct graph *graph, struct arena *arena);

#endif
