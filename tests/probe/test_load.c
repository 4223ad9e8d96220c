// The load client against the stand-in for an inference server, by the clock: a script defines what
// the server does, and so what must be found. Times are judged if the machine kept time: if other
// processes interfere, a test has three attempts, then it is skipped. Counts are always judged.
// Most of the seconds are waiting.
// Seconds: 25, deep 90
// Deep: 64 and 1,024 streams of 50 tokens/s, timed to the millisecond where the machine is quiet.
#include "base/clock.h"
#include "model/records/serving.h"
#include "probe/serving/load.h"
#include "probe/serving/server.h"
#include "tests/support/depth.h"
#include "tests/support/engine_process.h"
#include "tests/support/fixture.h"

#include "probe/serving/window.h"

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INPUT = 8, OUTPUT = 10 };

// ---- loads

struct trial {
  struct fixture fixture;
  struct engine_process engine;
  struct server server;
  struct load load;
  struct load_result result;
  struct serving_rung rung;
  bool has_rung;
};

static const char *body(void *context, size_t number) {
  static char text[512];
  (void)context;
  (void)number;
  sprintf(text,
          "{\"model\":\"stand-in\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
          "\"max_tokens\":%d,\"prompt\":[1,2,3,4,5,6,7,8]}",
          OUTPUT);
  return text;
}

static const char *chat_body(void *context, size_t number) {
  static char text[512];
  (void)context;
  (void)number;
  sprintf(text,
          "{\"model\":\"stand-in\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
          "\"max_tokens\":%d,\"messages\":[{\"role\":\"user\",\"content\":\"a b c\"}]}",
          OUTPUT);
  return text;
}

static const struct load short_load = {
    .path = "/v1/completions",
    .body = body,
    .kind = LOAD_CLOSED,
    .concurrency = 1,
    .window_s = 0.2,
    .window_requests = 2,
    .limit_s = 60,
    .silence_s = 20,
    .request_s = 30,
    .most_requests = 100000,
    .most_failed = 0,
};

static void trial_start(struct trial *trial) {
  fixture_start(&trial->fixture);
  trial->engine = engine_process_start();
  trial->load = short_load;
}

static void trial_run(struct trial *trial, const char *script) {
  char url[512];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/%s/v1", trial->engine.port, script);
  assert_int_equal(
      server_open(&trial->server, url, &trial->fixture.arena, &trial->fixture.diagnostics), 0);
  trial->load.server = &trial->server;
  assert_int_equal(
      load_run(&trial->load, &trial->result, &trial->fixture.arena, &trial->fixture.diagnostics),
      0);
  trial->has_rung = window_rung(&trial->load, &trial->result, (struct slo){NAN, NAN}, &trial->rung,
                                &trial->fixture.arena);
  server_close(&trial->server);
}

static void trial_end(struct trial *trial) {
  engine_process_end(&trial->engine);
  fixture_end(&trial->fixture);
}

// ---- times

enum { TRIES = 3, MAX_TIMES = 10 };

// The machine kept time if what was sent was at most this late (P99), and if client and server were
// ready but without a processor for at most this share of the time.
static const double late_at_most_s = 0.5e-3, waited_at_most = 0.02;

struct timing {
  const char *what; // NULL: ends the list
  double got, least, most;
};

// With sanitizers everything takes longer.
static struct timing about(const char *what, double got, double expected, double relative) {
  const double margin = expected * relative * (SANITIZED ? 3 : 1);
  return (struct timing){what, got, expected - margin, expected + margin};
}

// From the server: P99 of its lateness.
static double server_late_s(struct trial *trial) {
  char url[64];
  struct server server;
  snprintf(url, sizeof url, "http://127.0.0.1:%d", trial->engine.port);
  assert_int_equal(server_open(&server, url, &trial->fixture.arena, &trial->fixture.diagnostics),
                   0);
  const struct server_answer answer = server_get(&server, "/lateness", 60, &trial->fixture.arena);
  assert_null(answer.failure);
  const char *p99 = strstr(answer.body, "\"p99\":");
  assert_non_null(p99);
  server_close(&server);
  return strtod(p99 + strlen("\"p99\":"), NULL);
}

