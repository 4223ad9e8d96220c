// rent: rent or own (model/questions/rent.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_RENT_H
#define PERTOKEN_REPORTS_ANSWERS_RENT_H

#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

bool rent_asked(const struct scenario *scenario);
answer_function answer_rent;

#endif
