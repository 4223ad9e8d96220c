// explain: how one number of one option is derived, down to its sources.
#ifndef PERTOKEN_REPORTS_ANSWERS_EXPLAIN_H
#define PERTOKEN_REPORTS_ANSWERS_EXPLAIN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

// `wanted` is OPTION.ITEM, or OPTION.ITEM@PERIOD for one period of a series (0 is the purchase).
//
// A tree: every line item with its value, unit and formula, every input with its grade, source,
// date and place. What has been shown once is only referred to. If the item is followed in one
// period, so are the series that it is computed from in that period.
// Csv: depth, name, label, kind, period, value, unit, formula, text, grade, source, date, place,
// repeated; a line for each step.
// Json: { schema 2, stamp, option, accelerator, item, period, case, sha256, derivation: { name,
// label, kind, value | values, unit, formula, from: [..] } }; an input has text, grade, source,
// date and place instead of formula and from; a repeated step has "repeated": true and no from.
// Returns 0, or -1 after errors in `wanted`.
int explain_answer(const struct scenario *scenario, const char *wanted, struct answer *answer,
                   struct arena *arena, struct diagnostics *diagnostics);

#endif
