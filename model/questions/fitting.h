// fitting: how a scenario's options fit into their accelerators' memory: what [fit] and each option's
// workload say, resolved.
//
//   [fit]
//     context           tokens of input and output that a request holds; without it the option's
//                       input_tokens and output_tokens, or [workload] context
//     kv                the precision of the cache; without it [workload] kv, or bf16
//     accelerators      that share the model; without it the fewest that hold a request
//     nodes_per_replica that share it; without it one, or the fewest that hold a request
//     memory_share, prefill_chunk
//                       as struct fit_terms has them
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

// Of one option.
struct option_fit {
  const struct option *option;
  const char *precision;
  struct fit_terms terms;
  struct fit_device device;
  struct memory_model model;
  struct fit fit;
};

// What is wrong with an option's rate where a replica spans nodes: that nobody says what is lost on
// the way, by scaling_efficiency, and no evidence is of so many accelerators. NULL: nothing.
const char *fitting_rate_doubt(const struct scenario *scenario, const struct option *option,
                               const struct fit *fit, struct arena *arena);

// Whether the scenario has a [fit] section or wants an interactivity.
bool fitting_is_asked(const struct scenario *scenario);

// Of each option with accelerators, in the arena: [*count]. NULL after errors: none of them; a model,
// precision, memory or context that is not known.
struct option_fit *fitting_of(const struct scenario *scenario, size_t *count, struct arena *arena,
                              struct diagnostics *diagnostics);

#endif
