// cases: all cases of a scenario side by side: which option is the cheapest in each, how much it
// saves, and what the verdict rests on.
//
// Nothing is computed here: the verdict of each case comes from model/scenario/ranking.h.
#ifndef PERTOKEN_REPORTS_ANSWERS_CASES_H
#define PERTOKEN_REPORTS_ANSWERS_CASES_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

// The scenario with each of its cases selected: [scenario->case_count]. NULL after errors.
const struct scenario *const *cases_read(const struct scenario *scenario, struct arena *arena,
                                         struct diagnostics *diagnostics);

// cases: [scenario->case_count], the same scenario with each case selected
// (model/scenario/resolution/resolution.h). In the arena.
//
// Tables: `cases` (the cheapest), `cost` and `saving` of every option, and `evidence`, every
// option's weakest grade that matters. Rows are cases; columns of the last three are options.
// Savings are against the baseline, except in `cases`, which names the option it compares with.
struct answer cases_answer(const struct scenario *scenario, const struct scenario *const *cases,
                           struct arena *arena);

#endif
