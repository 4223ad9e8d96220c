// The GPU's backend as an object, on the host emulator: what it refuses and in which words, a
// device that is missing, lost or without memory, tokens fed back, stages timed, devices
// calibrated.
// Deep: all emulators, and more mixes of types.
// Seconds: 3, deep 10
#include "tests/support/depth.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/odd_request.h"
#include "tests/support/library.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/host/stage_times.h"

// A request leaves nothing behind for the next one, and two steps in one call equal two calls.
static void test_tokens_are_fed_back(void **unused) {
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    const struct decode_backend *backend = emulated[p].backend;
    const struct decode_request r = odd_request(&tiny_shape, &odd_mixes[0], 3, 4);
    int at_once[3], in_turn[3];
    struct decode_state *state = odd_state(&emulated[p], &r), *other = odd_state(&emulated[p], &r);
    odd_ok(&emulated[p], &r, backend->run(state, 3));
    for (int step = 0; step < 3; step++) {
      odd_ok(&emulated[p], &r, backend->run(other, 1));
    }
    odd_ok(&emulated[p], &r, backend->tokens(state, at_once));
    odd_ok(&emulated[p], &r, backend->tokens(other, in_turn));
    assert_memory_equal(at_once, in_turn, sizeof at_once);
    in_turn[1] = tiny_shape.vocab;
    assert_int_equal(backend->set_tokens(other, in_turn), DECODE_FAILED);
    expect_fragment(backend->error(), "token");
    backend->destroy(other);
    backend->destroy(state);
  }
}

// Timing the stages shows each once, by vectors and by matrix tiles, and has no effect afterwards;
// neither has repeating them, for which one emulator is enough.
static void test_stages_are_timed(void **unused) {
  static const char *const names[] = {"embed",       "qkv",  "attention", "wo",
                                      "gate and up", "down", "head",      "sample"};
  static float before[ODD_LOGITS], after[ODD_LOGITS];
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    const struct decode_backend *backend = emulated[p].backend;
    const struct decode_shape *shape = odd_few() ? &tiny_shape : &odd_shape;
    const struct decode_request r = odd_request(shape, &odd_mixes[0], p % 2 ? 5 : 1, 4);
    const int tokens[5] = {5, 4, 3, 2, 1};
    struct gpu_stage_time stages[MAX_GPU_STAGES];
    gpu_stage_times_function *stage_times;
    size_t count = 0;
    *(void **)&stage_times = library_symbol(emulated[p].library, GPU_STAGE_TIMES);
    assert_non_null(stage_times);
    struct decode_state *state = odd_state(&emulated[p], &r);
    for (int turn = 0; turn < 2; turn++) {
      const bool repeated = turn == 1 && p == 0 && !SANITIZED;
      odd_step(&emulated[p], &r, state, tokens, turn ? after : before);
      odd_ok(&emulated[p], &r, stage_times(state, repeated ? 1e-9 : 0, stages, &count));
    }
    assert_memory_equal(before, after, (size_t)r.batch * (size_t)r.shape.vocab * sizeof *before);
    assert_int_equal(count, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < count; i++) {
      const bool once = i == 0 || i + 2 >= count;
      assert_string_equal(stages[i].name, names[i]);
      assert_int_equal(stages[i].launches, once ? 1 : shape->layers);
      assert_true(stages[i].seconds > 0);
    }
    backend->destroy(state);
  }
}

// A valid request except for one number.
static const struct {
  const char *words;
  size_t offset;
  int value;
} refusals[] = {
#define REFUSAL(field, value, words)                                                               \
  { words, offsetof(struct decode_request, field), value }
    REFUSAL(types.weights, ELEMENT_F32, "weights"),
    REFUSAL(types.activations, ELEMENT_F32, "activations"),
    REFUSAL(types.activations, ELEMENT_E4M3, "activations"), // beside BF16 weights
    REFUSAL(types.kv, ELEMENT_INT8, "KV cache"),
    REFUSAL(types.head, ELEMENT_E4M3, "head"),
    REFUSAL(types.accumulation, ELEMENT_BF16, "accumulate"),
    REFUSAL(shape.experts.count, 8, "no expert per token"),
    REFUSAL(shape.latent.rank, 8, "latent attention"),
    REFUSAL(shape.head_dim, 33, "even head_dim"),
    REFUSAL(shape.head_dim, 258, "at most 256"),
    REFUSAL(shape.heads, 3, "multiple of the KV heads"),
    REFUSAL(shape.hidden, 1 << 20, "wider"),
    REFUSAL(batch, 257, "batches"),
    REFUSAL(batch, 0, "batches"),
    REFUSAL(context, 0, "context"),
};

