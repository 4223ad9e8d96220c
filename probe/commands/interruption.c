#include "probe/commands/interruption.h"

#include <stddef.h>
#include <stdio.h>

// A handler may touch nothing else.
static volatile sig_atomic_t caught;

const volatile sig_atomic_t *interruption_flag(void) {
  return &caught;
}

static void note(int number) {
  caught = number;
}

void interruption_catch(void) {
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN);
}

void interruption_pass_on(void) {
  if (!caught)
    return;
  fflush(stdout);
  signal(caught, SIG_DFL);
  raise(caught);
}
