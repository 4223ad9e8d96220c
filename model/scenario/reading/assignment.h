// assignment: KEY = VALUE in a scenario's sections, and in --set, as an input of a layer or a
// selection.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_ASSIGNMENT_H
#define PERTOKEN_MODEL_SCENARIO_READING_ASSIGNMENT_H

#include "base/ini.h"
#include "model/scenario/reading/reading.h"

#include <stdbool.h>

// Assigns the keys of [scenario], [workload], [common], every [option] and [case], and --set to
// reading->inputs and to the selections. KEY is common, OPTION.KEY belongs to an option; with --set
// also scenario.KEY, workload.KEY and common.KEY. Errors: unknown keys and options, a key in two
// common sections, a selection in a case, and errors in the values. Warns of settings that a later
// one replaces.
void assign_all(struct reading *reading);

// The error for a name that is not an input: what it is instead, or the nearest input. `where`: its
// place, in words; `selections`: whether a selection is allowed there.
void reading_unknown_key(struct reading *reading, const char *name, const struct ini_key *key,
                         const char *where, bool selections);

// OPTION.NAME, or NAME of all options.
struct prefixed {
  const char *id; // as written, whether there is such an option or not; NULL: of all options
  int option;     // -1: of all options, or there is none
  const char *name;
};
struct prefixed reading_prefixed(const struct reading *reading, const char *key);

#endif
