// workbook: a scenario as an xlsx file in which every line item is a live formula.
//
// Sheets: Cover, Inputs, one calculation sheet per option (named by its id), Finance, Outputs,
// where there is something to show Sensitivity, Simulation and Negotiation, then Evidence, Checks,
// Change log. The formulas are those of the cost model, rendered by spreadsheet_formula; every cell
// holds the engine's value of the selected case until a spreadsheet computes it anew. Equal input
// gives equal bytes: the file is dated from SOURCE_DATE_EPOCH, else from the scenario.
#ifndef PERTOKEN_REPORTS_WORKBOOK_WORKBOOK_H
#define PERTOKEN_REPORTS_WORKBOOK_WORKBOOK_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"

// `simulation` of the scenario, for the sheet of that name; NULL for none. Writes beside `path` and
// renames, so that an old file stays untouched after any failure. Errors: ids or names that no
// workbook can hold side by side, a formula that no cell can hold, and a disk that fails
// (diagnostics->machine_failed is then set). Returns 0 or -1.
int workbook_write(const struct scenario *scenario, const struct simulation *simulation,
                   const char *path, struct arena *arena, struct diagnostics *diagnostics);

#endif
