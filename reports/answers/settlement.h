// settlement: what is owed for a delivery that fails, and the value of its shortfall, as a part of
// acceptance's answer.
#ifndef PERTOKEN_REPORTS_ANSWERS_SETTLEMENT_H
#define PERTOKEN_REPORTS_ANSWERS_SETTLEMENT_H

#include "model/delivery/settlement.h"
#include "model/questions/shortfall.h"
#include "reports/faces/answer.h"

// Who bears what, if anything is owed: amounts in the offer's currency, the buyer's own in the
// scenario's. worth: NULL without a scenario.
void settlement_add_table(struct answer *answer, const struct settlement *settlement,
                          const struct shortfall *worth);

void settlement_add_notes(struct answer *answer, const struct settlement *settlement,
                          const struct shortfall *worth);

#endif
