// The HIP plugin as built, on the tests' own HIP runtime (tests/stand_ins/hip): its host side runs
// completely, its code objects are loaded and searched, and the host emulator computes its
// launches, whose results are compared with the oracle's.
// Deep only: the plugin holds every AMD GPU's machine code, which takes minutes to compile.
// Seconds: 12
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "tests/support/library.h"

#define PLUGIN "build/lib/pertoken/hip.so"

enum { VOCAB = 203, MAX_BATCH = 5, READ_BYTES = 3 * 64 * 1024, PATIENCE_S = 200 };

static const struct decode_shape shape = {.layers = 2,
                                          .hidden = 72,
                                          .heads = 6,
                                          .kv_heads = 2,
                                          .head_dim = 40,
                                          .ffn_hidden = 101,
                                          .vocab = VOCAB,
                                          .norm_epsilon = 1e-5f,
                                          .rope_theta = 1e4f};
// Four devices can share it; its vocabulary is smaller than VOCAB.
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
// A step of it can be one launch.
static const struct decode_shape wide_heads = {.layers = 1,
                                               .hidden = 72,
                                               .heads = 3,
                                               .kv_heads = 1,
                                               .head_dim = 80,
                                               .ffn_hidden = 101,
                                               .vocab = VOCAB,
                                               .norm_epsilon = 1e-5f,
                                               .rope_theta = 1e4f};

// Weights, activations, KV, head, accumulation.
static const struct decode_types bf16 = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16,
                                         ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};
static const struct decode_types e4m3 = {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3,
                                         ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};

static const char *const variables[] = {
    "FAKE_HIP_DEVICES",     "FAKE_HIP_PARTITIONS",  "FAKE_HIP_ARCHITECTURE", "FAKE_HIP_MACHINE",
    "FAKE_HIP_MEMORY",      "FAKE_HIP_NO_CAPTURE",  "FAKE_HIP_FAIL_LAUNCH",  "FAKE_HIP_FAIL_DEVICE",
    "FAKE_RCCL_FAIL_INIT",  "FAKE_RCCL_RANK",       "FAKE_RCCL_FAIL_REDUCE", "FAKE_RCCL_HANG",
    "FAKE_RCCL_NO_CAPTURE", "FAKE_HIP_COOPERATIVE", "FAKE_HIP_RESIDENT",     "PERTOKEN_GPU_TUNING",
    "FAKE_BLASLT_FAIL",     "FAKE_BLASLT_NO_WAY",   "FAKE_BLASLT_WORKSPACE", "FAKE_BLASLT_VERSION",
    "FAKE_HIP_FAIL_RECORD"};

static struct {
  void *runtime, *plugin;
  const struct decode_backend *backend;
  int (*alive)(void), (*communicators)(void), (*products)(void), (*multiplied_type)(void);
  long (*multiplied)(void);
  char blaslt[PATH_MAX];
  void (*reset)(void);
} hip;

static int load(void **unused) {
  (void)unused;
  decode_plugin *plugin;
  Dl_info where;
  if (access(PLUGIN, R_OK) != 0)
    return 0; // built without clang: every test is skipped
  hip.runtime = library_open("fake_hip");
  *(void **)&hip.alive = library_symbol(hip.runtime, "fake_hip_alive");
  *(void **)&hip.communicators = library_symbol(hip.runtime, "fake_rccl_alive");
  *(void **)&hip.reset = library_symbol(hip.runtime, "fake_hip_reset");
  if (!hip.reset || !dladdr(library_symbol(hip.runtime, "hipMalloc"), &where))
    return -1;
  setenv("PERTOKEN_HIP_LIBRARY", where.dli_fname, 1);
  setenv("PERTOKEN_RCCL_LIBRARY", where.dli_fname, 1);
  void *blaslt = library_open("fake_hipblaslt");
  *(void **)&hip.products = library_symbol(blaslt, "fake_blaslt_alive");
  *(void **)&hip.multiplied_type = library_symbol(blaslt, "fake_blaslt_type");
  *(void **)&hip.multiplied = library_symbol(blaslt, "fake_blaslt_products");
  if (!hip.multiplied || !dladdr(library_symbol(blaslt, "fake_blaslt_alive"), &where))
    return -1;
  snprintf(hip.blaslt, sizeof hip.blaslt, "%s", where.dli_fname);
  hip.plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  *(void **)&plugin = library_symbol(hip.plugin, DECODE_PLUGIN);
  hip.backend = plugin();
  return hip.backend->abi == DECODE_ABI ? 0 : -1;
}

