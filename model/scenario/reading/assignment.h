// assignment: KEY = VALUE of a scenario's sections, and after --set, as an input of a layer or a
// selection.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_ASSIGNMENT_H
#define PERTOKEN_MODEL_SCENARIO_READING_ASSIGNMENT_H

#include "base/ini.h"
#include "model/scenario/reading/reading.h"

#include <stdbool.h>

// Assigns what [scenario], [workload], [common], every [option] and [case] and --set say to
// reading->inputs and to the selections. KEY is common, OPTION.KEY of an option; after --set also
// scenario.KEY, workload.KEY and common.KEY. Errors: unknown keys and options, a key in two common
// sections, a selection in a case, and what the values' readers report.
void assign_all(struct reading *reading);

// The error of a name that is not an input: what it is instead, or the nearest input. `where` it
// stands, in words; `selections`: could it have been one?
void reading_unknown_key(struct reading *reading, const char *name, const struct ini_key *key,
                         const char *where, bool selections);

#endif
