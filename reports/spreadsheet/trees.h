// trees: formulas as trees that are rewritten for the cells of a spreadsheet. Nothing here knows
// where a cell is or how long its text gets: that is steps.h.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_TREES_H
#define PERTOKEN_REPORTS_SPREADSHEET_TREES_H

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/units.h"

#include <stdbool.h>

// A copy that can be rewritten; what the graph computes as a single term is that term.
struct node *tree_copy(const struct graph *graph, const struct node *node, struct arena *arena);

bool tree_is_comparison(const struct node *node);

// Whether it is the number 0 or 1.
bool tree_is_flag(const struct node *node);

// Whether a spreadsheet will have an IF for it; a comparison has one, too, unless it is a
// condition.
bool tree_has_if(const struct node *node, bool is_condition);
bool tree_nests_if(const struct node *node);

// Every part of a formula takes at least one character: a formula with as many parts as it may have
// characters does not fit, and need not be rendered to find out.
bool tree_may_fit(const struct node *node, int most);

// The place of a decision by period that should be a flag of its own, or NULL.
struct node **tree_find_time_if(struct node **place, bool is_root);

// Rewrites min(a, b, c) as min(min(a, b), c), wherever there are more than two arguments. Returns
// whether there were any.
bool tree_nest_extremes(struct node *node, struct arena *arena);

// A difference that should be zero, rounded: its last bits vary between programs.
struct node *tree_rounded(struct node *difference, struct arena *arena);

// A long sum as a sum of sums, so that only a few steps depend on each operand, rather than all
// that follow it.
struct node *tree_grouped(struct node *sum, struct arena *arena);

// Rewrites what is divided by, or raised to a power, as IF(limit, part, 1): a step is computed even
// if its item does not count, and must not divide by zero then.
void tree_guard_divisors(struct node *node, const struct node *limit, struct arena *arena);

// The base unit of a dimension; a plain number counts.
struct unit tree_base_unit(struct dimension dimension, struct arena *arena);

#endif
