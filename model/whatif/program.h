// program: the cost model of all options of a scenario, compiled for many draws of a few inputs.
//
// Everything that does not depend on a variable is computed once, here; what is left is a short
// list of steps over vectors of VECTOR_BLOCK draws. The results are those of evaluate() but for
// their last bits (1e-12 relative, unless a formula takes the difference of nearly equal numbers).
// Where a formula multiplies by a constant zero, the other factor is never computed, so that an
// infinity in it goes unseen.
//
// A program is only read when it runs: any number of threads may share one, each with a workspace
// of its own.
#ifndef PERTOKEN_MODEL_WHATIF_PROGRAM_H
#define PERTOKEN_MODEL_WHATIF_PROGRAM_H

#include "model/chance/vector.h"
#include "model/scenario/scenario.h"

struct program_request {
  const struct scenario *scenario;
  int periods;          // of a series; 1 and the longest horizon of any draw
  const int *variables; // [option_count][model->count]: the variable that an input of an option is,
                        // or -1 for its value in the selected case;
                        // of no effect where the option computes it
  int variable_count;
  const int *items; // scalars
  size_t item_count;
  const bool *wanted; // [option_count][item_count]; NULL: every item of every option
};

struct program;

// The scenario must outlive the call, not the program. A wanted item that an option does not have
// is an error. NULL after errors.
struct program *program_build(const struct program_request *request, struct arena *arena,
                              struct diagnostics *diagnostics);

// A workspace of one thread, to be freed with program_workspace_free.
double *program_workspace_new(const struct program *program);
void program_workspace_free(double *workspace);

// Where the draws of a variable are written before program_run, which leaves them there.
double *program_variable(const struct program *program, double *workspace, int variable);

// Computes the wanted items of VECTOR_BLOCK draws, in base units.
void program_run(const struct program *program, double *workspace);

// An item (its place in the request) of an option, after program_run; 0 where it is not wanted.
const double *program_result(const struct program *program, const double *workspace, size_t option,
                             size_t item);

// Does the item depend on a variable?
bool program_depends(const struct program *program, size_t option, size_t item, int variable);

// Steps per block: what a run costs.
size_t program_steps(const struct program *program);

#endif
