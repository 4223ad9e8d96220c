// derivation: how the figures of a plan were computed, as further tables of its answer: each figure
// is the sum of the rows shown there.
#ifndef PERTOKEN_REPORTS_PLANS_DERIVATION_H
#define PERTOKEN_REPORTS_PLANS_DERIVATION_H

#include "base/diagnostics.h"
#include "model/plan/outcome.h"
#include "reports/faces/answer.h"

// Adds the tables to an answer that has a plan. It solves again without each option of the plan.
void derivation_write(struct answer *written, const struct plan_answer *answer);

// Keeps one table of the answer and the one that derives it; all if `what` is NULL. Returns -1
// after an error: no such table.
int derivation_select(struct answer *written, const char *what, struct diagnostics *diagnostics);

#endif
