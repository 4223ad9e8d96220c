#include "probe/limits/power_guard.h"

#include "base/arena.h"
#include "probe/limits/power_limit.h"
#include "probe/meters/meter.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 20 }; // half a second apart: a driver may still be cleaning up after a process

struct told {
  char pci[32];
  double watts;
  bool is_held;
};

// ---- the guard's process

static int set_back(const struct told *told, const struct meter_roots *roots) {
  struct arena arena = {0};
  struct power_limit limit;
  enum meter_status status = power_limit_open(&limit, told->pci, NULL, roots, &arena);
  if (status == METER_OK) {
    status = power_limit_set(&limit, told->watts);
    power_limit_close(&limit);
  }
  arena_free(&arena);
  return status == METER_OK ? 0 : -1;
}

static void set_back_or_say(const struct told *told, const struct meter_roots *roots) {
  for (int i = 0; i < TRIES; i++) {
    if (set_back(told, roots) == 0)
      return;
    usleep(500000);
  }
  fprintf(stderr, "pertoken-probe: the power limit of %s could not be restored to %g W\n",
          told->pci, told->watts);
}

static void guard_until_the_end(int channel, const struct meter_roots *roots) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
  struct told told = {.is_held = false}, next;
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
    signal(ignored[i], SIG_IGN);
  setsid();
  prctl(PR_SET_NAME, "power-guard");
  close(STDIN_FILENO);
  close(STDOUT_FILENO); // a reader at its other end must wait for the probe, not for this
  for (;;) {
    const ssize_t got = recv(channel, &next, sizeof next, 0);
    if (got == (ssize_t)sizeof next)
      told = next;
    else if (got >= 0 || errno != EINTR)
      break;
  }
  if (told.is_held)
    set_back_or_say(&told, roots);
}

// ---- this process

int power_guard_start(struct power_guard *guard, const struct meter_roots *roots) {
  int ends[2];
  *guard = (struct power_guard){.channel = -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
    return -1;
  fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    guard_until_the_end(ends[1], roots);
    _exit(0);
  }
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    return -1;
  }
  *guard = (struct power_guard){process, ends[0]};
  return 0;
}

int power_guard_tell(const struct power_guard *guard, const char *pci, double watts, bool is_held) {
  struct told told = {.watts = watts, .is_held = is_held};
  snprintf(told.pci, sizeof told.pci, "%s", pci);
  return send(guard->channel, &told, sizeof told, MSG_NOSIGNAL) == (ssize_t)sizeof told ? 0 : -1;
}

void power_guard_stop(struct power_guard *guard) {
  if (!guard->process)
    return;
  close(guard->channel);
  while (waitpid(guard->process, NULL, 0) < 0 && errno == EINTR)
    continue;
  *guard = (struct power_guard){.channel = -1};
}
