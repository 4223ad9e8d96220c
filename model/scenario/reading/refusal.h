// refusal: a key of a section, or of --set, that says nothing where it stands.
//
// A key is offered to what may stand there: inputs, keys that stand for inputs, selections, keys of
// [scenario]. One that none of them takes is refused here, with one error at the key, for the first
// of these reasons that applies:
//
//   prefix        OPTION.KEY, but there is no such option
//   misplaced     a selection, a key of [scenario] or an input, which belongs elsewhere
//   idle          an exchange rate, in a report that is in USD
//   computed      a line item of the cost model
//   misspelt      any other name; the error suggests the nearest of those that may stand there
//
// What an input's misplaced or misspelt key meant is not reported as missing, too: it is noted in
// scenario->meant.
//
// An empty key takes back what an inherited file states in the same place; both are then no longer
// in the text (inheritance.h). One that is still there takes back nothing, which is an error at its
// value.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_REFUSAL_H
#define PERTOKEN_MODEL_SCENARIO_READING_REFUSAL_H

#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/reading.h"

// Reports an unknown or misplaced key. `section`: the one with the key; NULL for a key of --set,
// without the name of a common section.
void refuse_key(struct reading *reading, const struct ini_section *section,
                const struct ini_key *key);

// An empty key. `name`: without an option.
void refuse_empty(struct reading *reading, enum origin origin, const char *name,
                  const struct ini_key *key);

// An error at `place`: an input of a purchase, or a range on it, for a rented option.
void refuse_rented(struct diagnostics *diagnostics, struct place place, const char *input,
                   const char *option);

#endif
