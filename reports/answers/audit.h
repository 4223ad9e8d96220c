// audit: whether a vendor's claims can be true together (model/questions/audit.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_AUDIT_H
#define PERTOKEN_REPORTS_ANSWERS_AUDIT_H

#include "base/arena.h"
#include "model/evidence/recompute.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"

#include <stdbool.h>
#include <stddef.h>

bool audit_asked(const struct scenario *scenario);
answer_function answer_audit;

// What became of the rows of a table of claims: [count]. The answer is no where one of them and the
// table's own verdict disagree.
struct answer answer_claims(const struct recomputed *rows, size_t count, struct arena *arena);

#endif