// How long a process was ready but without a processor; 0 if the kernel does not count it.
static double waited_s(pid_t process) {
  char path[64];
  double waited_ns = 0;
  snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%*u %lf", &waited_ns) != 1)
    waited_ns = 0;
  if (file)
    fclose(file);
  return 1e-9 * waited_ns;
}

// With a server of its own. Returns whether the machine kept time.
static bool timed_run(struct trial *trial, const char *script) {
  engine_process_end(&trial->engine);
  trial->engine = engine_process_start();
  const double before_s = waited_s(getpid()), begin_s = clock_now(&machine_clock);
  trial_run(trial, script);
  const double waited_for_s = waited_s(getpid()) + waited_s(trial->engine.id) - before_s;
  return waited_for_s <= waited_at_most * (clock_now(&machine_clock) - begin_s) &&
         server_late_s(trial) <= late_at_most_s;
}

static const struct timing *first_off(const struct timing *times) {
  for (; times->what; times++)
    if (!(times->got >= times->least && times->got <= times->most))
      return times;
  return NULL;
}

// Runs it until its times are as expected. Fails if they are not although the machine kept time;
// returns false if it never did.
static bool times_hold(struct trial *trial, const char *script,
                       void (*tell)(const struct trial *, struct timing *)) {
  for (int i = 0; i < TRIES; i++) {
    struct timing times[MAX_TIMES] = {{NULL, 0, 0, 0}};
    const bool kept = timed_run(trial, script);
    assert_null(trial->result.unfinished);
    assert_true(trial->has_rung && trial->result.failed == 0);
    tell(trial, times);
    const struct timing *off = first_off(times);
    if (!off)
      return true;
    print_message("%s: %s is %g, expected %g to %g\n", script, off->what, off->got, off->least,
                  off->most);
    if (kept)
      fail_msg("and the machine kept time");
  }
  return false;
}

// The machine is too busy to keep time.
static void trial_end_timed(struct trial *trial, bool held) {
  trial_end(trial);
  if (!held)
    skip();
}

// ---- forms of a stream

// Tokens -1: not reported. Everything else is in order.
static const struct {
  const char *script;
  size_t chunks;
  long prompt, completion, cached;
} streams[] = {
    {"usage=last", OUTPUT, INPUT, OUTPUT, -1},
    {"usage=own", OUTPUT, INPUT, OUTPUT, -1},
    {"usage=each", OUTPUT, INPUT, OUTPUT, -1},
    {"usage=none", OUTPUT, -1, -1, -1},
    {"usage=own,cached=5", OUTPUT, INPUT, OUTPUT, 5},
    {"per_chunk=5", 2, INPUT, OUTPUT, -1},
    {"no_text=1", 0, INPUT, OUTPUT, -1},
    {"split=1", OUTPUT, INPUT, OUTPUT, -1},
    {"gzip=1,tpot=2", OUTPUT, INPUT, OUTPUT, -1},
    {"slow=30", OUTPUT, INPUT, OUTPUT, -1},
    {"tokens=7", 7, INPUT, 7, -1},
    {"prompt=20", OUTPUT, 20, OUTPUT, -1},
    {"undone=1", OUTPUT, INPUT, OUTPUT, -1},
};

static void test_streams(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
    trial_run(&trial, streams[i].script);
    const struct load_result *result = &trial.result;
    if (result->failed > 0 || result->unfinished || result->count < 3)
      fail_msg("%s: %zu requests, %s, %s", streams[i].script, result->count, result->unfinished,
               result->first_failure);
    for (size_t n = 0; n < result->count; n++) {
      const struct load_sample *sample = &result->samples[n];
      if (sample->chunks != streams[i].chunks || sample->usage.prompt_tokens != streams[i].prompt ||
          sample->usage.completion_tokens != streams[i].completion ||
          sample->usage.cached_tokens != streams[i].cached)
        fail_msg("%s: %zu chunks, usage %ld %ld %ld", streams[i].script, sample->chunks,
                 sample->usage.prompt_tokens, sample->usage.completion_tokens,
                 sample->usage.cached_tokens);
    }
  }
  trial_end(&trial);
}

