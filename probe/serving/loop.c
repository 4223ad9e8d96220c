#include "probe/serving/loop.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/source.h"

#include <curl/multi.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_READY = 1024, OTHER_FILES = 64 };

// ---- what libcurl asks for

static int watch_socket(CURL *handle, curl_socket_t socket, int what, void *context, void *known) {
  struct loop *loop = context;
  (void)handle;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, socket, NULL);
    return 0;
  }
  struct epoll_event event = {.data.fd = socket};
  event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
  if (!known)
    curl_multi_assign(loop->multi, socket, loop);
  return epoll_ctl(loop->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
}

static int set_due(CURLM *multi, long wait_ms, void *context) {
  struct loop *loop = context;
  (void)multi;
  loop->curl_due_s = wait_ms < 0 ? INFINITY : clock_now(&machine_clock) + 1e-3 * (double)wait_ms;
  return 0;
}

// ---- opening

static int allow_files(size_t connections, struct diagnostics *diagnostics) {
  const size_t wanted = connections + OTHER_FILES;
  size_t most;
  if (process_may_open(wanted, &most))
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    "%zu connections at a time need %zu open files, and this process may have %zu "
                    "(ulimit -n)",
                    connections, wanted, most);
  return -1;
}

static void set_up(struct loop *loop, size_t connections) {
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, set_due);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
  curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
  curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)connections);
}

int loop_open(struct loop *loop, size_t connections, struct diagnostics *diagnostics) {
  *loop = (struct loop){.epoll = -1, .timer = -1, .curl_due_s = INFINITY, .armed_s = INFINITY};
  if (allow_files(connections, diagnostics) < 0)
    return -1;
  loop->epoll = epoll_create1(EPOLL_CLOEXEC);
  loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  loop->multi = curl_multi_init();
  struct epoll_event event = {.events = EPOLLIN, .data.fd = loop->timer};
  if (loop->timer < 0 || !loop->multi ||
      epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->timer, &event) < 0) {
    diagnostics_error(diagnostics, nowhere, "cannot start the connection loop: %s",
                      strerror(errno));
    diagnostics->machine_failed = true;
    loop_close(loop);
    return -1;
  }
  set_up(loop, connections);
  loop->nap_s = connections >= LOOP_MANY ? 1e-6 * LOOP_NAP_US : 0;
  loop->now_s = clock_now(&machine_clock);
  return 0;
}

void loop_close(struct loop *loop) {
  if (loop->multi)
    curl_multi_cleanup(loop->multi);
  loop->multi = NULL;
  if (loop->epoll >= 0)
    close(loop->epoll);
  if (loop->timer >= 0)
    close(loop->timer);
  loop->epoll = loop->timer = -1;
}

// ---- turns

// The timer is accurate to the microsecond, epoll_wait's own limit to the millisecond.
static void arm(struct loop *loop, double due_s) {
  if (due_s == loop->armed_s)
    return;
  const double whole = floor(due_s);
  const struct itimerspec when = {
      .it_value = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (due_s - whole))}};
  timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &when, NULL);
  loop->armed_s = due_s;
}

static void deal_with(struct loop *loop, const struct epoll_event *event) {
  uint64_t times;
  int running;
  if (event->data.fd == loop->timer) {
    if (read(loop->timer, &times, sizeof times) > 0)
      loop->armed_s = INFINITY;
    return;
  }
  const int what = (event->events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                   (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (event->events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
  curl_multi_socket_action(loop->multi, event->data.fd, what, &running);
}

void loop_turn(struct loop *loop, double until_s) {
  struct epoll_event ready[MAX_READY];
  int running;
  const double begin_s = clock_now(&machine_clock), due_s = fmin(until_s, loop->curl_due_s);
  loop->lag_s = begin_s - loop->now_s;
  if (due_s > begin_s)
    arm(loop, due_s);
  if (loop->nap_s > 0 && due_s > begin_s + loop->nap_s)
    clock_sleep(&machine_clock, loop->nap_s);
  const int count = epoll_wait(loop->epoll, ready, MAX_READY, due_s > begin_s ? -1 : 0);
  loop->now_s = clock_now(&machine_clock);
  for (int i = 0; i < count; i++)
    deal_with(loop, &ready[i]);
  if (loop->curl_due_s <= loop->now_s) {
    loop->curl_due_s = INFINITY;
    curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

CURL *loop_ended(struct loop *loop, CURLcode *code) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(loop->multi, &left)))
    if (message->msg == CURLMSG_DONE) {
      *code = message->data.result;
      return message->easy_handle;
    }
  return NULL;
}
