// resolving: an option while it is being resolved, and how a step gives it a figure. The steps, in
// order:
//
//   inputs        what its layers say in every case, and an amendment
//   free          the midpoint of a range if no value was stated
//   exclusions    which inputs exclude others; what a rented option does not pay for
//   quoted_sums   shares of the hardware's price and sums
//   companions    which inputs require others
//   colocation    electricity that is part of a rent
//   hardware      what its accelerator and its price give
//   throughput    what its evidence gives
//   utilization   what a record of production gives
//   load_power    watts that were not stated
//   defaults      what nothing gave
//   requirements  what must be there together
//   currency      amounts in USD
//   lending       inputs that another option's tokens follow from
//   resolution    its graph
//   times         its life, lead time and delay
//   evaluated     its values
//   warnings      grades and warnings
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLVING_H
#define PERTOKEN_MODEL_SCENARIO_RESOLVING_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <stdbool.h>
#include <stddef.h>

// Inputs that have an effect only with another one, in a case that states them, or for the base
// case in any: at the common level it is enough that one option has that other one.
struct companions {
  bool *some_has;     // [model->count]
  struct place *idle; // [model->count] where one is given to an option that lacks the other
};

struct resolving {
  struct scenario *scenario;
  size_t number; // scenario->options[number]
  struct option *option;
  const struct amendment *amendment; // or NULL
  struct selections selections;      // the amendment's, else the option's, else the workload's
  bool amended[SELECTION_KEYS];      // by the amendment
  struct companions *companions;     // [scenario->case_count], or NULL
  struct lack *lack;                 // receives a lack of throughput; NULL: that is an error
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// Prepares to resolve an option, which is emptied. The amendment, companions and lack may be NULL.
struct resolving resolving_new(struct scenario *scenario, size_t number,
                               const struct amendment *amendment, struct arena *arena,
                               struct diagnostics *diagnostics);

// The figures of a case: [model->count].
const struct figure **resolving_figures(const struct resolving *resolving, size_t which_case);

// An input's figure in a case; figure_none if the model lacks it.
const struct figure *resolving_figure(const struct resolving *resolving, size_t which_case,
                                      const char *input);

// Copies a figure to the arena.
const struct figure *resolving_keep(const struct resolving *resolving, struct figure figure);

// Gives an input a figure in every case in which it has none, or one of the origin `over`; does
// nothing for a declaration of -1.
void resolving_fill_over(struct resolving *resolving, int declaration, enum origin over,
                         struct figure figure);
void resolving_fill(struct resolving *resolving, int declaration, struct figure figure);

// Marks the input as given after an error, so that one mistake is not also reported as a missing
// input.
void resolving_pretend(struct resolving *resolving, const char *input);

// Whether the input has a figure in the base case. False for -1.
bool resolving_has(const struct resolving *resolving, int declaration);

// A cell of the catalogue as a figure; false if it is blank.
bool resolving_cell(const struct table *table, size_t row, const char *column,
                    struct figure *figure);

#endif
