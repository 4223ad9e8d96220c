// amendment: keys of a question's section that stand in place of the scenario's, for the workload
// and for one option: "model = llama-2-70b", "throughput.h200 = 900 token/s". They keep their places
// in the user's own text.
#ifndef PERTOKEN_MODEL_SCENARIO_AMENDMENT_H
#define PERTOKEN_MODEL_SCENARIO_AMENDMENT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

struct amendment {
  const struct scenario *scenario;
  struct selections workload, option; // name NULL: as the scenario has it
  struct inputs *inputs;              // of the option, above all its layers
  struct arena *arena;
};

// Amends nothing yet.
struct amendment *amendment_new(const struct scenario *scenario, struct arena *arena);

// Takes a key as NAME of the workload or of the option. Errors at the key's value, as in [workload]
// and [option ID]. `name` must be a selection or an input there.
void amendment_take_workload(struct amendment *amendment, const char *name,
                             const struct ini_key *key, struct diagnostics *diagnostics);
void amendment_take_option(struct amendment *amendment, const char *name, const struct ini_key *key,
                           struct diagnostics *diagnostics);

// Puts the option's inputs over figures[model->count].
void amendment_apply(const struct amendment *amendment, const struct figure **figures);

// Why an option has no throughput for an amended workload.
enum lack_kind {
  LACK_NONE,
  LACK_EVIDENCE, // nobody states one, and none is measured or published
  LACK_RATE,     // the interactivity is out of reach
  LACK_NAMED     // the evidence that the amendment names is not there, or contradicts something
};

struct lack {
  enum lack_kind kind;
  struct place place; // of what asked for it
  const char *why;    // in words
};

#endif
