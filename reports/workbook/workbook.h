// workbook: a scenario as an xlsx file in which every line item is a live formula.
//
// Sheets: Cover, Summary, Scope and assumptions, Inputs, one calculation sheet per option (named
// after its label), Finance, Outputs, Sensitivity, Simulation, Negotiation, Decisions, Evidence,
// Checks, Change log; those without anything to show are left out. The formulas are those of the
// cost model, rendered by spreadsheet_formula; every cell holds the engine's value of the selected
// case until a spreadsheet recalculates it. Equal input gives identical bytes: the file is dated
// from SOURCE_DATE_EPOCH, else from the scenario.
#ifndef PERTOKEN_REPORTS_WORKBOOK_WORKBOOK_H
#define PERTOKEN_REPORTS_WORKBOOK_WORKBOOK_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"

// `simulation` of the scenario, for the sheet of that name; NULL for none. Writes to a temporary
// file beside `path` and renames it, so that an old file is unchanged after any failure. Errors:
// ids or names that cannot coexist in a workbook, a formula that fits no cell, and a disk failure
// (diagnostics->machine_failed is then set). Returns 0 or -1.
int workbook_write(const struct scenario *scenario, const struct simulation *simulation,
                   const char *path, struct arena *arena, struct diagnostics *diagnostics);

#endif
