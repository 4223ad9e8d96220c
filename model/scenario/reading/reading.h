// reading: a scenario while it is being read. The steps, in order:
//
//   text         the file with everything that it inherits: inheritance.h
//   cost_model   the cost model, with the file's own items
//   sections     which options, cases and questions there are
//   head         title, date, baseline, selected case
//   assignment   every key, to an input's layer or a selection, or refused: refusal.h
//   range, free  ranges of inputs, around their values or instead of them
//   resolution   every option: resolving.h has its steps
//   grading      warnings and grades for the comparison
#ifndef PERTOKEN_MODEL_SCENARIO_READING_READING_H
#define PERTOKEN_MODEL_SCENARIO_READING_READING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/inputs.h"
#include "model/scenario/reading/text.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <stddef.h>

struct reading {
  const struct scenario_request *request;
  const struct scenario_text *text;
  const struct scenario_text *spoken; // the same with the sections of request->beside
  struct scenario *scenario;
  struct inputs *inputs;
  struct selections *selections; // [1 + option_count]: the workload's, then each option's
  size_t errors_before;          // the number in diagnostics at the start
  struct arena *arena;
  struct diagnostics *diagnostics;
};

#endif
