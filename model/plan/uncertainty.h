// uncertainty: a plan under uncertainty: the scenario's ranges, the growth of demands and the
// delays of successors, drawn together.
//
// Each draw is its own program (fleet.h), solved with fractional purchase units, so that hundreds
// can be solved: with the draw's own prices, rates, demands and days of delivery. The plan's own
// orders have whole spares; all others have parts of them, as of purchase units: rounded up, each
// fractional order would pay for a spare that a draw's best order, of whole units, may not. Three
// fleets are found for each:
//   the best       everything is optimal for that draw
//   first order    the plan's purchases for the first period with any are fixed; all later orders,
//                  sales, rents and routes adapt to the draw
//   whole plan     every order of the plan is fixed, a late delivery arriving when it can; sales,
//                  rents and what runs where adapt to the draw
//   regret         the cost with the first order, less that of the best; excess: of the whole plan
//   rounding       the regret without uncertainty, due to whole lots instead of fractions
//   sure           of an option's first order: as many lots as the best buys in at least
//                  PLAN_SURE of the draws, counting a fraction as one, at most what the plan buys
// A draw in which the first order cannot serve everything is counted, and has no regret. The
// discount rate and the horizon are not drawn: all draws use those of the base case.
#ifndef PERTOKEN_MODEL_PLAN_UNCERTAINTY_H
#define PERTOKEN_MODEL_PLAN_UNCERTAINTY_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/plan/fleet.h"
#include "model/plan/terms.h"
#include "model/questions/route_pairs.h"

#include <stddef.h>
#include <stdint.h>

#define PLAN_SURE 0.9

struct plan_spread {
  size_t count;           // draws in which everything could be served
  double mean, low, high; // USD, and the 10th and 90th percentile; NAN for none
};

enum { PLAN_BEST, PLAN_FIRST_ORDER, PLAN_WHOLE_PLAN, PLAN_DRAWN };

struct plan_chance {
  size_t asked, draws; // draws requested, and solved in time
  uint64_t seed;
  size_t unserved; // of those, the draws in which nothing serves everything
  int first;       // the period of the first order
  struct plan_spread best, first_order, whole_plan;
  struct plan_spread regret, excess; // of the first order, and of the whole plan
  double rounding;    // USD: first order's extra cost of whole lots over fractions, if all is known
  const double *lots; // [option_count] of the first order
  const double *sure; // [option_count] lots
  const double *each[PLAN_DRAWN]; // [draws] USD; not finite if nothing serves everything
  const double *bought;           // [option_count][asked] lots of the best for the first period
  const double *enough;           // [option_count] share of draws in which the best buys as many
};

struct plan_chance_request {
  const struct plan_terms *terms;
  const struct pairing *pairing;
  const struct fleet_problem *problem;
  const struct planned_fleet *fleet; // of the base case
};

// Draws the plan's uncertain quantities within terms->time_s seconds. NULL without an error if
// nothing is uncertain or nothing is bought; NULL after errors: a range that cannot be drawn.
const struct plan_chance *plan_chance(const struct plan_chance_request *request,
                                      struct arena *arena, struct diagnostics *diagnostics);

#endif
