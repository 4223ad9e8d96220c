// Steps that may never end are run by another process first: how it ends decides.
#include "base/arena.h"
#include "base/clock.h"
#include "base/installation.h"
#include "tests/support/fixture.h"

#include "kernels/cpu/backend.h"
#include "probe/measure/tryout.h"

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDLESS "exec sleep 600"

static volatile sig_atomic_t stop;

static void stop_now(int number) {
  stop = number;
}

static struct decode_request small_request(void) {
  return (struct decode_request){
      .shape = {.layers = 1,
                .hidden = 64,
                .heads = 2,
                .kv_heads = 2,
                .head_dim = 32,
                .ffn_hidden = 64,
                .vocab = 64,
                .norm_epsilon = 1e-5F,
                .rope_theta = 10000},
      .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      .batch = 1,
      .context = 16,
      .seed = 1,
      .threads = 1};
}

// The outcome where the other program is a shell script.
static enum tryout_outcome tried_by(const char *script, double limit_s, struct arena *arena,
                                    const char **why) {
  const struct device device = {.backend = &cpu_backend};
  struct decode_request request = small_request();
  char path[] = "/tmp/tryout-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  dprintf(file, "#!/bin/sh\n%s\n", script);
  assert_int_equal(fchmod(file, 0700), 0);
  close(file);
  request.variant = "step=other";
  const enum tryout_outcome outcome = tryout(path, &device, &request, limit_s, &stop, arena, why);
  unlink(path);
  return outcome;
}

static void test_outcomes(void **state) {
  (void)state;
  static const struct {
    const char *script;
    double limit_s;
    enum tryout_outcome outcome;
    const char *why;
  } cases[] = {
      {"exit 0", 60, TRYOUT_ENDED, NULL},
      {"sleep 5 & exit 0", 4, TRYOUT_ENDED, NULL}, // which has inherited the output
      {"printf 'no such step'; exit 65", 60, TRYOUT_REFUSED, "no such step"},
      {"printf 'too little'; exit 66", 60, TRYOUT_REFUSED, "too little"},
      {"printf 'an illegal address'; exit 68", 60, TRYOUT_FAILED, "an illegal address"},
      {"exit 68", 60, TRYOUT_FAILED, "the process that tried it failed"},
      {"exit 3", 60, TRYOUT_FAILED, "the process that tried it failed"},
      {"kill -SEGV $$", 60, TRYOUT_FAILED,
       "the process that tried it was ended: Segmentation fault"},
      {"yes | head -c 100000; exit 68", 60, TRYOUT_FAILED, "y\ny\ny"},
      {ENDLESS, 0.3, TRYOUT_FAILED, "its steps did not end within 0.3 s"},
      {"printf word; " ENDLESS, 0.3, TRYOUT_FAILED, "its steps did not end within 0.3 s"},
      {"exec <&- >&-; " ENDLESS, 0.3, TRYOUT_FAILED, "its steps did not end within 0.3 s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct arena arena = {0};
    const char *why = NULL;
    print_message("%s\n", cases[i].script);
    assert_int_equal(tried_by(cases[i].script, cases[i].limit_s, &arena, &why), cases[i].outcome);
    if (cases[i].why)
      expect_fragment(why, cases[i].why);
    arena_free(&arena);
  }
}

static void test_no_program(void **state) {
  (void)state;
  const struct device device = {.backend = &cpu_backend};
  const struct decode_request request = small_request();
  struct arena arena = {0};
  const char *why = NULL;
  assert_int_equal(tryout("/nowhere/probe", &device, &request, 60, &stop, &arena, &why),
                   TRYOUT_FAILED);
  assert_string_equal(why, "/nowhere/probe cannot be started to try it: No such file or directory");
  arena_free(&arena);
}

// Ctrl-C does not wait for it.
static void test_stopped(void **state) {
  (void)state;
  struct arena arena = {0};
  const char *why = NULL;
  const double start = clock_now(&machine_clock);
  signal(SIGALRM, stop_now);
  alarm(1);
  assert_int_equal(tried_by(ENDLESS, 600, &arena, &why), TRYOUT_FAILED);
  assert_int_equal(stop, SIGALRM);
  assert_true(clock_now(&machine_clock) - start < 30);
  stop = 0;
  arena_free(&arena);
}

// Some launchers start programs with SIGCHLD ignored, and then no status of a child is kept.
static void test_ignored_children(void **state) {
  (void)state;
  struct arena arena = {0};
  const char *why = NULL;
  signal(SIGCHLD, SIG_IGN);
  assert_int_equal(tried_by("exit 0", 60, &arena, &why), TRYOUT_ENDED);
  assert_ptr_equal(signal(SIGCHLD, SIG_DFL), SIG_IGN);
  arena_free(&arena);
}

// The probe itself: a request arrives as it was sent.
static void test_probe(void **state) {
  (void)state;
  const struct device device = {.backend = &cpu_backend};
  struct decode_request request = small_request();
  struct arena arena = {0};
  const char *why = NULL;
  const char *program = installation_program("../pertoken-probe", &arena);
  if (access(program, X_OK) != 0) {
    print_message("%s is not built\n", program);
    arena_free(&arena);
    skip();
  }
  assert_int_equal(tryout(program, &device, &request, 60, &stop, &arena, &why), TRYOUT_ENDED);
  request.shape.heads = 3; // of two pairs of keys and values
  assert_int_equal(tryout(program, &device, &request, 60, &stop, &arena, &why), DECODE_UNSUPPORTED);
  expect_fragment(why, "the query heads are not a multiple of the KV heads");
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outcomes), cmocka_unit_test(test_no_program),
      cmocka_unit_test(test_stopped),  cmocka_unit_test(test_ignored_children),
      cmocka_unit_test(test_probe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
