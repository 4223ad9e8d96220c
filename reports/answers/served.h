// served: the measured curves of servers, and what decode and prefill predict beside them
// (model/questions/prediction.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_SERVED_H
#define PERTOKEN_REPORTS_ANSWERS_SERVED_H

#include "model/evidence/records.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"

#include <stdbool.h>

// Whether an option's throughput is from a serving record.
bool served_asked(const struct scenario *scenario);
answer_function answer_served;

// The same of records alone, without a scenario: of those that a server was measured for.
struct answer served_records(const struct records *records, struct arena *arena);

#endif
