#include "reports/answers/questions.h"

#include "reports/answers/fit.h"
#include "reports/answers/rent.h"

#include <string.h>

bool route_asked(const struct scenario *scenario);
answer_function answer_route;
bool wait_asked(const struct scenario *scenario);
answer_function answer_wait;

static const struct question questions[] = {
    {"fit", "it needs a [fit] section, or an interactivity in [workload]", fit_asked, answer_fit},
    {"rent", "it needs an owned and a rented option of one workload, or a [rent NAME]", rent_asked,
     answer_rent},
    {"audit", "it needs a [claim NAME] with what is said", audit_asked, answer_audit},
    {"route", "it needs a [demand NAME] for each workload", route_asked, answer_route},
    {"wait", "it needs a [wait OPTION] section", wait_asked, answer_wait},
    {.kind = NULL},
};

const struct question *question_find(const char *kind) {
  for (const struct question *question = questions; question->kind; question++)
    if (!strcmp(question->kind, kind))
      return question;
  return NULL;
}

// Joins what one question answers to what is there.
static void append(struct answers *all, const struct answers *more, struct arena *arena) {
  struct answer *list = arena_array(arena, all->count + more->count + 1, sizeof *list);
  for (size_t i = 0; i < all->count + more->count; i++)
    list[i] = i < all->count ? all->list[i] : more->list[i - all->count];
  *all = (struct answers){list, all->count + more->count};
}

int questions_answer(const struct scenario *scenario, struct answers *answers, struct arena *arena,
                     struct diagnostics *diagnostics) {
  *answers = (struct answers){0};
  for (const struct question *question = questions; question->kind; question++) {
    struct answers more = {0};
    if (!question->asked(scenario))
      continue;
    if (question->answer(scenario, NULL, &more, arena, diagnostics))
      return -1;
    append(answers, &more, arena);
  }
  return 0;
}

const struct answer *answer_find(const struct answers *answers, const char *name) {
  for (size_t i = 0; i < answers->count; i++)
    if (!strcmp(answers->list[i].name, name))
      return &answers->list[i];
  return NULL;
}
