// What a server accepts is found by trying: the forms of a prompt, the fields, and how many words
// give a number of tokens.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "tests/support/engine_process.h"
#include "tests/support/fixture.h"

#include "probe/serving/prompt.h"
#include "probe/serving/rehearsal.h"
#include "probe/serving/server.h"

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { INPUT = 32, OUTPUT = 4 };

struct trial {
  struct fixture fixture;
  struct prompt prompt;
  struct rehearsal rehearsal;
  int result;
};

static void trial_run(struct trial *trial, const char *script, const volatile sig_atomic_t *stop) {
  struct server server;
  char url[128];
  struct arena *arena = &trial->fixture.arena;
  struct diagnostics *diagnostics = &trial->fixture.diagnostics;
  fixture_start(&trial->fixture);
  const struct engine_process engine = engine_process_start();
  snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", engine.port, script);
  assert_int_equal(server_open(&server, url, arena, diagnostics), 0);
  trial->prompt = (struct prompt){.model = "stand-in",
                                  .input_tokens = INPUT,
                                  .output_tokens = OUTPUT,
                                  .seed = 1,
                                  .arena = arena};
  prompt_set_ids(&trial->prompt, 32000);
  trial->result =
      rehearse(&server, &trial->prompt, 60, stop, &trial->rehearsal, arena, diagnostics);
  server_close(&server);
  engine_process_end(&engine);
}

static const struct {
  const char *script;
  enum prompt_form form;
  unsigned fields;
  const char *rejected;
} cases[] = {
    {"", PROMPT_IDS, FIELD_ALL, ""},
    {"rejects=min_tokens", PROMPT_IDS, FIELD_ALL & ~FIELD_MIN_TOKENS, "min_tokens"},
    {"rejects=ignore_eos", PROMPT_IDS, FIELD_ALL & ~FIELD_IGNORE_EOS, "ignore_eos"},
    {"rejects=stream_options", PROMPT_IDS, FIELD_ALL & ~FIELD_USAGE, "stream_options"},
    {"no_ids=1", PROMPT_WORDS, FIELD_ALL, ""},
    {"chat_only=1", PROMPT_CHAT, FIELD_ALL, ""},
    {"chat_only=1,rejects=min_tokens", PROMPT_CHAT, FIELD_ALL & ~FIELD_MIN_TOKENS, "min_tokens"},
};

static void test_what_it_takes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct trial trial;
    trial_run(&trial, cases[i].script, NULL);
    expect_error(&trial.fixture, cases[i].script, "");
    assert_int_equal(trial.result, 0);
    assert_int_equal(trial.prompt.form, cases[i].form);
    assert_int_equal(trial.prompt.fields, cases[i].fields);
    assert_string_equal(trial.rehearsal.rejected, cases[i].rejected);
    assert_true(trial.rehearsal.request_s > 0);
    fixture_end(&trial.fixture);
  }
}

// Each of the stand-in's words is a token, and a chat has ten tokens more than its words.
static void test_words_are_calibrated(void **state) {
  (void)state;
  static const struct {
    const char *script;
    long words;
  } counted[] = {{"no_ids=1", INPUT}, {"chat_only=1", INPUT - 10}};
  for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
    struct trial trial;
    trial_run(&trial, counted[i].script, NULL);
    assert_int_equal(trial.prompt.words, counted[i].words);
    fixture_end(&trial.fixture);
  }
}

static const struct {
  const char *script, *error;
} refusals[] = {
    {"status=500", "the server accepts no requests: HTTP 500"},
    {"status=429", "the first request failed: HTTP 429"},
    {"key=other", "the key is taken from PERTOKEN_API_KEY"},
    {"reset_after=1", "the first request failed: the connection broke"},
    {"no_ids=1,usage=none", "prompts of words cannot be counted: the server reports no usage"},
    {"no_ids=1,prompt=9", "a prompt of 32 tokens cannot be built: 8 words have 9, and 16 have 9"},
    {"json=1", "the answer is not a stream of events"},
};

static void test_what_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct trial trial;
    trial_run(&trial, refusals[i].script, NULL);
    assert_int_equal(trial.result, -1);
    expect_error(&trial.fixture, refusals[i].script, refusals[i].error);
    fixture_end(&trial.fixture);
  }
}

static void test_stopped(void **state) {
  (void)state;
  struct trial trial;
  static volatile sig_atomic_t stop = SIGINT;
  trial_run(&trial, "ttft=60000", &stop);
  assert_int_equal(trial.result, -1);
  expect_error(&trial.fixture, "stopped", "");
  fixture_end(&trial.fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_takes),
      cmocka_unit_test(test_words_are_calibrated),
      cmocka_unit_test(test_what_is_refused),
      cmocka_unit_test(test_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
