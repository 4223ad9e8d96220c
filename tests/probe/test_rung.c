// A load is also judged by its client: one that had no time for its streams may have slowed the
// server.
#include "model/records/serving.h"
#include "probe/serving/load.h"
#include "probe/serving/prompt.h"
#include "tests/support/engine_process.h"
#include "tests/support/fixture.h"

#include "probe/serving/rung.h"
#include "probe/serving/server.h"

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { TRIES = 3 };

static double cpu_s(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

// Computes once for that many seconds when the window opens, which is most of it.
static void dawdle(void *context, const struct load_progress *progress) {
  double *seconds = context;
  if (progress->phase != LOAD_STEADY)
    return;
  for (const double until_s = cpu_s() + *seconds; cpu_s() < until_s;)
    for (volatile int i = 0; i < 100000; i++)
      continue;
  *seconds = 0;
}

static struct serving_rung rung_of(double dawdle_s, struct fixture *fixture) {
  static const volatile sig_atomic_t never = 0;
  const struct engine_process engine = engine_process_start();
  struct server server;
  struct serving_rung rung;
  struct prompt prompt = {.fields = FIELD_ALL,
                          .model = "stand-in",
                          .input_tokens = 8,
                          .output_tokens = 4,
                          .seed = 1,
                          .arena = &fixture->arena};
  prompt_set_ids(&prompt, 32000);
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/ttft=20,tpot=5", engine.port);
  assert_int_equal(server_open(&server, url, &fixture->arena, &fixture->diagnostics), 0);
  double chunk_tokens;
  const struct rung_order order = {.server = &server,
                                   .prompt = &prompt,
                                   .load = LOAD_CLOSED,
                                   .concurrency = 1,
                                   .window_s = 0.5,
                                   .limit_s = 60,
                                   .request_s = 0.03,
                                   .slo = {NAN, NAN},
                                   .stop = &never,
                                   .told = dawdle,
                                   .told_context = &dawdle_s};
  assert_int_equal(rung_run(&order, &rung, &chunk_tokens, &fixture->arena, &fixture->diagnostics),
                   RUNG_DONE);
  expect_near(chunk_tokens, 1, 1e-12, "tokens per chunk");
  server_close(&server);
  engine_process_end(&engine);
  return rung;
}

static void test_an_idle_client_counts(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct serving_rung rung = rung_of(0, &fixture);
  assert_string_equal(rung.refused, "");
  assert_true(rung.output_tokens_per_s > 0 && rung.client_cpu_share < RUNG_CLIENT_BOUND);
  fixture_end(&fixture);
}

// On a busy machine the client may get less of a core than it needs: then it is tried again.
static void test_a_busy_client_is_refused(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct serving_rung rung = {0};
  for (int i = 0; i < TRIES && !(rung.client_cpu_share > RUNG_CLIENT_BOUND); i++)
    rung = rung_of(1, &fixture);
  const bool was_busy = rung.client_cpu_share > RUNG_CLIENT_BOUND;
  if (was_busy) {
    expect_fragment(rung.refused, "of a core, so it may have slowed the server down");
    assert_true(isnan(rung.output_tokens_per_s) && isnan(rung.ttft.mean_s));
  }
  fixture_end(&fixture);
  if (!was_busy)
    skip(); // other processes took the processors
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_idle_client_counts),
      cmocka_unit_test(test_a_busy_client_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
