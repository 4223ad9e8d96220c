// load: the stock of each option in each period, what it holds and serves, and the book value of
// each purchase: the derivation of a plan's figures other than costs.
#ifndef PERTOKEN_REPORTS_PLANS_LOAD_H
#define PERTOKEN_REPORTS_PLANS_LOAD_H

#include "model/plan/outcome.h"
#include "reports/faces/answer.h"

// Adds the tables to an answer.
void load_write(struct answer *written, const struct plan_answer *answer);

#endif