static int begin(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  setenv("PERTOKEN_HIPBLASLT_LIBRARY", hip.blaslt, 1);
  if (hip.reset)
    hip.reset();
  return 0;
}

static void need_plugin(void) {
  if (!hip.backend) {
    print_message("no " PLUGIN ": built without clang 19\n");
    skip();
  }
}

static void set_number(const char *name, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  setenv(name, text, 1);
}

static struct decode_request request_of(const struct decode_types *types, int batch) {
  return (struct decode_request){
      .shape = shape, .types = *types, .batch = batch, .context = 70, .seed = 20};
}

static void expect_words(const char *fragment) {
  if (!strstr(hip.backend->error(), fragment))
    fail_msg("expected '%s' in '%s'", fragment, hip.backend->error());
}

static struct decode_state *make(const struct decode_request *request) {
  static enum decode_status status; // static: otherwise cppcheck thinks that the state points at it
  struct decode_state *state = hip.backend->create(0, request, &status);
  if (!state)
    fail_msg("create: status %d, %s", status, hip.backend->error());
  return state;
}

// Two steps, the second one's logits into `logits`; both are compared with the oracle.
static void check_steps(const struct decode_request *request, float *logits) {
  enum decode_status status;
  int tokens[MAX_BATCH];
  struct reference *reference = reference_create(request, &status);
  struct decode_state *state = make(request);
  for (int step = 0; step < 2; step++) {
    assert_int_equal(hip.backend->tokens(state, tokens), DECODE_OK);
    assert_int_equal(reference_set_tokens(reference, tokens), 0);
    reference_step(reference);
    memset(logits, 0xFF, (size_t)request->batch * (size_t)request->shape.vocab * sizeof *logits);
    assert_int_equal(hip.backend->run(state, 1), DECODE_OK);
    assert_int_equal(hip.backend->logits(state, logits), DECODE_OK);
    assert_int_equal(hip.backend->tokens(state, tokens), DECODE_OK);
    const struct reference_verdict verdict =
        reference_check(reference, logits, tokens, reference_tolerance(&request->types));
    if (!verdict.pass)
      fail_msg("batch %d: error %g, shortfall %g", request->batch, verdict.error,
               verdict.shortfall);
  }
  hip.backend->destroy(state);
  reference_destroy(reference);
}

static void expect_step_form(const struct decode_request *request, const char *form,
                             const char *fallback) {
  struct decode_step_form found;
  struct decode_state *state = make(request);
  hip.backend->step_form(state, &found);
  hip.backend->destroy(state);
  assert_string_equal(found.form, form);
  if (strncmp(found.fallback, fallback, strlen(fallback)) != 0 || !*found.fallback != !*fallback)
    fail_msg("expected '%s' in '%s'", fallback, found.fallback);
}

static void same_as_the_oracle(void **unused) {
  (void)unused;
  need_plugin();
  static const int batches[] = {1, MAX_BATCH};
  const struct decode_types *const types[] = {&bf16, &e4m3};
  float logits[MAX_BATCH * VOCAB];
  for (size_t t = 0; t < 2; t++)
    for (size_t b = 0; b < 2; b++) {
      const struct decode_request request = request_of(types[t], batches[b]);
      check_steps(&request, logits);
      assert_int_equal(hip.alive(), 0);
    }
}

