// resolution: an option as a function of what its scenario states, the case and an amendment.
// Reading a scenario resolves every option as written; a question resolves one again for another
// workload or case, and nothing is read twice.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_RESOLUTION_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_RESOLUTION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/amendment.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// Resolves every option as written: figures and graph. Errors: inputs that exclude each other, that
// a rented option does not pay for, that have no effect without another or that another one needs;
// a case that gives an input that the option otherwise lacks; and what hardware.h, throughput.h and
// currency.h report.
void scenario_resolve(struct scenario *scenario, struct arena *arena,
                      struct diagnostics *diagnostics);

// Resolves option `number` with an amendment and evaluates it in every case, graded in the selected
// one, with its own warnings. NULL if it then has no throughput, with the reason in *lack, and
// after errors (lack->kind is LACK_NONE), which point to the user's own text.
const struct option *option_resolve(const struct scenario *scenario, size_t number,
                                    const struct amendment *amendment, struct lack *lack,
                                    struct arena *arena, struct diagnostics *diagnostics);

// The scenario with another case selected, and that case's grades and warnings. NULL after errors:
// a --set that affects no option in that case.
const struct scenario *scenario_in_case(const struct scenario *scenario, size_t which_case,
                                        struct arena *arena, struct diagnostics *diagnostics);

#endif
