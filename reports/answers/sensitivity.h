// sensitivity: the effect of each input on the result, or of two of them together, as an answer.
#ifndef PERTOKEN_REPORTS_ANSWERS_SENSITIVITY_H
#define PERTOKEN_REPORTS_ANSWERS_SENSITIVITY_H

#include "base/arena.h"
#include "model/questions/sensitivity.h"
#include "reports/faces/answer.h"

// A tornado: for people a row for each input that has an effect, the largest first, with the result
// at both ends and a bar.
// Csv: input,unit,base,low,high,option,cost_low,cost_high,saving_low,saving_high, a row for each
// input and option. Json: item, unit, option, baseline, share, swings: [ { input, unit, base, low
// and high: { value, costs: {option: cost}, saving }, ranged, effect } ], still: [..].
struct answer sensitivity_answer(const struct sensitivity *sensitivity, struct arena *arena);

// The saving (with a single option, the cost) over both inputs, the first down, the second across.
// Csv: a row for each cell: the inputs' values, then each option's cost, then the saving. Json:
// item, unit, option, baseline, axes: [ { input, unit, values } ], costs: {option: [[..]]}, saving:
// [[..]].
struct answer cost_grid_answer(const struct cost_grid *grid, struct arena *arena);

#endif
