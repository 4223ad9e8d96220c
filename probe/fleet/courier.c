#include "probe/fleet/courier.h"

#include "base/clock.h"
#include "base/source.h"
#include "base/source_file.h"
#include "base/texts.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 200, RECEIVED = 65536, GREETING_S = 5 };

static const double again_s = 0.2; // between attempts

struct courier_sent {
  const char *name;
  ino_t inode;
  struct timespec time;
};

// ---- bytes, up to a deadline

static double now_of(const struct courier *courier) {
  return clock_now(courier->clock);
}

// Waits for the socket. False if the deadline passed first.
static bool is_ready(const struct courier *courier, short events, double until_s) {
  struct pollfd polled = {.fd = courier->fd, .events = events};
  const double asked_s = now_of(courier);
  double now_s = asked_s;
  while (now_s < until_s) {
    if (poll(&polled, 1, STEP_MS) > 0)
      return true;
    if (*courier->stop && now_s - asked_s > COURIER_LAST_S)
      return false;
    now_s = now_of(courier);
  }
  return false;
}

static int send_all(const struct courier *courier, const char *bytes, size_t size, double until_s) {
  while (size) {
    const ssize_t sent = send(courier->fd, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return -1;
    if (sent < 0 && !is_ready(courier, POLLOUT, until_s))
      return -1;
    bytes += sent > 0 ? sent : 0;
    size -= sent > 0 ? (size_t)sent : 0;
  }
  return 0;
}

// The next frame, valid until the following one is requested.
static int receive(struct courier *courier, struct frame *frame, double until_s) {
  for (;;) {
    char bytes[RECEIVED];
    const enum wire_outcome outcome = wire_next(&courier->wire, frame);
    if (outcome != WIRE_MORE)
      return outcome == WIRE_FRAME ? 0 : -1;
    if (!is_ready(courier, POLLIN, until_s))
      return -1;
    const ssize_t size = recv(courier->fd, bytes, sizeof bytes, 0);
    if (!size || (size < 0 && errno != EAGAIN && errno != EINTR))
      return -1;
    wire_feed(&courier->wire, bytes, size > 0 ? (size_t)size : 0);
  }
}

static int say(struct courier *courier, enum wire_kind kind, const void *body, size_t size,
               double until_s) {
  struct arena arena = {NULL};
  const char *bytes = wire_frame(&courier->wire, kind, body, size, &arena);
  const int result = send_all(courier, bytes, WIRE_HEAD + size, until_s);
  arena_free(&arena);
  return result;
}

// ---- the connection

static void hang_up(struct courier *courier) {
  if (courier->fd >= 0)
    close(courier->fd);
  courier->fd = -1;
  arena_free(&courier->wire_arena);
  courier->wire = (struct wire){.arena = &courier->wire_arena};
}

// Checks that the listener is process 0, and proves to it that this process belongs to the launch.
static int greet(struct courier *courier) {
  const double until_s = now_of(courier) + GREETING_S;
  unsigned char nonce[WIRE_NONCE];
  struct frame frame;
  if (receive(courier, &frame, until_s) || frame.kind != WIRE_GREETING ||
      frame.size != WIRE_NONCE || getrandom(nonce, sizeof nonce, 0) != sizeof nonce ||
      say(courier, WIRE_GREETING, nonce, sizeof nonce, until_s))
    return -1;
  wire_agree(&courier->wire, courier->rendezvous->secret, courier->launch->key,
             (const unsigned char *)frame.body, nonce);
  if (say(courier, WIRE_HELLO, "", 0, until_s) || receive(courier, &frame, until_s) ||
      frame.kind != WIRE_WELCOME)
    return -1;
  courier->wire.most = WIRE_MOST_LIST;
  return 0;
}

static int call_all(struct courier *courier) {
  const struct rendezvous *rendezvous = courier->rendezvous;
  for (size_t host = 0; host < rendezvous->hosts.count; host++)
    for (size_t port = 0; port < rendezvous->ports.count && !*courier->stop; port++) {
      hang_up(courier);
      courier->fd = rendezvous_connect(rendezvous, host, port);
      if (courier->fd >= 0 && !greet(courier))
        return 0;
    }
  hang_up(courier);
  return -1;
}

static int call(struct courier *courier, double patience_s) {
  const double until_s = now_of(courier) + patience_s;
  while (call_all(courier)) {
    if (now_of(courier) >= until_s || *courier->stop)
      return -1;
    clock_sleep(courier->clock, again_s);
  }
  return 0;
}

int courier_open(struct courier *courier) {
  courier->fd = -1;
  if (!call(courier, courier->wait_s) || *courier->stop)
    return 0;
  courier->diagnostics->machine_failed = true;
  diagnostics_error(courier->diagnostics, nowhere,
                    "process 0 was not reached within %g s at %s: name its machine with --first, "
                    "and check that no firewall blocks the connection",
                    courier->wait_s, rendezvous_words(courier->rendezvous, courier->arena));
  return -1;
}

void courier_close(struct courier *courier) {
  if (courier->rendezvous)
    hang_up(courier);
  arena_free(&courier->list_arena);
  courier->list = NULL;
}

// ---- questions and answers

static int exchange(struct courier *courier, enum wire_kind kind, const void *body, size_t size,
                    struct frame *frame) {
  const double until_s = now_of(courier) + courier->wait_s;
  return courier->fd < 0 || say(courier, kind, body, size, until_s)
             ? -1
             : receive(courier, frame, until_s);
}

// After a reconnection process 0 must first be told who this is.
static int call_again(struct courier *courier, enum wire_kind kind) {
  struct frame frame;
  hang_up(courier);
  if (call(courier, COURIER_AGAIN_S))
    return -1;
  return kind == WIRE_TELL || !courier->entry
             ? 0
             : exchange(courier, WIRE_TELL, courier->entry, strlen(courier->entry), &frame);
}

static int lose(struct courier *courier) {
  hang_up(courier);
  if (!courier->is_lost && !*courier->stop)
    diagnostics_warning(
        courier->diagnostics, nowhere,
        "process 0 is lost: this node continues alone, and its records stay in '%s'",
        courier->records);
  courier->is_lost = true;
  return 1;
}

static int refuse(const struct courier *courier, const struct frame *frame, const char *what) {
  const char *why = frame->kind == WIRE_REFUSED && !source_invalid_utf8(frame->body, frame->size)
                        ? arena_copy_n(courier->arena, frame->body, frame->size)
                        : "its answer cannot be read";
  diagnostics_error(courier->diagnostics, nowhere, "process 0 refused %s: %s", what, why);
  return -1;
}

// Returns 0 with process 0's answer, or 1 if process 0 is lost.
static int ask(struct courier *courier, enum wire_kind kind, const void *body, size_t size,
               struct frame *frame) {
  if (courier->is_lost)
    return 1;
  if (!exchange(courier, kind, body, size, frame))
    return 0;
  return call_again(courier, kind) || exchange(courier, kind, body, size, frame) ? lose(courier)
                                                                                 : 0;
}

int courier_tell(void *context, const char *entry) {
  struct courier *courier = context;
  struct frame frame;
  courier->entry = entry;
  if (ask(courier, WIRE_TELL, entry, strlen(entry), &frame))
    return 1;
  return frame.kind == WIRE_OK ? 0 : refuse(courier, &frame, "this node's entry");
}

// "12\nENTRY\nENTRY\n"
static int keep_list(struct courier *courier, const struct frame *frame) {
  const char *end = memchr(frame->body, '\n', frame->size);
  if (!end || memchr(frame->body, 0, frame->size))
    return refuse(courier, frame, "a question about the others");
  const size_t length = (size_t)(end - frame->body);
  arena_free(&courier->list_arena);
  courier->list_number = arena_copy_n(&courier->list_arena, frame->body, length);
  courier->list = arena_copy_n(&courier->list_arena, end + 1, frame->size - length - 1);
  return 0;
}

int courier_list(void *context, const char **entries, struct arena *arena) {
  struct courier *courier = context;
  struct frame frame;
  const char *number = courier->list ? courier->list_number : "";
  if (ask(courier, WIRE_LOOK, number, strlen(number), &frame))
    return 1;
  if (frame.kind == WIRE_LIST ? keep_list(courier, &frame) != 0
                              : frame.kind != WIRE_SAME || !courier->list)
    return frame.kind == WIRE_LIST ? -1 : refuse(courier, &frame, "a question about the others");
  *entries = arena_copy(arena, courier->list);
  return 0;
}

// ---- records

static struct courier_sent *sent_as(struct courier *courier, const char *name) {
  for (size_t i = 0; i < courier->sent_count; i++)
    if (!strcmp(courier->sent[i].name, name))
      return &courier->sent[i];
  courier->sent =
      arena_room(courier->arena, courier->sent, courier->sent_count, sizeof *courier->sent);
  courier->sent[courier->sent_count].name = arena_copy(courier->arena, name);
  return &courier->sent[courier->sent_count++];
}

static bool is_sent(const struct courier_sent *sent, const struct stat *file) {
  return sent->inode == file->st_ino && sent->time.tv_sec == file->st_mtim.tv_sec &&
         sent->time.tv_nsec == file->st_mtim.tv_nsec;
}

static int send_text(struct courier *courier, const char *name, const struct source *source,
                     struct arena *arena) {
  struct frame frame;
  const size_t behind = strlen(name) + 1, size = behind + source->size;
  char *body = arena_printf(arena, "%s\n%s", name, source->text);
  if (size > WIRE_MOST_RECORD) {
    diagnostics_error(courier->diagnostics, nowhere,
                      "'%s' is too large to send: process 0 accepts up to %d MiB", name,
                      WIRE_MOST_RECORD >> 20);
    return -1;
  }
  if (ask(courier, WIRE_RECORD, body, size, &frame))
    return 1;
  if (frame.kind == WIRE_OK)
    return 0;
  courier->diagnostics->machine_failed = true;
  return refuse(courier, &frame,
                arena_printf(arena, "'%s/%s', which stays there", courier->records, name));
}

static int send_record(struct courier *courier, const char *name) {
  struct arena arena = {NULL};
  struct diagnostics diagnostics = {.arena = &arena};
  struct stat file;
  const char *path = arena_printf(&arena, "%s/%s", courier->records, name);
  struct courier_sent *sent = sent_as(courier, name);
  int result = 0;
  if (stat(path, &file) || is_sent(sent, &file))
    goto done;
  const struct source *source = source_read(path, &arena, &diagnostics);
  result = source ? send_text(courier, name, source, &arena) : -1;
  if (!source)
    diagnostics_error(courier->diagnostics, nowhere, "%s", diagnostics.list[0].message);
  if (!result)
    *sent = (struct courier_sent){sent->name, file.st_ino, file.st_mtim};
done:
  arena_free(&arena);
  return result;
}

static bool is_record(const char *name) {
  return *name != '.' && text_ends_in(name, ".json");
}

int courier_send(struct courier *courier) {
  struct dirent **found;
  const int files = scandir(courier->records, &found, NULL, NULL);
  int result = 0;
  if (files < 0) {
    courier->diagnostics->machine_failed = true;
    diagnostics_error(courier->diagnostics, nowhere, "cannot read the directory '%s': %s",
                      courier->records, strerror(errno));
    return -1;
  }
  for (int i = 0; i < files; i++) {
    if (!result && is_record(found[i]->d_name))
      result = send_record(courier, found[i]->d_name);
    free(found[i]);
  }
  free(found);
  return result;
}
