// claim_concurrency: the memory of an option that its model leaves free, and the number of
// concurrent requests that it allows.
#ifndef PERTOKEN_MODEL_QUESTIONS_CLAIM_CONCURRENCY_H
#define PERTOKEN_MODEL_QUESTIONS_CLAIM_CONCURRENCY_H

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// The items a claim may use: OPTION.concurrency, OPTION.node_concurrency, OPTION.memory_left.
enum claim_room { ROOM_CONCURRENCY, ROOM_NODE_CONCURRENCY, ROOM_MEMORY_LEFT, ROOM_KINDS };
extern const char *const claim_room_names[ROOM_KINDS];

// The requests at once that fit beside the model in the memory of an option's accelerator, or of
// its node, each with the workload's context (model/evidence/fit.h): 0 if the model does not fit.
// Or the bytes of one accelerator beside the parameters in the workload's precision, without a
// reserve. Returns 0, or -1 after an error at `place`: model, precision, context or memory are
// unknown.
int claim_concurrency(const struct scenario *scenario, size_t option, enum claim_room room,
                      struct place place, double *value, struct diagnostics *diagnostics);

#endif
