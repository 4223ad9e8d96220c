#include "probe/measure/tryout.h"

#include "base/clock.h"
#include "base/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const double steps_s = 0.5; // run by the other process
// How long the other process may take: to start, and then this many times what the own choice took.
static const double start_s = 30, patience = 4;
static const double look_s = 0.1; // at the process, *stop and the time
static const double reap_s = 10;  // a driver cleans up after a kernel that it had to end

// Behind it, an enum decode_status: apart from the exit statuses of the program itself.
enum { STATUS_EXIT = 64 };

// A request without its pointers.
struct message {
  struct decode_request request;
  char backend[32], variant[160];
  int device;
  pid_t from; // by whose end this one ends
};

struct other {
  pid_t pid;
  bool is_gone;
  int status;  // then
  int channel; // its standard input and output
  bool is_silent;
  char said[512];
  size_t length;
};

// ---- this process

static bool write_message(const struct device *device, const struct decode_request *request,
                          struct message *message) {
  memset(message, 0, sizeof *message);
  message->request = *request;
  message->request.devices = NULL;
  message->request.variant = NULL;
  message->device = device->index;
  message->from = getpid();
  const char *variant = request->variant ? request->variant : "";
  return snprintf(message->backend, sizeof message->backend, "%s", device->backend->name) <
             (int)sizeof message->backend &&
         snprintf(message->variant, sizeof message->variant, "%s", variant) <
             (int)sizeof message->variant;
}

// Returns 0 or an errno.
static int start(struct other *other, const char *program) {
  char *arguments[] = {(char *)program, (char *)TRYOUT_COMMAND, NULL};
  posix_spawn_file_actions_t actions;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
    return errno;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int failure = posix_spawn(&other->pid, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  other->channel = ends[0];
  if (failure)
    close(ends[0]);
  return failure;
}

// Keeps what it says, as far as there is room; waits at most look_s for something.
static void listen_to(struct other *other) {
  struct pollfd wait = {.fd = other->is_silent ? -1 : other->channel, .events = POLLIN};
  char rest[64];
  if (poll(&wait, 1, (int)(1000 * look_s)) <= 0)
    return;
  const size_t room = sizeof other->said - 1 - other->length;
  const ssize_t got =
      read(other->channel, room ? other->said + other->length : rest, room ? room : sizeof rest);
  other->is_silent = got == 0 || (got < 0 && errno != EINTR);
  other->length += room && got > 0 ? (size_t)got : 0;
}

// Waits for the process's end, not its output's, which others may have inherited, or which it may
// close early. What it said last is read after that.
static void wait_for(struct other *other, double limit_s, const volatile sig_atomic_t *stop) {
  const double end = clock_now(&machine_clock) + limit_s;
  while (!other->is_gone && !(stop && *stop) && clock_now(&machine_clock) < end) {
    other->is_gone = waitpid(other->pid, &other->status, WNOHANG) == other->pid;
    listen_to(other);
  }
}

static enum tryout_outcome judge(const struct other *other, struct arena *arena, const char **why) {
  const int code = WIFEXITED(other->status) ? WEXITSTATUS(other->status) : -1;
  if (code == 0)
    return TRYOUT_ENDED;
  *why = WIFSIGNALED(other->status) ? arena_printf(arena, "the process that tried it was ended: %s",
                                                   strsignal(WTERMSIG(other->status)))
         : other->length            ? arena_copy(arena, other->said)
                                    : "the process that tried it failed";
  return code == STATUS_EXIT + DECODE_UNSUPPORTED || code == STATUS_EXIT + DECODE_NO_MEMORY
             ? TRYOUT_REFUSED
             : TRYOUT_FAILED;
}

static enum tryout_outcome finish(struct other *other, double limit_s,
                                  const volatile sig_atomic_t *stop, struct arena *arena,
                                  const char **why) {
  wait_for(other, limit_s, stop);
  if (other->is_gone)
    return judge(other, arena, why);
  kill(other->pid, SIGKILL);
  wait_for(other, reap_s, NULL);
  *why = arena_printf(arena, "its steps did not end within %.3g s%s", limit_s,
                      other->is_gone ? "" : ", not even when their process was killed");
  return other->is_gone ? TRYOUT_FAILED : TRYOUT_STUCK;
}

double tryout_limit(double own_s) {
  return start_s + patience * own_s;
}

enum tryout_outcome tryout(const char *program, const struct device *device,
                           const struct decode_request *request, double limit_s,
                           const volatile sig_atomic_t *stop, struct arena *arena,
                           const char **why) {
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  struct sigaction before;
  struct other other = {.pid = 0};
  struct message message;
  *why = "its name is too long";
  if (!write_message(device, request, &message))
    return TRYOUT_FAILED;
  // If it is ignored, as some launchers have it, no status is kept.
  sigaction(SIGCHLD, &usual, &before);
  enum tryout_outcome outcome = TRYOUT_FAILED;
  const int failure = start(&other, program);
  if (failure) {
    *why = arena_printf(arena, "%s cannot be started to try it: %s", program, strerror(failure));
  } else {
    // It fits the socket's buffer; if the other is gone already, its status says why.
    (void)!send(other.channel, &message, sizeof message, MSG_NOSIGNAL);
    outcome = finish(&other, limit_s, stop, arena, why);
    close(other.channel);
  }
  sigaction(SIGCHLD, &before, NULL);
  return outcome;
}

// ---- the other process

static bool read_message(struct message *message) {
  size_t length = 0;
  while (length < sizeof *message) {
    const ssize_t got = read(STDIN_FILENO, (char *)message + length, sizeof *message - length);
    if (got == 0 || (got < 0 && errno != EINTR))
      return false;
    length += got > 0 ? (size_t)got : 0;
  }
  return memchr(message->backend, '\0', sizeof message->backend) &&
         memchr(message->variant, '\0', sizeof message->variant);
}

static const struct decode_backend *find(const struct decode_backend *const *backends,
                                         const char *name) {
  while (*backends && strcmp((*backends)->name, name) != 0)
    backends++;
  return *backends;
}

static enum decode_status run_steps(const struct decode_backend *backend,
                                    const struct message *message) {
  struct decode_request request = message->request;
  enum decode_status status = DECODE_OK;
  request.variant = message->variant;
  struct decode_state *state = backend->create(message->device, &request, &status);
  if (!state)
    return status;
  status = backend->run(state, 1);
  const double last = clock_now(&machine_clock) + steps_s;
  do {
    if (status == DECODE_OK)
      status = backend->run(state, 2);
  } while (status == DECODE_OK && clock_now(&machine_clock) < last);
  backend->destroy(state);
  return status;
}

int tryout_serve(const char *folder) {
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  struct message message;
  enum decode_status status = DECODE_FAILED;
  prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody else would end a kernel that hangs
  if (!read_message(&message) || getppid() != message.from)
    return STATUS_EXIT + DECODE_FAILED;
  const struct decode_backend *backend =
      find(device_backends(folder, &arena, &diagnostics), message.backend);
  if (backend)
    status = run_steps(backend, &message);
  if (!backend)
    printf("there is no backend %s", message.backend);
  else if (status != DECODE_OK)
    fputs(device_failure(backend, status, &arena), stdout);
  arena_free(&arena);
  return status == DECODE_OK ? 0 : STATUS_EXIT + (int)status;
}
