#include "probe/fleet/collector.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/source.h"
#include "probe/fleet/wire.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OTHER_FILES = 256, STEP_MS = 1000, LAST_MS = 2000, RECEIVED = 65536 };

struct caller {
  int fd;
  double since_s; // connected
  bool is_known;
  struct wire wire;
  struct arena arena; // of the wire
  struct clerk_peer peer;
  unsigned char nonce[WIRE_NONCE];
  struct arena out_arena;
  const char *out; // [out_size], what is being sent; NULL: nothing
  size_t out_size, out_sent;
  struct caller *next;
};

// ---- one connection

static void say(struct caller *caller, enum wire_kind kind, const void *body, size_t size) {
  caller->out = wire_frame(&caller->wire, kind, body, size, &caller->out_arena);
  caller->out_size = WIRE_HEAD + size;
  caller->out_sent = 0;
}

// Returns -1 if the connection has ended.
static int send_out(struct caller *caller) {
  while (caller->out) {
    const ssize_t sent = send(caller->fd, caller->out + caller->out_sent,
                              caller->out_size - caller->out_sent, MSG_NOSIGNAL);
    if (sent < 0)
      return errno == EAGAIN || errno == EINTR ? 0 : -1;
    caller->out_sent += (size_t)sent;
    if (caller->out_sent < caller->out_size)
      continue;
    arena_free(&caller->out_arena);
    caller->out = NULL;
  }
  return 0;
}

// Takes the caller's nonce, which gives the key, and its first frame under that key.
static int let_in(const struct collector *collector, struct caller *caller,
                  const struct frame *frame) {
  if (frame->kind == WIRE_GREETING && frame->size == WIRE_NONCE && !caller->wire.has_key) {
    wire_agree(&caller->wire, collector->rendezvous->secret, collector->clerk.launch->key,
               caller->nonce, (const unsigned char *)frame->body);
    return 0;
  }
  if (frame->kind != WIRE_HELLO || frame->size || !caller->wire.has_key)
    return -1;
  caller->is_known = true;
  caller->wire.most = WIRE_MOST_RECORD;
  say(caller, WIRE_WELCOME, "", 0);
  return 0;
}

// One frame after another: the next is read once the answer to the last has been sent.
static int answer(struct collector *collector, struct caller *caller) {
  struct frame frame;
  enum wire_outcome outcome = WIRE_MORE;
  while (!caller->out && (outcome = wire_next(&caller->wire, &frame)) == WIRE_FRAME) {
    struct arena arena = {NULL};
    if (caller->is_known) {
      const struct clerk_reply reply =
          clerk_reply_to(&collector->clerk, &caller->peer, &frame, &arena);
      say(caller, reply.kind, reply.body, reply.size);
    } else if (let_in(collector, caller, &frame)) {
      outcome = WIRE_BROKEN;
    }
    arena_free(&arena);
    if (outcome == WIRE_BROKEN || send_out(caller))
      return -1;
  }
  return outcome == WIRE_BROKEN ? -1 : 0;
}

static int receive(struct collector *collector, struct caller *caller) {
  char bytes[RECEIVED];
  const ssize_t size = recv(caller->fd, bytes, sizeof bytes, 0);
  if (size < 0)
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
  if (!size)
    return -1;
  wire_feed(&caller->wire, bytes, (size_t)size);
  return answer(collector, caller);
}

static int serve(struct collector *collector, struct caller *caller, short events) {
  if (events & POLLOUT && (send_out(caller) || answer(collector, caller)))
    return -1;
  if (events & (POLLIN | POLLHUP | POLLERR) && !caller->out)
    return receive(collector, caller);
  return 0;
}

// ---- all of them

static double now_of(const struct collector *collector) {
  return clock_now(collector->clerk.clock);
}

static void hang_up(struct collector *collector, struct caller **link) {
  struct caller *caller = *link;
  *link = caller->next;
  collector->caller_count--;
  collector->refused += !caller->is_known;
  close(caller->fd);
  arena_free(&caller->arena);
  arena_free(&caller->out_arena);
  arena_free(&caller->peer.arena);
  free(caller);
}

