// step: the step of a list that does not go by year: "512, 1024 gpu every 6 month".
//
// The first value holds from the purchase until the first step of operation is over, the next until
// the second is, and the last from then on. Beside `year`, a model has a series for each step that
// its lists have:
//   step_6_month = floor(elapsed / 6 month)
// A step is a whole number of periods; which, reading/schedules.h checks.
#ifndef PERTOKEN_MODEL_COST_STEP_H
#define PERTOKEN_MODEL_COST_STEP_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/list_text.h"
#include "model/cost/model.h"

#include <stdbool.h>

enum { MAX_STEP_YEARS = 30 }; // the longest horizon that tco.ini allows

// Splits "512, 1024 gpu every 6 month" into *values, "512, 1024 gpu", and the step, "6 month". A
// list by year has no step: its text is NULL, and *values is the whole text.
struct list_value step_split(const char *text, struct place place, const char **values,
                             struct arena *arena);

// Refuses a step that follows a single value. Returns true after an error.
bool step_refuse_lone(const char *text, struct place place, struct diagnostics *diagnostics);

// The time of a step in hours; 0 after an error.
double step_time(const struct list_value *step, struct diagnostics *diagnostics);

// "6 month", "2 yr", "73 day": a time in hours as the texts of a scenario have it.
const char *step_text(double hours, struct arena *arena);

// How the values of an input's list follow one another: "by year", "every 6 month".
const char *step_words(double hours, struct arena *arena);

// The series that counts the steps of that many hours, from 0; `place` is that of the first list
// with this step. -1 after an error: its name is taken, or the model has no `elapsed`.
int step_declare(struct model *model, double hours, struct place place,
                 struct diagnostics *diagnostics);

#endif
