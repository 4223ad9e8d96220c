// claim_concurrency: how many requests at once an option of a scenario has the memory for.
#ifndef PERTOKEN_MODEL_QUESTIONS_CLAIM_CONCURRENCY_H
#define PERTOKEN_MODEL_QUESTIONS_CLAIM_CONCURRENCY_H

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// Requests at once that the memory of an option's accelerator, or of its node's, holds beside its
// model, each with the workload's context (model/evidence/fit.h): 0 where the model does not fit.
// Returns 0, or -1 after an error at `place`: model, precision, context or memory are not known.
int claim_concurrency(const struct scenario *scenario, size_t option, bool of_node,
                      struct place place, double *requests, struct diagnostics *diagnostics);

#endif
