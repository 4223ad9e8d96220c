// rent: rent or own, as decisions: one for each question that model/questions/rent.h answers.
#ifndef PERTOKEN_REPORTS_ANSWERS_RENT_H
#define PERTOKEN_REPORTS_ANSWERS_RENT_H

#include "reports/answers/questions.h"

bool rent_asked(const struct scenario *scenario);
answer_function answer_rent;

#endif
