// timeline: a plan's fleet, what it serves and what is paid, period by period, as tables of its
// answer.
#ifndef PERTOKEN_REPORTS_PLANS_TIMELINE_H
#define PERTOKEN_REPORTS_PLANS_TIMELINE_H

#include "model/plan/outcome.h"
#include "reports/faces/answer.h"

// The fleet, each vendor's share of it, its tokens compared with the demand, purchases by year and
// the cash.
void timeline_write(struct answer *written, const struct plan_answer *answer);

// Which options serve each workload.
void timeline_write_shares(struct answer *written, const struct plan_answer *answer);

#endif