// ---- failures

static const struct {
  const char *script, *failure;
} failures[] = {
    {"status=429", "HTTP 429: as the script says"},
    {"status=503", "HTTP 503: as the script says"},
    {"key=other", "HTTP 401: Incorrect API key provided: Bearer ***"},
    {"model=other", "HTTP 404: The model does not exist: stand-in"},
    {"context=17", "HTTP 400: This model's maximum context length"},
    {"redirect=1", "HTTP 307: redirects to http://127.0.0.1:9/elsewhere, which is not followed"},
    {"garbage=1", "the service at this address does not speak HTTP"},
    {"json=1", "the answer is not a stream of events"},
    {"reset_after=3", "the connection broke"},
    {"close_after=3", "the connection"},
    {"error_after=3", "the server's error: the engine is out of memory"},
    {"wrong_length=1,close_after=3", "the connection ended within the answer"},
    {"usage=wrong", "'prompt_tokens' in usage is not a number of tokens"},
    {"ttft=60000", "no data for 0.4 s"},
    {"stall=60000,stall_at=0", "no data for 0.4 s"},
    {"endless=1,tpot=5", "it did not end within 1 s"},
    {"die_after=1", "the server closed the connection without an answer"},
};

static void test_failures(void **state) {
  (void)state;
  struct trial trial;
  setenv("PERTOKEN_API_KEY", "sk-very-secret", 1);
  trial_start(&trial);
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    const bool is_silent = strstr(failures[i].failure, "no data") != NULL;
    trial.load.silence_s = is_silent ? 0.4 : short_load.silence_s;
    trial.load.request_s = strstr(failures[i].failure, "not end") ? 1 : short_load.request_s;
    trial_run(&trial, failures[i].script);
    const char *failure = trial.result.first_failure;
    if (!failure || !strstr(failure, failures[i].failure))
      fail_msg("%s: '%s', expected '%s'", failures[i].script, failure, failures[i].failure);
    assert_null(strstr(failure, "secret"));
    assert_non_null(trial.result.unfinished);
    assert_true(strstr(trial.result.unfinished, failure) != NULL);
    assert_false(trial.has_rung);
  }
  unsetenv("PERTOKEN_API_KEY");
  trial_end(&trial);
}

static void test_nobody_there(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  engine_process_end(&trial.engine);
  trial_run(&trial, "");
  expect_fragment(trial.result.first_failure, "no server answers there");
  fixture_end(&trial.fixture);
}

// Some fail, but not too many, and the load continues.
static void test_some_may_fail(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.concurrency = 4;
  trial.load.window_requests = 20;
  trial.load.most_failed = 1000;
  trial_run(&trial, "status=429,every=5");
  assert_true(trial.has_rung);
  assert_null(trial.result.unfinished);
  const size_t fifth = trial.result.count / 5;
  assert_in_range(trial.result.failed, fifth - 1, fifth + 1);
  assert_int_equal(trial.result.failed + trial.result.completed, trial.result.count);
  expect_fragment(trial.result.first_failure, "HTTP 429");
  trial_end(&trial);
}

// After "[DONE]", no second is charged to the request.
static void times_left_open(const struct trial *trial, struct timing *times) {
  times[0] = (struct timing){"end to end", trial->rung.end_to_end.mean_s, 0, 0.3};
}

static void test_connection_left_open(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.window_s = 0.1;
  trial.load.window_requests = 1;
  trial_end_timed(&trial, times_hold(&trial, "open_end=1,tpot=1", times_left_open));
}

