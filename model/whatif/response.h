// response: what chosen line items of a scenario's options become as a few inputs vary, for many
// draws of them.
//
// What does not depend on a variable is computed once; the rest is a short list of operations on
// blocks of VECTOR_BLOCK draws. The results are those of evaluate() but for the last bits of powers
// (1e-12 relative, unless a formula takes the difference of nearly equal numbers). Where a formula
// multiplies by a constant zero, the other factor is never computed, so that an infinity in it goes
// unseen.
//
// A response is only read when it runs: any number of threads may share one, each with a workspace
// of its own.
#ifndef PERTOKEN_MODEL_WHATIF_RESPONSE_H
#define PERTOKEN_MODEL_WHATIF_RESPONSE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

struct response_request {
  const struct scenario *scenario;
  int periods;          // of a series; 1 and the longest horizon of any draw
  const int *variables; // [option_count][model->count]: the variable that an input of an option is,
                        // or -1 for its value in the selected case;
                        // of no effect where the option computes it
  int variable_count;
  int late_variables; // how many of them, the last ones, change between a run and its reruns
  const int *items;   // scalars
  size_t item_count;
  const bool *wanted; // [option_count][item_count]; NULL: every item of every option
};

struct response;

// The scenario must outlive the call, not the response. A wanted item that an option does not have
// is an error. NULL after errors.
const struct response *response_new(const struct response_request *request, struct arena *arena,
                                    struct diagnostics *diagnostics);

// A workspace of one thread, to be freed with response_workspace_free; NULL without memory.
double *response_workspace_new(const struct response *response);
void response_workspace_free(double *workspace);

// Where the VECTOR_BLOCK draws of a variable are written before response_run, which leaves them
// there; those of the next variable follow.
double *response_variable(double *workspace, int variable);

// Computes the wanted items of VECTOR_BLOCK draws, in base units.
void response_run(const struct response *response, double *workspace);

// The same where only late variables changed since response_run: what depends on them alone.
void response_rerun(const struct response *response, double *workspace);

// An item (its place in the request) of an option, after response_run: [VECTOR_BLOCK]; NULL where
// it is not wanted.
const double *response_item(const struct response *response, const double *workspace, size_t option,
                            size_t item);

// Operations per block: what a run costs.
size_t response_steps(const struct response *response);

#endif
