// number_hint: what a number may have meant that is not written as one here, such as "30.000,50".
#ifndef PERTOKEN_MODEL_COST_NUMBER_HINT_H
#define PERTOKEN_MODEL_COST_NUMBER_HINT_H

#include "base/arena.h"

// How else to write the text, in brackets that follow an error, or "": with a point for decimals
// and without separators of thousands. A text with two readings ("2,300") gets both.
const char *number_hint(const char *text, struct arena *arena);

#endif
