// acceptance: does the delivery meet the quote?
#ifndef PERTOKEN_REPORTS_ANSWERS_ACCEPTANCE_H
#define PERTOKEN_REPORTS_ANSWERS_ACCEPTANCE_H

#include "base/arena.h"
#include "model/delivery/clause.h"
#include "model/delivery/offer.h"
#include "model/delivery/settlement.h"
#include "model/questions/shortfall.h"
#include "reports/faces/answer.h"

// worth: the value of the shortfall in a scenario; NULL without one. The answer is no if a clause
// fails, undecided if none fails and at least one is open.
// Json: { schema 1, verdict, offer, offer_sha256, confidence, nodes, accelerators_per_node,
// may_fail, missing, price, shortfall, owed, failing_nodes, replaced_nodes, replaced_price, worth,
// tables: { clauses, nodes, replaced, settlement, node_values, records } }.
struct answer acceptance_answer(const struct settlement *settlement, const struct shortfall *worth,
                                struct arena *arena);

// A clause's name for people: "chat: P99 TTFT". CLAUSE_DELIVERED has no guarantee.
const char *acceptance_clause_name(enum clause_kind kind, enum guaranteed what,
                                   const struct offer_guarantee *guarantee, struct arena *arena);

// "95 %", never rounded: 99.99 % is very different from 100 %.
const char *acceptance_confidence(double confidence, struct arena *arena);

#endif
