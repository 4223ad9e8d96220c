// grading: grades, warnings and the refusal of unlike throughputs: all that is said about a
// scenario after its evaluation.
//
// The headline grade is the weakest among those inputs of the table that matter: that move the cost
// per token by more than GRADE_MATTERS when they alone fall or rise by GRADE_SWING. The grades of
// throughput, power and price are the weakest of their inputs.
#ifndef PERTOKEN_MODEL_SCENARIO_GRADING_H
#define PERTOKEN_MODEL_SCENARIO_GRADING_H

#define GRADE_SWING   0.1
#define GRADE_MATTERS 0.01

enum shown_grade { SHOWN_THROUGHPUT, SHOWN_POWER, SHOWN_PRICE, SHOWN_GRADES };

enum { GRADED_INPUTS = 6 };

struct graded_input {
  const char *input;
  enum shown_grade shown;
};

extern const struct graded_input graded_inputs[GRADED_INPUTS];

struct reading;

// Fills the grades and warnings of the options and the warnings of the scenario. Errors: unlike
// throughputs without --mixed.
void assess(struct reading *reading);

#endif
