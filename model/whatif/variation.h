// variation: the options of a scenario evaluated again with other inputs, as a block of columns
// that each start as the scenario's selected case.
#ifndef PERTOKEN_MODEL_WHATIF_VARIATION_H
#define PERTOKEN_MODEL_WHATIF_VARIATION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/model.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// An input of one option, or one that the options have in common: option -1 moves it in every
// option that uses the common value or the default, but not in those that state or find their own.
struct target {
  int declaration;
  int option;
};

// The option with that id. An unknown one is an error at `place`, with the nearest. Returns 0 or
// -1.
int option_named(const struct scenario *scenario, const char *id, struct place place, size_t *out,
                 struct diagnostics *diagnostics);

// "mi325x.discount", or "electricity_price". Errors are at `place`: no such input (with the nearest
// name), computed or absent in that option, a choice, or common to no option. Returns 0 or -1.
int target_find(const struct scenario *scenario, const char *name, struct place place,
                struct target *out, struct diagnostics *diagnostics);

// The target that moves an option's input: its own if the model shows the input per option or the
// option has a value of its own, else the common one. Errors as for target_find.
int target_of_option(const struct scenario *scenario, size_t option, const char *input,
                     struct place place, struct target *out, struct diagnostics *diagnostics);

// Whether an input exists as soon as it is stated, and an option lacks it: a common value would
// give it to that one, so that it is each option's own.
bool target_would_spread(const struct scenario *scenario, int declaration);

bool target_moves(const struct scenario *scenario, struct target target, size_t option);
// Whether it moves the same options in every case, and is their own or common in all of them.
bool target_is_steady(const struct scenario *scenario, struct target target);
const char *target_name(const struct scenario *scenario, struct target target, struct arena *arena);
const struct declaration *target_input(const struct scenario *scenario, struct target target);

// The value in the selected case, in base units, for the first option that it moves.
double target_value(const struct scenario *scenario, struct target target);

// The values that the input may take: its limits in the model, for the horizon the number of
// periods that the scenario has room for (all, if scenario_request says that it is varied), and for
// a tier or a value by age those of its neighbors. Infinite without a limit. An exclusive limit is
// moved inwards by a millionth of the value in the selected case, or of one unit.
#define OPEN_LIMIT_SHARE 1e-6

struct limits {
  double low, high;
};
struct limits target_limits(const struct scenario *scenario, struct target target);

// The values with which compare gives an answer: of a delay, the horizon and a life also only what
// lets late hardware arrive.
struct limits target_answered(const struct scenario *scenario, struct target target);

// Every target of the scenario that is not a choice, in the order of the model and, within an
// input, of the options.
struct target *targets_of(const struct scenario *scenario, size_t *count, struct arena *arena);

struct variation {
  const struct scenario *scenario;
  size_t width;
  struct evaluation **evaluations; // by option, `width` columns
};

struct variation *variation_new(const struct scenario *scenario, size_t width, struct arena *arena);

// Sets the input in every option that the target moves. The caller must see to whole numbers.
void variation_set(struct variation *variation, struct target target, size_t column, double value);

void variation_evaluate(struct variation *variation);

// A line item's value (period 0 of a series); NAN if the option does not have it.
double variation_item(const struct variation *variation, size_t option, int declaration,
                      size_t column);

#endif
