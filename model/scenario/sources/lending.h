// lending: a token API that serves as many tokens as another option does (`tokens_of = ID`). It
// takes every input from which these follow, and computes the same number: whatever changes one
// changes the other.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_LENDING_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_LENDING_H

#include "model/scenario/resolving.h"

#include <stdbool.h>

// Whether the option asks for another option's tokens.
bool tokens_are_lent(const struct resolving *resolving);

// Takes the other option's figures in every case, and records which in lender and lent, after all
// options without tokens_of are resolved, and this one except for its graph. From an option with a
// demand, it takes the demand. Errors: no such option; one that is a token API, or whose
// accelerators change or are renewed without a demand; a demand of its own; an option with
// accelerators of its own; an input that both have with different values. Returns 0 or -1.
int tokens_lend(struct resolving *resolving);

// Also marks in lent what the option computes from these and uses for nothing else, as it would not
// have that with a demand. Call after its graph is built from what is given.
void tokens_hide(const struct resolving *resolving);

#endif
