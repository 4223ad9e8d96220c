// engine: a stand-in for an inference server, on the loopback interface only: it answers like
// OpenAI's servers, by the script in a request's path (script.h), each token at its time, 1,024
// streams of 50 tokens/s with less than a core.
//
//   engine [PORT]      prints its port on a line, then serves until it is ended
//
// GET /lateness returns how late anything was sent since the last such request, in seconds.
#include "tests/stand_ins/engine/bytes.h"
#include "tests/stand_ins/engine/reply.h"
#include "tests/stand_ins/engine/request.h"
#include "tests/stand_ins/engine/timers.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 16384, MAX_READY = 1024, BACKLOG = 4096 };

// What a connection does next, when its time has come.
enum step { STEP_NONE, STEP_HEAD, STEP_TOKENS, STEP_REST };

struct connection {
  struct timed timed; // first, so that a pointer to it is one to the connection
  int fd;
  enum step step;
  struct request request;
  struct reply reply;
  struct bytes received, out;
  size_t held;          // bytes at the end of `out` that wait for STEP_REST
  bool is_serving;      // counts among those being served
  bool has_served;      // a request before this one
  bool is_waiting;      // for a slot
  double first_token_s; // when it is due
  struct connection *next_waiting;
};

struct engine {
  struct connection *connections[MAX_CONNECTIONS]; // by descriptor
  struct timers timers;
  struct counters counters;
  int epoll, timer, listener;
  double first_request_s; // 0: none yet
  long requests;
  struct connection *waiting; // in their order
  double *lateness;           // [late_count]
  size_t late_count, late_room;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- connections

static void serve_next(struct engine *engine);

// With RST: what was sent and not yet read is lost.
static void hang_up(struct engine *engine, struct connection *connection, bool reset) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  if (reset)
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  timers_drop(&engine->timers, &connection->timed);
  engine->connections[connection->fd] = NULL;
  close(connection->fd);
  for (struct connection **link = &engine->waiting; *link; link = &(*link)->next_waiting)
    if (*link == connection) {
      *link = connection->next_waiting;
      engine->counters.waiting--;
      break;
    }
  engine->counters.running -= connection->is_serving;
  const bool had_slot = connection->is_serving;
  if (connection->reply.deflate)
    deflateEnd(connection->reply.deflate);
  free(connection->reply.deflate);
  free(connection->received.text);
  free(connection->out.text);
  free(connection);
  if (had_slot)
    serve_next(engine);
}

static void listen_for(struct engine *engine, struct connection *connection, bool writable) {
  struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0),
                              .data.fd = connection->fd};
  epoll_ctl(engine->epoll, EPOLL_CTL_MOD, connection->fd, &event);
}

// Sends all but what is held. False if the connection is gone.
static bool flush(struct engine *engine, struct connection *connection) {
  struct bytes *out = &connection->out;
  const size_t size = out->size - connection->held;
  if (size == 0)
    return true;
  const ssize_t sent = send(connection->fd, out->text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN) {
    hang_up(engine, connection, false);
    return false;
  }
  if (sent > 0)
    bytes_drop(out, (size_t)sent);
  if (out->size > connection->held)
    listen_for(engine, connection, true);
  return true;
}

// ---- the course of a stream

static void plan(struct engine *engine, struct connection *connection, enum step step,
                 double due_s) {
  const struct script *script = &connection->request.script;
  const double stall_s = engine->first_request_s + script->stall_at / 1e3;
  if (script->stall > 0 && step == STEP_TOKENS && due_s >= stall_s &&
      due_s < stall_s + script->stall / 1e3)
    due_s = stall_s + script->stall / 1e3;
  connection->step = step;
  timers_set(&engine->timers, &connection->timed, due_s);
}

static void begin_stream(struct engine *engine, struct connection *connection, double now_s) {
  const struct script *script = &connection->request.script;
  connection->is_serving = true;
  connection->first_token_s = now_s + script->ttft / 1e3;
  engine->counters.running++;
  engine->counters.prompt_tokens += (double)connection->request.prompt_tokens;
  engine->counters.cached_tokens += script->cached > 0 ? script->cached : 0;
  plan(engine, connection, STEP_HEAD, now_s + script->slow / 1e3);
}

