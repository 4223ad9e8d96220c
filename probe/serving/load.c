#include "probe/serving/load.h"

#include "base/clock.h"
#include "base/vector.h"
#include "model/chance/draw.h"
#include "probe/serving/loop.h"

#include <curl/curl.h>
#include <curl/easy.h>
#include <curl/multi.h>
#include <curl/system.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 16384 }; // of an answer that is not a stream

static const double look_s = 0.25; // how often stalls are checked for
static const double tell_s = 1;    // how often progress is reported
static const double goodbye_s = 1; // after "[DONE]", for the connection to be free again

// A slot for one request in flight.
struct lane {
  struct run *run;
  CURL *handle;
  struct stream stream;
  size_t sample; // its number
  bool is_busy;
  bool is_awaited; // was in flight when the window closed
  bool is_known;   // status and type of the answer
  bool is_stream;  // it is a stream of events
  double started_s;
  double heard_s;        // when anything was last received
  double text_s;         // when text was
  const char *gave_up;   // why we ended the request
  char words[MAX_WORDS]; // of an answer that is not a stream
  size_t word_count;
  char detail[CURL_ERROR_SIZE];
};

struct run {
  const struct load *load;
  struct load_result *result;
  struct arena *arena;
  struct loop loop;
  enum load_phase phase;
  struct lane *lanes; // [load->concurrency]
  size_t *free_lanes; // [free_count]
  size_t free_count;
  size_t scheduled; // requests so far; in a closed loop, of the first ones
  double next_s;    // when the next is to be sent; INFINITY: when another ends
  struct draw_stream draws;
  double uniforms[VECTOR_BLOCK];
  size_t first_ended; // of the first requests
  size_t in_window;   // requests that count
  size_t awaited;
  double cpu_from_s;
  double looked_s, told_s;
};

static struct load_sample *sample_of(const struct lane *lane) {
  return &lane->run->result->samples[lane->sample];
}

static bool is_open(const struct load *load) {
  return load->kind != LOAD_CLOSED;
}

double load_sample_start(const struct load *load, const struct load_sample *sample) {
  return is_open(load) ? sample->scheduled_s : sample->sent_s;
}

