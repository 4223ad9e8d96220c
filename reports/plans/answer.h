// answer: a plan as an answer: model/plan/plan.h in words and tables.
#ifndef PERTOKEN_REPORTS_PLANS_ANSWER_H
#define PERTOKEN_REPORTS_PLANS_ANSWER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

bool plan_asked(const struct scenario *scenario);
answer_function answer_plan;

// The same with the tables that derive it (derivation.h): of one table only, or of all if NULL.
// NULL after errors: those of plan_ask, or no such table.
struct answer *plan_explained(const struct scenario *scenario, const char *table,
                              struct arena *arena, struct diagnostics *diagnostics);

#endif
