// scenario_read: a scenario while it is being read. The steps, in their order:
//
//   scenario_text      the file with everything that it inherits
//   scenario_model     the cost model, with the file's own items
//   scenario_sections  which options, cases and questions there are
//   scenario_head      title, date, baseline, selected case
//   assignment         every key, to an input's layer or a selection
//   range, free        what is said of inputs beside their values
//   currency           the report's, its exchange rate, and amounts in USD
//   resolution         every input of every option in every case: layers, what selections give,
//                      defaults
//   assessment         after the evaluation: grades, warnings, unlike throughputs
#ifndef PERTOKEN_SCENARIO_READ_H
#define PERTOKEN_SCENARIO_READ_H

#include "model/inputs.h"
#include "model/scenario.h"
#include "model/scenario_text.h"
#include "model/selection.h"

struct reading {
  const struct scenario_request *request;
  const struct scenario_text *text;
  struct scenario *scenario;
  struct catalog *catalog;
  struct records *records;
  struct inputs *inputs;
  size_t errors_before;                     // what diagnostics held at the start
  struct ini_key common[SELECTION_KEYS];    // [workload]; name NULL: unset
  struct ini_key (*chosen)[SELECTION_KEYS]; // [option]
  bool *companions;   // [model->count] inputs with only_with that some option has
  struct place *idle; // [model->count] where one is given at the common level for an option without
  struct arena *arena;
  struct diagnostics *diagnostics;
};

#endif
