// graph: a cost model as one option uses it: which declarations are inputs there, which are computed
// and by which formula, in an order in which everything stands after what it needs.
//
// Where an input is not there because another one is given (absent_with), what follows from it is not
// there either, and never zero: a sum is that of the terms that are there, and everything else needs
// all that it is made of.
#ifndef PERTOKEN_MODEL_COST_GRAPH_H
#define PERTOKEN_MODEL_COST_GRAPH_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/formula.h"
#include "model/cost/model.h"

#include <stdbool.h>

enum { GRAPH_ABSENT = -2, GRAPH_INPUT = -1 };

struct graph {
  const struct model *model;
  const char *option; // for messages
  int *state; // [model->count] GRAPH_ABSENT, GRAPH_INPUT, or the alternative in use: 0, 1, ...
  const struct node **formulas; // [model->count] of the computed ones
  int *order;                   // [order_count] the computed declarations, each after what it needs
  int order_count;
};

// NEUTRAL: a value that stands in where none applies; no formula that needs the input counts on it.
// LIST: by year, by which it is computed.
enum given { GIVEN_NOT, GIVEN_NEUTRAL, GIVEN_VALUE, GIVEN_LIST };

// The graph of an option. given[declaration] says which inputs the option has a value for
// (defaults not counted). Missing required inputs are errors at `place`. NULL after errors.
struct graph *graph_build(const struct model *model, const char *option, struct place place,
                          const enum given *given, struct arena *arena,
                          struct diagnostics *diagnostics);

// The same for an option that has inputs of another one: lent[declaration] are there where a formula
// asks for them, whatever makes them absent. `lent` may be NULL.
struct graph *graph_build_lent(const struct model *model, const char *option, struct place place,
                               const enum given *given, const bool *lent, struct arena *arena,
                               struct diagnostics *diagnostics);

// The same where a graph need not be: NULL, and no error, where a required input is missing or a
// formula needs one that the option does not have.
struct graph *graph_try(const struct model *model, const char *option, const enum given *given,
                        const bool *lent, struct arena *arena);

// Has a declaration a value per period in the graph's option?
bool graph_is_series(const struct graph *graph, int declaration);

// Is the node first() or highest() of what is one number there, and so that number?
bool graph_single(const struct graph *graph, const struct node *node);

// Whether two graphs of one model compute the same items by the same formulas.
bool graph_equal(const struct graph *a, const struct graph *b);

// The formula of a computed declaration.
const struct node *graph_formula(const struct graph *graph, int declaration);

// The same as text: as written, where the option has all of it. In the arena.
const char *graph_formula_text(const struct graph *graph, int declaration, struct arena *arena);

#endif
