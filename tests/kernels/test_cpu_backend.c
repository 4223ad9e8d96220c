// The CPU backend compared with the oracle: every instruction set of this machine, every mix of
// types, and shapes that are not multiples of a vector.
// Deep: two contexts for each mix and batch rather than one, and every batch with every format.
// Seconds: 8, deep 36
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/element.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/isa.h"

#define MAX_BATCH 17
#define MAX_VOCAB 1003

// hidden, head_dim, ffn and vocab are not multiples of 16; three query heads read one KV head.
static const struct decode_shape odd_shape = {.layers = 2,
                                              .hidden = 72,
                                              .heads = 6,
                                              .kv_heads = 2,
                                              .head_dim = 40,
                                              .ffn_hidden = 200,
                                              .vocab = MAX_VOCAB,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};

// Weights, activations, KV, head, accumulation.
static const struct decode_types mixes[] = {
    {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_F32, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_F32, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_E4M3, ELEMENT_INT8, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_MXFP6_E2M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E3M2, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_MXFP6_E3M2, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E3M2, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_MXFP6_E3M2, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8_GROUP, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT4_GROUP, ELEMENT_F32, ELEMENT_F32},
};
#define MIXES (sizeof mixes / sizeof mixes[0])

static struct decode_request request_of(const struct decode_types *types, int batch, int context,
                                        int threads) {
  return (struct decode_request){.shape = odd_shape,
                                 .types = *types,
                                 .batch = batch,
                                 .context = context,
                                 .seed = 20,
                                 .threads = threads};
}

static struct decode_state *make(const struct decode_request *request) {
  static enum decode_status status; // static: otherwise cppcheck thinks that the state points at it
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state)
    fail_msg("create: status %d, %s", status, cpu_backend.error());
  return state;
}

// One step of both, from the same tokens.
static void check_step(struct decode_state *state, struct reference *reference,
                       const struct decode_request *request, enum cpu_isa isa) {
  static float logits[MAX_BATCH * MAX_VOCAB];
  int tokens[MAX_BATCH];
  assert_int_equal(cpu_backend.tokens(state, tokens), DECODE_OK);
  assert_int_equal(reference_set_tokens(reference, tokens), 0);
  reference_step(reference);
  memset(logits, 0xFF, sizeof logits);
  assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
  assert_int_equal(cpu_backend.logits(state, logits), DECODE_OK);
  assert_int_equal(cpu_backend.tokens(state, tokens), DECODE_OK);
  const struct decode_types *types = &request->types;
  struct reference_verdict verdict =
      reference_check(reference, logits, tokens, reference_tolerance(types));
  if (!verdict.pass)
    fail_msg("%s, weights %s, activations %s, kv %s, head %s, batch %d, context %d, threads %d: "
             "error %g, shortfall %g%s",
             isa_names[isa], element_format(types->weights)->name,
             element_format(types->activations)->name, element_format(types->kv)->name,
             element_format(types->head)->name, request->batch, request->context, request->threads,
             verdict.error, verdict.shortfall, verdict.greedy ? "" : ", not the largest");
}

static void check_request(const struct decode_request *request, enum cpu_isa isa) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_non_null(reference);
  struct decode_state *state = make(request);
  check_step(state, reference, request, isa);
  check_step(state, reference, request, isa);
  cpu_backend.destroy(state);
  reference_destroy(reference);
}

// For weights with blocks and activations in E4M3, every third batch in turn, unless the run is
// deep. Sanitizers, which detect an access however often it is made, get half of each mix's
// batches, alternating with those of one row.
static bool is_turn(size_t mix, size_t batch) {
  if (SANITIZED)
    return (mix + batch) / 2 % 2 == 0;
  const bool often =
      !element_has_blocks(mixes[mix].weights) && mixes[mix].activations != ELEMENT_E4M3;
  return depth_is_full() || often || (mix + batch) % 3 == 0;
}

