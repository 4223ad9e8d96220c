#include "model/optimise/solver.h"

#ifdef HAVE_GLPK
#include <glpk.h>
#include <setjmp.h>
#include <stddef.h>

static void give_up(void *place) {
  longjmp(*(jmp_buf *)place, 1);
}

// Suppresses what an assertion prints regardless of glp_term_out().
static int say_nothing(void *info, const char *text) {
  (void)info, (void)text;
  return 1;
}

bool solver_run(void (*work)(void *context), void *context) {
  jmp_buf place;
  if (setjmp(place)) {
    glp_free_env();
    return false;
  }
  glp_term_hook(say_nothing, NULL);
  glp_error_hook(give_up, &place);
  work(context);
  glp_error_hook(NULL, NULL);
  return true;
}

#else

bool solver_run(void (*work)(void *context), void *context) {
  (void)work, (void)context;
  return false;
}

#endif
