// questions: which questions about buying a scenario asks, and who answers them.
//
// A question has sections of its own in the scenario's file (see scenario.questions), or is asked
// by the options that are there. To add one: a file decide_KIND.c with its function, and a line in
// questions.c.
#ifndef PERTOKEN_REPORTS_ANSWERS_QUESTIONS_H
#define PERTOKEN_REPORTS_ANSWERS_QUESTIONS_H

#include "reports/answers/answer.h"

// Answers all questions of one kind. `only`: the name of one of them (--for), or NULL. Returns 0
// with any number of answers (none: the scenario does not ask), or -1 after errors.
typedef int answer_function(const struct scenario *scenario, const char *only,
                            struct answers *answers, struct arena *arena,
                            struct diagnostics *diagnostics);

struct question {
  const char *kind;       // "rent"
  const char *how_to_ask; // for a scenario that does not: "it needs an owned and a rented option"
  bool (*asked)(const struct scenario *scenario); // cheap; for the sheet Decisions
  answer_function *answer;
};

// The question of that kind, or NULL.
const struct question *question_find(const char *kind);

// Every answer to what the scenario asks, in the order of the table. Returns 0 or -1.
int questions_answer(const struct scenario *scenario, struct answers *answers, struct arena *arena,
                     struct diagnostics *diagnostics);

// The answer of that name, or NULL.
const struct answer *answer_find(const struct answers *answers, const char *name);

// The questions: of each KIND, in reports/decide_KIND.c,
//   bool KIND_asked(const struct scenario *scenario);
//   answer_function decide_KIND;
bool audit_asked(const struct scenario *scenario);
answer_function answer_audit;
bool route_asked(const struct scenario *scenario);
answer_function answer_route;
bool wait_asked(const struct scenario *scenario);
answer_function answer_wait;

#endif