static void test_isa(void **state) {
  const enum cpu_isa isa = *(const enum cpu_isa *)*state;
  static const int batches[] = {1, 2, 3, 5, 11, 16, 17, 4}, contexts[] = {1, 2, 37, 130};
  const size_t pairs = depth_is_full() && !SANITIZED ? 2 : 1; // of four, in turn
  isa_use(isa);
  for (size_t m = 0; m < MIXES; m++)
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++)
      for (size_t c = m + b; c < m + b + pairs && is_turn(m, b); c++) {
        struct decode_request request =
            request_of(&mixes[m], batches[b], contexts[2 * c % 4 + m % 2], 1 + (int)b % 2);
        check_request(&request, isa);
      }
  // Long enough for several chunks; one KV head, which six query heads read and four threads share.
  for (size_t m = 0; m < MIXES; m++)
    for (int threads = 1; threads <= 4 && is_turn(m, 2); threads += 3) {
      struct decode_request request = request_of(&mixes[m], 1, 700, threads);
      request.shape.kv_heads = 1;
      check_request(&request, isa);
    }
  cpu_force_isa(CPU_ISAS);
}

// A row of the batch gives the same logits regardless of its neighbors.
static void test_rows_are_independent(void **unused) {
  (void)unused;
  static float alone[MAX_BATCH * MAX_VOCAB], among[MAX_BATCH * MAX_VOCAB];
  for (size_t m = 0; m < MIXES; m++) {
    struct decode_request request = request_of(&mixes[m], 6, 37, 2);
    struct decode_state *state = make(&request);
    int tokens[6] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(cpu_backend.set_tokens(state, tokens), DECODE_OK);
    assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
    cpu_backend.logits(state, alone);
    for (int b = 0; b < 6; b++)
      tokens[b] = b == 2 ? 3 : 900 + b;
    assert_int_equal(cpu_backend.set_tokens(state, tokens), DECODE_OK);
    assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
    cpu_backend.logits(state, among);
    assert_memory_equal(alone + 2 * MAX_VOCAB, among + 2 * MAX_VOCAB, MAX_VOCAB * sizeof(float));
    assert_memory_not_equal(alone, among, MAX_VOCAB * sizeof(float));
    cpu_backend.destroy(state);
  }
}

static void run_five(const struct decode_types *types, int threads, int *out) {
  struct decode_request request = request_of(types, 3, 130, threads);
  struct decode_state *state = make(&request);
  assert_int_equal(cpu_backend.run(state, 5), DECODE_OK);
  assert_int_equal(cpu_backend.tokens(state, out), DECODE_OK);
  cpu_backend.destroy(state);
}

static void test_threads_agree(void **unused) {
  (void)unused;
  for (size_t m = 0; m < MIXES; m++) {
    int one[3], two[3];
    run_five(&mixes[m], 1, one);
    run_five(&mixes[m], 2, two);
    assert_memory_equal(one, two, sizeof one);
  }
}

static int count_threads(void) {
  DIR *directory = opendir("/proc/self/task");
  assert_non_null(directory);
  int count = 0;
  while (readdir(directory))
    count++;
  closedir(directory);
  return count - 2; // . and ..
}

static void test_no_thread_stays(void **unused) {
  (void)unused;
  struct decode_request request = request_of(&mixes[0], 1, 2, 4);
  int before = count_threads();
  struct decode_state *state = make(&request);
  assert_int_equal(cpu_backend.run(state, 2), DECODE_OK);
  cpu_backend.destroy(state);
  assert_int_equal(count_threads(), before);
}

// Computed by hand for one layer of the smallest model.
static void test_cost(void **unused) {
  (void)unused;
  struct decode_request request = {
      .shape = {.layers = 1,
                .hidden = 4,
                .heads = 2,
                .kv_heads = 1,
                .head_dim = 2,
                .ffn_hidden = 8,
                .vocab = 10,
                .norm_epsilon = 1e-5f,
                .rope_theta = 1e4f},
      .types = {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      .batch = 3,
      .context = 5,
      .threads = 1,
  };
  struct decode_cost cost;
  assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_OK);
  // q, k, v, o, gate, up, down; a scale of 4 bytes for each row; three norms; head, 3 embeddings.
  uint64_t weights = 16 + 8 + 8 + 16 + 32 + 32 + 32;
  uint64_t scales = 4 * (4 + 2 + 2 + 4 + 8 + 8 + 4);
  assert_int_equal(cost.weight_bytes, weights + scales + 3 * 4 * 4 + (10 + 3) * 4 * 2);
  assert_int_equal(cost.kv_bytes, 3 * (5 + 1) * 2 * 2 * 2);
  assert_int_equal(cost.operations, 2 * 3 * (weights + 40) + 3 * 5 * 2 * 2 * 4);
  assert_true(cost.resident_bytes >= cost.weight_bytes + cost.kv_bytes);
}

