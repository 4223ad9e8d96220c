// calendar: what a plan orders, from whom, by when and at which price, as a table and words of its
// answer.
#ifndef PERTOKEN_REPORTS_PLANS_CALENDAR_H
#define PERTOKEN_REPORTS_PLANS_CALENDAR_H

#include "base/arena.h"
#include "model/plan/outcome.h"
#include "reports/faces/answer.h"

#include <stddef.h>

// When a period begins, as scenario_period_begins says it; "the end" after the last.
const char *calendar_begins(const struct plan_answer *answer, int period, struct arena *arena);

// The last day to order what is to serve from a period on: "2027-01-01".
const char *calendar_order_by(const struct plan_answer *answer, size_t option, int period,
                              struct arena *arena);

// What is bought and rented: actions of tier 0, each standing for all of its tiers, by period and
// then in the file's order of options; how many accelerators, and until when they serve.
size_t *calendar_actions(const struct plan_answer *answer, size_t *count, struct arena *arena);
double calendar_accelerators(const struct plan_answer *answer, size_t action);
const char *calendar_until(const struct plan_answer *answer, size_t action, struct arena *arena);

// Every order, by its period.
void calendar_write(struct answer *written, const struct plan_answer *answer);

// " To serve from 2027-04, order 184 h200 by 2027-01-01.": the orders for the first period, and
// those for later ones that are due as early; "" if there are none.
const char *calendar_words(const struct plan_answer *answer, struct arena *arena);

#endif
