// route: the assignment of workloads to options at the lowest cost (model/questions/route.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_ROUTE_H
#define PERTOKEN_REPORTS_ANSWERS_ROUTE_H

#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

bool route_asked(const struct scenario *scenario);
answer_function answer_route;

#endif
