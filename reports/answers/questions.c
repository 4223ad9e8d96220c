#include "reports/answers/questions.h"

#include "reports/answers/fit.h"
#include "reports/answers/rent.h"

#include <string.h>

bool route_asked(const struct scenario *scenario);
decide_function decide_route;
bool wait_asked(const struct scenario *scenario);
decide_function decide_wait;

static const struct question questions[] = {
    {"fit", "it needs a [fit] section, or an interactivity in [workload]", fit_asked, decide_fit},
    {"rent", "it needs an owned and a rented option of one workload, or a [rent NAME]", rent_asked,
     decide_rent},
    {"audit", "it needs a [claim NAME] with what is said", audit_asked, decide_audit},
    {"route", "it needs a [demand NAME] for each workload", route_asked, decide_route},
    {"wait", "it needs a [wait OPTION] section", wait_asked, decide_wait},
    {.kind = NULL},
};

const struct question *question_find(const char *kind) {
  for (const struct question *question = questions; question->kind; question++)
    if (!strcmp(question->kind, kind))
      return question;
  return NULL;
}

// Joins what one question answers to what is there.
static void append(struct decisions *all, const struct decisions *more, struct arena *arena) {
  struct decision *list = arena_array(arena, all->count + more->count + 1, sizeof *list);
  for (size_t i = 0; i < all->count + more->count; i++)
    list[i] = i < all->count ? all->list[i] : more->list[i - all->count];
  *all = (struct decisions){list, all->count + more->count};
}

int decisions_of(const struct scenario *scenario, struct decisions *decisions, struct arena *arena,
                 struct diagnostics *diagnostics) {
  *decisions = (struct decisions){0};
  for (const struct question *question = questions; question->kind; question++) {
    struct decisions more = {0};
    if (!question->asked(scenario))
      continue;
    if (question->decide(scenario, NULL, &more, arena, diagnostics))
      return -1;
    append(decisions, &more, arena);
  }
  return 0;
}

const struct decision *decision_find(const struct decisions *decisions, const char *name) {
  for (size_t i = 0; i < decisions->count; i++)
    if (!strcmp(decisions->list[i].name, name))
      return &decisions->list[i];
  return NULL;
}
