// user_rate: the batch at which users get a rate on average, or an answer in time: interactivity,
// ttft and tpot choose it on a curve over the batch.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_USER_RATE_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_USER_RATE_H

#include "base/source.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/scenario/amendment.h"
#include "model/scenario/option.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>

struct curve_limits user_rate_limits(const struct sources *sources);

// The place at which the first of the limits is stated; one must be.
struct place user_rate_place(const struct option *option);

// Gives the option a curve on which a choice has been made, and the batch that follows from it.
void user_rate_take(const struct sources *sources, const struct curve *curve);

// Chooses the place on a curve by the option's limits: sets its choice, curve and batch.
struct lack user_rate_choose(const struct sources *sources, const struct curve *curve);

// The grade, and the words for the source of its curve, after the option's choice: of its
// throughput, and of its watts.
enum grade user_rate_grade(const struct option *option, enum grade grade);
enum grade user_rate_power_grade(const struct option *option, enum grade grade);
const char *user_rate_words(const struct sources *sources, const char *source);
const char *user_rate_power_words(const struct sources *sources, const char *source);

#endif
