// diff: two scenarios side by side: which inputs differ, and what that does.
#ifndef PERTOKEN_REPORTS_ANSWERS_DIFF_H
#define PERTOKEN_REPORTS_ANSWERS_DIFF_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"

// Of the selected cases, in the arena: the inputs that differ; then, for each option, the headline
// items of both, and the cost per token of A with each differing input of B alone, and with all of
// them together. A change is b / a - 1.
// Csv: table,row,label,column,unit,value; the tables are inputs (OPTION.INPUT), and for each option
// OPTION (its results) and OPTION.alone; offer_lines where both take an option from a vendor's offer.
// Json: { schema 2, a, b, units, only_a, only_b, items, inputs: [..], offer_lines: [..], options: [ { id,
// accelerators, results: { ITEM: { a, b, change } }, alone: { INPUT: { cost_per_mtok, change } },
// together } ] }. Two scenarios that are alike give empty lists.
struct answer diff_answer(const struct scenario *a, const struct scenario *b, struct arena *arena);

#endif