static void test_refused_in_words(void **unused) {
  static const struct decode_shape shape = {.layers = 1,
                                            .hidden = 64,
                                            .heads = 2,
                                            .kv_heads = 2,
                                            .head_dim = 32,
                                            .ffn_hidden = 64,
                                            .vocab = 64,
                                            .norm_epsilon = 1e-5f,
                                            .rope_theta = 1e4f};
  const struct decode_backend *backend = emulated[0].backend;
  struct decode_cost cost;
  (void)unused;
  const struct decode_request known = odd_request(&shape, &odd_mixes[0], 1, 1);
  assert_int_equal(backend->cost(0, &known, &cost), DECODE_OK);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct decode_request r = known;
    enum decode_status status = DECODE_OK;
    memcpy((char *)&r + refusals[i].offset, &refusals[i].value, sizeof refusals[i].value);
    assert_null(backend->create(0, &r, &status));
    assert_int_equal(status, DECODE_UNSUPPORTED);
    assert_int_equal(backend->cost(0, &r, &cost), DECODE_UNSUPPORTED);
    expect_fragment(backend->error(), refusals[i].words);
  }
}

static void expect_no_state(const struct decode_backend *backend, int device,
                            enum decode_status expected, const char *words) {
  const struct decode_request r = odd_request(&tiny_shape, &odd_mixes[0], 1, 4);
  enum decode_status status = DECODE_OK;
  assert_null(backend->create(device, &r, &status));
  assert_int_equal(status, expected);
  expect_fragment(backend->error(), words);
}

static void test_no_device_and_no_memory(void **unused) {
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    const struct decode_backend *backend = emulated[p].backend;
    struct decode_device device;
    expect_no_state(backend, 1, DECODE_NO_DEVICE, "no device 1");
    expect_no_state(backend, -1, DECODE_NO_DEVICE, "no device -1");
    assert_int_equal(backend->describe(1, &device), DECODE_NO_DEVICE);
    emulated_set("EMULATOR_DEVICES", 0);
    assert_int_equal(backend->device_count(), 0);
    expect_no_state(backend, 0, DECODE_NO_DEVICE, "told to have no device");
    unsetenv("EMULATOR_DEVICES");
    for (int bytes = 0; bytes < 8192; bytes += 2500) {
      emulated_set("EMULATOR_MEMORY", bytes);
      expect_no_state(backend, 0, DECODE_NO_MEMORY, "");
      assert_true(strlen(backend->error()) > 0);
    }
    unsetenv("EMULATOR_MEMORY");
    emulated_set("EMULATOR_SHARED", 16384);
    expect_no_state(backend, 0, DECODE_UNSUPPORTED, "shared memory");
    unsetenv("EMULATOR_SHARED");
  }
}