// Streams that cannot be recorded, and launches that are refused during recording, give the same
// bits, launch by launch, and this is reported; a call with more steps than a queue may hold also
// completes.
static void without_graphs(void **unused) {
  (void)unused;
  need_plugin();
  static const struct {
    const char *variable, *value, *words;
  } cases[] = {
      {"FAKE_HIP_NO_CAPTURE", "1", "the step could not be recorded: hipErrorOfTheFake"},
      {"FAKE_HIP_FAIL_RECORD", "1", "the step could not be recorded: launching "},
      {"FAKE_HIP_FAIL_RECORD", "7", "the step could not be recorded: launching "},
  };
  const struct decode_request request = request_of(&bf16, 1);
  float recorded[VOCAB], launched[VOCAB];
  check_steps(&request, recorded);
  expect_step_form(&request, "recorded graph", "");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv(cases[i].variable, cases[i].value, 1);
    check_steps(&request, launched);
    expect_step_form(&request, "single launches", cases[i].words);
    assert_memory_equal(recorded, launched, sizeof recorded);
    assert_int_equal(hip.alive(), 0);
    unsetenv(cases[i].variable);
  }
  setenv("FAKE_HIP_NO_CAPTURE", "1", 1);
  struct decode_state *state = make(&request);
  assert_int_equal(hip.backend->run(state, 25), DECODE_OK);
  hip.backend->destroy(state);
  assert_int_equal(hip.alive(), 0);
}

static void what_a_device_says(void **unused) {
  (void)unused;
  need_plugin();
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
  expect_words("no device 1");
}

static void partitions(void **unused) {
  (void)unused;
  need_plugin();
  struct decode_device device;
  setenv("FAKE_HIP_DEVICES", "6", 1);
  setenv("FAKE_HIP_PARTITIONS", "2", 1);
  assert_int_equal(hip.backend->describe(3, &device), DECODE_OK);
  assert_string_equal(device.pci, "0000:c2:00.1");
  assert_non_null(strstr(device.runtime, "partition 2 of 2"));
}

static void no_device(void **unused) {
  (void)unused;
  need_plugin();
  enum decode_status status;
  struct decode_device device;
  const struct decode_request request = request_of(&bf16, 1);
  setenv("FAKE_HIP_DEVICES", "0", 1);
  assert_int_equal(hip.backend->device_count(), 0);
  expect_words("no AMD device");
  assert_int_equal(hip.backend->describe(0, &device), DECODE_NO_DEVICE);
  assert_null(hip.backend->create(0, &request, &status));
  assert_int_equal(status, DECODE_NO_DEVICE);
  expect_words("no AMD device");
  assert_int_equal(hip.alive(), 0);
}

// The code is chosen by the architecture's name; if none is given, it is found by trying.
static void architectures(void **unused) {
  (void)unused;
  need_plugin();
  static const struct {
    const char *named, *machine;
    enum decode_status status;
  } cases[] = {
      {"gfx942:sramecc+:xnack-", "4c", DECODE_OK}, {"", "4c", DECODE_OK},
      {"gfx1030", "36", DECODE_UNSUPPORTED},       {"", "36", DECODE_UNSUPPORTED},
      {"gfx1100", "4c", DECODE_UNSUPPORTED}, // the wrong code is refused, and no other is tried
  };
  const struct decode_request request = request_of(&bf16, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    enum decode_status status;
    setenv("FAKE_HIP_ARCHITECTURE", cases[i].named, 1);
    setenv("FAKE_HIP_MACHINE", cases[i].machine, 1);
    struct decode_state *state = hip.backend->create(0, &request, &status);
    assert_int_equal(status, cases[i].status);
    if (status != DECODE_OK)
      expect_words("no kernels for this device");
    hip.backend->destroy(state);
    assert_int_equal(hip.alive(), 0);
  }
}