static void serve_next(struct engine *engine) {
  struct connection *next = engine->waiting;
  if (!next || engine->counters.running >= (int)next->request.script.slots)
    return;
  engine->waiting = next->next_waiting;
  engine->counters.waiting--;
  begin_stream(engine, next, now());
}

static void wait_for_slot(struct engine *engine, struct connection *connection) {
  struct connection **link = &engine->waiting;
  while (*link)
    link = &(*link)->next_waiting;
  connection->next_waiting = NULL;
  *link = connection;
  engine->counters.waiting++;
}

static void end_stream(struct engine *engine, struct connection *connection) {
  connection->is_serving = false;
  connection->step = STEP_NONE;
  timers_drop(&engine->timers, &connection->timed);
  engine->counters.running--;
  if (connection->reply.deflate) {
    deflateEnd(connection->reply.deflate);
    free(connection->reply.deflate);
    connection->reply.deflate = NULL;
  }
  serve_next(engine);
}

static bool is_struck(const struct engine *engine, const struct script *script) {
  return script->every <= 0 || engine->requests % (long)script->every == 0;
}

// Whether the script ends the stream here; if so, the connection is gone or an error was sent.
static bool breaks(struct engine *engine, struct connection *connection) {
  const struct script *script = &connection->request.script;
  const double sent = (double)connection->reply.sent;
  const bool resets = script->reset_after > 0 && sent >= script->reset_after;
  if (!is_struck(engine, script))
    return false;
  if (resets || (script->close_after > 0 && sent >= script->close_after)) {
    hang_up(engine, connection, resets);
    return true;
  }
  if (script->error_after <= 0 || sent < script->error_after)
    return false;
  reply_complaint(&connection->out, &connection->reply);
  if (flush(engine, connection))
    end_stream(engine, connection);
  return true;
}

static void note_lateness(struct engine *engine, double seconds) {
  if (engine->late_count == engine->late_room) {
    engine->late_room = engine->late_room ? 2 * engine->late_room : 65536;
    engine->lateness = realloc(engine->lateness, engine->late_room * sizeof *engine->lateness);
  }
  engine->lateness[engine->late_count++] = seconds;
}

static void send_tokens(struct engine *engine, struct connection *connection) {
  const struct script *script = &connection->request.script;
  struct reply *reply = &connection->reply;
  const long before = reply->sent;
  const double due_s = connection->timed.due_s;
  if (breaks(engine, connection))
    return;
  reply_chunk(&connection->out, reply);
  engine->counters.generated_tokens += (double)(reply->sent - before);
  const bool has_sent = reply->sent > before;
  engine->counters.chunks += has_sent;
  const bool is_end = reply->sent >= reply->total && !(script->endless > 0);
  const bool is_over = is_end && (script->finish <= 0 || !has_sent);
  // In the middle of a two-byte character.
  const char *character =
      script->split > 0 ? memchr(connection->out.text, 0xc3, connection->out.size) : NULL;
  connection->held =
      character ? connection->out.size - (size_t)(character + 1 - connection->out.text) : 0;
  if (!flush(engine, connection))
    return;
  note_lateness(engine, now() - due_s);
  if (connection->held > 0)
    plan(engine, connection, STEP_REST, now() + 2e-3);
  else if (is_over)
    end_stream(engine, connection);
  else if (is_end)
    plan(engine, connection, STEP_TOKENS, due_s + script->finish / 1e3);
  else
    plan(engine, connection, STEP_TOKENS,
         due_s + (double)(reply->sent - before) * script->tpot / 1e3);
}

static void send_rest(struct engine *engine, struct connection *connection) {
  const struct reply *reply = &connection->reply;
  connection->held = 0;
  if (!flush(engine, connection))
    return;
  if (reply->sent >= reply->total)
    end_stream(engine, connection);
  else
    plan(engine, connection, STEP_TOKENS,
         connection->timed.due_s + connection->request.script.tpot / 1e3);
}