// Each differs from a request that runs in one field, which the words name.
static void test_limits(void **unused) {
  (void)unused;
#define REFUSED(field, value, fragment)                                                            \
  do {                                                                                             \
    struct decode_request request = request_of(&mixes[1], 1, 8, 1);                                \
    struct decode_cost cost;                                                                       \
    request.field = (value);                                                                       \
    assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_UNSUPPORTED);                    \
    if (!strstr(cpu_backend.error(), fragment))                                                    \
      fail_msg(#field " = " #value ": '%s'", cpu_backend.error());                                 \
  } while (0)
  REFUSED(batch, 4097, "need a batch of 1 to 4096, not 4097");
  REFUSED(batch, 0, "a batch of 1 to 4096, not 0");
  REFUSED(context, 0, "a context of 1 to ");
  REFUSED(threads, 1025, "a number of threads of 0 to 1024");
  REFUSED(chunk, 9, "a chunk of a prompt of 0 to 8, not 9");
  REFUSED(ranks, 2, "only GPUs do tensor parallelism");
  REFUSED(routing, ROUTING_UNIFORM, "no such model is possible");
  REFUSED(shape.layers, 4097, "a number of layers of 1 to 4096");
  REFUSED(shape.hidden, 65537, "a hidden size of 1 to 65536");
  REFUSED(shape.vocab, 0, "a vocabulary of 1 to ");
  REFUSED(shape.head_dim, 41, "heads of an even width");
  REFUSED(shape.head_dim, 100000, "a width of a head of 2 to ");
  REFUSED(shape.heads, 65538, "a number of heads of 1 to 65536");
  REFUSED(shape.kv_heads, 0, "query heads are not a multiple of the KV heads");
  REFUSED(shape.kv_heads, 4, "query heads are not a multiple of the KV heads");
  REFUSED(shape.ffn_hidden, 0, "a width of the MLP of 1 to 65536, not 0");
  REFUSED(shape.rope_theta, 0, "rope's theta is not positive");
  REFUSED(shape.experts.count, 8, "no such model is possible: no expert per token");
  REFUSED(shape.window, -1, "no such model is possible: a negative window");
  REFUSED(types.weights, ELEMENT_F32, "hold weights in 16 bits or fewer");
  REFUSED(types.experts, ELEMENTS, "hold weights in 16 bits or fewer");
  REFUSED(types.activations, ELEMENT_INT8, "weights in bf16 by activations in int8");
  REFUSED(types.experts, ELEMENT_INT8, "weights in int8 by activations in bf16");
  REFUSED(types.kv, ELEMENT_INT8, "a KV cache in bf16 or e4m3");
  REFUSED(types.head, ELEMENT_E4M3, "a head in bf16 or in the weights' type");
  REFUSED(types.accumulation, ELEMENT_BF16, "accumulate in f32");
#undef REFUSED
}

static void test_refusals(void **unused) {
  (void)unused;
  struct decode_request request = request_of(&mixes[1], 1, 8, 1);
  enum decode_status status;
  struct decode_request huge = request;
  huge.shape.layers = 4000;
  huge.shape.hidden = huge.shape.ffn_hidden = 65536;
  assert_null(cpu_backend.create(0, &huge, &status));
  assert_int_equal(status, DECODE_NO_MEMORY);
  assert_non_null(strstr(cpu_backend.error(), "the model needs "));
  assert_non_null(strstr(cpu_backend.error(), " GB is free"));
  assert_null(cpu_backend.create(1, &request, &status));
  assert_int_equal(status, DECODE_NO_DEVICE);

  struct decode_state *state = make(&request);
  int token = MAX_VOCAB;
  assert_int_equal(cpu_backend.set_tokens(state, &token), DECODE_FAILED);
  cpu_backend.destroy(state);
}

