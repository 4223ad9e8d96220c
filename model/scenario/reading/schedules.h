// schedules: the inputs that a scenario gives by year, from its text to each option's figures.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_SCHEDULES_H
#define PERTOKEN_MODEL_SCENARIO_READING_SCHEDULES_H

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

// Declares what the lists of the scenario's sections and of --set need, and the scale of an input
// with a range in %; before the user's own items, which may read them.
void schedules_declare(const struct reading *reading, struct model *model);

// An option that has a list in some case has one in all: a number is a list of one, and what a
// list does not reach is its last value. A value that is stated by itself (--set NAME_year_2) goes
// before the same or a weaker layer's list.
void schedules_settle(const struct resolving *resolving);

// Warns of values beyond the horizon, in the selected case.
void schedules_warn(struct scenario *scenario, struct arena *arena);

#endif