// Memory runs out at each of the places where it is allocated.
static void out_of_memory(void **unused) {
  (void)unused;
  need_plugin();
  const struct decode_request request = request_of(&bf16, 5);
  struct decode_cost cost;
  assert_int_equal(hip.backend->cost(&request, &cost), DECODE_OK);
  const long sizes[] = {0, 4096, (long)cost.resident_bytes - 1};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    enum decode_status status;
    set_number("FAKE_HIP_MEMORY", sizes[i]);
    assert_null(hip.backend->create(0, &request, &status));
    assert_int_equal(status, DECODE_NO_MEMORY);
    assert_true(*hip.backend->error());
    assert_int_equal(hip.alive(), 0);
  }
  set_number("FAKE_HIP_MEMORY", (long)cost.resident_bytes);
  hip.backend->destroy(make(&request));
}

// The first calls of everything that a state does, until none fails any more.
static enum decode_status use(const struct decode_request *request) {
  enum decode_status status;
  int tokens[MAX_BATCH];
  float logits[MAX_BATCH * VOCAB];
  struct decode_state *state = hip.backend->create(0, request, &status);
  if (!state)
    return status;
  status = hip.backend->run(state, 2);
  if (status != DECODE_OK) {
    expect_words("hipErrorLaunchFailure");
    assert_int_equal(hip.backend->tokens(state, tokens), DECODE_FAILED);
    assert_int_equal(hip.backend->logits(state, logits), DECODE_FAILED);
    assert_int_equal(hip.backend->run(state, 1), DECODE_FAILED);
    expect_words("hipErrorLaunchFailure");
  }
  hip.backend->destroy(state);
  return status;
}

static void a_failing_launch(void **unused) {
  (void)unused;
  need_plugin();
  const struct decode_request request = request_of(&bf16, 1);
  long first = 1;
  for (; first < 1000; first += 7) {
    hip.reset();
    set_number("FAKE_HIP_FAIL_LAUNCH", first);
    const enum decode_status status = use(&request);
    assert_int_equal(hip.alive(), 0);
    if (status == DECODE_OK)
      break;
    assert_int_equal(status, DECODE_FAILED);
  }
  assert_in_range(first, 41, 999);
}

static void calibration(void **unused) {
  (void)unused;
  need_plugin();
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
  assert_int_equal(hip.backend->matrix_rate(0, &bf16, 0, &rate), DECODE_OK);
  assert_true(rate > 0 && isfinite(rate));
  assert_int_equal(hip.backend->read_memory(0, UINT64_C(1) << 40, 0, 0, &seconds),
                   DECODE_NO_MEMORY);
  assert_int_equal(hip.alive(), 0);
}

// The library's rate counts if it is higher: its products are in device memory, in the device's
// E4M3, and everything that it was given is returned. Without a library, or with one that fails,
// the kernels' own rate counts.
static void calibration_by_library(void **unused) {
  (void)unused;
  need_plugin();
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
      begin(NULL);
      setenv(cases[i].variable, cases[i].value, 1);
      const long before = hip.multiplied();
      assert_int_equal(hip.backend->matrix_rate(0, type ? &e4m3 : &bf16, 0, &rate), DECODE_OK);
      if (cases[i].multiplied) // gfx942's own E4M3
        assert_int_equal(hip.multiplied_type(), type ? 1000 : 14);
      if (!(rate > 0) || !isfinite(rate) || (hip.multiplied() > before) != cases[i].multiplied ||
          hip.products() != 0 || hip.alive() != 0)
        fail_msg("%s=%s: %g operations/s, %ld products, %d and %d alive", cases[i].variable,
                 cases[i].value, rate, hip.multiplied() - before, hip.products(), hip.alive());
    }
}

static void tokens_are_checked(void **unused) {
  (void)unused;
  need_plugin();
  const struct decode_request request = request_of(&bf16, 2);
  struct decode_state *state = make(&request);
  int tokens[2] = {1, VOCAB};
  assert_int_equal(hip.backend->set_tokens(state, tokens), DECODE_FAILED);
  expect_words("outside the vocabulary");
  tokens[1] = VOCAB - 1;
  assert_int_equal(hip.backend->set_tokens(state, tokens), DECODE_OK);
  assert_int_equal(hip.backend->run(state, 1), DECODE_OK);
  hip.backend->destroy(state);
}

// ---- a step in one launch

