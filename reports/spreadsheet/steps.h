// steps: an option's graph as a calculation sheet can show it.
//
// A formula that is too long for a cell, that nests IF or that decides by the period is broken up:
// parts of it become line items of their own, "steps", computed right before it.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_STEPS_H
#define PERTOKEN_REPORTS_SPREADSHEET_STEPS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/names.h"

enum { FORMULA_MAX_LENGTH = 120 }; // with the equals sign

struct sheet_graph {
  struct model model;            // the scenario's, with the steps behind its declarations
  struct graph graph;            // of that model; its order includes the steps
  struct evaluation *evaluation; // of all cases, steps included
  struct name **names;           // [model.count] of inputs and scalars; NULL for series and what
                                 // the option lacks
};

// Also adds the names pt_OPTION_ITEM. Errors: a name that already stands for something else, a
// formula that no steps make short enough. Returns 0 or -1.
int sheet_graph_build(struct sheet_graph *sheet, const struct scenario *scenario,
                      const struct option *option, struct names *names, struct constants *constants,
                      struct arena *arena, struct diagnostics *diagnostics);

#endif
