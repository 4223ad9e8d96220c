// decide_rent: rent or own, as decisions: one for each question that model/rent.h answers.
#ifndef PERTOKEN_DECIDE_RENT_H
#define PERTOKEN_DECIDE_RENT_H

#include "reports/decisions.h"

bool rent_asked(const struct scenario *scenario);
decide_function decide_rent;

#endif