static struct decode_request streaming_of(int batch) {
  struct decode_request request = request_of(&bf16, batch);
  request.shape = wide_heads;
  setenv("PERTOKEN_GPU_TUNING", "step=streaming", 1);
  return request;
}

static void streaming_steps(void **unused) {
  (void)unused;
  need_plugin();
  float logits[MAX_BATCH * VOCAB];
  for (int batch = 1; batch < 4; batch++) {
    const struct decode_request request = streaming_of(batch);
    check_steps(&request, logits);
    assert_int_equal(hip.alive(), 0);
  }
}

// A device or runtime without cooperative launches: refused with a reason; the graph is used.
static void no_cooperative_launches(void **unused) {
  (void)unused;
  need_plugin();
  static const struct {
    const char *variable, *value;
  } cases[] = {{"FAKE_HIP_COOPERATIVE", "0"}, {"FAKE_HIP_ARCHITECTURE", ""}};
  float logits[VOCAB];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    enum decode_status status = DECODE_OK;
    const struct decode_request request = streaming_of(1);
    setenv(cases[i].variable, cases[i].value, 1);
    assert_null(hip.backend->create(0, &request, &status));
    assert_int_equal(status, DECODE_UNSUPPORTED);
    expect_words("needs cooperative launches");
    expect_words("leave it out for a graph of launches");
    assert_int_equal(hip.alive(), 0);
    unsetenv("PERTOKEN_GPU_TUNING");
    check_steps(&request, logits);
    unsetenv(cases[i].variable);
  }
}

// Refused at launch, or failing later.
static void a_cooperative_launch_fails(void **unused) {
  (void)unused;
  need_plugin();
  const struct decode_request request = streaming_of(1);
  set_number("FAKE_HIP_RESIDENT", 2);
  struct decode_state *state = make(&request);
  assert_int_equal(hip.backend->run(state, 1), DECODE_UNSUPPORTED);
  expect_words("hipErrorCooperativeLaunchTooLarge");
  assert_int_equal(hip.backend->run(state, 1), DECODE_FAILED);
  hip.backend->destroy(state);
  assert_int_equal(hip.alive(), 0);
  unsetenv("FAKE_HIP_RESIDENT");
  int failed = 0;
  enum decode_status status = DECODE_FAILED;
  for (long launch = 1; launch < 100 && status != DECODE_OK; launch++) {
    hip.reset();
    set_number("FAKE_HIP_FAIL_LAUNCH", launch);
    status = use(&request);
    failed += status != DECODE_OK;
    assert_int_equal(hip.alive(), 0);
  }
  assert_in_range(failed, 10, 98);
}

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

static void ranks_are_the_oracle(void **unused) {
  (void)unused;
  need_plugin();
  float logits[MAX_BATCH * VOCAB];
  const struct decode_request four = ranks_of(&bf16, 1, 4), two = ranks_of(&e4m3, 5, 2);
  check_steps(&four, logits);
  expect_nothing_left();
  check_steps(&two, logits);
  expect_nothing_left();
}

// Steps are recorded with their all-reduces; if that is impossible, the bits are the same, and this
// is reported.
static void ranks_without_graphs(void **unused) {
  static const char *const unable[] = {"FAKE_HIP_NO_CAPTURE", "FAKE_RCCL_NO_CAPTURE",
                                       "FAKE_HIP_FAIL_RECORD"};
  float recorded[VOCAB], launched[VOCAB];
  (void)unused;
  need_plugin();
  const struct decode_request request = ranks_of(&bf16, 1, 4);
  check_steps(&request, recorded);
  expect_step_form(&request, "recorded graph", "");
  for (size_t i = 0; i < sizeof unable / sizeof unable[0]; i++) {
    setenv(unable[i], "1", 1);
    check_steps(&request, launched);
    expect_step_form(&request, "single launches", "the step could not be recorded: ");
    unsetenv(unable[i]);
    assert_memory_equal(recorded, launched, (size_t)shared.vocab * sizeof *recorded);
    expect_nothing_left();
  }
}

