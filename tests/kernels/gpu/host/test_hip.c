// One device of the HIP plugin: what it says of itself, steps in every form, launches and memory
// that fail, calibration (hip_plugin.h).
// Deep only: the plugin holds every AMD GPU's machine code, which takes minutes to compile.
// Seconds: 6
#include "tests/support/kernels/hip_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READ_BYTES = 3 * 64 * 1024 };

// A step of it can be one launch.
static const struct decode_shape wide_heads = {.layers = 1,
                                               .hidden = 72,
                                               .heads = 3,
                                               .kv_heads = 1,
                                               .head_dim = 80,
                                               .ffn_hidden = 101,
                                               .vocab = HIP_VOCAB,
                                               .norm_epsilon = 1e-5f,
                                               .rope_theta = 1e4f};

static void test_same_as_the_oracle(void **unused) {
  (void)unused;
  hip_needed();
  static const int batches[] = {1, HIP_BATCH};
  const struct decode_types *const types[] = {&hip_bf16, &hip_e4m3};
  float logits[HIP_BATCH * HIP_VOCAB];
  for (size_t t = 0; t < 2; t++)
    for (size_t b = 0; b < 2; b++) {
      const struct decode_request request = hip_request(types[t], batches[b]);
      hip_check_steps(&request, logits);
      assert_int_equal(hip.alive(), 0);
    }
}

// Streams that cannot be recorded, and launches that are refused during recording, give the same
// bits, launch by launch, and this is reported; a call with more steps than a queue may hold also
// completes.
static void test_without_graphs(void **unused) {
  (void)unused;
  hip_needed();
  static const struct {
    const char *variable, *value, *words;
  } cases[] = {
      {"FAKE_HIP_NO_CAPTURE", "1", "the step could not be recorded: hipErrorOfTheFake"},
      {"FAKE_HIP_FAIL_RECORD", "1", "the step could not be recorded: launching "},
      {"FAKE_HIP_FAIL_RECORD", "7", "the step could not be recorded: launching "},
  };
  const struct decode_request request = hip_request(&hip_bf16, 1);
  float recorded[HIP_VOCAB], launched[HIP_VOCAB];
  hip_check_steps(&request, recorded);
  hip_expect_form(&request, "recorded graph", "");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv(cases[i].variable, cases[i].value, 1);
    hip_check_steps(&request, launched);
    hip_expect_form(&request, "single launches", cases[i].words);
    assert_memory_equal(recorded, launched, sizeof recorded);
    assert_int_equal(hip.alive(), 0);
    unsetenv(cases[i].variable);
  }
  setenv("FAKE_HIP_NO_CAPTURE", "1", 1);
  struct decode_state *state = hip_make(&request);
  assert_int_equal(hip.backend->run(state, 25), DECODE_OK);
  hip.backend->destroy(state);
  assert_int_equal(hip.alive(), 0);
}

static void test_what_a_device_says(void **unused) {
  (void)unused;
  hip_needed();
  struct decode_device device;
  assert_int_equal(hip.backend->device_count(), 1);
  assert_int_equal(hip.backend->describe(0, &device), DECODE_OK);
  assert_string_equal(device.name, "Fake Instinct");
  assert_string_equal(device.pci, "0000:c1:00.0");
  assert_string_equal(device.uuid, "GPU-0123456789abcdef");
  assert_non_null(strstr(device.runtime, "HIP 6.3"));
  assert_non_null(strstr(device.runtime, "gfx942"));
  assert_null(strstr(device.runtime, "ECC"));
  assert_null(strstr(device.runtime, "partition"));
  assert_int_equal(device.cache_bytes, 256 << 20); // Infinity Cache rather than L2
  assert_int_equal(device.memory_bytes, 1 << 30);
  assert_int_equal(device.units, 3);
  assert_int_equal(hip.backend->describe(1, &device), DECODE_NO_DEVICE);
  hip_expect_words("no device 1");
}

static void test_partitions(void **unused) {
  (void)unused;
  hip_needed();
  struct decode_device device;
  setenv("FAKE_HIP_DEVICES", "6", 1);
  setenv("FAKE_HIP_PARTITIONS", "2", 1);
  assert_int_equal(hip.backend->describe(3, &device), DECODE_OK);
  assert_string_equal(device.pci, "0000:c2:00.1");
  assert_non_null(strstr(device.runtime, "partition 2 of 2"));
}

