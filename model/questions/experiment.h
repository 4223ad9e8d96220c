// experiment: the claims of an audit as functions of the free quantities, for the searches of
// model/optimise/search.h: the free quantities, and an input whose needed value is sought, are
// coordinates from 0 to 1; every claim is the scenario's own cost model at that point, under its
// own conditions.
#ifndef PERTOKEN_MODEL_QUESTIONS_EXPERIMENT_H
#define PERTOKEN_MODEL_QUESTIONS_EXPERIMENT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/optimise/search.h"
#include "model/questions/claim.h"
#include "model/scenario/reading/free.h"
#include "model/whatif/response.h"

#include <stdbool.h>
#include <stddef.h>

enum {
  EXPERIMENT_SLOTS = 256,
  EXPERIMENT_FREES = MAX_SEARCH_DIMENSIONS - 1, // the input that is sought is one more
};

// An input of one option that is free, or set by a condition.
struct slot {
  size_t option;
  int declaration;
};

// A slot's value under the conditions of a claim: a factor times a coordinate's value, or a number.
struct slot_value {
  int coordinate; // -1: none
  double factor;  // or the value
};

struct coordinate {
  double low, high;
  bool by_ratio;
};

// The setup that all experiments with the same claims share.
struct experiment_setup {
  const struct claims *claims;
  const struct response *response;
  double *workspace;
  struct slot slots[EXPERIMENT_SLOTS];
  int slot_count;
  const int *items; // of the response
  size_t item_count;
  const bool *wanted;     // [option][item]: a claim's item may exist in only some options
  int set_of[MAX_CLAIMS]; // the conditions of each claim; 0: none
  int set_count;
  const struct free_quantity *frees[EXPERIMENT_FREES]; // the first coordinates
  int free_count;
  double scales[MAX_CLAIMS]; // for the claims' values
  struct arena *arena;
};

// Claims as functions of coordinates.
struct experiment {
  const struct experiment_setup *setup;
  struct coordinate coordinates[MAX_SEARCH_DIMENSIONS];
  int coordinate_count;
  struct slot_value (*assignments)[EXPERIMENT_SLOTS]; // [set_count]
  struct search search;
};

// Completes `setup`, which is zero except its frees: afterwards everything but its scales is set.
// -1 after errors: too many inputs are free or set by conditions. The caller frees the workspace.
int experiment_setup_make(struct experiment_setup *setup, const struct claims *claims,
                          struct arena *arena, struct diagnostics *diagnostics);

// The value between a coordinate's ends; a range that spans more than a factor of 20 is scaled by
// ratios.
struct coordinate coordinate_of(double low, double high);
double coordinate_value(const struct coordinate *coordinate, double at);

// Frees become coordinates, unless `still`: then everything is as the scenario states it. Bare: the
// claims' conditions have yet to be applied, on top of their inputs' other values.
struct experiment *experiment_new(const struct experiment_setup *setup, bool still);
struct experiment *experiment_bare(const struct experiment_setup *setup, bool still);
void experiment_apply_conditions(struct experiment *experiment);

// Prepares its search, once it has all coordinates.
void experiment_start(struct experiment *experiment);

// Evaluates all claims at a point, each in units of its scale.
void experiment_evaluate(const struct experiment *experiment, const double *at, double *values);

#endif
