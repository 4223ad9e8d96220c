// plan: what to buy, rent and retire in which period, from which vendor, at the lowest discounted
// cost.
//
// A portfolio (model/questions/portfolio.h) over the scenario's periods, with the keys of a plan
// and [plan] (terms.h). The program is stated in fleet.h, its numbers in costs.h; challenge.h says
// when an answer counts as proven. The price of a constraint is found by solving again without it.
#ifndef PERTOKEN_MODEL_PLAN_PLAN_H
#define PERTOKEN_MODEL_PLAN_PLAN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/plan/outcome.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// The complete answer. Its result.status is PROGRAMME_INFEASIBLE if nothing can serve everything;
// the prices then show which constraint is in the way. NULL after errors: those of the portfolio,
// of terms.h and of costs.h, a build without GLPK, workloads that cannot be read, a yearly budget
// too small for a single purchase unit.
const struct plan_answer *plan_ask(const struct scenario *scenario, struct arena *arena,
                                   struct diagnostics *diagnostics);

#endif
