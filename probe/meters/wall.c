#include "probe/meters/wall.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
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
  const bool told = end != at && strncmp(end, "Watts", strlen("Watts")) == 0;
  return told && watts > 0 && isfinite(watts) ? watts : NAN;
}

double wall_parse_redfish(const char *text) {
  json_t *root = json_loads(text, 0, NULL);
  const json_t *control = json_array_get(json_object_get(root, "PowerControl"), 0);
  const json_t *watts = json_object_get(control, "PowerConsumedWatts");
  if (!watts)
    watts = json_object_get(json_object_get(root, "PowerWatts"), "Reading");
  const double value = json_number_value(watts);
  json_decref(root);
  return value > 0 ? value : NAN;
}

enum { MAX_ARGUMENTS = 10 };

static const struct wall_program {
  const char *name, *meter, *failed;
  const char *arguments[MAX_ARGUMENTS]; // the address is appended to curl's arguments
  double (*parse)(const char *text);
} programs[] = {
    {"ipmitool",
     "ipmitool dcmi, once under load",
     "ipmitool failed: it needs root and a management controller",
     {"ipmitool", "dcmi", "power", "reading"},
     wall_parse},
    {"curl",
     "redfish, once under load",
     "curl got no answer from the Redfish service: try the address with curl -n",
     {"curl", "--silent", "--fail", "--location", "--netrc-optional", "--max-time", "9"},
     wall_parse_redfish},
};

static const struct wall_program *program_of(const struct wall_options *options) {
  return &programs[options->redfish != NULL];
}

static bool is_on_path(const char *program) {
  const char *path = getenv("PATH");
  for (size_t length; path && *path; path += length + (path[length] == ':')) {
    char name[4096];
    length = strcspn(path, ":");
    const int written = snprintf(name, sizeof name, "%.*s/%s", (int)length, path, program);
    if (written > 0 && (size_t)written < sizeof name && access(name, X_OK) == 0)
      return true;
  }
  return false;
}

bool wall_can_be_asked(const struct wall_options *options) {
  return options->redfish || is_on_path(program_of(options)->name);
}

static int start(struct wall *wall, const char *address) {
  char *arguments[MAX_ARGUMENTS + 2] = {NULL};
  int pipe_ends[2], count = 0;
  for (; wall->program->arguments[count]; count++)
    arguments[count] = (char *)wall->program->arguments[count];
  arguments[count] = (char *)address;
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

bool wall_is_to_be_asked(const struct wall_options *options) {
  return options && isnan(options->typed_w);
}

struct wall_reading wall_typed(const struct wall_options *options, struct arena *arena) {
  const char *colon = *options->note ? ": " : "";
  return (struct wall_reading){arena_printf(arena, "typed%s%s", colon, options->note),
                               options->typed_w};
}

void wall_ask(struct wall *wall, const struct wall_options *options) {
  *wall = (struct wall){.program = program_of(options)};
  wall->asked_s = clock_now(&machine_clock);
  wall->failure = start(wall, options->redfish);
}

bool wall_has_answered(const struct wall *wall) {
  struct pollfd wait = {.fd = wall->output, .events = POLLIN};
  return !wall->pid || poll(&wait, 1, 0) > 0;
}

// Collects the program's output until it closes its output (true), time is up or there is no room.
static bool collect(const struct wall *wall, double limit_s, char *text, size_t size) {
  const double end = wall->asked_s + limit_s;
  size_t length = 0;
  while (length + 1 < size) {
    struct pollfd wait = {.fd = wall->output, .events = POLLIN};
    const double left_s = fmax(0, end - clock_now(&machine_clock));
    if (poll(&wait, 1, (int)ceil(1000 * left_s)) <= 0)
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
  enum { MAX_TEXT = 65536 };
  const struct wall_program *program = wall->program;
  char *text = arena_alloc(arena, MAX_TEXT);
  int status = 0;
  *text = 0;
  if (!wall->pid)
    return none(wall->failure == ENOENT ? arena_printf(arena, "%s is not installed", program->name)
                                        : strerror(wall->failure),
                arena);
  const bool finished = collect(wall, limit_s, text, MAX_TEXT);
  if (!finished)
    kill(wall->pid, SIGKILL);
  close(wall->output);
  const bool known = waitpid(wall->pid, &status, 0) == wall->pid;
  wall->pid = 0;
  if (!finished)
    return none(arena_printf(arena, "%s did not answer within %g s", program->name, limit_s),
                arena);
  if (!known || !WIFEXITED(status) || WEXITSTATUS(status))
    return none(program->failed, arena);
  const double watts = program->parse(text);
  if (isnan(watts))
    return none(arena_printf(arena, "%s reported no watts", program->name), arena);
  return (struct wall_reading){program->meter, watts};
}
