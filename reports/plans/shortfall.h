// shortfall: what a plan says if nothing serves all of the demand, and about options that cannot
// serve a workload; with how both were found, if requested.
#ifndef PERTOKEN_REPORTS_PLANS_SHORTFALL_H
#define PERTOKEN_REPORTS_PLANS_SHORTFALL_H

#include "base/arena.h"
#include "model/plan/outcome.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

// Which workload lacks how much in which period, and without which constraint it could be served.
const char *shortfall_words(const struct plan_answer *answer, struct arena *arena);

// Tables "lacks" and "barred", each if it has rows; with the tables that derive them if the answer
// is explained.
void shortfall_write_lacks(struct answer *written, const struct plan_answer *answer,
                           bool explained);
void shortfall_write_barred(struct answer *written, const struct plan_answer *answer,
                            bool explained);

#endif
