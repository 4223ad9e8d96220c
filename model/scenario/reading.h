// reading: a scenario while it is being read. The steps, in their order:
//
//   text               the file with everything that it inherits
//   cost_model         the cost model, with the file's own items
//   sections           which options, cases and questions there are
//   head               title, date, baseline, selected case
//   assignment         every key, to an input's layer or a selection
//   range, free_range  what is said of inputs beside their values
//   currency           the report's, its exchange rate, and amounts in USD
//   resolution         every input of every option in every case: layers, what selections give,
//                      defaults
//   grading            after the evaluation: grades, warnings, unlike throughputs
#ifndef PERTOKEN_MODEL_SCENARIO_READING_H
#define PERTOKEN_MODEL_SCENARIO_READING_H

#include "model/scenario/inputs.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"
#include "model/scenario/text.h"

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
