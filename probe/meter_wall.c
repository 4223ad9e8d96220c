#include "probe/meter_wall.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

double wall_parse(const char *text) {
  static const char label[] = "Instantaneous power reading:";
  const char *at = strstr(text, label);
  if (!at)
    return NAN;
  at += strlen(label);
  char *end;
  const double watts = strtod(at, &end);
  end += strspn(end, " ");
  return end == at || strncmp(end, "Watts", strlen("Watts")) != 0 || !(watts > 0) ? NAN : watts;
}

bool wall_can_be_asked(void) {
  const char *path = getenv("PATH");
  for (size_t length; path && *path; path += length + (path[length] == ':')) {
    char name[4096];
    length = strcspn(path, ":");
    const int written = snprintf(name, sizeof name, "%.*s/ipmitool", (int)length, path);
    if (written > 0 && (size_t)written < sizeof name && access(name, X_OK) == 0)
      return true;
  }
  return false;
}

static int start(struct wall *wall) {
  char *const arguments[] = {"ipmitool", "dcmi", "power", "reading", NULL};
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC))
    return errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  const int failure = posix_spawnp(&wall->pid, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  wall->output = pipe_ends[0];
  if (failure) {
    wall->pid = 0;
    close(wall->output);
  }
  return failure;
}

struct wall_reading wall_typed(const struct wall_options *options, struct arena *arena) {
  const char *colon = *options->note ? ": " : "";
  return (struct wall_reading){arena_printf(arena, "typed%s%s", colon, options->note),
                               options->typed_w};
}

void wall_ask(struct wall *wall) {
  *wall = (struct wall){0};
  wall->failure = start(wall);
}

// All that it prints, or as much as comes in time. Returns whether it closed its output.
static bool collect(const struct wall *wall, double limit_s, char *text, size_t size) {
  const double end = clock_now(&machine_clock) + limit_s;
  size_t length = 0;
  while (length + 1 < size) {
    struct pollfd wait = {.fd = wall->output, .events = POLLIN};
    const double left_s = end - clock_now(&machine_clock);
    if (left_s <= 0 || poll(&wait, 1, (int)(1000 * left_s) + 1) <= 0)
      break;
    const ssize_t got = read(wall->output, text + length, size - length - 1);
    if (got < 0)
      break;
    text[length + (size_t)got] = 0;
    if (got == 0)
      return true;
    length += (size_t)got;
  }
  return false;
}

static struct wall_reading none(const char *why, struct arena *arena) {
  return (struct wall_reading){arena_printf(arena, "none: %s", why), NAN};
}

struct wall_reading wall_answer(struct wall *wall, double limit_s, struct arena *arena) {
  char text[4096] = "";
  int status = 0;
  if (!wall->pid)
    return none(wall->failure == ENOENT ? "no ipmitool here" : strerror(wall->failure), arena);
  const bool finished = collect(wall, limit_s, text, sizeof text);
  if (!finished)
    kill(wall->pid, SIGKILL);
  close(wall->output);
  const bool known = waitpid(wall->pid, &status, 0) == wall->pid;
  wall->pid = 0;
  if (!finished)
    return none(arena_printf(arena, "ipmitool did not answer within %g s", limit_s), arena);
  if (!known || !WIFEXITED(status) || WEXITSTATUS(status))
    return none("ipmitool failed: it needs root and a management controller", arena);
  const double watts = wall_parse(text);
  if (isnan(watts))
    return none("ipmitool told no watts", arena);
  return (struct wall_reading){"ipmitool dcmi, once in the middle of the window", watts};
}