static void send_head(struct engine *engine, struct connection *connection) {
  const struct script *script = &connection->request.script;
  reply_head(&connection->out, &connection->reply);
  if (connection->request.is_chat && script->role > 0)
    reply_role(&connection->out, &connection->reply);
  if (flush(engine, connection))
    plan(engine, connection, STEP_TOKENS,
         connection->first_token_s + (connection->request.script.slow / 1e3));
}

static void (*const steps[])(struct engine *, struct connection *) = {
    [STEP_HEAD] = send_head, [STEP_TOKENS] = send_tokens, [STEP_REST] = send_rest};

// ---- how a request is answered

static void answer(struct engine *engine, struct connection *connection, int status,
                   const char *message) {
  reply_error(&connection->out, status, message);
  flush(engine, connection);
}

// 0: it is served; else the status, with the reason.
static int refusal(const struct engine *engine, const struct connection *connection, char *why,
                   size_t room) {
  const struct request *request = &connection->request;
  const struct script *script = &request->script;
  const struct {
    bool holds;
    int status;
    const char *message;
  } all[] = {
      {!request->is_known, 400, "the script has a key that there is not"},
      {*script->key && (strncmp(request->authorization, "Bearer ", 7) != 0 ||
                        strcmp(request->authorization + 7, script->key) != 0),
       401, "Incorrect API key provided: "},
      {script->status > 0 && is_struck(engine, script), (int)script->status, "as the script says"},
      {script->chat_only > 0 && !request->is_chat, 404, "Not Found"},
      {strcmp(request->model, script->model) != 0, 404, "The model does not exist: "},
      {script->no_ids > 0 && request->has_ids, 400, "prompt must be a string"},
      {request->is_rejected, 400, "Extra inputs are not permitted: "},
      {script->context > 0 &&
           (double)(request->prompt_tokens + request->max_tokens) > script->context,
       400, "This model's maximum context length is shorter than that"},
      {script->limit > 0 && engine->counters.running >= (int)script->limit, 503, "overloaded"},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i].holds) {
      snprintf(why, room, "%s%s", all[i].message,
               all[i].status == 401                   ? request->authorization
               : strstr(all[i].message, "model does") ? request->model
               : strstr(all[i].message, "Extra")      ? script->rejects
                                                      : "");
      return all[i].status;
    }
  return 0;
}

static void answer_otherwise(struct engine *engine, struct connection *connection) {
  const struct script *script = &connection->request.script;
  if (script->garbage > 0) {
    bytes_print(&connection->out, "220 mail.example ESMTP\r\n");
    if (flush(engine, connection))
      hang_up(engine, connection, false);
    return;
  }
  if (script->redirect > 0)
    reply_whole(&connection->out, 307, "text/plain", "Location: http://127.0.0.1:9/elsewhere\r\n",
                "");
  else
    reply_whole(&connection->out, 200, "application/json", "",
                "{\"choices\":[{\"text\":\"all at once\"}],\"usage\":{\"prompt_tokens\":1,"
                "\"completion_tokens\":3}}");
  flush(engine, connection);
}

