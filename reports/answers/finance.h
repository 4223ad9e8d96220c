// finance: a scenario in each of the finance views (cash, books, tax, loan), and whether the extra
// outlay of the more expensive of two purchases pays.
#ifndef PERTOKEN_REPORTS_ANSWERS_FINANCE_H
#define PERTOKEN_REPORTS_ANSWERS_FINANCE_H

#include "base/arena.h"
#include "model/questions/comparison.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>
#include <stddef.h>

// The finance views of the selected case: a table for each, and the difference.
//
// Csv: view,option,case,item,label,unit,period,value; a series has a line for each period from 0,
// the purchase. Json: baseline, views: [ { name, label, units, options: { ID: { ITEM: value } } }
// ], difference: see finance_difference; a series is an array.
struct answer finance_answer(const struct scenario *scenario, struct arena *arena);

// The difference for each option that can be compared with the baseline: which of the two has the
// extra outlay that is examined, and whether it pays, unless the judge does not rank one; without
// payback and rate of return if it is not earned back within the horizon, or too small for them to
// mean anything. model/questions/comparison.h defines the terms. Json: difference { units, options:
// { ID: { saved, npv_saved, dearer_purchase, examined, extra_outlay, outlay_share, pays, not_ranked
// (a reason), payback, discounted_payback, irr } } }.
struct answer_table finance_difference(const struct scenario *scenario, struct arena *arena);

// "mi325x over h200": whose extra outlay is examined, whichever of the two that is.
const char *finance_examined(const char *dearer, const char *cheaper, struct arena *arena);

// What is shown instead of a payback or a rate of return.
const char *finance_no_rate(bool is_minor);

// Why nothing is said about whether an extra outlay pays: of the baseline or the option; "" if both
// are ranked.
const char *finance_bar(const struct scenario *scenario, const struct ranking *ranking,
                        size_t option, struct arena *arena);

// What is shown in place of that verdict.
#define FINANCE_UNRANKED "not ranked"

// Whether an extra outlay pays: "no", "yes", ...
extern const char *const finance_pays[OUTLAYS];

#endif