static void ranks_are_timed(void **unused) {
  (void)unused;
  need_plugin();
  struct decode_all_reduce timed;
  const struct decode_request request = ranks_of(&bf16, 2, 2);
  struct decode_state *state = make(&request);
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
  expect_words(words);
  expect_nothing_left();
  hip.reset();
}

static void ranks_cannot_be_joined(void **unused) {
  (void)unused;
  need_plugin();
  const struct decode_request request = ranks_of(&bf16, 1, 4);
  setenv("FAKE_RCCL_FAIL_INIT", "1", 1);
  expect_no_ranks(&request, "joining the devices: RCCL 2.27.3: unhandled system error (2)");
}

// Refused, or never contributed: the others, which wait for it, end too.
static void an_all_reduce_fails(void **unused) {
  static const struct {
    const char *variable, *words;
  } cases[] = {{"FAKE_RCCL_FAIL_REDUCE", "rank 2 of 4, device 1: an all-reduce: RCCL"},
               {"FAKE_RCCL_HANG", "RCCL 2.27.3: remote process exited"}};
  (void)unused;
  need_plugin();
  const struct decode_request request = ranks_of(&bf16, 1, 4);
  setenv("FAKE_RCCL_RANK", "2", 1);
  setenv("FAKE_HIP_NO_CAPTURE", "1", 1);
  for (size_t i = 0; i < 2; i++) {
    setenv(cases[i].variable, "1", 1);
    expect_no_ranks(&request, cases[i].words);
    setenv(cases[i].variable, "3", 1);
    struct decode_state *state = make(&request);
    assert_int_equal(hip.backend->run(state, 2), DECODE_FAILED);
    expect_words(cases[i].words);
    assert_int_equal(hip.backend->run(state, 1), DECODE_FAILED);
    expect_words(cases[i].words);
    hip.backend->destroy(state);
    expect_nothing_left();
    unsetenv(cases[i].variable);
  }
}

