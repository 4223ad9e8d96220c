// small_plan: random problems of a fleet, small enough to try every number of lots.
#ifndef PERTOKEN_TESTS_SUPPORT_SMALL_PLAN_H
#define PERTOKEN_TESTS_SUPPORT_SMALL_PLAN_H

#include "model/plan/fleet.h"

#include <stddef.h>

enum { PERIODS = 3, WORKLOADS = 2, OPTIONS = 2, ACTIONS = 8, TIERS = 2 };

// Points to itself: it must not move.
struct small_plan {
  double demand[WORKLOADS][PERIODS];
  double capacity[WORKLOADS * OPTIONS][PERIODS], extra[WORKLOADS * OPTIONS][PERIODS];
  double standing[OPTIONS][PERIODS], entry[OPTIONS][PERIODS];
  struct planned_workload workloads[WORKLOADS];
  struct fleet_option options[OPTIONS];
  struct fleet_pair pairs[WORKLOADS * OPTIONS];
  double discounts[OPTIONS][TIERS + 1];
  struct fleet_action actions[ACTIONS * (TIERS + 1)], spares[ACTIONS * (TIERS + 1)];
  size_t heads[ACTIONS], head_count; // the actions of tier 0
  double shares[OPTIONS], budgets[PERIODS];
  int years[PERIODS];
  struct fleet_problem problem;
};

// The same for the same number; every third has spares.
void small_plan_make(struct small_plan *plan, unsigned number);

#endif
