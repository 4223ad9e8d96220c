// claim_concurrency: what of an option's memory is left beside its model, and for how many requests
// at once that is enough.
#ifndef PERTOKEN_MODEL_QUESTIONS_CLAIM_CONCURRENCY_H
#define PERTOKEN_MODEL_QUESTIONS_CLAIM_CONCURRENCY_H

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// What a claim may speak of: OPTION.concurrency, OPTION.node_concurrency, OPTION.memory_left.
enum claim_room { ROOM_CONCURRENCY, ROOM_NODE_CONCURRENCY, ROOM_MEMORY_LEFT, ROOM_KINDS };
extern const char *const claim_room_names[ROOM_KINDS];

// Requests at once that the memory of an option's accelerator, or of its node's, holds beside its
// model, each with the workload's context (model/evidence/fit.h): 0 where the model does not fit. Or the
// bytes of one accelerator beside the parameters in the workload's precision, none kept back.
// Returns 0, or -1 after an error at `place`: model, precision, context or memory are not known.
int claim_concurrency(const struct scenario *scenario, size_t option, enum claim_room room,
                      struct place place, double *value, struct diagnostics *diagnostics);

#endif