// The oracle continues with the device's token.
static void expect_alike(struct decode_state *state, struct reference *reference) {
  const struct decode_request *request = reference_request(reference);
  float logits[VOCAB];
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
static void ranks_take_prompts(void **unused) {
  static const int tokens[] = {1, 2, 3, 4, 5, 6};
  const struct decode_prompt prompt = {.count = 6, .tokens = tokens};
  (void)unused;
  need_plugin();
  for (int ranks = 2; ranks <= 4; ranks += 2) {
    enum decode_status status;
    struct decode_request request = ranks_of(ranks == 2 ? &e4m3 : &bf16, 1, ranks);
    request.chunk = 6;
    struct reference *reference = reference_create(&request, &status);
    struct decode_state *state = make(&request);
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
static void an_all_reduce_of_a_prompt_fails(void **unused) {
  static const int tokens[] = {1, 2, 3, 4, 5, 6};
  static const char *const failing[] = {"FAKE_RCCL_FAIL_REDUCE", "FAKE_RCCL_HANG"};
  const struct decode_prompt prompt = {.count = 6, .tokens = tokens};
  (void)unused;
  need_plugin();
  struct decode_request request = ranks_of(&bf16, 1, 4);
  request.chunk = 6;
  setenv("FAKE_RCCL_RANK", "2", 1);
  setenv("FAKE_HIP_NO_CAPTURE", "1", 1);
  for (size_t i = 0; i < 2; i++) {
    setenv(failing[i], "4", 1);
    struct decode_state *state = make(&request);
    for (int call = 0; call < 2; call++) {
      assert_int_equal(hip.backend->prefill(state, &prompt), DECODE_FAILED);
      expect_words(i == 0 ? "rank 2 of 4, device 1: an all-reduce: RCCL"
                          : "RCCL 2.27.3: remote process exited");
    }
    hip.backend->destroy(state);
    expect_nothing_left();
    unsetenv(failing[i]);
  }
}

static void a_rank_is_lost(void **unused) {
  (void)unused;
  need_plugin();
  const struct decode_request request = ranks_of(&bf16, 1, 4);
  long first = 1;
  for (; first < 1000; first += 13) {
    enum decode_status status;
    hip.reset();
    setenv("FAKE_HIP_FAIL_DEVICE", "1", 1);
    set_number("FAKE_HIP_FAIL_LAUNCH", first);
    struct decode_state *state = hip.backend->create(all_devices[0], &request, &status);
    if (state)
      status = hip.backend->run(state, 2);
    if (status != DECODE_OK)
      expect_words("rank 2 of 4, device 1: ");
    hip.backend->destroy(state);
    expect_nothing_left();
    if (status == DECODE_OK)
      break;
    assert_int_equal(status, DECODE_FAILED);
  }
  assert_in_range(first, 27, 999);
}

// The probe of the same build with a HIP library that is missing, lacks a function, or is of HIP 5.
static void libraries(void **unused) {
  (void)unused;
  need_plugin();
  static const struct {
    const char *file, *expected;
  } cases[] = {{"nothing.so", "PERTOKEN_HIP_LIBRARY: "},
               {"fake_hip_missing.so", "lacks hipGraphLaunch; install ROCm"},
               {"fake_hip_old.so", ", gfx942"}};
  const char *path = getenv("PERTOKEN_HIP_LIBRARY");
  const int folder = (int)(strrchr(path, '/') - path);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char command[9000], output[8192];
    snprintf(command, sizeof command,
             "PERTOKEN_PLUGINS=build/lib/pertoken PERTOKEN_HIP_LIBRARY=%.*s/%s "
             "%.*s/../../pertoken-probe list",
             folder, path, cases[i].file, folder, path);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    output[fread(output, 1, sizeof output - 1, program)] = 0;
    assert_int_equal(pclose(program), 0);
    if (!strstr(output, cases[i].expected))
      fail_msg("expected '%s' in '%s'", cases[i].expected, output);
  }
}

// HIP 5.2 has no cooperative launches of a module's kernels.
static void old_library(void **unused) {
  (void)unused;
  need_plugin();
  const char *path = getenv("PERTOKEN_HIP_LIBRARY");
  const int folder = (int)(strrchr(path, '/') - path);
  char command[9000], output[8192];
  snprintf(command, sizeof command,
           "PERTOKEN_PLUGINS=build/lib/pertoken PERTOKEN_HIP_LIBRARY=%.*s/fake_hip_old.so "
           "PERTOKEN_GPU_TUNING=step=streaming %.*s/../../pertoken-probe run --data data "
           "--model smollm-135m --device hip --verify-only -q 2>&1",
           folder, path, folder, path);
  FILE *program = popen(command, "r");
  assert_non_null(program);
  output[fread(output, 1, sizeof output - 1, program)] = 0;
  assert_true(pclose(program) != 0);
  if (!strstr(output, "HIP with hipModuleLaunchCooperativeKernel)"))
    fail_msg("'%s'", output);
}

// The same with an RCCL that is missing or lacks a function.
static void collective_libraries(void **unused) {
  (void)unused;
  need_plugin();
  static const struct {
    const char *file, *expected;
  } cases[] = {{"nothing.so", "PERTOKEN_RCCL_LIBRARY: "},
               {"fake_hip_old.so", "this RCCL lacks ncclGetVersion; install rccl"},
               {NULL, "need RCCL, and librccl.so.1 was not found; install rccl"}};
  char records[] = "/tmp/pertoken-XXXXXX";
  assert_non_null(mkdtemp(records));
  const char *path = getenv("PERTOKEN_RCCL_LIBRARY");
  const int folder = (int)(strrchr(path, '/') - path);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char command[9000], output[8192];
    const char *file = cases[i].file;
    snprintf(
        command, sizeof command,
        "FAKE_HIP_DEVICES=3 PERTOKEN_PLUGINS=build/lib/pertoken PERTOKEN_RCCL_LIBRARY=%.*s%s%s "
        "%.*s/../../pertoken-probe run --data data --model smollm-135m --device hip:all "
        "--tensor-parallel 3 -q -o %s 2>&1; s=$?; rm -f %s/.lock; exit $s",
        file ? folder : 0, path, file ? "/" : "", file ? file : "", folder, path, records, records);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    output[fread(output, 1, sizeof output - 1, program)] = 0;
    assert_int_equal(pclose(program), 3 << 8);
    if (!strstr(output, cases[i].expected))
      fail_msg("expected '%s' in '%s'", cases[i].expected, output);
  }
  assert_int_equal(rmdir(records), 0);
}

static void link_to(const char *target, const char *folder, const char *name) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(symlink(target, path), 0);
}

