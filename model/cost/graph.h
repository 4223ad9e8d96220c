// graph: a cost model as one option uses it: which declarations are inputs, which are computed and
// by which formula, in an order in which everything comes after what it needs.
//
// If an input is absent because another one is given (absent_with), everything that follows from it
// is absent too, not zero: a sum is taken over the terms that are present, and any other formula
// needs all of its parts.
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

// NEUTRAL: none applies, and the value says so; no formula that needs the input counts on it.
// LIST: a list by year, from which the input is computed.
enum given { GIVEN_NOT, GIVEN_NEUTRAL, GIVEN_VALUE, GIVEN_LIST };

// The graph of an option. given[declaration] says which inputs the option has a value for (defaults
// not counted). Missing required inputs are errors at `place`. NULL after errors.
struct graph *graph_build(const struct model *model, const char *option, struct place place,
                          const enum given *given, struct arena *arena,
                          struct diagnostics *diagnostics);

// The same for an option that borrows inputs of another one: lent[declaration] exist where a
// formula asks for them, even if something would make them absent. `lent` may be NULL.
struct graph *graph_build_lent(const struct model *model, const char *option, struct place place,
                               const enum given *given, const bool *lent, struct arena *arena,
                               struct diagnostics *diagnostics);

// The same where there need not be a graph: NULL, without an error, if a required input is missing
// or a formula needs one that the option does not have.
struct graph *graph_try(const struct model *model, const char *option, const enum given *given,
                        const bool *lent, struct arena *arena);

// The same graph where an input that it computes is given instead; itself if it already is.
const struct graph *graph_given(const struct graph *graph, int input, struct arena *arena);

// Whether a declaration has a value per period in the option's graph.
bool graph_is_series(const struct graph *graph, int declaration);

// whole[declaration]: whether its formula shows that all its values are whole numbers, whatever the
// inputs. Flags, years and counts that are rounded are.
void graph_find_whole(const struct graph *graph, bool *whole);

// Whether the node is first() or highest() of what is a single number in this graph, and so that
// number.
bool graph_single(const struct graph *graph, const struct node *node);

// Whether two graphs of one model compute the same items by the same formulas.
bool graph_equal(const struct graph *a, const struct graph *b);

// The input that holds a declaration's figure: its twin NAME_usd if that is an input of the graph,
// else the declaration itself, -1 too.
int graph_stated(const struct graph *graph, int declaration);

// The formula of a computed declaration.
const struct node *graph_formula(const struct graph *graph, int declaration);

// The same as text: as written, if the option has all of it. In the arena.
const char *graph_formula_text(const struct graph *graph, int declaration, struct arena *arena);

#endif
