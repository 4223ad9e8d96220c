#include "reports/answers/questions.h"

#include "reports/answers/audit.h"
#include "reports/answers/fit.h"
#include "reports/answers/rent.h"
#include "reports/answers/route.h"
#include "reports/answers/served.h"
#include "reports/answers/wait.h"

#include <string.h>

static const struct question questions[] = {
    {"fit", "it needs a [fit] section, or an interactivity in [workload]", fit_asked, answer_fit},
    {"rent",
     "it needs an owned and a rented option of one workload, whose fleets stay what they are, or a "
     "[rent NAME]",
     rent_asked, answer_rent},
    {"audit", "it needs a [claim NAME] with what is said", audit_asked, answer_audit},
    {"route", "it needs a [demand NAME] for each workload", route_asked, answer_route},
    {"wait", "it needs a [wait OPTION] section", wait_asked, answer_wait},
    {"served", "it needs an option whose throughput is from a serving record (--measurements)",
     served_asked, answer_served},
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
