// allocation: which accelerators to take, and what runs on which, at the lowest cost: a mixed
// integer program, solved to proven optimality by GLPK (branch and cut; Makhorin, GLPK 5.0
// reference manual, section 2.10).
//
//   given      demand_w       tokens of workload w per hour
//              capacity_wo    tokens of w per hour that one node of option o serves; 0: excluded
//              node_o         cost of a node of o, in use or not, with its fraction of spares
//              extra_wo       its additional cost when it serves w around the clock
//              fixed_o        cost of taking o at all (engineers, migration)
//              stock_o        nodes available, of a_o accelerators each
//              spares_o       spares that a node of o needs, a fraction; spare_o: cost of each
//              lot_o          nodes that are sold together: a rack; or part of one: a card
//              span_wo        nodes of a replica of w; up to one node, it shares the node
//   variables  x_wo >= 0      the share of w's tokens that o serves; 0 or 1 if w may not be split
//              l_o integer    lots of o, n_o = lot_o l_o nodes; they are shared: several workloads
//                             divide a node's time
//              r_os integer   replicas over s nodes of o, shared by the workloads with that span
//              s_o integer    spares: as few as n_o nodes need
//              u_o 0 or 1     whether o is taken
//   minimize   sum_o (fixed_o u_o + node_o n_o + spare_o (s_o - spares_o n_o))
//              + sum_wo extra_wo busy_wo
//              with busy_wo = x_wo demand_w / capacity_wo, in nodes
//   subject to sum_o x_wo = 1                             every workload is served
//              sum_{w of span s} busy_wo <= s r_os        by whole replicas
//              sum_{w of no span} busy_wo + sum_s s r_os <= n_o     on existing nodes
//              x_wo <= u_o <= l_o, n_o <= stock_o u_o     of options that are taken
//              n_o + s_o / a_o <= stock_o                 spares are from the stock, too
//              spares_o n_o <= s_o < spares_o n_o + 1
//              sum_{o of v} amount_o >= share_v sum_o amount_o      for each vendor v
//              cost <= budget, capex <= capex_budget
//   where amount_o is tokens (sum_w x_wo demand_w), accelerators (those of n_o nodes) or cost (the
//   terms of o in the objective), and capex is the part of the cost that is due at the purchase.
//
// All other costs are linear in nodes; the caller must approximate what is not, and check the
// result.
#ifndef PERTOKEN_MODEL_OPTIMISE_ALLOCATION_H
#define PERTOKEN_MODEL_OPTIMISE_ALLOCATION_H

#include "base/arena.h"
#include "model/optimise/allocation_problem.h"

#include <stdbool.h>
#include <stddef.h>

// Finds the best split within limit_s seconds. Its cost is recomputed from whole lots and shares,
// and its rows are checked with these sums. An optimum that everything on one option beats is
// replaced by that, and counts as unproven. Workloads that no option tells apart are one to the
// program (merged.h).
struct allocation allocation_solve(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena);

// The same, also compared with the best solution without each of the options, with as much time for
// each.
struct allocation allocation_prove(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena);

// What an option costs in the allocation, USD.
double allocation_cost(const struct allocation_problem *problem,
                       const struct allocation *allocation, size_t option);

// Whether so many nodes of an option are in stock, with their spares.
bool allocation_in_stock(const struct allocation_problem *problem, size_t option, double nodes);

// The number of spares of an option; how many of them only make its nodes' fractions whole, which
// a node's cost does not include; and the number of its nodes that a workload keeps busy.
double allocation_spares(const struct allocation_problem *problem,
                         const struct allocation *allocation, size_t option);
double allocation_spares_added(const struct allocation_problem *problem,
                               const struct allocation *allocation, size_t option);
double allocation_busy(const struct allocation_problem *problem,
                       const struct allocation *allocation, size_t workload, size_t option);

#endif