static void test_no_device(void **unused) {
  (void)unused;
  hip_needed();
  enum decode_status status;
  struct decode_device device;
  const struct decode_request request = hip_request(&hip_bf16, 1);
  setenv("FAKE_HIP_DEVICES", "0", 1);
  assert_int_equal(hip.backend->device_count(), 0);
  hip_expect_words("no AMD device");
  assert_int_equal(hip.backend->describe(0, &device), DECODE_NO_DEVICE);
  assert_null(hip.backend->create(0, &request, &status));
  assert_int_equal(status, DECODE_NO_DEVICE);
  hip_expect_words("no AMD device");
  assert_int_equal(hip.alive(), 0);
}

// The code is chosen by the architecture's name; if none is given, it is found by trying.
static void test_architectures(void **unused) {
  (void)unused;
  hip_needed();
  static const struct {
    const char *named, *machine;
    enum decode_status status;
  } cases[] = {
      {"gfx942:sramecc+:xnack-", "4c", DECODE_OK}, {"", "4c", DECODE_OK},
      {"gfx1030", "36", DECODE_UNSUPPORTED},       {"", "36", DECODE_UNSUPPORTED},
      {"gfx1100", "4c", DECODE_UNSUPPORTED}, // the wrong code is refused, and no other is tried
  };
  const struct decode_request request = hip_request(&hip_bf16, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    enum decode_status status;
    setenv("FAKE_HIP_ARCHITECTURE", cases[i].named, 1);
    setenv("FAKE_HIP_MACHINE", cases[i].machine, 1);
    struct decode_state *state = hip.backend->create(0, &request, &status);
    assert_int_equal(status, cases[i].status);
    if (status != DECODE_OK)
      hip_expect_words("no kernels for this device");
    hip.backend->destroy(state);
    assert_int_equal(hip.alive(), 0);
  }
}

// Memory runs out at each of the places where it is allocated.
static void test_out_of_memory(void **unused) {
  (void)unused;
  hip_needed();
  const struct decode_request request = hip_request(&hip_bf16, 5);
  struct decode_cost cost;
  assert_int_equal(hip.backend->cost(0, &request, &cost), DECODE_OK);
  const long sizes[] = {0, 4096, (long)cost.resident_bytes - 1};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    enum decode_status status;
    hip_set("FAKE_HIP_MEMORY", sizes[i]);
    assert_null(hip.backend->create(0, &request, &status));
    assert_int_equal(status, DECODE_NO_MEMORY);
    assert_true(*hip.backend->error());
    assert_int_equal(hip.alive(), 0);
  }
  hip_set("FAKE_HIP_MEMORY", (long)cost.resident_bytes);
  hip.backend->destroy(hip_make(&request));
}

// More than any host has, free on the device, but refused.
static void test_no_more_than_the_host(void **unused) {
  (void)unused;
  hip_needed();
  double seconds = 0;
  setenv("FAKE_HIP_MEMORY", "35184372088832", 1); // 2^45
  setenv("FAKE_HIP_AT_ONCE", "1000000", 1);
  assert_int_equal(hip.backend->read_memory(0, UINT64_C(1) << 44, 0, 0, &seconds),
                   DECODE_NO_MEMORY);
  hip_expect_words("taking 17592.186 GB of memory: the device has it free");
  hip_expect_words("or measure fewer layers (--layers)");
  setenv("FAKE_HIP_MEMORY", "1073741824", 1);
  assert_int_equal(hip.backend->read_memory(0, UINT64_C(1) << 44, 0, 0, &seconds),
                   DECODE_NO_MEMORY);
  hip_expect_words("free memory on the device");
  assert_int_equal(hip.alive(), 0);
}

// Unless told otherwise (test_hip_libraries).
static void test_arguments_on_the_device(void **unused) {
  (void)unused;
  hip_needed();
  assert_int_equal(hip.backend->device_count(), 1);
  assert_string_equal(getenv("HIP_FORCE_DEV_KERNARG"), "1");
}