static void test_calibration(void **unused) {
  (void)unused;
  double seconds, rate;
  int variant = 0;
  while (cpu_backend.read_memory(0, 8 << 20, 2, variant, &seconds) == DECODE_OK) {
    assert_true(seconds > 0);
    variant++;
  }
  assert_true(variant >= 4);
  assert_int_equal(cpu_backend.read_memory(0, 8 << 20, 2, variant, &seconds), DECODE_UNSUPPORTED);
  cpu_backend.calibration_end();
  for (size_t m = 0; m < MIXES; m++) {
    assert_int_equal(cpu_backend.matrix_rate(0, &mixes[m], 1, &rate), DECODE_OK);
    assert_true(rate > 0);
  }
}

static void test_describe(void **unused) {
  (void)unused;
  struct decode_device device;
  assert_int_equal(cpu_backend.device_count(), 1);
  assert_int_equal(cpu_backend.describe(0, &device), DECODE_OK);
  assert_true(device.units >= 1);
  assert_string_not_equal(device.name, "");
  assert_int_equal(cpu_backend.describe(1, &device), DECODE_NO_DEVICE);
}

// What each instruction set multiplies directly, and what it converts first.
static void test_arithmetic(void **unused) {
  (void)unused;
  static const struct {
    enum cpu_isa isa;
    enum element weights, activations;
    const char *words;
  } cases[] = {
      {CPU_PORTABLE, ELEMENT_BF16, ELEMENT_BF16, "converted bf16 to f32"},
      {CPU_PORTABLE, ELEMENT_INT8, ELEMENT_INT8, "native int8; converted bf16 to f32"},
      {CPU_AVX2, ELEMENT_MXFP4, ELEMENT_BF16, "converted mxfp4 to f32, bf16 to f32"},
      {CPU_AVX2, ELEMENT_E4M3, ELEMENT_F32, "native f32; converted e4m3 to f32, bf16 to f32"},
      {CPU_AVX512, ELEMENT_INT4_GROUP, ELEMENT_INT8,
       "native int8; converted int4-group to int8, bf16 to f32"},
      {CPU_AVX512_BF16, ELEMENT_BF16, ELEMENT_BF16, "native bf16"},
      {CPU_AVX512_BF16, ELEMENT_MXFP6_E2M3, ELEMENT_BF16,
       "native bf16; converted mxfp6-e2m3 to bf16"},
      {CPU_AVX512_BF16, ELEMENT_E4M3, ELEMENT_E4M3, "native bf16; converted e4m3 to bf16"},
      {CPU_AVX2, ELEMENT_MXFP4, ELEMENT_E4M3, "converted mxfp4 to f32, e4m3 to f32, bf16 to f32"},
      {CPU_AVX512_BF16, ELEMENT_INT8_GROUP, ELEMENT_INT8, "native int8-group, int8, bf16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct decode_request request = {.shape = odd_shape, .batch = 1, .context = 4, .threads = 1};
    request.types = (struct decode_types){cases[i].weights, cases[i].activations, ELEMENT_BF16,
                                          ELEMENT_BF16,     ELEMENT_F32,          ELEMENT_F32};
    if (!cpu_has(cases[i].isa))
      continue;
    cpu_force_isa(cases[i].isa);
    enum decode_status status;
    struct decode_state *state = cpu_backend.create(0, &request, &status);
    cpu_force_isa(CPU_ISAS);
    assert_non_null(state);
    struct decode_step_form form;
    cpu_backend.step_form(state, &form);
    cpu_backend.destroy(state);
    assert_string_equal(form.arithmetic, cases[i].words);
    assert_string_equal(form.form, "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ISA_TESTS(test_isa),
      cmocka_unit_test(test_rows_are_independent),
      cmocka_unit_test(test_threads_agree),
      cmocka_unit_test(test_no_thread_stays),
      cmocka_unit_test(test_arithmetic),
      cmocka_unit_test(test_cost),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_calibration),
      cmocka_unit_test(test_describe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
