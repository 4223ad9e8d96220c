// diff: two scenarios side by side: which inputs differ, and the effect of that.
#ifndef PERTOKEN_REPORTS_ANSWERS_DIFF_H
#define PERTOKEN_REPORTS_ANSWERS_DIFF_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

// The difference of the selected cases, in the arena: the inputs that differ; then, for each
// option, the headline items of both, and the net present value after tax if both have it; and A's
// cost per token with each differing input of B alone and with all of them together. A change is
// (b - a) / |a|; there is none from zero. A warning says where the workloads are unlike.
// Csv: table,row,label,column,unit,value; the tables are inputs (OPTION.INPUT), for each option
// OPTION (its results) and OPTION.alone, workload (OPTION.KEY) if that differs, and offer_lines if
// both take an option from a vendor's offer.
// Json: { schema 3, stamp, a, b, units, only_a, only_b, items, inputs: [..], workload: [..],
// offer_lines: [..], options: [ { id, accelerators, results: { ITEM: { a, b, change } }, alone: {
// INPUT: { cost_per_mtok, change } }, together } ] }. Two identical scenarios give empty lists;
// workload and offer_lines are left out if empty.
struct answer diff_answer(const struct scenario *a, const struct scenario *b, struct arena *arena);

#endif