static void take_caller(struct collector *collector, int fd) {
  struct caller *caller = calloc(1, sizeof *caller);
  const size_t most = (size_t)collector->clerk.launch->size + MAX_STRANGERS;
  if (!caller || collector->caller_count >= most ||
      getrandom(caller->nonce, sizeof caller->nonce, 0) != sizeof caller->nonce) {
    collector->refused++;
    close(fd);
    free(caller);
    return;
  }
  caller->fd = fd;
  caller->since_s = now_of(collector);
  caller->wire = (struct wire){.arena = &caller->arena, .is_listening = true};
  caller->next = collector->callers;
  collector->callers = caller;
  collector->caller_count++;
  say(caller, WIRE_GREETING, caller->nonce, sizeof caller->nonce);
}

static void take_callers(struct collector *collector) {
  for (;;) {
    const int fd = accept4(collector->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
      return;
    take_caller(collector, fd);
  }
}

static struct pollfd *watch(const struct collector *collector, struct arena *arena) {
  struct pollfd *polled = arena_array(arena, 2 + collector->caller_count, sizeof *polled);
  polled[0] = (struct pollfd){.fd = collector->wake, .events = POLLIN};
  polled[1] = (struct pollfd){.fd = collector->listener, .events = POLLIN};
  size_t i = 2;
  for (const struct caller *caller = collector->callers; caller; caller = caller->next)
    polled[i++] = (struct pollfd){.fd = caller->fd, .events = caller->out ? POLLOUT : POLLIN};
  return polled;
}

static void serve_all(struct collector *collector, const struct pollfd *polled) {
  struct caller **link = &collector->callers;
  for (size_t i = 0; *link; i++) {
    struct caller *caller = *link;
    const bool is_late = !caller->is_known && now_of(collector) - caller->since_s > STRANGER_S;
    if (is_late || serve(collector, caller, polled[i].revents))
      hang_up(collector, link);
    else
      link = &caller->next;
  }
}

static void send_last(struct collector *collector) {
  for (struct caller *caller = collector->callers; caller; caller = caller->next) {
    struct pollfd polled = {.fd = caller->fd, .events = POLLOUT};
    while (caller->out && poll(&polled, 1, LAST_MS) == 1 && !send_out(caller)) {
    }
  }
}

static void *run(void *context) {
  struct collector *collector = context;
  for (bool is_over = false; !is_over;) {
    struct arena arena = {NULL};
    struct pollfd *polled = watch(collector, &arena);
    if (poll(polled, 2 + collector->caller_count, STEP_MS) >= 0) {
      is_over = polled[0].revents;
      serve_all(collector, polled + 2);
      if (polled[1].revents)
        take_callers(collector);
    }
    arena_free(&arena);
  }
  send_last(collector);
  return NULL;
}

// ---- the thread

static int allow_files(size_t callers, struct diagnostics *diagnostics) {
  size_t most;
  if (process_may_open(callers + MAX_STRANGERS + OTHER_FILES, &most))
    return 0;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere,
                    "%zu processes will connect, but this one may open only %zu files: raise "
                    "that limit with 'ulimit -n'",
                    callers, most);
  return -1;
}

// Signals are the main thread's.
static int start_thread(struct collector *collector) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int result = pthread_create(&collector->thread, NULL, run, collector);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return result;
}

int collector_start(struct collector *collector, struct arena *arena,
                    struct diagnostics *diagnostics) {
  collector->runs = false;
  collector->wake = -1;
  if (allow_files((size_t)collector->clerk.launch->size, diagnostics) ||
      (collector->listener = rendezvous_listen(collector->rendezvous, arena, diagnostics)) < 0)
    return -1;
  json_object_seed(0); // on its first use, which must not happen in two threads at once
  collector->wake = eventfd(0, EFD_CLOEXEC);
  if (collector->wake >= 0 && !start_thread(collector)) {
    collector->runs = true;
    return 0;
  }
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "cannot listen to the other processes: %s",
                    strerror(errno));
  close(collector->listener);
  if (collector->wake >= 0)
    close(collector->wake);
  return -1;
}

void collector_stop(struct collector *collector, struct diagnostics *diagnostics) {
  const uint64_t one = 1;
  if (!collector->runs)
    return;
  collector->runs = write(collector->wake, &one, sizeof one) != sizeof one;
  pthread_join(collector->thread, NULL);
  while (collector->callers)
    hang_up(collector, &collector->callers);
  close(collector->listener);
  close(collector->wake);
  clerk_end(&collector->clerk);
  if (collector->refused)
    diagnostics_warning(diagnostics, nowhere, "refused %zu connection%s from outside this launch",
                        collector->refused, collector->refused == 1 ? "" : "s");
}
