// lending: a token API that serves as many tokens as another option does (`tokens_of = ID`). It takes
// every input that these follow from, and computes the same number: what moves the one moves the other.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_LENDING_H
#define PERTOKEN_MODEL_SCENARIO_READING_LENDING_H

#include "model/cost/graph.h"
#include "model/scenario/resolving.h"

#include <stdbool.h>

// Does the option ask for another one's tokens?
bool tokens_are_lent(const struct resolving *resolving);

// After all options that ask for none are resolved, and this one but for its graph: takes the other's
// figures in every case, and says in lender and lent which. Of an option with a demand, the demand is
// taken. Errors: no such option; one that is a token API, or whose accelerators change or are renewed
// without a demand; a demand beside it; an option with accelerators of its own; an input that both
// have and that is not the same in both. Returns 0 or -1.
int tokens_lend(struct resolving *resolving);

// After its graph is built, of what is given: says in lent, too, what it computes from these and has no
// other use for, as it would not have it beside a demand.
void tokens_hide(const struct resolving *resolving, enum given *given);

#endif
