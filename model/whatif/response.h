// response: chosen line items of a scenario's options as functions of a few inputs, for many draws
// of these.
//
// What does not depend on a variable is computed once; the rest is a short list of operations on
// blocks of VECTOR_BLOCK draws. The results are those of evaluate() except for the last bits of
// powers (1e-12 relative, unless a formula takes the difference of nearly equal numbers). If a
// formula multiplies by a constant zero, the other factor is not computed, so that an infinity in
// it is not noticed.
//
// Running does not change a response: any number of threads may share one, each with its own
// workspace.
#ifndef PERTOKEN_MODEL_WHATIF_RESPONSE_H
#define PERTOKEN_MODEL_WHATIF_RESPONSE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

struct response_request {
  const struct scenario *scenario;
  int periods;          // of a series; 1 plus the longest horizon of any draw
  const int *variables; // [option_count][model->count]: the variable for an option's input,
                        // or -1 for its value in the selected case;
                        // no effect if the option computes it
  int variable_count;
  int late_variables; // how many of them, the last ones, change between a run and its reruns
  const int *items;   // scalars
  size_t item_count;
  const bool *wanted; // [option_count][item_count]; NULL: every item of every option
};

struct response;

// The scenario must outlive the call, not the response. It is an error if an option lacks a wanted
// item. NULL after errors.
const struct response *response_new(const struct response_request *request, struct arena *arena,
                                    struct diagnostics *diagnostics);

// A workspace for one thread, to be freed with response_workspace_free; NULL if memory has run out.
double *response_workspace_new(const struct response *response);
void response_workspace_free(double *workspace);

// The memory for the VECTOR_BLOCK draws of a variable, to be filled before response_run, which
// leaves them unchanged; those of the next variable follow.
double *response_variable(double *workspace, int variable);

// Computes the wanted items of VECTOR_BLOCK draws, in base units.
void response_run(const struct response *response, double *workspace);

// The same if only late variables changed since response_run: computes only what depends on them.
void response_rerun(const struct response *response, double *workspace);

// An item of an option (by its index in the request), after response_run: [VECTOR_BLOCK]; NULL if
// it is not wanted.
const double *response_item(const struct response *response, const double *workspace, size_t option,
                            size_t item);

// Operations per block: the cost of a run.
size_t response_steps(const struct response *response);

#endif
