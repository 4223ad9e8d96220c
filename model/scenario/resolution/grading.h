// grading: the grades of an option's figures and of its headline.
//
// The headline grade is the weakest among the inputs of the table and the numbers in the user's
// items that matter: those that change the cost per token by more than GRADE_MATTERS if they alone
// fall or rise by GRADE_SWING. Faces that update it live watch the table and the most influential
// numbers. A price of 0 cannot fall or rise by a share: it matters if any other price would change
// the cost at all. If no input matters, as in an option that costs nothing, the headline grade is
// the weakest of all; if none is stated, assumed. A list by year is one input, the factor of all
// its years, with the weakest of their grades and its own. The grades of throughput, power and
// price are the weakest of their inputs. Rates, and watts, that are combined into a serving
// estimate keep their grades, but count as projected at best: their combination was not measured.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_GRADING_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_GRADING_H

#include "base/arena.h"
#include "model/evidence/grade.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

#define GRADE_SWING   0.1
#define GRADE_MATTERS 0.01

enum shown_grade { SHOWN_THROUGHPUT, SHOWN_POWER, SHOWN_PRICE, SHOWN_GRADES };

enum { GRADED_INPUTS = 14, MAX_GRADED = GRADED_INPUTS + 16 };

struct graded_input {
  const char *input;
  enum shown_grade shown;
};

extern const struct graded_input graded_inputs[GRADED_INPUTS];

// The strongest grade that an option's input may count as.
enum grade grading_strongest(const struct scenario *scenario, const struct option *option,
                             int declaration);

// The grade that it counts as.
enum grade grading_counted(const struct scenario *scenario, const struct option *option,
                           int declaration);

bool grading_is_price(const struct scenario *scenario, const struct option *option,
                      int declaration);

// The upper end of an input's swing, from its value, in base units: of a price of 0, one of the
// units that it is shown in.
double grading_raised(const struct scenario *scenario, const struct option *option, int declaration,
                      double value);

// The change of the cost per token above which an input with this value matters, as a share.
double grading_matters(const struct scenario *scenario, const struct option *option,
                       int declaration, double value);

// The change of a cost per token, as a share of it, the larger one of both ends; of no cost, 1 if
// it becomes one. An end without a cost counts as one of zero.
double grading_influence(double cost, double lowered, double raised);

// Fills the grades of an evaluated option for the selected case, replacing earlier ones.
void option_grade(const struct scenario *scenario, struct option *option, struct arena *arena);

#endif
