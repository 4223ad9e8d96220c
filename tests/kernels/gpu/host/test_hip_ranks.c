// Several devices of the HIP plugin that hold one model together: steps, prompts, all-reduces that
// fail, devices that are lost (hip_plugin.h).
// Deep only: the plugin holds every AMD GPU's machine code, which takes minutes to compile.
// Seconds: 6
#include "tests/support/kernels/hip_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"

enum {
  PATIENCE_S = 200,
  CREATED = 3 // all-reduces that creating ranks takes: one of either kind, and one that is timed
};

// Four devices can share it; its vocabulary is smaller than HIP_VOCAB.
static const struct decode_shape shared = {.layers = 1,
                                           .hidden = 72,
                                           .heads = 12,
                                           .kv_heads = 4,
                                           .head_dim = 20,
                                           .ffn_hidden = 108,
                                           .vocab = 100,
                                           .norm_epsilon = 1e-5f,
                                           .rope_theta = 1e4f};
static const int all_devices[] = {2, 0, 1, 3};
// ---- several devices that hold one model together

static struct decode_request ranks_of(const struct decode_types *types, int batch, int ranks) {
  setenv("FAKE_HIP_DEVICES", "4", 1);
  alarm(PATIENCE_S); // a hang is a failure
  return (struct decode_request){.shape = shared,
                                 .types = *types,
                                 .batch = batch,
                                 .context = 70,
                                 .seed = 20,
                                 .ranks = ranks,
                                 .devices = all_devices};
}

static void expect_nothing_left(void) {
  assert_int_equal(hip.alive(), 0);
  assert_int_equal(hip.communicators(), 0);
}

static void test_ranks_are_the_oracle(void **unused) {
  (void)unused;
  hip_needed();
  float logits[HIP_BATCH * HIP_VOCAB];
  const struct decode_request four = ranks_of(&hip_bf16, 1, 4), two = ranks_of(&hip_e4m3, 5, 2);
  hip_check_steps(&four, logits);
  expect_nothing_left();
  hip_check_steps(&two, logits);
  expect_nothing_left();
}

// Steps are recorded with their all-reduces; if that is impossible, the bits are the same, and this
// is reported.
static void test_ranks_without_graphs(void **unused) {
  static const char *const unable[] = {"FAKE_HIP_NO_CAPTURE", "FAKE_RCCL_NO_CAPTURE",
                                       "FAKE_HIP_FAIL_RECORD"};
  float recorded[HIP_VOCAB], launched[HIP_VOCAB];
  (void)unused;
  hip_needed();
  const struct decode_request request = ranks_of(&hip_bf16, 1, 4);
  hip_check_steps(&request, recorded);
  hip_expect_form(&request, "recorded graph", "");
  for (size_t i = 0; i < sizeof unable / sizeof unable[0]; i++) {
    setenv(unable[i], "1", 1);
    hip_check_steps(&request, launched);
    hip_expect_form(&request, "single launches", "the step could not be recorded: ");
    unsetenv(unable[i]);
    assert_memory_equal(recorded, launched, (size_t)shared.vocab * sizeof *recorded);
    expect_nothing_left();
  }
}

static void test_ranks_are_timed(void **unused) {
  (void)unused;
  hip_needed();
  struct decode_all_reduce timed;
  const struct decode_request request = ranks_of(&hip_bf16, 2, 2);
  struct decode_state *state = hip_make(&request);
  assert_int_equal(hip.backend->all_reduce(state, 5, &timed), DECODE_OK);
  assert_true(timed.seconds > 0);
  assert_int_equal(timed.bytes, 2 * 72 * 4);
  assert_string_equal(timed.library, "RCCL 2.27.3");
  hip.backend->destroy(state);
  expect_nothing_left();
}

static void expect_no_ranks(const struct decode_request *request, const char *words) {
  enum decode_status status = DECODE_OK;
  assert_null(hip.backend->create(all_devices[0], request, &status));
  assert_int_equal(status, DECODE_FAILED);
  hip_expect_words(words);
  expect_nothing_left();
  hip.reset();
}

static void test_ranks_cannot_be_joined(void **unused) {
  (void)unused;
  hip_needed();
  const struct decode_request request = ranks_of(&hip_bf16, 1, 4);
  setenv("FAKE_RCCL_FAIL_INIT", "1", 1);
  expect_no_ranks(&request, "joining the devices: RCCL 2.27.3: unhandled system error (2)");
}

// Refused, or never contributed: the others, which wait for it, end too.
static void test_an_all_reduce_fails(void **unused) {
  static const struct {
    const char *variable, *words;
  } cases[] = {{"FAKE_RCCL_FAIL_REDUCE", "rank 2 of 4, device 1: an all-reduce: RCCL"},
               {"FAKE_RCCL_HANG", "RCCL 2.27.3: remote process exited"}};
  (void)unused;
  hip_needed();
  const struct decode_request request = ranks_of(&hip_bf16, 1, 4);
  setenv("FAKE_RCCL_RANK", "2", 1);
  setenv("FAKE_HIP_NO_CAPTURE", "1", 1);
  for (size_t i = 0; i < 2; i++) {
    setenv(cases[i].variable, "1", 1);
    expect_no_ranks(&request, cases[i].words);
    hip_set(cases[i].variable, CREATED + 1);
    struct decode_state *state = hip_make(&request);
    assert_int_equal(hip.backend->run(state, 2), DECODE_FAILED);
    hip_expect_words(cases[i].words);
    assert_int_equal(hip.backend->run(state, 1), DECODE_FAILED);
    hip_expect_words(cases[i].words);
    hip.backend->destroy(state);
    expect_nothing_left();
    unsetenv(cases[i].variable);
  }
}

