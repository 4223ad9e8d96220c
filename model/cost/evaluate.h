// evaluate: a graph and a block of cases -> the values of every line item, all cases side by side.
#ifndef PERTOKEN_MODEL_COST_EVALUATE_H
#define PERTOKEN_MODEL_COST_EVALUATE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/calculation.h"
#include "model/cost/graph.h"

#include <stdbool.h>
#include <stddef.h>

struct evaluation {
  const struct graph *graph;
  int periods;  // columns of a series: 0 is the purchase
  size_t width; // cases
  const struct calculation *calculation;
  const int *vectors; // [declaration][period]: its vector in the workspace, or -1
  double *workspace;  // [calculation->vectors][width]
};

// A block of `width` cases with room for every value, all in base units. The caller writes the
// inputs through evaluation_at(e, input, 0), and nothing else.
struct evaluation *evaluation_new(const struct graph *graph, int periods, size_t width,
                                  struct arena *arena);

// Another block for the same graph and periods, at lower cost; the first one must outlive it.
struct evaluation *evaluation_like(const struct evaluation *evaluation, size_t width,
                                   struct arena *arena);

// The block's values of a declaration in a period (0 for scalars and inputs); NULL if the graph
// lacks it.
double *evaluation_at(const struct evaluation *evaluation, int declaration, int period);

// The block's values of an input, in either currency; NULL if the graph does not have it as one.
double *evaluation_input(const struct evaluation *evaluation, const char *name);

// Computes every line item from the inputs. Arithmetic errors give infinities or NaN, found by
// evaluation_check.
void evaluate(struct evaluation *evaluation);

// Reports the first line item whose value in a case is not finite: a division by zero, with what
// was zero, or an overflow. `what` names the option and the case. Returns 0, or -1 with the
// declarations that the value without a number comes from marked in `sources`, [model->count].
int evaluation_check(const struct evaluation *evaluation, size_t which, const char *what,
                     bool *sources, struct diagnostics *diagnostics);

#endif
