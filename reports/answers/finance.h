// finance: a scenario in the views of finance (cash, books, tax, loan), each by itself, and
// what the dearer purchase of two earns back.
#ifndef PERTOKEN_REPORTS_ANSWERS_FINANCE_H
#define PERTOKEN_REPORTS_ANSWERS_FINANCE_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"

// Of the selected case: a table for each view, and the difference.
//
// Csv: view,option,case,item,label,unit,period,value; a series has a line for each period from 0,
// the purchase. Json: baseline, views: [ { name, label, units, options: { ID: { ITEM: value } } } ],
// difference: see finance_difference; a series is an array.
struct answer finance_answer(const struct scenario *scenario, struct arena *arena);

// What the dearer purchase of each option and the baseline earns back, of every option that can be
// compared with the baseline; nothing where the extra outlay is not earned back within the horizon.
// model/questions/comparison.h has the meanings. Json: difference { units, options: { ID: {
// dearer_purchase, extra_outlay, saved, npv_saved, irr, payback, discounted_payback } } }.
struct answer_table finance_difference(const struct scenario *scenario, struct arena *arena);

#endif
