// compare: a scenario's options side by side.
//
// Nothing is computed here but the saving: every figure is a line item of the cost model.
#ifndef PERTOKEN_REPORTS_ANSWERS_COMPARE_H
#define PERTOKEN_REPORTS_ANSWERS_COMPARE_H

#include "model/scenario/ranking.h"
#include "model/simulate/simulate.h"
#include "reports/print/format.h"
#include "reports/print/style.h"

#include <stdio.h>

// Prints the selected case.
//
// Table: one column per option, or one line per option where the columns do not fit the width.
// Csv: option,accelerator,case,item,label,unit,period,value,grade; a row per input and line item,
// per period for a series; then per option its savings, as fractions, and whether it is ranked and
// whether it is the cheapest, ties included, as 1 and 0.
// Json: { schema 1, scenario, units, options, baseline, saving, saving_levelised, cheapest: [ids],
// not_ranked: { id: why }, why_none (where nobody is the cheapest), difference (see finance.h),
// mixed, warnings }
// with every line item by name in its own unit; a series is an array from period 0, the purchase,
// to the option's last.
void compare_print(const struct scenario *scenario, enum output_format format, FILE *out,
                   struct arena *arena);

void compare_table(const struct scenario *scenario, FILE *out, struct arena *arena);
void compare_csv(const struct scenario *scenario, FILE *out, struct arena *arena);
void compare_json(const struct scenario *scenario, FILE *out, struct arena *arena);

// What the table's figures are worth: what its star means, or why there is none, what its intervals
// are (NULL: there are none), what is not included, the grades' meanings, all warnings.
void compare_notes(const struct scenario *scenario, const struct ranking *ranking,
                   const struct simulation *simulation, const struct style *style);

// Is the declaration one of the option's line items? Computed ones are, checks excepted; so are
// accelerators and throughput when they are given.
bool compare_has_item(const struct scenario *scenario, const struct option *option,
                      int declaration);

// The grade of an input; of a headline item that of the option; else NULL.
const char *compare_grade(const struct scenario *scenario, const struct option *option,
                          int declaration);

#endif
