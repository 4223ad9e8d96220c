// uncertainty: what the page's script draws, and what it computes from the draws, as JSON.
//
//   draws, seed  of every redraw: 20000, 1
//   levels       of the percentiles
//   ranges       in file order: key, option (an index, -1 for the common value), kind, low, high,
//                mode, mean, deviation, spread, integer, atoms ([value, upto]), directions (of
//                Sobol's sequence; null: drawn at random). In base units:
//                model/chance/distribution.h
//   correlations [range, range, correlation of normals]
//   graphs       like the page's graphs, the part of each that simulate computes: inputs (names),
//                constants, steps, items (name -> operand). An operand is a number: inputs come
//                first, then constants, then the steps' results. A step is the number of its
//                operation and its operands
//   operations   names of the script's functions
//
// For a case (uncertainty_of_case): options, the range of each input that has one (name -> index).
#ifndef PERTOKEN_REPORTS_PAGE_UNCERTAINTY_H
#define PERTOKEN_REPORTS_PAGE_UNCERTAINTY_H

#include "model/scenario/scenario.h"
#include "reports/page/graphs.h"

#include <jansson.h>

enum { UNCERTAINTY_DRAWS = 20000 };

// null where no input of any case has a range.
json_t *uncertainty_of(const struct scenario *scenario, const struct page_graphs *graphs);
json_t *uncertainty_of_case(const struct scenario *scenario);

#endif
