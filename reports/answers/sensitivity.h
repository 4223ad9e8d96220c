// sensitivity: a tornado or a grid, as a table, CSV or JSON.
#ifndef PERTOKEN_REPORTS_ANSWERS_SENSITIVITY_H
#define PERTOKEN_REPORTS_ANSWERS_SENSITIVITY_H

#include "model/questions/sensitivity.h"
#include "reports/print/format.h"

#include <stdio.h>

// Table: one line per input, the largest effect first, with the result at both ends and a bar.
// Csv: input,unit,base,low,high,option,cost_low,cost_high,saving_low,saving_high, a row per input
// and option. Json: { schema 1, scenario, item, unit, option, share, swings: [..], still: [..] }.
void sensitivity_print(const struct sensitivity *sensitivity, enum output_format format, FILE *out,
                       struct arena *arena);

// Table: the saving (with a single option, the cost) over both inputs. Csv: one row per cell,
// the inputs' values, then each option's cost, then the saving. Json: { schema 1, scenario, item,
// unit, option, axes: [..], costs: {option: [[..]]}, saving: [[..]] }.
void cost_grid_print(const struct cost_grid *grid, enum output_format format, FILE *out,
                     struct arena *arena);

#endif
