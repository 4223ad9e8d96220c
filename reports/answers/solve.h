// solve: the value that was asked for, or that there is none, as an answer.
#ifndef PERTOKEN_REPORTS_ANSWERS_SOLVE_H
#define PERTOKEN_REPORTS_ANSWERS_SOLVE_H

#include "base/arena.h"
#include "model/questions/solve_search.h"
#include "model/questions/solve_spread.h"
#include "reports/faces/answer.h"

// The answer is no if there is no such value.
// Csv: input,unit,base,low,high,gap_base,gap_low,gap_high,value: a row for each value found, or one
// with an empty value if there is none; gap is cost / target cost - 1, nothing beside a target of
// zero. With a spread also draws,seed,method,partial,found,enough,P5,...,P95, the same in every
// row.
// Json: option, match or target, saving, input, unit, base, low, high, gaps: {base, low, high},
// values: [..], more, and with a spread ranges: { draws, done, seed, method, partial, found,
// several, above, below, enough, percentiles: {}, notes: [] }.
// `spread`: NULL without ranges.
struct answer solution_answer(const struct solve_answer *solved, const struct solve_spread *spread,
                              struct arena *arena);

#endif
