// assignment: KEY = VALUE in a scenario's sections, and in --set, as an input of a layer or a
// selection.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_ASSIGNMENT_H
#define PERTOKEN_MODEL_SCENARIO_READING_ASSIGNMENT_H

#include "model/scenario/reading/reading.h"

// Assigns the keys of [scenario], [workload], [common], every [option] and [case], and --set to
// reading->inputs and to the selections. KEY is common, OPTION.KEY belongs to an option; with --set
// also scenario.KEY, workload.KEY and common.KEY. Errors: keys that refusal.h refuses, a key in two
// common sections, one of --set with two prefixes, and errors in the values. Warns of settings that
// a later one replaces.
void assign_all(struct reading *reading);

#endif
