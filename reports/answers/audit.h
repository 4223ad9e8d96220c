// audit: whether all of a vendor's claims can be true (model/questions/audit.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_AUDIT_H
#define PERTOKEN_REPORTS_ANSWERS_AUDIT_H

#include "base/arena.h"
#include "model/evidence/recompute.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>
#include <stddef.h>

bool audit_asked(const struct scenario *scenario);
answer_function answer_audit;

// The results for the rows of a table of claims: [count]. The answer is no if one of them disagrees
// with the verdict in the table.
struct answer answer_claims(const struct recomputed *rows, size_t count, struct arena *arena);

#endif