// A server may close a connection that it has kept open just as the next request is on its way:
// that request is sent again, and this is not a failure however often it happens, although libcurl
// gives up the sixth time for a handle.
static void test_kept_connections_that_die(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.window_requests = 12;
  trial_run(&trial, "once=1");
  assert_null(trial.result.first_failure);
  assert_true(trial.has_rung && trial.result.completed > 12);
  trial_end(&trial);
}

// ---- rates and times

static void times_of_closed_loop(const struct trial *trial, struct timing *times) {
  const struct serving_rung *rung = &trial->rung;
  const struct timing all[] = {
      about("output tokens/s", rung->output_tokens_per_s, 4 * OUTPUT / 0.12, 0.06),
      about("input tokens/s", rung->input_tokens_per_s, 4 * INPUT / 0.12, 0.06),
      about("in flight", rung->mean_concurrency, 4, 0.03),
      about("TTFT", rung->ttft.p50_s, 0.030, 0.1),
      about("TPOT", rung->tpot.p50_s, 0.010, 0.1),
      about("end to end", rung->end_to_end.p50_s, 0.120, 0.06),
      about("gap", rung->chunk_gap.p50_s, 0.010, 0.1),
      {"client's share of a processor", rung->client_cpu_share, 0, 0.5},
  };
  memcpy(times, all, sizeof all);
}

// Four places of a server are busy all the time: 4 streams of 10 tokens in 30 + 9 * 10 ms.
static void test_closed_loop(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.concurrency = 4;
  trial.load.window_s = 1.2;
  trial.load.window_requests = 20;
  const bool held = times_hold(&trial, "ttft=30,tpot=10,usage=own,cached=2", times_of_closed_loop);
  expect_near(trial.rung.cached_share, 0.25, 1e-12, "cached");
  assert_true(trial.rung.input_tokens == INPUT && trial.rung.output_tokens == OUTPUT);
  assert_true(isnan(trial.rung.ttft.p99_s));
  assert_true(trial.rung.client_cpu_share > 0);
  assert_true(trial.rung.window_s >= 1.2 && trial.rung.completed >= 20);
  trial_end_timed(&trial, held);
}

// TTFT is measured to the first text: the role that a chat sends immediately does not count.
static void times_of_chat(const struct trial *trial, struct timing *times) {
  times[0] = about("TTFT", trial->rung.ttft.mean_s, 0.050, 0.1);
}

static void test_chat(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.path = "/v1/chat/completions";
  trial.load.body = chat_body;
  trial.load.window_requests = 3;
  const bool held = times_hold(&trial, "ttft=50,tpot=2,role=1", times_of_chat);
  assert_true(trial.rung.ttft.mean_s > 0.049); // however busy the machine is
  assert_true(trial.rung.input_tokens == 13 && trial.rung.output_tokens == OUTPUT);
  trial_end_timed(&trial, held);
}

// Two of eight are served at a time: the server is responsible for those that wait.
static void times_of_queue(const struct trial *trial, struct timing *times) {
  times[0] = about("output tokens/s", trial->rung.output_tokens_per_s, 2 * OUTPUT / 0.1, 0.1);
  times[1] = about("TTFT with the wait for three others", trial->rung.ttft.mean_s, 0.310, 0.1);
}

static void test_queue(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.concurrency = 8;
  trial.load.window_s = 0.8;
  trial.load.window_requests = 16;
  trial_end_timed(&trial, times_hold(&trial, "slots=2,ttft=10,tpot=10", times_of_queue));
}

static double worst_s(const struct trial *trial) {
  double worst = 0;
  for (size_t i = 0; i < trial->result.count; i++)
    worst = fmax(worst, trial->result.samples[i].end_s -
                            load_sample_start(&trial->load, &trial->result.samples[i]));
  return worst;
}

static void times_of_arrivals(const struct trial *trial, struct timing *times) {
  const struct serving_rung *rung = &trial->rung;
  times[0] = about("P99 of TTFT", rung->ttft.p99_s, 2, 0.05);
  times[1] = about("requests/s", rung->completed / rung->window_s, 200, 0.02);
}

