// wait: buy now, or order later and rent in the meantime (model/questions/wait.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_WAIT_H
#define PERTOKEN_REPORTS_ANSWERS_WAIT_H

#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

bool wait_asked(const struct scenario *scenario);
answer_function answer_wait;

#endif
