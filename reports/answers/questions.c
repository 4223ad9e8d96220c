#include "reports/answers/questions.h"

#include "reports/answers/audit.h"
#include "reports/answers/fit.h"
#include "reports/answers/rent.h"
#include "reports/answers/route.h"
#include "reports/answers/served.h"
#include "reports/answers/wait.h"
#include "reports/plans/answer.h"

#include <string.h>

static const struct question questions[] = {
    {"fit", "a [fit] section, or an interactivity in [workload]", fit_asked, answer_fit, NULL},
    {"rent",
     "an owned and a rented option with the same workload and constant fleets, or a [rent NAME] "
     "with "
     "rates for such an owned one; 'pertoken compare' shows all others side by side",
     rent_asked, answer_rent, rent_why_not},
    {"audit", "a [claim NAME] section with the claim", audit_asked, answer_audit, NULL},
    {"route", "a [demand NAME] for each workload, without a [plan]", route_asked, answer_route,
     NULL},
    {"plan", "a [plan], and a [demand NAME] for each workload", plan_asked, answer_plan, NULL},
    {"wait", "a [wait OPTION] section", wait_asked, answer_wait, NULL},
    {"served", "an option whose throughput is from a serving record (--measurements)", served_asked,
     answer_served, NULL},
    {.kind = NULL},
};

const struct question *question_find(const char *kind) {
  for (const struct question *question = questions; question->kind; question++)
    if (!strcmp(question->kind, kind))
      return question;
  return NULL;
}

int questions_answer(const struct scenario *scenario, struct answers *answers, struct arena *arena,
                     struct diagnostics *diagnostics) {
  *answers = (struct answers){0};
  for (const struct question *question = questions; question->kind; question++)
    if (question->asked(scenario) && question->answer(scenario, NULL, answers, arena, diagnostics))
      return -1;
  return 0;
}
