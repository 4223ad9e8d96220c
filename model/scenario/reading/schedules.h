// schedules: the inputs that a scenario gives by year, or every so many months, from its text to
// each option's figures.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_SCHEDULES_H
#define PERTOKEN_MODEL_SCENARIO_READING_SCHEDULES_H

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

enum { MAX_PERIODS_PER_YEAR = 12 };

// Declares what the lists in the scenario's sections and in --set need, and the scale of an input
// with a range in %; before the user's own items, which may use them.
void schedules_declare(const struct reading *reading, struct model *model);

// Checks that the step of each list is a whole number of the scenario's periods.
void schedules_check_steps(const struct reading *reading, const struct model *model);

// An option that has a list in some case has one in all: a number is a list with one value, and
// beyond a list's end its last value holds. A value that is stated by itself (--set NAME_year_2)
// has priority over a list of the same or a weaker layer.
void schedules_settle(const struct resolving *resolving);

// Warns of values beyond the horizon, in the selected case.
void schedules_warn(struct scenario *scenario, struct arena *arena);

#endif
