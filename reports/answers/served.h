// served: the measured curves of servers, compared with what decode and prefill predict
// (model/questions/prediction.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_SERVED_H
#define PERTOKEN_REPORTS_ANSWERS_SERVED_H

#include "base/arena.h"
#include "model/records/records.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

// Whether an option's throughput comes from a serving record.
bool served_asked(const struct scenario *scenario);
answer_function answer_served;

// The same for records without a scenario: those of measured servers.
struct answer served_records_answer(const struct records *records, struct arena *arena);

#endif
