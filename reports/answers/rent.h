// rent: rent or own (model/questions/rent.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_RENT_H
#define PERTOKEN_REPORTS_ANSWERS_RENT_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

bool rent_asked(const struct scenario *scenario);
answer_function answer_rent;

// Which options are not compared, and why: "own changes from year to year (see its 'in_service')".
const char *rent_why_not(const struct scenario *scenario, struct arena *arena);

#endif
