// schedule: an input given by year, or every so many months: a list of values, the last of which
// holds from then on.
//
// "2, 1, 1 FTE" (list_text.h): the first value holds for the purchase and until the first
// anniversary of operation; year = floor(elapsed).
//
// If an input NAME is a list of at most k values in a scenario, its model also has
//   NAME_year_1 ... NAME_year_k  inputs; an option with a shorter list repeats its last value
//   NAME_scale                   an input that multiplies all of them, 100 %
// and computes NAME by year from these in the options that give a list. One that has a step of its
// own (step.h) has NAME_step_1 ... NAME_step_k instead, by the number of the step.
//
// A list by age starts at age 1, and is zero beyond its end: "60, 40, 25 %" is 60 % at age 1.
#ifndef PERTOKEN_MODEL_COST_SCHEDULE_H
#define PERTOKEN_MODEL_COST_SCHEDULE_H

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"

#include <stdbool.h>
#include <stddef.h>

enum {
  MIN_YEARS = 7,  // that a workbook has columns for, so that its user may lengthen a short horizon
  MAX_YEARS = 30, // the longest horizon that tco.ini allows
  MAX_STEPS = 60, // values of a list with a step: 15 years by quarter, 5 by month
  MAX_LIST = MAX_STEPS, // values of any list
  MAX_TIERS = 4         // as many as tco.ini declares
};

// Whether it is the text of a range in %, for an input that is not itself a share.
bool range_is_scale(const struct declaration *input, const char *text);

// A list to be declared.
struct schedule {
  int count;          // of the longest in the scenario
  double step_h;      // 0: by year, or by age
  struct place place; // of the first one's step
};

// Declares what a list needs, before model_check. Returns 0, or -1 after an error: one of its names
// is taken.
int schedule_declare(struct model *model, int declaration, const struct schedule *schedule,
                     struct diagnostics *diagnostics);

#endif
