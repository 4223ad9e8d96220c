#include "probe/commands/interruption.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

// A handler may touch nothing else that changes.
static volatile sig_atomic_t caught;

const volatile sig_atomic_t *interruption_flag(void) {
  return &caught;
}

// The line break is for a terminal, where progress may stand.
static const char said[] =
    "\npertoken-probe: stopping after the present step; once more stops it at once\n";
static volatile sig_atomic_t said_from = sizeof said; // nothing

static void note(int number) {
  const int reason = errno;
  const size_t from = (size_t)said_from;
  caught = number;
  if (from < sizeof said && write(STDERR_FILENO, said + from, sizeof said - 1 - from) < 0)
    errno = 0;
  errno = reason;
}

void interruption_catch(bool quiet) {
  said_from = quiet ? (int)sizeof said : !isatty(STDERR_FILENO);
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], &action, NULL);
  }
}

void interruption_pass_on(void) {
  if (!caught)
    return;
  fflush(stdout);
  signal(caught, SIG_DFL);
  raise(caught);
}
