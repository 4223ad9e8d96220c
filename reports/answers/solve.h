// solve: the value that was asked for, or that there is none, as a table, CSV or JSON.
#ifndef PERTOKEN_REPORTS_ANSWERS_SOLVE_H
#define PERTOKEN_REPORTS_ANSWERS_SOLVE_H

#include "model/questions/solve_spread.h"
#include "reports/print/format.h"

#include <stdio.h>

// Table: sentences. Csv: input,unit,base,low,high,gap_base,gap_low,gap_high,value: one row per
// value found, one with an empty value when there is none; gap is cost / wanted cost - 1. With a
// spread also draws,found,enough,P5,...,P95, the same in every row.
// Json: { schema 1, scenario, option, match or target, saving, input, unit, base, low, high, gaps:
// {base, low, high}, values: [..], more }, and with a spread ranges: { draws, done, seed, method,
// partial, found, several, above, below, enough, percentiles: {}, notes: [] }.
// `spread`: NULL without ranges.
void solve_print(const struct solve_answer *answer, const struct solve_spread *spread,
                 enum output_format format, FILE *out, struct arena *arena);

#endif