// Without pertoken's variables: the HIP under ROCM_PATH, and the RCCL beside it, which here lacks a
// function.
static void found_under_rocm(void **unused) {
  (void)unused;
  need_plugin();
  char rocm[] = "/tmp/pertoken-XXXXXX", folder[64], real[PATH_MAX], command[9000], output[8192];
  assert_non_null(mkdtemp(rocm));
  snprintf(folder, sizeof folder, "%s/lib", rocm);
  assert_int_equal(mkdir(folder, 0777), 0);
  const char *path = getenv("PERTOKEN_HIP_LIBRARY");
  assert_non_null(realpath(path, real));
  link_to(real, folder, "libamdhip64.so.7");
  strcpy(strrchr(real, '/'), "/fake_hip_old.so");
  link_to(real, folder, "librccl.so.1");
  snprintf(command, sizeof command,
           "env -u PERTOKEN_HIP_LIBRARY -u PERTOKEN_RCCL_LIBRARY ROCM_PATH=%s FAKE_HIP_DEVICES=3 "
           "PERTOKEN_PLUGINS=build/lib/pertoken %.*s/../../pertoken-probe run --data data "
           "--model smollm-135m --device hip:all --tensor-parallel 3 -q -o %s 2>&1; s=$?; "
           "rm -rf %s; exit $s",
           rocm, (int)(strrchr(path, '/') - path), path, rocm, rocm);
  FILE *program = popen(command, "r");
  assert_non_null(program);
  output[fread(output, 1, sizeof output - 1, program)] = 0;
  assert_int_equal(pclose(program), 3 << 8);
  if (!strstr(output, "this RCCL lacks ncclGetVersion"))
    fail_msg("the RCCL beside HIP is not found: '%s'", output);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(same_as_the_oracle, begin),
      cmocka_unit_test_setup(without_graphs, begin),
      cmocka_unit_test_setup(what_a_device_says, begin),
      cmocka_unit_test_setup(partitions, begin),
      cmocka_unit_test_setup(no_device, begin),
      cmocka_unit_test_setup(architectures, begin),
      cmocka_unit_test_setup(out_of_memory, begin),
      cmocka_unit_test_setup(a_failing_launch, begin),
      cmocka_unit_test_setup(calibration, begin),
      cmocka_unit_test_setup(calibration_by_library, begin),
      cmocka_unit_test_setup(tokens_are_checked, begin),
      cmocka_unit_test_setup(streaming_steps, begin),
      cmocka_unit_test_setup(no_cooperative_launches, begin),
      cmocka_unit_test_setup(a_cooperative_launch_fails, begin),
      cmocka_unit_test_setup(ranks_are_the_oracle, begin),
      cmocka_unit_test_setup(ranks_without_graphs, begin),
      cmocka_unit_test_setup(ranks_are_timed, begin),
      cmocka_unit_test_setup(ranks_cannot_be_joined, begin),
      cmocka_unit_test_setup(an_all_reduce_fails, begin),
      cmocka_unit_test_setup(ranks_take_prompts, begin),
      cmocka_unit_test_setup(an_all_reduce_of_a_prompt_fails, begin),
      cmocka_unit_test_setup(a_rank_is_lost, begin),
      cmocka_unit_test_setup(libraries, begin),
      cmocka_unit_test_setup(old_library, begin),
      cmocka_unit_test_setup(collective_libraries, begin),
      cmocka_unit_test_setup(found_under_rocm, begin),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