static void times_of_two(const struct trial *trial, struct timing *times) {
  times[0] = (struct timing){"P99 of TTFT", trial->rung.ttft.p99_s, 0, 0.1};
}

// The server stalls for 2 s. Arrivals that continue, 200 a second, make all requests in that time
// wait. A closed loop of two waits with it and sends no more: two of its requests are slow, and its
// P99 looks as if nothing had happened.
static void test_stall_shows_in_open_loop(void **state) {
  (void)state;
  struct trial trial;
  static const char stall[] = "ttft=3,tpot=0.1,stall=2000,stall_at=1500";
  trial_start(&trial);
  trial.load.kind = LOAD_CONSTANT;
  trial.load.concurrency = 1000;
  trial.load.rate_per_s = 200;
  trial.load.window_s = 4;
  trial.load.window_requests = 700;
  bool held = times_hold(&trial, stall, times_of_arrivals);
  assert_true(trial.rung.ttft.p99_s > 1.9);
  trial.load.kind = LOAD_CLOSED;
  trial.load.concurrency = 2;
  held &= times_hold(&trial, stall, times_of_two);
  assert_true(worst_s(&trial) > 1.9);
  trial_end_timed(&trial, held);
}

// ---- exactness

static void times_of_exact(const struct trial *trial, struct timing *times) {
  const struct serving_rung *rung = &trial->rung;
  const struct timing all[] = {
      {"P50 of TTFT", rung->ttft.p50_s, 0.199, 0.201},
      {"P99 of TTFT", rung->ttft.p99_s, 0.197, 0.203},
      {"P50 of TPOT", rung->tpot.p50_s, 0.019, 0.021},
      {"P99 of TPOT", rung->tpot.p99_s, 0.017, 0.023},
      {"client's share of a processor", rung->client_cpu_share, 0, 0.7},
  };
  memcpy(times, all, sizeof all);
}

static void expect_exact(size_t streams) {
  struct trial trial;
  trial_start(&trial);
  trial.load.concurrency = streams;
  trial.load.window_s = 5;
  trial.load.window_requests = 700;
  const bool held = times_hold(&trial, "ttft=200,tpot=20,tokens=50", times_of_exact);
  const struct serving_rung *rung = &trial.rung;
  print_message(
      "%zu streams: TTFT %+.3f and %+.3f ms, TPOT %+.3f and %+.3f ms, %.0f %% of a core\n", streams,
      1e3 * (rung->ttft.p50_s - 0.2), 1e3 * (rung->ttft.p99_s - 0.2),
      1e3 * (rung->tpot.p50_s - 0.02), 1e3 * (rung->tpot.p99_s - 0.02),
      100 * rung->client_cpu_share);
  trial_end_timed(&trial, held);
}

static void test_exact_of_64(void **state) {
  (void)state;
  if (depth_is_full() && !SANITIZED)
    expect_exact(64);
}

static void test_exact_of_1024(void **state) {
  (void)state;
  if (depth_is_full() && !SANITIZED)
    expect_exact(1024);
}

// ---- the schedule

static void gaps_of(const struct load_result *result, double *mean, double *squares) {
  *mean = *squares = 0;
  for (size_t i = 1; i < result->count; i++) {
    const double gap = result->samples[i].scheduled_s - result->samples[i - 1].scheduled_s;
    *mean += gap / (double)(result->count - 1);
    *squares += gap * gap / (double)(result->count - 1);
  }
}

static double fifth_after_first_s(const struct load_result *result) {
  return result->samples[5].scheduled_s - result->samples[0].scheduled_s;
}

