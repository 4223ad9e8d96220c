// inputs: what a scenario says about its inputs, layer by layer, and what applies to each option
// and case.
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

// The layer of an assignment: `option` is an index, or -1 for the common level.
struct layer {
  enum origin origin; // ORIGIN_COMMON, ORIGIN_CASE, ORIGIN_SET, ORIGIN_OPTION, ...
  int option;
  size_t which_case;
};

struct inputs;

// Inputs with room for every input of a model at every layer.
struct inputs *inputs_new(const struct model *model, size_t option_count, size_t case_count,
                          struct arena *arena);

// Takes NAME = VALUE, or NAME.source, NAME.date or NAME.quote = TEXT, which is not empty. Returns
// false if `name` is not an input, so that the caller can look elsewhere; errors in the value are
// reported.
bool inputs_assign(struct inputs *inputs, struct layer layer, const char *name,
                   const struct ini_key *key, struct diagnostics *diagnostics);

// Whether it is NAME.source, NAME.date or NAME.quote of an input.
bool inputs_is_provenance(const struct inputs *inputs, const char *name);

// Takes an input's figure from a key that stands for it, such as `grid = DE`, with its place,
// grade, source and date.
void inputs_take(struct inputs *inputs, struct layer layer, int declaration, struct figure figure,
                 const struct ini_key *key, struct diagnostics *diagnostics);

// The layer's statement about the input, or NULL.
const struct figure *inputs_said(const struct inputs *inputs, struct layer layer, int declaration);

// Whether any case states the input for all options.
bool inputs_said_in_cases(const struct inputs *inputs, int declaration);

// Whether the scenario states the input for the option in every case: for it or for all options.
bool inputs_states(const struct scenario *scenario, int option, int declaration);

// Whether the option itself states the input in a case, in any layer, its offer included.
bool inputs_of_option(const struct scenario *scenario, size_t option, size_t which_case,
                      int declaration);

// Whether a case or --set, not an offer named there, states the figure for the option.
bool inputs_is_change(const struct scenario *scenario, const struct figure *figure);

// The option's statement about the input in a case without such changes: figure_none if there is
// none.
const struct figure *inputs_unchanged(const struct scenario *scenario, size_t option,
                                      size_t which_case, int declaration);

// Reports a source, date or quote that the layer states without a value: what gives the value in
// its place has its own.
void inputs_refuse_provenance(const struct inputs *inputs, struct layer layer, int declaration,
                              struct diagnostics *diagnostics);

// Grades the figures by their sources. Call after the last assignment. Reports a source, date or
// quote without a value.
void inputs_finish(const struct inputs *inputs, struct diagnostics *diagnostics);

// Sets figures[model->count] to what the layers of scenario->inputs alone give an option in a case:
// figure_none if nothing was said. Layers hold in the order of enum origin; of the option's offers,
// only that of the case counts. Figures are not copied: they live as long as the inputs.
void inputs_resolve(const struct scenario *scenario, int option, size_t which_case,
                    const struct figure **figures);

// Sets those of figures[model->count] that the layer says something about.
void inputs_apply(const struct inputs *inputs, struct layer layer, const struct figure **figures);

#endif
