// solve_view: the value that was asked for, or that there is none, as a table, CSV or JSON.
#ifndef PERTOKEN_SOLVE_VIEW_H
#define PERTOKEN_SOLVE_VIEW_H

#include "model/solve_spread.h"
#include "reports/format.h"

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