static double cpu_now(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

// ---- the schedule

static double poisson_gap(struct run *run) {
  const size_t at = run->scheduled % VECTOR_BLOCK;
  if (at == 0)
    draw_uniforms(&run->draws, run->scheduled, run->uniforms);
  return -log(run->uniforms[at]) / run->load->rate_per_s;
}

// Sets when the next request is to be sent.
static void schedule_next(struct run *run) {
  const struct load *load = run->load;
  run->scheduled++;
  if (load->kind == LOAD_POISSON)
    run->next_s += poisson_gap(run);
  const double number = (double)run->scheduled;
  if (load->kind == LOAD_CONSTANT)
    run->next_s = run->result->began_s + number / load->rate_per_s;
  if (load->kind == LOAD_CLOSED)
    run->next_s = run->scheduled < load->concurrency
                      ? run->result->began_s + load->ramp_s * number / (double)load->concurrency
                      : INFINITY;
}

// ---- a request

static int note_sent(void *context, char *to, char *from, int to_port, int from_port) {
  struct lane *lane = context;
  (void)to, (void)from, (void)to_port, (void)from_port;
  sample_of(lane)->sent_s = clock_now(&machine_clock);
  return CURL_PREREQFUNC_OK;
}

static void know_answer(struct lane *lane) {
  long status = 0;
  const char *type = NULL;
  curl_easy_getinfo(lane->handle, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(lane->handle, CURLINFO_CONTENT_TYPE, &type);
  lane->is_known = true;
  lane->is_stream =
      status == 200 && type && strncmp(type, "text/event-stream", strlen("text/event-stream")) == 0;
}

static void keep_words(struct lane *lane, const char *bytes, size_t size) {
  const size_t room = MAX_WORDS - lane->word_count;
  const size_t count = size < room ? size : room;
  memcpy(lane->words + lane->word_count, bytes, count);
  lane->word_count += count;
}

static void count_text(struct lane *lane, size_t chunks, bool is_new_receipt, double received_s) {
  struct run *run = lane->run;
  if (run->phase == LOAD_STEADY) {
    sample_of(lane)->window_chunks += chunks;
    if (is_new_receipt && !isnan(lane->text_s))
      gaps_add(&run->result->gaps, received_s - lane->text_s);
  }
  lane->text_s = received_s;
}

// libcurl's write callback; less than `size` ends the transfer.
static size_t receive(char *bytes, size_t one, size_t size, void *context) {
  struct lane *lane = context;
  struct stream *stream = &lane->stream;
  (void)one;
  lane->heard_s = fmax(lane->run->loop.now_s, sample_of(lane)->sent_s);
  if (!lane->is_known)
    know_answer(lane);
  if (!lane->is_stream) {
    keep_words(lane, bytes, size);
    return size;
  }
  const size_t chunks = stream->chunks, receipts = stream->receipts;
  stream_feed(stream, bytes, size, lane->heard_s);
  if (stream->chunks > chunks)
    count_text(lane, stream->chunks - chunks, stream->receipts > receipts, lane->heard_s);
  return stream->is_wrong ? 0 : size;
}

// A new handle for each request: libcurl counts over a handle's whole life how often a kept
// connection turned out to be closed, and gives up at the sixth. Connections belong to the multi
// handle, and are kept.
static void lane_open(struct lane *lane) {
  const struct run *run = lane->run;
  curl_easy_cleanup(lane->handle);
  lane->handle = server_handle(run->load->server, run->load->path, run->arena);
  curl_easy_setopt(lane->handle, CURLOPT_PRIVATE, lane);
  curl_easy_setopt(lane->handle, CURLOPT_POST, 1L);
  curl_easy_setopt(lane->handle, CURLOPT_ERRORBUFFER, lane->detail);
  curl_easy_setopt(lane->handle, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(lane->handle, CURLOPT_WRITEDATA, lane);
  curl_easy_setopt(lane->handle, CURLOPT_PREREQFUNCTION, note_sent);
  curl_easy_setopt(lane->handle, CURLOPT_PREREQDATA, lane);
}

static void give_up(struct run *run, const char *reason);

static void lane_start(struct lane *lane, double scheduled_s) {
  struct run *run = lane->run;
  struct load_result *result = run->result;
  const char *body = result->count < run->load->most_requests
                         ? run->load->body(run->load->body_context, result->count)
                         : NULL;
  if (!body) {
    give_up(run, arena_printf(run->arena, "the maximum number of requests was sent: %zu",
                              result->count));
    return;
  }
  result->samples = arena_room(run->arena, result->samples, result->count, sizeof *result->samples);
  lane->sample = result->count++;
  *sample_of(lane) = (struct load_sample){.scheduled_s = scheduled_s,
                                          .sent_s = NAN,
                                          .first_s = NAN,
                                          .last_s = NAN,
                                          .end_s = NAN,
                                          .usage = usage_unknown};
  lane_open(lane);
  stream_start(&lane->stream);
  lane->is_busy = true;
  lane->is_awaited = lane->is_known = lane->is_stream = false;
  lane->word_count = 0;
  lane->gave_up = NULL;
  *lane->detail = '\0';
  lane->text_s = NAN;
  lane->started_s = lane->heard_s = run->loop.now_s;
  curl_easy_setopt(lane->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
  curl_easy_setopt(lane->handle, CURLOPT_COPYPOSTFIELDS, body);
  curl_multi_add_handle(run->loop.multi, lane->handle);
}

static const char *failure_of(const struct lane *lane, CURLcode code) {
  const struct stream *stream = &lane->stream;
  struct run *run = lane->run;
  if (lane->gave_up)
    return lane->gave_up;
  if (stream->is_wrong)
    return server_words(run->load->server, stream->complaint, strlen(stream->complaint),
                        run->arena);
  if (stream->is_done) // how the connection then ended does not matter
    return NULL;
  const char *failure = server_failure(run->load->server, lane->handle, code, lane->detail,
                                       lane->words, lane->word_count, run->arena);
  if (failure)
    return failure;
  if (!lane->is_stream)
    return "the answer is not a stream of events";
  return stream->is_finished ? NULL : "the stream ended without an end marker";
}

static void keep_sample(struct lane *lane, const char *failure) {
  struct load_sample *sample = sample_of(lane);
  const struct stream *stream = &lane->stream;
  sample->first_s = stream->first_s;
  sample->last_s = stream->last_s;
  sample->end_s = failure ? lane->run->loop.now_s : lane->heard_s;
  sample->usage = stream->usage;
  sample->chunks = stream->chunks;
  sample->receipts = stream->receipts;
  sample->failure = failure;
}

// A text equal to the first one is not kept again.
static void count_failure(struct run *run, struct load_sample *sample) {
  struct load_result *result = run->result;
  if (!result->first_failure)
    result->first_failure = sample->failure;
  else if (strcmp(result->first_failure, sample->failure) == 0)
    sample->failure = result->first_failure;
  if (++result->failed > run->load->most_failed)
    give_up(run, arena_printf(run->arena, "requests fail: %s", result->first_failure));
}

static void lane_free(struct lane *lane) {
  struct run *run = lane->run;
  curl_multi_remove_handle(run->loop.multi, lane->handle);
  lane->is_busy = false;
  run->awaited -= lane->is_awaited;
  run->free_lanes[run->free_count++] = (size_t)(lane - run->lanes);
}

static void lane_end(struct lane *lane, CURLcode code) {
  struct run *run = lane->run;
  if (lane->is_stream)
    stream_end(&lane->stream, lane->heard_s);
  keep_sample(lane, failure_of(lane, code));
  struct load_sample *sample = sample_of(lane);
  lane_free(lane);
  run->first_ended += lane->sample < (is_open(run->load) ? 1 : run->load->concurrency);
  if (sample->failure)
    count_failure(run, sample);
  else
    run->result->completed++;
  if (is_open(run->load))
    return;
  run->in_window += run->phase == LOAD_STEADY && !sample->failure;
  if (run->phase < LOAD_DRAIN)
    lane_start(&run->lanes[run->free_lanes[--run->free_count]], run->loop.now_s);
}

// ---- phases

static void tell(struct run *run) {
  const struct load_result *result = run->result;
  const double now_s = run->loop.now_s;
  run->told_s = now_s;
  if (!run->load->told)
    return;
  const struct load_progress progress = {
      .phase = run->phase,
      .elapsed_s = now_s - result->began_s,
      .steady_s = isnan(result->window_from_s) ? 0 : now_s - result->window_from_s,
      .in_flight = run->load->concurrency - run->free_count,
      .completed = result->completed,
      .failed = result->failed};
  run->load->told(run->load->told_context, &progress);
}

static void enter(struct run *run, enum load_phase phase) {
  run->phase = phase;
  tell(run);
}

static void give_up(struct run *run, const char *reason) {
  if (run->phase == LOAD_OVER)
    return;
  run->result->unfinished = reason;
  enter(run, LOAD_OVER);
}

static void open_window(struct run *run) {
  run->result->window_from_s = run->loop.now_s;
  run->result->worst_lag_s = 0;
  run->cpu_from_s = cpu_now();
  enter(run, LOAD_STEADY);
}

static void close_window(struct run *run) {
  run->result->window_until_s = run->loop.now_s;
  run->result->cpu_s = cpu_now() - run->cpu_from_s;
  for (size_t i = 0; i < run->load->concurrency; i++) {
    run->lanes[i].is_awaited = run->lanes[i].is_busy;
    run->awaited += run->lanes[i].is_busy;
  }
  enter(run, LOAD_DRAIN);
}

static void next_phase(struct run *run) {
  const struct load *load = run->load;
  const struct load_result *result = run->result;
  const double now_s = run->loop.now_s;
  const size_t first = is_open(load) ? 1 : load->concurrency;
  if (run->phase == LOAD_RAMP_UP && run->first_ended >= first &&
      now_s >= result->began_s + load->ramp_s)
    open_window(run);
  else if (run->phase == LOAD_STEADY && now_s >= result->window_from_s + load->window_s &&
           run->in_window >= load->window_requests)
    close_window(run);
  else if (run->phase == LOAD_DRAIN && run->awaited == 0)
    enter(run, LOAD_OVER);
}

// When a phase may end because of its length alone.
static double phase_due(const struct run *run) {
  const double due_s = run->phase == LOAD_RAMP_UP ? run->result->began_s + run->load->ramp_s
                       : run->phase == LOAD_STEADY
                           ? run->result->window_from_s + run->load->window_s
                           : INFINITY;
  return due_s > run->loop.now_s ? due_s : INFINITY;
}

// ---- stalls

static const char *overdue(const struct lane *lane) {
  const struct run *run = lane->run;
  const double now_s = run->loop.now_s;
  if (now_s - lane->heard_s > run->load->silence_s)
    return arena_printf(run->arena, "no data for %g s", run->load->silence_s);
  if (now_s - lane->started_s > run->load->request_s)
    return arena_printf(run->arena, "it did not end within %g s", run->load->request_s);
  return NULL;
}

static void look_at(struct lane *lane) {
  const bool is_done = lane->stream.is_done;
  if (is_done && lane->run->loop.now_s - lane->heard_s < goodbye_s)
    return;
  if (!is_done)
    lane->gave_up = overdue(lane);
  if (is_done || lane->gave_up)
    lane_end(lane, CURLE_OK);
}

static void look(struct run *run) {
  const struct load *load = run->load;
  run->looked_s = run->loop.now_s;
  for (size_t i = 0; i < load->concurrency; i++)
    if (run->lanes[i].is_busy)
      look_at(&run->lanes[i]);
  if (run->loop.now_s >= run->result->began_s + load->limit_s)
    give_up(run, arena_printf(run->arena, "it took longer than %g s", load->limit_s));
  if (run->loop.now_s >= run->told_s + tell_s)
    tell(run);
}

// ---- the whole

static void send_scheduled(struct run *run) {
  while (run->next_s <= run->loop.now_s && run->phase != LOAD_OVER) {
    if (run->phase == LOAD_DRAIN && !is_open(run->load))
      return;
    if (run->free_count == 0) {
      give_up(run, arena_printf(run->arena, "more than %zu requests are in flight",
                                run->load->concurrency));
      return;
    }
    run->in_window += is_open(run->load) && run->phase == LOAD_STEADY;
    lane_start(&run->lanes[run->free_lanes[--run->free_count]], run->next_s);
    schedule_next(run);
  }
}

static void turn(struct run *run) {
  CURLcode code;
  CURL *handle;
  loop_turn(&run->loop, fmin(fmin(run->next_s, phase_due(run)), run->looked_s + look_s));
  run->result->worst_lag_s =
      fmax(run->result->worst_lag_s, run->phase == LOAD_STEADY ? run->loop.lag_s : 0);
  while ((handle = loop_ended(&run->loop, &code))) {
    struct lane *lane = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &lane);
    lane_end(lane, code);
  }
  send_scheduled(run);
  next_phase(run);
  if (run->loop.now_s >= run->looked_s + look_s)
    look(run);
  if (run->load->stop && *run->load->stop)
    give_up(run, "stopped");
}

static void begin(struct run *run) {
  const struct load *load = run->load;
  struct timespec utc;
  clock_gettime(CLOCK_REALTIME, &utc);
  run->result->began_s = run->next_s = run->looked_s = run->told_s = clock_now(&machine_clock);
  run->result->utc_offset_s =
      (double)utc.tv_sec + 1e-9 * (double)utc.tv_nsec - run->result->began_s;
  draw_stream_start(&run->draws, DRAW_RANDOM, load->seed, "arrivals", 0, 0);
  if (load->kind == LOAD_POISSON)
    run->next_s += poisson_gap(run);
  run->lanes = calloc(load->concurrency, sizeof *run->lanes);
  run->free_lanes = calloc(load->concurrency, sizeof *run->free_lanes);
  for (size_t i = load->concurrency; i-- > 0;) {
    run->lanes[i].run = run;
    run->free_lanes[run->free_count++] = i;
  }
}

static void end(struct run *run) {
  run->result->ended_s = clock_now(&machine_clock);
  for (size_t i = 0; i < run->load->concurrency; i++) {
    if (run->lanes[i].is_busy)
      curl_multi_remove_handle(run->loop.multi, run->lanes[i].handle);
    curl_easy_cleanup(run->lanes[i].handle);
    stream_free(&run->lanes[i].stream);
  }
  free(run->lanes);
  free(run->free_lanes);
  loop_close(&run->loop);
}

int load_run(const struct load *load, struct load_result *result, struct arena *arena,
             struct diagnostics *diagnostics) {
  *result = (struct load_result){.window_from_s = NAN, .window_until_s = NAN};
  struct run run = {.load = load, .result = result, .arena = arena};
  if (loop_open(&run.loop, load->concurrency, diagnostics) < 0)
    return -1;
  begin(&run);
  while (run.phase != LOAD_OVER)
    turn(&run);
  end(&run);
  return 0;
}
