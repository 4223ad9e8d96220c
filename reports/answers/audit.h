// audit: whether all of a vendor's claims can be true (model/questions/audit.h).
#ifndef PERTOKEN_REPORTS_ANSWERS_AUDIT_H
#define PERTOKEN_REPORTS_ANSWERS_AUDIT_H

#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

bool audit_asked(const struct scenario *scenario);
answer_function answer_audit;

#endif