static void test_a_failing_launch(void **unused) {
  (void)unused;
  hip_needed();
  const struct decode_request request = hip_request(&hip_bf16, 1);
  long first = 1;
  for (; first < 1000; first += 7) {
    hip.reset();
    hip_set("FAKE_HIP_FAIL_LAUNCH", first);
    const enum decode_status status = hip_use(&request);
    assert_int_equal(hip.alive(), 0);
    if (status == DECODE_OK)
      break;
    assert_int_equal(status, DECODE_FAILED);
  }
  assert_in_range(first, 41, 999);
}

static void test_calibration(void **unused) {
  (void)unused;
  hip_needed();
  double seconds = 0, rate = 0;
  int kept = 0;
  for (int variant = 0; variant < 3; variant++) {
    assert_int_equal(hip.backend->read_memory(0, READ_BYTES, 0, variant, &seconds), DECODE_OK);
    assert_true(seconds > 0);
    assert_true(variant == 0 || hip.alive() == kept); // the buffer is kept
    kept = hip.alive();
  }
  assert_int_equal(hip.backend->read_memory(0, READ_BYTES, 0, 3, &seconds), DECODE_UNSUPPORTED);
  assert_int_equal(hip.backend->read_memory(0, 65535, 0, 0, &seconds), DECODE_UNSUPPORTED);
  hip.backend->calibration_end();
  assert_int_equal(hip.alive(), 0);
  assert_int_equal(hip.backend->matrix_rate(0, &hip_bf16, 0, &rate), DECODE_OK);
  assert_true(rate > 0 && isfinite(rate));
  assert_int_equal(hip.backend->read_memory(0, UINT64_C(1) << 40, 0, 0, &seconds),
                   DECODE_NO_MEMORY);
  assert_int_equal(hip.alive(), 0);
}

// The library's rate counts if it is higher: its products are in device memory, in the device's
// E4M3, and everything that it was given is returned. Without a library, or with one that fails,
// the kernels' own rate counts.
static void test_calibration_by_library(void **unused) {
  (void)unused;
  hip_needed();
  static const struct {
    const char *variable, *value;
    bool multiplied;
  } cases[] = {
      {"FAKE_BLASLT_FAIL", "none", true},
      {"FAKE_BLASLT_FAIL", "multiply", false},
      {"FAKE_BLASLT_FAIL", "create", false},
      {"FAKE_BLASLT_NO_WAY", "1", false},
      {"FAKE_BLASLT_WORKSPACE", "1000000000", false},
      {"FAKE_BLASLT_VERSION", "500", false},
      {"FAKE_HIP_MEMORY", "20000000", false},
      {"PERTOKEN_HIPBLASLT_LIBRARY", "/no/such/library", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int type = 0; type < 2; type++) {
      double rate = 0;
      hip_begin(NULL);
      setenv(cases[i].variable, cases[i].value, 1);
      const long before = hip.multiplied();
      assert_int_equal(hip.backend->matrix_rate(0, type ? &hip_e4m3 : &hip_bf16, 0, &rate),
                       DECODE_OK);
      if (cases[i].multiplied) // gfx942's own E4M3
        assert_int_equal(hip.multiplied_type(), type ? 1000 : 14);
      if (!(rate > 0) || !isfinite(rate) || (hip.multiplied() > before) != cases[i].multiplied ||
          hip.products() != 0 || hip.alive() != 0)
        fail_msg("%s=%s: %g operations/s, %ld products, %d and %d alive", cases[i].variable,
                 cases[i].value, rate, hip.multiplied() - before, hip.products(), hip.alive());
    }
}

static void test_tokens_are_checked(void **unused) {
  (void)unused;
  hip_needed();
  const struct decode_request request = hip_request(&hip_bf16, 2);
  struct decode_state *state = hip_make(&request);
  int tokens[2] = {1, HIP_VOCAB};
  assert_int_equal(hip.backend->set_tokens(state, tokens), DECODE_FAILED);
  hip_expect_words("outside the vocabulary");
  tokens[1] = HIP_VOCAB - 1;
  assert_int_equal(hip.backend->set_tokens(state, tokens), DECODE_OK);
  assert_int_equal(hip.backend->run(state, 1), DECODE_OK);
  hip.backend->destroy(state);
}

// ---- a step in one launch

static struct decode_request streaming_of(int batch) {
  struct decode_request request = hip_request(&hip_bf16, batch);
  request.shape = wide_heads;
  setenv("PERTOKEN_GPU_TUNING", "step=streaming", 1);
  return request;
}

static void test_streaming_steps(void **unused) {
  (void)unused;
  hip_needed();
  float logits[HIP_BATCH * HIP_VOCAB];
  for (int batch = 1; batch < 4; batch++) {
    struct decode_request request = streaming_of(batch);
    hip_check_steps(&request, logits);
    request.shape.experts = (struct decode_experts){.count = 2, .chosen = 2, .hidden = 100};
    hip_check_steps(&request, logits);
    assert_int_equal(hip.alive(), 0);
  }
}

// A device or runtime without cooperative launches: refused with a reason; the graph is used.
static void test_no_cooperative_launches(void **unused) {
  (void)unused;
  hip_needed();
  static const struct {
    const char *variable, *value;
  } cases[] = {{"FAKE_HIP_COOPERATIVE", "0"}, {"FAKE_HIP_ARCHITECTURE", ""}};
  float logits[HIP_VOCAB];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    enum decode_status status = DECODE_OK;
    const struct decode_request request = streaming_of(1);
    setenv(cases[i].variable, cases[i].value, 1);
    assert_null(hip.backend->create(0, &request, &status));
    assert_int_equal(status, DECODE_UNSUPPORTED);
    hip_expect_words("needs cooperative launches");
    hip_expect_words("leave it out for a graph of launches");
    assert_int_equal(hip.alive(), 0);
    unsetenv("PERTOKEN_GPU_TUNING");
    hip_check_steps(&request, logits);
    unsetenv(cases[i].variable);
  }
}

