// formulation: the program of fleet.h as a GLPK problem, in the columns of columns.h.
//
// Only for files that are compiled with GLPK.
#ifndef PERTOKEN_MODEL_PLAN_FORMULATION_H
#define PERTOKEN_MODEL_PLAN_FORMULATION_H

#include "base/arena.h"
#include "model/optimise/row.h"
#include "model/plan/fleet.h"

// Money is counted in units of `money`, so that coefficients are close to one.
struct formulation {
  const struct fleet_problem *problem;
  struct row row;                    // row.glpk is the GLPK problem
  double money;                      // USD
  double *spare_cost, *spare_outlay; // [option_count][periods] USD
};

// A formulation that is not built yet; the memory of its rows is in the arena.
struct formulation formulation_of(const struct fleet_problem *problem, struct arena *arena);

// Creates the problem, scaled and with an initial basis. Within solver_run; the caller deletes it.
void formulation_build(struct formulation *formulation);

// Takes GLPK's solution, values[column], without its tolerances: whole lots are whole, shares add
// up to one, and what is not present serves nothing.
void formulation_take(const struct formulation *formulation, const double *values,
                      struct planned_fleet *fleet);

#endif
