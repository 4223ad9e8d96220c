// chance: the value of a plan under uncertainty, as tables and words of its answer.
#ifndef PERTOKEN_REPORTS_PLANS_CHANCE_H
#define PERTOKEN_REPORTS_PLANS_CHANCE_H

#include "base/arena.h"
#include "model/plan/outcome.h"
#include "reports/faces/answer.h"

// Adds its tables, and a warning if the time limit was reached; nothing if everything is certain.
void plan_chance_write(struct answer *written, const struct plan_answer *answer);

// " Commit to 176 h200: ...", or "".
const char *plan_chance_words(const struct plan_answer *answer, struct arena *arena);

#endif
