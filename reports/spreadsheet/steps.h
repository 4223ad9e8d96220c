// steps: an option's graph in a form that a calculation sheet can show.
//
// A formula that is too long for a cell, nests IFs or decides by the period is broken up: parts of
// it become line items of their own, "steps", computed right before it. Options that compute an
// item alike have the same steps for it, with the same names.
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
#include "reports/spreadsheet/step_numbers.h"

enum { FORMULA_MAX_LENGTH = 120 }; // with the equals sign

struct sheet_graph {
  struct model model;            // the scenario's, with the steps after its declarations
  struct graph graph;            // of that model; its order includes the steps
  struct evaluation *evaluation; // of all cases, steps included
  struct name **names;           // [model.count] of inputs and scalars; else NULL
};

// Builds an option's sheet graph, and adds the names pt_OPTION_ITEM. Errors: a name that already
// means something else, a formula that no steps make short enough. `numbers` is shared by all of
// the workbook's options. Returns 0 or -1.
int sheet_graph_build(struct sheet_graph *sheet, const struct scenario *scenario,
                      const struct option *option, struct names *names, struct constants *constants,
                      struct step_numbers *numbers, struct arena *arena,
                      struct diagnostics *diagnostics);

#endif
