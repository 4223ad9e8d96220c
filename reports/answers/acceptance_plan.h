// acceptance_plan: before measuring, how many nodes, and runs of each, it takes to decide whether a
// delivery meets the quote.
#ifndef PERTOKEN_REPORTS_ANSWERS_ACCEPTANCE_PLAN_H
#define PERTOKEN_REPORTS_ANSWERS_ACCEPTANCE_PLAN_H

#include "base/arena.h"
#include "model/delivery/acceptance_plan.h"
#include "reports/faces/answer.h"

// The answer is no if no plan decides.
// Json: { schema 1, offer, confidence, power, shortfall, nodes, runs, tables: { clauses, choices }
// }.
struct answer acceptance_plan_answer(const struct acceptance_plan *plan, struct arena *arena);

#endif
