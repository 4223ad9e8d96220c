// effect: whether what --set or a case says about all options has any effect.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_EFFECT_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_EFFECT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"

// Reports a --set that affects no option, because each has its own value or selection. Warns in
// scenario->warnings of one that does not affect some options, and of a case's key that affects
// none.
void effect_check_reach(struct scenario *scenario, struct arena *arena,
                        struct diagnostics *diagnostics);

// The same, once the options are resolved, of what no option uses: what does not go with its other
// values.
void effect_check_use(struct scenario *scenario, struct arena *arena,
                      struct diagnostics *diagnostics);

#endif