// Exponential gaps: their standard deviation equals their mean. The same seed gives the same
// schedule. The schedule does not depend on how soon requests are served, nor does the number of
// them here: all may be in flight, and the load ends when all are sent.
static void test_poisson(void **state) {
  (void)state;
  struct trial trial;
  double mean, squares, first[3];
  const double rate_per_s = SANITIZED ? 250 : 1000;
  const size_t requests = 1000;
  trial_start(&trial);
  trial.load.kind = LOAD_POISSON;
  trial.load.concurrency = trial.load.most_requests = requests;
  trial.load.rate_per_s = rate_per_s;
  trial.load.window_requests = requests;
  for (int run = 0; run < 3; run++) {
    trial.load.seed = run < 2 ? 7 : 8;
    trial_run(&trial, "ttft=1");
    assert_int_equal(trial.result.failed, 0);
    expect_fragment(trial.result.unfinished, "the maximum number of requests was sent");
    assert_int_equal(trial.result.count, requests);
    gaps_of(&trial.result, &mean, &squares);
    const double error = 1 / sqrt((double)trial.result.count);
    expect_near(mean, 1 / rate_per_s, 4 * error, "mean gap");
    expect_near(sqrt(squares - mean * mean), mean, 4 * sqrt(2) * error, "deviation");
    first[run] = fifth_after_first_s(&trial.result);
  }
  expect_near(first[0], first[1], 1e-6, "same seed");
  assert_true(fabs(first[0] - first[2]) > 1e-6);
  trial_end(&trial);
}

static void test_too_many_in_flight(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.kind = LOAD_CONSTANT;
  trial.load.concurrency = 5;
  trial.load.rate_per_s = 100;
  trial_run(&trial, "ttft=2000");
  expect_fragment(trial.result.unfinished, "more than 5 requests are in flight");
  trial_end(&trial);
}

// ---- bounds

static volatile sig_atomic_t stop;

static void stop_when_steady(void *context, const struct load_progress *progress) {
  enum load_phase *last = context;
  assert_true(progress->phase >= *last);
  *last = progress->phase;
  stop = progress->phase == LOAD_STEADY;
}

static void test_stopped(void **state) {
  (void)state;
  struct trial trial;
  enum load_phase phase = LOAD_RAMP_UP;
  trial_start(&trial);
  trial.load.window_s = 100;
  trial.load.stop = &stop;
  trial.load.told = stop_when_steady;
  trial.load.told_context = &phase;
  const double begin_s = clock_now(&machine_clock);
  trial_run(&trial, "tpot=1");
  assert_true(clock_now(&machine_clock) - begin_s < 30); // of 100
  assert_string_equal(trial.result.unfinished, "stopped");
  assert_int_equal(phase, LOAD_OVER);
  assert_false(trial.has_rung);
  trial_end(&trial);
}

static void test_bounds(void **state) {
  (void)state;
  struct trial trial;
  trial_start(&trial);
  trial.load.window_s = 100;
  trial.load.most_requests = 20;
  trial_run(&trial, "");
  assert_int_equal(trial.result.count, 20);
  expect_fragment(trial.result.unfinished, "maximum number of requests was sent: 20");
  trial.load.most_requests = 100000;
  trial.load.limit_s = 0.5;
  trial_run(&trial, "tpot=20");
  expect_fragment(trial.result.unfinished, "it took longer than 0.5 s");
  assert_true(trial.result.ended_s - trial.result.began_s < 30); // of 100
  trial.load.concurrency = 100000000;
  struct load_result result;
  assert_int_equal(load_run(&trial.load, &result, &trial.fixture.arena, &trial.fixture.diagnostics),
                   -1);
  expect_error(&trial.fixture, "files",
               "100000000 connections at a time need 100000064 open files");
  trial_end(&trial);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_streams),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_nobody_there),
      cmocka_unit_test(test_some_may_fail),
      cmocka_unit_test(test_connection_left_open),
      cmocka_unit_test(test_kept_connections_that_die),
      cmocka_unit_test(test_closed_loop),
      cmocka_unit_test(test_chat),
      cmocka_unit_test(test_queue),
      cmocka_unit_test(test_stall_shows_in_open_loop),
      cmocka_unit_test(test_exact_of_64),
      cmocka_unit_test(test_exact_of_1024),
      cmocka_unit_test(test_poisson),
      cmocka_unit_test(test_too_many_in_flight),
      cmocka_unit_test(test_stopped),
      cmocka_unit_test(test_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
