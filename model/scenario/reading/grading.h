// grading: grades, warnings and the refusal of unlike throughputs: all that is said about a
// scenario after its evaluation.
//
// The headline grade is the weakest among those inputs of the table and numbers in the user's items
// that matter: that move the cost per token by more than GRADE_MATTERS when they alone fall or rise
// by GRADE_SWING. Faces that follow it live watch the table and the heaviest numbers. The grades of
// throughput, power and price are the weakest of their inputs.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_GRADING_H
#define PERTOKEN_MODEL_SCENARIO_READING_GRADING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

#define GRADE_SWING   0.1
#define GRADE_MATTERS 0.01

enum shown_grade { SHOWN_THROUGHPUT, SHOWN_POWER, SHOWN_PRICE, SHOWN_GRADES };

enum { GRADED_INPUTS = 13, MAX_GRADED = GRADED_INPUTS + 16 };

struct graded_input {
  const char *input;
  enum shown_grade shown;
};

extern const struct graded_input graded_inputs[GRADED_INPUTS];

// Fills the grades and warnings of an evaluated option for the selected case, in place of what it
// had; `number` is its own in scenario->options.
void option_assess(struct scenario *scenario, size_t number, struct arena *arena);

// The same for every option, and adds the warnings of the scenario as a whole. Errors: unlike
// throughputs without --mixed.
void scenario_assess(struct scenario *scenario, struct arena *arena,
                     struct diagnostics *diagnostics);

// The error of two options whose workloads differ, in the words of workload_difference.
void option_refuse_unlike(const struct option *baseline, const struct option *option,
                          const char *difference, struct diagnostics *diagnostics);

#endif
