#include "model/scenario/amendment.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/figure.h"

#include <stdbool.h>

// An amendment has one option without cases: its inputs need only the layer of --set OPTION.KEY.
static const struct layer amended = {.origin = ORIGIN_SET_OPTION, .option = 0};

struct amendment *amendment_new(const struct scenario *scenario, struct arena *arena) {
  struct amendment *amendment = arena_alloc(arena, sizeof *amendment);
  *amendment = (struct amendment){
      .scenario = scenario, .inputs = inputs_new(scenario->model, 1, 1, arena), .arena = arena};
  return amendment;
}

void amendment_take_workload(struct amendment *amendment, const char *name,
                             const struct ini_key *key, struct diagnostics *diagnostics) {
  selection_take(&amendment->workload, ORIGIN_COMMON, name, key, amendment->scenario->catalog,
                 amendment->arena, diagnostics);
}

void amendment_take_option(struct amendment *amendment, const char *name, const struct ini_key *key,
                           struct diagnostics *diagnostics) {
  // The key counts as if the option named it, so a throughput that the option states contradicts
  // it.
  if (selection_take(&amendment->option, ORIGIN_OPTION, name, key, amendment->scenario->catalog,
                     amendment->arena, diagnostics))
    return;
  inputs_assign(amendment->inputs, amended, name, key, diagnostics);
  inputs_finish(amendment->inputs, diagnostics);
}

void amendment_apply(const struct amendment *amendment, const struct figure **figures) {
  inputs_apply(amendment->inputs, amended, figures);
}
