// finance: a scenario in the views of finance (cash, books, tax, loan), each by itself, and
// what the dearer purchase of two earns back.
#ifndef PERTOKEN_REPORTS_ANSWERS_FINANCE_H
#define PERTOKEN_REPORTS_ANSWERS_FINANCE_H

#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"
#include "reports/print/format.h"

#include <stdio.h>

// Prints the selected case.
//
// Table: per view its scalars, one column per option; as many options side by side as fit.
// Json: { schema 1, scenario { title, case, sha256 }, baseline, views: [ { name, label, units,
// options: { ID: { ITEM: value } } } ], difference: see difference_json }; a series is an array
// from period 0, the purchase.
void finance_print(const struct scenario *scenario, enum output_format format, FILE *out,
                   struct arena *arena);

// What the dearer purchase of each option and the baseline earns back, of every option that can be
// compared with the baseline; nothing where the extra outlay is not earned back within the horizon.
// model/questions/comparison.h has the meanings. Json: difference { units, options: { ID: {
// dearer_purchase, extra_outlay, saved, npv_saved, irr, payback, discounted_payback } } }.
struct answer_table finance_difference(const struct scenario *scenario, struct arena *arena);

#endif