static void start(struct engine *engine, struct connection *connection) {
  const struct request *request = &connection->request;
  const struct script *script = &request->script;
  char why[256];
  if (script->once > 0 && connection->has_served) {
    hang_up(engine, connection, false);
    return;
  }
  connection->has_served = true;
  engine->requests++;
  if (script->die_after > 0 && (double)engine->requests > script->die_after)
    exit(0);
  const int status = refusal(engine, connection, why, sizeof why);
  if (status != 0) {
    answer(engine, connection, status, why);
    return;
  }
  if (script->garbage > 0 || script->redirect > 0 || script->json > 0 || !request->is_stream) {
    answer_otherwise(engine, connection);
    return;
  }
  if (engine->first_request_s == 0)
    engine->first_request_s = now();
  connection->reply = (struct reply){
      .request = request, .total = script->tokens > 0 ? (long)script->tokens : request->max_tokens};
  if (script->slots > 0 && engine->counters.running >= (int)script->slots)
    wait_for_slot(engine, connection);
  else
    begin_stream(engine, connection, now());
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void tell_lateness(struct engine *engine, struct connection *connection) {
  struct bytes body = {0};
  double *late = engine->lateness;
  const size_t count = engine->late_count;
  qsort(late, count, sizeof *late, ascending);
  bytes_print(&body, "{\"sent\":%zu,\"p50\":%.6f,\"p99\":%.6f,\"worst\":%.6f}", count,
              count ? late[count / 2] : 0, count ? late[count * 99 / 100] : 0,
              count ? late[count - 1] : 0);
  engine->late_count = 0;
  reply_whole(&connection->out, 200, "application/json", "", body.text);
  free(body.text);
}

static void read_requests(struct engine *engine, struct connection *connection) {
  const int taken = request_take(&connection->request, &connection->received);
  if (taken < 0) {
    hang_up(engine, connection, false);
    return;
  }
  if (taken == 0)
    return;
  if (connection->request.is_post) {
    start(engine, connection);
    return;
  }
  if (strcmp(connection->request.path, "/lateness") == 0)
    tell_lateness(engine, connection);
  else if (connection->request.script.garbage > 0) {
    answer_otherwise(engine, connection);
    return;
  } else
    reply_get(&connection->out, &connection->request, &engine->counters);
  flush(engine, connection);
}

// ---- the loop

static void receive(struct engine *engine, struct connection *connection) {
  char text[65536];
  const ssize_t size = recv(connection->fd, text, sizeof text, MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN)
    return;
  if (size <= 0) {
    hang_up(engine, connection, false);
    return;
  }
  bytes_add(&connection->received, text, (size_t)size);
  read_requests(engine, connection);
}

static void accept_all(struct engine *engine) {
  const int on = 1;
  for (int fd; (fd = accept4(engine->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    if (fd >= MAX_CONNECTIONS) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    engine->connections[fd] = calloc(1, sizeof *engine->connections[fd]);
    engine->connections[fd]->fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(engine->epoll, EPOLL_CTL_ADD, fd, &event);
  }
}

static void deal_with(struct engine *engine, const struct epoll_event *event) {
  uint64_t times;
  const int fd = event->data.fd;
  if (fd == engine->listener)
    accept_all(engine);
  else if (fd == engine->timer)
    (void)!read(fd, &times, sizeof times);
  else if (engine->connections[fd] && event->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
    receive(engine, engine->connections[fd]);
  else if (engine->connections[fd] && flush(engine, engine->connections[fd]) &&
           engine->connections[fd]->out.size == engine->connections[fd]->held)
    listen_for(engine, engine->connections[fd], false);
}

static void do_what_is_due(struct engine *engine) {
  for (struct timed *first; (first = timers_first(&engine->timers)) && first->due_s <= now();) {
    struct connection *connection = (struct connection *)(void *)first;
    timers_drop(&engine->timers, first);
    steps[connection->step](engine, connection);
  }
}

static void arm(const struct engine *engine) {
  const struct timed *first = timers_first(&engine->timers);
  const double due_s = first ? first->due_s : 0, whole = floor(due_s);
  const struct itimerspec when = {
      .it_value = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (due_s - whole))}};
  timerfd_settime(engine->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static int open_port(struct engine *engine, int port) {
  const int on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  engine->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  setsockopt(engine->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(engine->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
      listen(engine->listener, BACKLOG) < 0)
    return -1;
  getsockname(engine->listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  return fflush(stdout);
}

int main(int argc, char **argv) {
  static struct engine engine;
  struct epoll_event ready[MAX_READY];
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  engine.epoll = epoll_create1(EPOLL_CLOEXEC);
  engine.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (open_port(&engine, argc > 1 ? atoi(argv[1]) : 0) < 0) {
    perror("engine");
    return 1;
  }
  const int always[] = {engine.listener, engine.timer};
  for (size_t i = 0; i < 2; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = always[i]};
    epoll_ctl(engine.epoll, EPOLL_CTL_ADD, always[i], &event);
  }
  for (;;) {
    arm(&engine);
    const int count = epoll_wait(engine.epoll, ready, MAX_READY, -1);
    for (int i = 0; i < count; i++)
      deal_with(&engine, &ready[i]);
    do_what_is_due(&engine);
  }
}
