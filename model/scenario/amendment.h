// amendment: keys of a question's section that replace the scenario's, for the workload and for one
// option: "model = llama-2-70b", "throughput.h200 = 900 token/s". They keep their places in the
// user's own text.
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
  struct selections workload, option; // name NULL: as in the scenario
  struct inputs *inputs;              // of the option, above all its layers
  struct arena *arena;
};

// An amendment that changes nothing yet.
struct amendment *amendment_new(const struct scenario *scenario, struct arena *arena);

// Takes a key as NAME of the workload or of the option. Errors are at the key's value, as in
// [workload] and [option ID]. `name` must be a selection or an input there.
void amendment_take_workload(struct amendment *amendment, const char *name,
                             const struct ini_key *key, struct diagnostics *diagnostics);
void amendment_take_option(struct amendment *amendment, const char *name, const struct ini_key *key,
                           struct diagnostics *diagnostics);

// Replaces entries of figures[model->count] with the option's amended inputs.
void amendment_apply(const struct amendment *amendment, const struct figure **figures);

// The reason why an option has no throughput for an amended workload.
enum lack_kind {
  LACK_NONE,
  LACK_EVIDENCE, // none is stated, measured or published
  LACK_RATE,     // the interactivity is out of reach
  LACK_NAMED     // the evidence that the amendment names is missing or contradicts something
};

struct lack {
  enum lack_kind kind;
  struct place place; // of the key that asked for it
  const char *why;    // in words
};

#endif