// Refused at launch, or failing later.
static void test_a_cooperative_launch_fails(void **unused) {
  (void)unused;
  hip_needed();
  const struct decode_request request = streaming_of(1);
  hip_set("FAKE_HIP_RESIDENT", 2);
  struct decode_state *state = hip_make(&request);
  assert_int_equal(hip.backend->run(state, 1), DECODE_UNSUPPORTED);
  hip_expect_words("hipErrorCooperativeLaunchTooLarge");
  assert_int_equal(hip.backend->run(state, 1), DECODE_FAILED);
  hip.backend->destroy(state);
  assert_int_equal(hip.alive(), 0);
  unsetenv("FAKE_HIP_RESIDENT");
  int failed = 0;
  enum decode_status status = DECODE_FAILED;
  for (long launch = 1; launch < 100 && status != DECODE_OK; launch++) {
    hip.reset();
    hip_set("FAKE_HIP_FAIL_LAUNCH", launch);
    status = hip_use(&request);
    failed += status != DECODE_OK;
    assert_int_equal(hip.alive(), 0);
  }
  assert_in_range(failed, 10, 98);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_same_as_the_oracle, hip_begin),
      cmocka_unit_test_setup(test_without_graphs, hip_begin),
      cmocka_unit_test_setup(test_what_a_device_says, hip_begin),
      cmocka_unit_test_setup(test_partitions, hip_begin),
      cmocka_unit_test_setup(test_no_device, hip_begin),
      cmocka_unit_test_setup(test_architectures, hip_begin),
      cmocka_unit_test_setup(test_out_of_memory, hip_begin),
      cmocka_unit_test_setup(test_no_more_than_the_host, hip_begin),
      cmocka_unit_test_setup(test_arguments_on_the_device, hip_begin),
      cmocka_unit_test_setup(test_a_failing_launch, hip_begin),
      cmocka_unit_test_setup(test_calibration, hip_begin),
      cmocka_unit_test_setup(test_calibration_by_library, hip_begin),
      cmocka_unit_test_setup(test_tokens_are_checked, hip_begin),
      cmocka_unit_test_setup(test_streaming_steps, hip_begin),
      cmocka_unit_test_setup(test_no_cooperative_launches, hip_begin),
      cmocka_unit_test_setup(test_a_cooperative_launch_fails, hip_begin),
  };
  return cmocka_run_group_tests(tests, hip_load, NULL);
}
