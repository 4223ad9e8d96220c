// questions: which questions about buying a scenario asks, and which function answers each.
//
// A question has sections of its own in the scenario's file (see scenario.questions), or is implied
// by the options. To add one: a file KIND.c with its two functions, and a line in questions.c.
#ifndef PERTOKEN_REPORTS_ANSWERS_QUESTIONS_H
#define PERTOKEN_REPORTS_ANSWERS_QUESTIONS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

struct question {
  const char *kind;       // "rent"
  const char *how_to_ask; // what to add to a scenario that does not: "a [plan], and ..."
  bool (*asked)(const struct scenario *scenario); // cheap; for the sheet Decisions
  answer_function *answer;
  // Which options cannot be asked about, and why; "" for none. NULL if that needs no words.
  const char *(*why_not)(const struct scenario *scenario, struct arena *arena);
};

// The question of that kind, or NULL.
const struct question *question_find(const char *kind);

// All answers to what the scenario asks, in the order of the table. Returns 0 or -1.
int questions_answer(const struct scenario *scenario, struct answers *answers, struct arena *arena,
                     struct diagnostics *diagnostics);

#endif