// The oracle continues with the device's token.
static void expect_alike(struct decode_state *state, struct reference *reference) {
  const struct decode_request *request = reference_request(reference);
  float logits[HIP_VOCAB];
  int token;
  assert_int_equal(hip.backend->logits(state, logits), DECODE_OK);
  assert_int_equal(hip.backend->tokens(state, &token), DECODE_OK);
  const struct reference_verdict verdict =
      reference_check(reference, logits, &token, reference_tolerance(&request->types));
  if (!verdict.pass)
    fail_msg("error %g, shortfall %g", verdict.error, verdict.shortfall);
  assert_int_equal(reference_set_tokens(reference, &token), 0);
}

// In bf16 by the library of each rank; and followed by a step, which is recorded again.
static void test_ranks_take_prompts(void **unused) {
  static const int tokens[] = {1, 2, 3, 4, 5, 6};
  const struct decode_prompt prompt = {.count = 6, .tokens = tokens};
  (void)unused;
  hip_needed();
  for (int ranks = 2; ranks <= 4; ranks += 2) {
    enum decode_status status;
    struct decode_request request = ranks_of(ranks == 2 ? &hip_e4m3 : &hip_bf16, 1, ranks);
    request.chunk = 6;
    struct reference *reference = reference_create(&request, &status);
    struct decode_state *state = hip_make(&request);
    assert_int_equal(reference_prefill(reference, &prompt), 0);
    assert_int_equal(hip.backend->prefill(state, &prompt), DECODE_OK);
    const char *words = ranks == 2 ? "own tiles: hipBLASLt 1.0.0 has no way" : "hipBLASLt 1.0.0";
    assert_int_equal(strncmp(hip.backend->prefill_library(state), words, strlen(words)), 0);
    expect_alike(state, reference);
    assert_int_equal(reference_set_position(reference, 6), 0);
    assert_int_equal(hip.backend->set_position(state, 6), DECODE_OK);
    reference_step(reference);
    assert_int_equal(hip.backend->run(state, 1), DECODE_OK);
    expect_alike(state, reference);
    hip.backend->destroy(state);
    reference_destroy(reference);
    expect_nothing_left();
    assert_int_equal(hip.products(), 0);
  }
}

// In a prompt, as in a step.
static void test_an_all_reduce_of_a_prompt_fails(void **unused) {
  static const int tokens[] = {1, 2, 3, 4, 5, 6};
  static const char *const failing[] = {"FAKE_RCCL_FAIL_REDUCE", "FAKE_RCCL_HANG"};
  const struct decode_prompt prompt = {.count = 6, .tokens = tokens};
  (void)unused;
  hip_needed();
  struct decode_request request = ranks_of(&hip_bf16, 1, 4);
  request.chunk = 6;
  setenv("FAKE_RCCL_RANK", "2", 1);
  setenv("FAKE_HIP_NO_CAPTURE", "1", 1);
  for (size_t i = 0; i < 2; i++) {
    hip_set(failing[i], CREATED + 2);
    struct decode_state *state = hip_make(&request);
    for (int call = 0; call < 2; call++) {
      assert_int_equal(hip.backend->prefill(state, &prompt), DECODE_FAILED);
      hip_expect_words(i == 0 ? "rank 2 of 4, device 1: an all-reduce: RCCL"
                              : "RCCL 2.27.3: remote process exited");
    }
    hip.backend->destroy(state);
    expect_nothing_left();
    unsetenv(failing[i]);
  }
}

static void test_a_rank_is_lost(void **unused) {
  (void)unused;
  hip_needed();
  const struct decode_request request = ranks_of(&hip_bf16, 1, 4);
  long first = 1;
  for (; first < 1000; first += 13) {
    enum decode_status status;
    hip.reset();
    setenv("FAKE_HIP_FAIL_DEVICE", "1", 1);
    hip_set("FAKE_HIP_FAIL_LAUNCH", first);
    struct decode_state *state = hip.backend->create(all_devices[0], &request, &status);
    if (state)
      status = hip.backend->run(state, 2);
    if (status != DECODE_OK)
      hip_expect_words("rank 2 of 4, device 1: ");
    hip.backend->destroy(state);
    expect_nothing_left();
    if (status == DECODE_OK)
      break;
    assert_int_equal(status, DECODE_FAILED);
  }
  assert_in_range(first, 27, 999);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_ranks_are_the_oracle, hip_begin),
      cmocka_unit_test_setup(test_ranks_without_graphs, hip_begin),
      cmocka_unit_test_setup(test_ranks_are_timed, hip_begin),
      cmocka_unit_test_setup(test_ranks_cannot_be_joined, hip_begin),
      cmocka_unit_test_setup(test_an_all_reduce_fails, hip_begin),
      cmocka_unit_test_setup(test_ranks_take_prompts, hip_begin),
      cmocka_unit_test_setup(test_an_all_reduce_of_a_prompt_fails, hip_begin),
      cmocka_unit_test_setup(test_a_rank_is_lost, hip_begin),
  };
  return cmocka_run_group_tests(tests, hip_load, NULL);
}