// On a machine of unlike devices each is planned by what it is itself: what it refuses another may
// take, and the memory is that of its own plan.
static void test_unlike_devices_plan_alone(void **unused) {
  const struct decode_request r = odd_request(&tiny_shape, &odd_mixes[0], 5, 4);
  (void)unused;
  emulated_set("EMULATOR_DEVICES", 2);
  for (size_t p = 0; p < EMULATED; p++) {
    const struct decode_backend *backend = emulated[p].backend;
    struct decode_cost cost[2];
    for (int weak = 0; weak < 2; weak++) {
      emulated_set(weak ? "EMULATOR_SHARED_1" : "EMULATOR_SHARED_0", 16384);
      assert_int_equal(backend->cost(1 - weak, &r, &cost[0]), DECODE_OK);
      assert_int_equal(backend->cost(weak, &r, &cost[1]), DECODE_UNSUPPORTED);
      expect_fragment(backend->error(), "shared memory");
      enum decode_status status = DECODE_OK;
      struct decode_state *state = backend->create(1 - weak, &r, &status);
      assert_non_null(state);
      backend->destroy(state);
      unsetenv(weak ? "EMULATOR_SHARED_1" : "EMULATOR_SHARED_0");
    }
    emulated_set("EMULATOR_UNITS_1", 16);
    const struct decode_request longer = odd_request(&odd_shape, &odd_mixes[0], 1, 700);
    for (int device = 0; device < 2; device++)
      assert_int_equal(backend->cost(device, &longer, &cost[device]), DECODE_OK);
    assert_true(cost[1].resident_bytes > cost[0].resident_bytes); // sums of more blocks
    assert_int_equal(cost[1].weight_bytes, cost[0].weight_bytes);
    unsetenv("EMULATOR_UNITS_1");
  }
  assert_int_equal(emulated[0].backend->cost(2, &r, &(struct decode_cost){0}), DECODE_NO_DEVICE);
  unsetenv("EMULATOR_DEVICES");
}

// The device is lost at each launch in turn: while the state is created, then during a step, after
// which nothing works any more.
static void test_a_device_is_lost(void **unused) {
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    const struct decode_backend *backend = emulated[p].backend;
    const struct decode_request r = odd_request(&tiny_shape, &odd_mixes[2], 1, 4);
    int in_create = 0, in_run = 0;
    for (int launch = 1;; launch++) {
      enum decode_status status = DECODE_OK;
      float logits[64];
      int token;
      emulated_set("EMULATOR_FAIL_LAUNCH", launch);
      struct decode_state *state = backend->create(0, &r, &status);
      if (!state) {
        assert_int_equal(status, DECODE_FAILED);
        assert_string_equal(backend->error(), "the device is lost");
        in_create++;
        continue;
      }
      if (backend->run(state, 1) == DECODE_OK) {
        backend->destroy(state);
        break;
      }
      assert_string_equal(backend->error(), "the device is lost");
      assert_int_equal(backend->run(state, 1), DECODE_FAILED);
      assert_int_equal(backend->logits(state, logits), DECODE_FAILED);
      assert_int_equal(backend->tokens(state, &token), DECODE_FAILED);
      assert_string_equal(backend->error(), "the device is lost");
      backend->destroy(state);
      in_run++;
    }
    assert_true(in_create > 10 && in_run > 5);
    unsetenv("EMULATOR_FAIL_LAUNCH");
  }
}

static void test_devices_are_calibrated(void **unused) {
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    const struct decode_backend *backend = emulated[p].backend;
    const uint64_t bytes = 5 * 65536 + 100;
    double seconds = 0, rate = 0;
    int variant = 0;
    while (backend->read_memory(0, bytes, 0, variant, &seconds) == DECODE_OK) {
      assert_true(seconds > 0);
      variant++;
    }
    assert_true(variant >= 1);
    assert_int_equal(backend->read_memory(0, bytes, 0, variant, &seconds), DECODE_UNSUPPORTED);
    backend->calibration_end();
    for (size_t m = 0; m < ODD_MIXES; m += depth_is_full() ? 2 : 4) {
      if (backend->matrix_rate(0, &odd_mixes[m], 0, &rate) != DECODE_OK) {
        fail_msg("%s: %s", emulated[p].name, backend->error());
      }
      assert_true(rate > 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tokens_are_fed_back),
      cmocka_unit_test(test_stages_are_timed),
      cmocka_unit_test(test_refused_in_words),
      cmocka_unit_test(test_no_device_and_no_memory),
      cmocka_unit_test(test_a_device_is_lost),
      cmocka_unit_test(test_devices_are_calibrated),
      cmocka_unit_test(test_unlike_devices_plan_alone),
  };
  return cmocka_run_group_tests(tests, emulated_load_sources, emulated_unload);
}
