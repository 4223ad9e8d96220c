// distribution_text: reads a range as people write it, "pert(14, 18, 22) %", as a distribution.
#ifndef PERTOKEN_MODEL_CHANCE_DISTRIBUTION_TEXT_H
#define PERTOKEN_MODEL_CHANCE_DISTRIBUTION_TEXT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/chance/distribution.h"
#include "model/cost/model.h"

// Reads a range of an input, in the forms of model/chance/distribution.h. Errors, with line and
// column: an unknown name (with the nearest known one), a wrong number of parameters, LOW not below
// HIGH, a mode outside them, a deviation or weight that is not above zero, a factor not above 1, a
// value outside the input's limits, a wrong unit. `from measurement` sets only the kind;
// distribution_measure completes it. Returns 0 or -1.
int distribution_parse(const char *text, struct place place, const struct declaration *input,
                       struct distribution *out, struct arena *arena,
                       struct diagnostics *diagnostics);

#endif
