// outcome: the result of a plan, with everything that it was derived from.
#ifndef PERTOKEN_MODEL_PLAN_OUTCOME_H
#define PERTOKEN_MODEL_PLAN_OUTCOME_H

#include "model/plan/fleet.h"
#include "model/plan/programme.h"
#include "model/plan/terms.h"
#include "model/plan/uncertainty.h"
#include "model/questions/portfolio.h"
#include "model/questions/route_pairs.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// A constraint that was left out, and the lowest cost without it: `cost`, or, if that is not
// proven, a value between `bound` and `cost`.
struct plan_price {
  const char *constraint; // "stock of h200"
  enum programme_status status;
  double cost, bound; // USD; INFINITY and -INFINITY: unknown
  // The USD by which the plan costs more, or by which everything from one vendor does, lie between
  // these, which are equal if both costs are proven. INFINITY: unknown.
  double least, most;
};

// The part of a demand that is not served in a period by the fleet with the smallest shortfall: in
// fractional purchase units if even these fall short.
struct plan_lack {
  size_t workload;
  int period;
  double tokens, share; // in the period, and as a share of its demand
  const double *served; // [option_count] tokens that each option does serve of it
};

struct plan_answer {
  const struct scenario *scenario;
  const struct portfolio *portfolio;
  const struct plan_terms *terms;
  const struct route_pair *pairs; // [demand_count][option_count]
  const struct fleet_problem *problem;
  struct programme_result result;
  const struct plan_price *prices;
  size_t price_count;
  const struct plan_price *vendors; // everything from one vendor, [vendor_count]
  const struct plan_lack *lacks;    // if there is no fleet
  size_t lack_count;
  enum programme_status lacks_status; // of that fleet
  bool divisible_serves; // there is no fleet, but there would be one with fractional purchase units
  const struct plan_chance *chance; // uncertainty.h; NULL: all is certain, or nothing is bought
};

#endif
