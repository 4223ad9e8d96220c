// claims: a table of vendors' claims, each recomputed from the catalogues
// (model/evidence/recompute.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_CLAIMS_H
#define PERTOKEN_REPORTS_ANSWERS_CLAIMS_H

#include "base/arena.h"
#include "model/evidence/recompute.h"
#include "reports/faces/answer.h"

#include <stddef.h>

// The results for the rows of a table of claims: [count]. The answer is no if one of them disagrees
// with the verdict in the table.
struct answer claims_answer(const struct recomputed *rows, size_t count, struct arena *arena);

#endif
