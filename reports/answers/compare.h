// compare: a scenario's options side by side.
//
// Nothing is computed here: every figure is a line item of the cost model, and the verdict comes
// from model/scenario/ranking.h.
#ifndef PERTOKEN_REPORTS_ANSWERS_COMPARE_H
#define PERTOKEN_REPORTS_ANSWERS_COMPARE_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/faces/answer.h"

// The comparison in the selected case, in the arena. simulation: the result over its ranges; NULL
// for none.
//
// Csv: option, accelerator, case, item, label, unit, period, value, grade; a row for each input and
// line item, and for each period of a series; then the savings as fractions, and the verdict.
// Json: { schema 1, scenario, units, options, baseline, saving, saving_levelised, cheapest,
// not_ranked, difference (see finance.h), mixed, warnings } with every line item by name in its own
// unit; a series is an array from period 0, the purchase, to the option's last.
struct answer compare_answer(const struct scenario *scenario, const struct simulation *simulation,
                             struct arena *arena);

#endif
