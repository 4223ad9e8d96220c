// powers: 0^0 is 1 in formulas, but an error in Excel and Gnumeric.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_POWERS_H
#define PERTOKEN_REPORTS_SPREADSHEET_POWERS_H

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"

// The tree with IF(b = 0, 1, a ^ b) for every power, and the like for every growth(), that may be
// 0^0: not if a or b is above zero whatever the inputs are. Rewrites the tree.
struct node *powers_guarded(const struct graph *graph, struct node *root, struct arena *arena);

#endif
