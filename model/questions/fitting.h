// fitting: how a scenario's options fit into their accelerators' memory: [fit] and each option's
// workload, resolved.
//
//   [fit]
//     context           tokens of input and output that a request holds; by default the option's
//                       input_tokens and output_tokens, or [workload] context
//     kv                the precision of the cache; by default [workload] kv, or bf16
//     accelerators      that share the model; by default the fewest that hold a request
//     nodes_per_replica that share it; by default one, or the fewest that hold a request
//     memory_share, prefill_chunk
//                       as in struct fit_terms
#ifndef PERTOKEN_MODEL_QUESTIONS_FITTING_H
#define PERTOKEN_MODEL_QUESTIONS_FITTING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/fit.h"
#include "model/evidence/memory.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// The fit of one option.
struct option_fit {
  const struct option *option;
  const char *precision;
  struct fit_terms terms;
  struct fit_device device;
  struct memory_model model;
  struct fit fit;
};

// Why an option's rate is doubtful if a replica spans nodes: scaling_efficiency does not state the
// loss, and no evidence covers that many accelerators. NULL: it is not.
const char *fitting_rate_doubt(const struct scenario *scenario, const struct option *option,
                               const struct fit *fit, struct arena *arena);

// Whether the scenario has a [fit] section or requires an interactivity.
bool fitting_is_asked(const struct scenario *scenario);

// How the model fits each option with accelerators, in the arena: [*count]. NULL after errors:
// there are none; an unknown model, precision, memory or context.
struct option_fit *fitting_of(const struct scenario *scenario, size_t *count, struct arena *arena,
                              struct diagnostics *diagnostics);

#endif
