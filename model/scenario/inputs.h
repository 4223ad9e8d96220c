// inputs: what a scenario says of its inputs, layer by layer, and what holds for each option and
// case.
#ifndef PERTOKEN_MODEL_SCENARIO_INPUTS_H
#define PERTOKEN_MODEL_SCENARIO_INPUTS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// Where an assignment stands: `option` is an index or -1 for the common level.
struct layer {
  enum origin origin; // ORIGIN_COMMON, ORIGIN_CASE, ORIGIN_SET, ORIGIN_OPTION, ...
  int option;
  size_t which_case;
};

struct inputs;

// Room for every input of a model at every layer.
struct inputs *inputs_new(const struct model *model, size_t option_count, size_t case_count,
                          struct arena *arena);

// Takes NAME = VALUE or NAME.source, NAME.date, NAME.quote = TEXT, of which an empty TEXT is none,
// so that a file can take back what it inherits. Returns false when `name` is not an input, so that the
// caller can look elsewhere; errors in the value are reported.
bool inputs_assign(struct inputs *inputs, struct layer layer, const char *name,
                   const struct ini_key *key, struct diagnostics *diagnostics);

// Takes for an input what a key that stands for it says, `grid = DE`, as a figure with its place, grade,
// source and date.
void inputs_take(struct inputs *inputs, struct layer layer, int declaration, struct figure figure,
                 const struct ini_key *key, struct diagnostics *diagnostics);

// Has the layer a word on the input?
bool inputs_says(const struct inputs *inputs, struct layer layer, int declaration);

// After the last assignment: grades the figures by their sources. Reports a source, date or quote
// that belongs to no value.
void inputs_finish(const struct inputs *inputs, struct diagnostics *diagnostics);

// Reports a word of --set that no option hears, because each has its own. Warns in
// scenario->warnings of one that some do not hear, and of a case's that none does.
void inputs_check_reach(const struct inputs *inputs, struct scenario *scenario,
                        struct diagnostics *diagnostics);

// Sets figures[model->count] to what the option has in a case from its layers alone: figure_none
// where nothing was said. Later layers win, the option level over the common one. Figures are not
// copied: they live as long as the inputs.
void inputs_resolve(const struct inputs *inputs, int option, size_t which_case,
                    const struct figure **figures);

// Sets those of figures[model->count] on which the layer has a word.
void inputs_apply(const struct inputs *inputs, struct layer layer, const struct figure **figures);

#endif
