// columns: the column, from 1, of each variable of fleet.h in the program that GLPK solves, and its
// upper bound.
#ifndef PERTOKEN_MODEL_PLAN_COLUMNS_H
#define PERTOKEN_MODEL_PLAN_COLUMNS_H

#include "model/plan/fleet.h"

#include <stdbool.h>
#include <stddef.h>

int column_count(const struct fleet_problem *problem);

int action_column(size_t a);
int lots_column(const struct fleet_problem *problem, size_t o, int t);
int presence_column(const struct fleet_problem *problem, size_t o, int t);
int entry_column(const struct fleet_problem *problem, size_t o, int t);
int share_column(const struct fleet_problem *problem, size_t w, size_t o, int t);

// The column of a workload's replicas. That of the first workload with a span counts the replicas
// of all with that span.
int replica_column(const struct fleet_problem *problem, size_t w, size_t o, int t);

// The spares in an option's order for a period. Exists only if spares are whole.
int spare_column(const struct fleet_problem *problem, size_t o, int t);

// Whether an option's order for a period has volume tier k, from 0 to its tier_count. Exists only
// if the problem has tiers.
int tier_column(const struct fleet_problem *problem, size_t o, int t, int k);

// The lots of all tiers of action a, which has tier 0.
int whole_column(const struct fleet_problem *problem, size_t a);

// The most lots that a fleet can need at a time, in addition to those already ordered; also in one
// order.
double most_lots(const struct fleet_problem *problem, size_t o);
double most_in_order(const struct fleet_problem *problem, size_t o);

bool has_fixed_cost(const struct fleet_problem *problem, size_t o);

#endif
