// A prompt processed in chunks leaves the same results as one decoded token by token: on the CPU
// with every instruction set and mix of types, with oneDNN and without it, compared with the
// oracle.
// Deep: every mix with every chunk rather than one chunk each.
// Seconds: 6, deep 15
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/prompt_product.h"
#include "kernels/element.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/families.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/prompted.h"

enum { VOCAB = 203, BATCH = 3, ROW = 1, PROMPT = 23, CONTEXT = 30 };

// hidden, head_dim, ffn and vocab are not multiples of 16; three query heads read one KV head.
static const struct decode_shape odd_shape = {.layers = 2,
                                              .hidden = 72,
                                              .heads = 6,
                                              .kv_heads = 2,
                                              .head_dim = 40,
                                              .ffn_hidden = 200,
                                              .vocab = VOCAB,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};

static const struct mix {
  const char *name;
  struct decode_types types;
} mixes[] = {
    {"bf16, f32 activations",
     {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"bf16", {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"e4m3, e4m3 cache",
     {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32}},
    {"e4m3 beside e4m3",
     {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int8", {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int8 head",
     {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_E4M3, ELEMENT_INT8, ELEMENT_F32, ELEMENT_F32}},
    {"mxfp4", {ELEMENT_MXFP4, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_F32}},
    {"nvfp4", {ELEMENT_NVFP4, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32}},
    {"mxfp6 beside e4m3",
     {ELEMENT_MXFP6_E2M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int4 beside int8",
     {ELEMENT_INT4_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
};
enum { MIXES = sizeof mixes / sizeof mixes[0] };

static bool has_library;

static const int chunks[] = {1, 7, PROMPT};
enum { CHUNKS = sizeof chunks / sizeof chunks[0] };

static struct decode_request request_of(const struct decode_types *types, int chunk, int threads) {
  return (struct decode_request){.shape = odd_shape,
                                 .types = *types,
                                 .batch = BATCH,
                                 .context = CONTEXT,
                                 .seed = 20,
                                 .threads = threads,
                                 .chunk = chunk};
}

static int prompt_token(int position) {
  return (position * 37 + 5) % VOCAB;
}

static struct decode_state *make(const struct decode_request *request) {
  static enum decode_status status; // static: otherwise cppcheck thinks that the state points at it
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state)
    fail_msg("create: status %d, %s", status, cpu_backend.error());
  return state;
}

// The row's logits after a step at `position` with that token.
static void step(struct decode_state *state, int position, int token, float *logits) {
  static float all[BATCH * VOCAB];
  const int tokens[BATCH] = {token, token, token};
  assert_int_equal(cpu_backend.set_position(state, position), DECODE_OK);
  assert_int_equal(cpu_backend.set_tokens(state, tokens), DECODE_OK);
  assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
  assert_int_equal(cpu_backend.logits(state, all), DECODE_OK);
  memcpy(logits, all + (size_t)ROW * VOCAB, VOCAB * sizeof *logits);
}

static void take_prompt(struct decode_state *state, int chunk, bool beside, float *logits) {
  static float all[BATCH * VOCAB];
  int tokens[PROMPT];
  for (int i = 0; i < PROMPT; i++)
    tokens[i] = prompt_token(i);
  for (int first = 0; first < PROMPT; first += chunk) {
    const struct decode_prompt prompt = {.row = ROW,
                                         .first = first,
                                         .count = first + chunk < PROMPT ? chunk : PROMPT - first,
                                         .tokens = tokens + first,
                                         .beside = beside};
    assert_int_equal(cpu_backend.prefill(state, &prompt), DECODE_OK);
  }
  assert_int_equal(cpu_backend.logits(state, all), DECODE_OK);
  memcpy(logits, all + (size_t)ROW * VOCAB, VOCAB * sizeof *logits);
}

static double distance(const float *logits, const double *expected) {
  double off = 0, norm = 0;
  for (size_t i = 0; i < VOCAB; i++) {
    off += pow((double)logits[i] - expected[i], 2);
    norm += expected[i] * expected[i];
  }
  return sqrt(off / norm);
}

static void check_near(const float *logits, const double *expected,
                       const struct decode_types *types, const char *what) {
  const double error = distance(logits, expected);
  if (!(error <= reference_tolerance(types)))
    fail_msg("%s: error %g, tolerance %g", what, error, reference_tolerance(types));
}

// The oracle's results for the prompt, token by token, and for one more token after it.
struct expected {
  double prompt[VOCAB], next[VOCAB];
};

// Each reference, longer by one, takes over the cache of the one before.
static void decode_prompt(const struct decode_types *types, struct expected *out) {
  struct decode_request request = request_of(types, 0, 1);
  const size_t width = (size_t)odd_shape.kv_heads * (size_t)odd_shape.head_dim;
  struct reference *before = NULL;
  request.batch = 1;
  for (int position = 0; position <= PROMPT; position++) {
    enum decode_status status;
    const int token = prompt_token(position);
    request.context = position + 1;
    struct reference *now = reference_create(&request, &status);
    assert_non_null(now);
    for (int layer = 0; before && layer < odd_shape.layers; layer++)
      for (int t = TENSOR_KEYS; t <= TENSOR_VALUES; t++)
        memcpy(reference_cache(now, (enum tensor)t, layer),
               reference_cache(before, (enum tensor)t, layer),
               (size_t)position * width * sizeof(float));
    reference_destroy(before);
    before = now;
    assert_int_equal(reference_set_tokens(now, &token), 0);
    reference_step(now);
    if (position == PROMPT - 1)
      memcpy(out->prompt, reference_logits(now), sizeof out->prompt);
  }
  memcpy(out->next, reference_logits(before), sizeof out->next);
  reference_destroy(before);
}

// By oneDNN if it is installed and supports the types; or, if pointed at a file that is not one, as
// in decode steps.
static void check_library(const struct decode_state *state, const struct mix *mix, bool none) {
  const char *library = cpu_backend.prefill_library(state);
  const bool own = strncmp(library, "own tiles: ", 11) == 0;
  const bool taken = mix->types.activations != ELEMENT_F32 &&
                     element_format(mix->types.weights)->scale != SCALE_BF16;
  if (own != (none || !has_library || !taken))
    fail_msg("%s: expected %s, found '%s'", mix->name, own ? "the library" : "own tiles", library);
}

static void check_chunk(const struct mix *mix, const struct expected *expected, int chunk,
                        enum cpu_isa isa) {
  const struct decode_request request = request_of(&mix->types, chunk, 1 + chunk % 3);
  char what[256];
  float logits[VOCAB];
  const bool none = ((int)isa + chunk) % 2;
  cpu_force_library(none ? "no such file" : NULL);
  struct decode_state *state = make(&request);
  cpu_force_library(NULL);
  check_library(state, mix, none);
  snprintf(what, sizeof what, "%s, instruction set %d, chunk %d, %s", mix->name, (int)isa, chunk,
           cpu_backend.prefill_library(state));
  take_prompt(state, chunk, false, logits);
  check_near(logits, expected->prompt, &mix->types, what);
  step(state, PROMPT, prompt_token(PROMPT), logits);
  check_near(logits, expected->next, &mix->types, what);
  take_prompt(state, chunk, true, logits);
  check_near(logits, expected->prompt, &mix->types, what);
  cpu_backend.destroy(state);
}

static void test_prompt_is_as_decoded(void **unused) {
  (void)unused;
  for (size_t m = 0; m < MIXES; m++) {
    struct expected expected;
    decode_prompt(&mixes[m].types, &expected);
    for (int isa = 0; isa < CPU_ISAS; isa++) {
      if (!cpu_has((enum cpu_isa)isa))
        continue;
      cpu_force_isa((enum cpu_isa)isa);
      for (size_t c = 0; c < CHUNKS; c++)
        if (depth_is_full() || c == (m + (size_t)isa) % CHUNKS)
          check_chunk(&mixes[m], &expected, chunks[c], (enum cpu_isa)isa);
    }
  }
  cpu_force_isa(CPU_ISAS);
}

// Compared with the CPU's own decoding token by token, where the tolerance would hide a slot
// forgotten far away.
static void test_steps_at_positions(void **unused) {
  (void)unused;
  for (size_t m = 0; m < MIXES; m++) {
    struct expected expected;
    decode_prompt(&mixes[m].types, &expected);
    const struct decode_request request = request_of(&mixes[m].types, 0, 2);
    struct decode_state *state = make(&request);
    float logits[VOCAB];
    for (int i = 0; i < PROMPT; i++)
      step(state, i, prompt_token(i), logits);
    check_near(logits, expected.prompt, &mixes[m].types, mixes[m].name);
    cpu_backend.destroy(state);
  }
}

// The other rows give the same results as alone.
static void test_beside(void **unused) {
  (void)unused;
  static float alone[BATCH * VOCAB], beside[BATCH * VOCAB];
  for (size_t m = 0; m < MIXES; m++) {
    const struct decode_request request = request_of(&mixes[m].types, PROMPT, 2);
    int first[BATCH], second[BATCH];
    struct decode_state *state = make(&request);
    float logits[VOCAB];
    assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
    assert_int_equal(cpu_backend.logits(state, alone), DECODE_OK);
    assert_int_equal(cpu_backend.tokens(state, first), DECODE_OK);
    cpu_backend.destroy(state);
    state = make(&request);
    take_prompt(state, PROMPT, true, logits);
    assert_int_equal(cpu_backend.logits(state, beside), DECODE_OK);
    assert_int_equal(cpu_backend.tokens(state, second), DECODE_OK);
    for (size_t row = 0; row < BATCH; row++) {
      if (row == ROW)
        continue;
      double expected[VOCAB];
      for (size_t i = 0; i < VOCAB; i++)
        expected[i] = (double)alone[row * VOCAB + i];
      check_near(beside + row * VOCAB, expected, &mixes[m].types, mixes[m].name);
      assert_int_equal(first[row], second[row]);
    }
    cpu_backend.destroy(state);
  }
}

// Prompts to be refused: each differs in one thing from a valid one.
static void test_refusals(void **unused) {
  (void)unused;
  static const int tokens[] = {1, 2, 3, 4, 5, 6, 7, 8}, unknown[] = {1, VOCAB};
  static const struct {
    const char *what;
    struct decode_prompt prompt;
  } prompts[] = {
      {"a row too many", {.row = BATCH, .count = 2, .tokens = tokens}},
      {"no row", {.row = -1, .count = 2, .tokens = tokens}},
      {"more than a chunk", {.count = 8, .tokens = tokens}},
      {"nothing", {.count = 0, .tokens = tokens}},
      {"longer than the cache", {.first = CONTEXT - 2, .count = 3, .tokens = tokens}},
      {"before the cache", {.first = -1, .count = 2, .tokens = tokens}},
      {"no such token", {.count = 2, .tokens = unknown}},
  };
  struct decode_request request = request_of(&mixes[1].types, 7, 1);
  struct decode_state *state = make(&request);
  for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++)
    if (cpu_backend.prefill(state, &prompts[i].prompt) != DECODE_FAILED || !*cpu_backend.error())
      fail_msg("taken: %s", prompts[i].what);
  const struct decode_prompt last = {.first = CONTEXT - 2, .count = 2, .tokens = tokens};
  assert_int_equal(cpu_backend.prefill(state, &last), DECODE_OK);
  assert_int_equal(cpu_backend.set_position(state, CONTEXT), DECODE_FAILED);
  assert_int_equal(cpu_backend.set_position(state, -1), DECODE_FAILED);
  cpu_backend.destroy(state);
  struct decode_cost cost;
  request.chunk = CONTEXT + 1;
  assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_UNSUPPORTED);
}

// A library that exists but is not oneDNN.
static void test_another_library(void **unused) {
  (void)unused;
  char why[128];
  assert_null(onednn_open("libm.so.6", why, sizeof why));
  assert_string_equal(why, "the library has no dnnl_version");
  assert_null(onednn_open("no such file", why, sizeof why));
  assert_non_null(strstr(why, "no such file"));
}

#define FAKE_LIBRARY "build/tests/fake/libdnnl.so"

// Libraries that are oneDNN but cannot be used: each is refused with a reason, and prompts are
// multiplied without one.
static void test_unknown_libraries(void **unused) {
  (void)unused;
  static const struct {
    const char *version; // tests/stand_ins/fake/dnnl.c
    const char *why;
  } libraries[] = {
      {"1 8 1 2", "oneDNN 1.8.1 is not a supported version, 2.6 to 3"},
      {"2 5 4 2", "oneDNN 2.5.4 is not a supported version, 2.6 to 3"},
      {"4 0 0 2", "oneDNN 4.0.0 is not a supported version, 2.6 to 3"},
      {"3 7 0 4", "oneDNN 3.7.0 was built with threads other than OpenMP's"},
      {"2 6 3 2", "oneDNN 2.6.3 has no dnnl_engine_create"},
      {"3 7 0 2", "oneDNN 3.7.0 has no dnnl_engine_create"},
  };
  const struct mix *mix = &mixes[1];
  struct expected expected;
  decode_prompt(&mix->types, &expected);
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    char why[128], words[160];
    float logits[VOCAB];
    setenv("FAKE_DNNL", libraries[i].version, 1);
    assert_null(onednn_open(FAKE_LIBRARY, why, sizeof why));
    assert_string_equal(why, libraries[i].why);
    cpu_force_library(FAKE_LIBRARY);
    const struct decode_request request = request_of(&mix->types, PROMPT, 2);
    struct decode_state *state = make(&request);
    cpu_force_library(NULL);
    snprintf(words, sizeof words, "own tiles: %s", libraries[i].why);
    assert_string_equal(cpu_backend.prefill_library(state), words);
    take_prompt(state, PROMPT, false, logits);
    check_near(logits, expected.prompt, &mix->types, words);
    cpu_backend.destroy(state);
  }
}

// Shapes whose last block of rows is not full, compared with sums in double precision.
static void test_library_products(void **unused) {
  (void)unused;
  enum { MOST = 96 };
  static _Alignas(64) uint16_t in[MOST * MOST], weights[2 * ONEDNN_ROWS * MOST];
  static _Alignas(64) float out[MOST * 2 * ONEDNN_ROWS];
  static const struct onednn_size sizes[] = {
      {16, 64, 16}, {17, 32, 80}, {96, 96, 128}, {5, 96, 64}};
  char why[128];
  struct onednn *library = onednn_open(NULL, why, sizeof why);
  if (!library) {
    print_message("%s\n", why);
    skip();
  }
  for (size_t i = 0; i < MOST * MOST; i++)
    in[i] = bf16_from_float((float)(i % 11) - 5);
  for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
    weights[i] = bf16_from_float((float)(i % 7) - 3);
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    const struct onednn_size *size = &sizes[s];
    const struct onednn_product *product = onednn_product(library, size);
    assert_non_null(product);
    assert_ptr_equal(product, onednn_product(library, size));
    assert_int_equal(onednn_multiply(product, in, weights, out), 0);
    for (size_t v = 0; v < size->vectors; v++)
      for (size_t row = 0; row < size->outputs; row++) {
        double sum = 0;
        for (size_t c = 0; c < size->inner; c++) {
          const size_t at = row / ONEDNN_ROWS * ONEDNN_ROWS * size->inner +
                            c / 2 * 2 * ONEDNN_ROWS + row % ONEDNN_ROWS * 2 + c % 2;
          sum += (double)float_from_bf16(in[v * size->inner + c]) *
                 (double)float_from_bf16(weights[at]);
        }
        assert_true((double)out[v * size->outputs + row] == sum);
      }
  }
  onednn_close(library);
}

// Of a pass's positions, experts get from none to enough for the library; in layers beside dense
// ones, with shared experts, biases, and latent attention. Chosen from a table, as a router's
// outputs nearly tie.
static void test_experts(void **unused) {
  (void)unused;
  enum { COUNT = 90 };
  static const struct emulated cpu = {.name = "CPU", .backend = &cpu_backend};
  static const enum element experts[] = {ELEMENT_BF16, ELEMENT_MXFP4, ELEMENT_E4M3};
  const char *const small = "experts with under 16 positions";
  const struct piece *piece;
  cpu_force_expert_positions(16);
  for (size_t i = 0, mixtures = 0; (piece = piece_at(i)); i++) {
    if (piece->shape.experts.count == 0)
      continue;
    struct decode_types types = mixes[1].types;
    types.experts = experts[mixtures % 3];
    struct decode_request request =
        prompted_request(&piece->shape, &types, mixtures % 2 ? 40 : COUNT);
    request.routing = ROUTING_UNIFORM;
    request.threads = 1 + (int)(mixtures++ % 3);
    const char *words = prompted_check(&cpu, &request, COUNT, piece->name);
    if (has_library != (strstr(words, small) != NULL))
      fail_msg("%s: expected '%s'%s in '%s'", piece->name, small, has_library ? "" : " not", words);
  }
  cpu_force_expert_positions(0);
}

// Each head's part of k_b and v_b is a product of its own, and so is what a thread has of a head
// that two of them share.
static void test_latent(void **unused) {
  (void)unused;
  enum { COUNT = 90 };
  static const struct emulated cpu = {.name = "CPU", .backend = &cpu_backend};
  static const size_t held[] = {1, 2, 4}; // bf16, e4m3 and int8
  const struct piece *piece;
  for (size_t i = 0; (piece = piece_of(PIECE_LATENT, i)); i++)
    for (size_t m = 0; m < 3; m++) {
      struct decode_request request =
          prompted_request(&piece->shape, &mixes[held[m]].types, (i + m) % 2 ? 40 : COUNT);
      request.routing = piece->shape.experts.count > 0 ? ROUTING_UNIFORM : ROUTING_MODEL;
      request.threads = 1 + (int)((i + m) % 3) * 2;
      const char *words = prompted_check(&cpu, &request, COUNT, piece->name);
      if (has_library && (strncmp(words, "oneDNN", 6) != 0 || strstr(words, "latent")))
        fail_msg("%s: '%s'", piece->name, words);
    }
}

// Steps of many rows, which a library could multiply, too.
static void test_steps_are_our_own(void **unused) {
  (void)unused;
  enum { ROWS = 20 };
  struct decode_request request = request_of(&mixes[1].types, ROWS, 2);
  request.batch = ROWS;
  struct decode_state *state = make(&request);
  const struct decode_prompt prompt = {.count = ROWS, .tokens = prompted_tokens(VOCAB)};
  assert_int_equal(cpu_backend.prefill(state, &prompt), DECODE_OK);
  assert_int_equal(cpu_prompt_product_takes(state, MATRIX_QKV, ROWS), has_library);
  assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
  assert_false(cpu_prompt_product_takes(state, MATRIX_QKV, ROWS));
  cpu_backend.destroy(state);
}

// Which of a family's products the library computes, in bf16; and for a mixture in which only the
// experts are in mxfp4.
static void test_products_by_name(void **unused) {
  (void)unused;
  static const struct {
    const char *family;
    enum element experts;
    const char *own; // after the library's name
  } expected[] = {
      {"llama", ELEMENT_BF16, ""},
      {"falcon", ELEMENT_BF16, ""},
      {"mixtral", ELEMENT_BF16, "; own tiles: experts with under 256 positions"},
      {"mixtral", ELEMENT_INT4_GROUP, "; own tiles: experts"},
      {"gpt-oss", ELEMENT_MXFP4, "; own tiles: experts with under 256 positions"},
      {"deepseek-v2-lite", ELEMENT_BF16, "; own tiles: experts with under 256 positions"},
  };
  if (!has_library)
    skip();
  for (size_t f = 0; f < family_count; f++)
    for (size_t e = 0; e < sizeof expected / sizeof expected[0]; e++) {
      if (strcmp(families[f].name, expected[e].family) != 0)
        continue;
      const struct decode_request request = {
          .shape = families[f].shape,
          .types = {.weights = ELEMENT_BF16,
                    .activations = ELEMENT_BF16,
                    .kv = ELEMENT_BF16,
                    .head = ELEMENT_BF16,
                    .accumulation = ELEMENT_F32,
                    .experts = expected[e].experts},
          .batch = 1,
          .context = 16,
          .chunk = 16,
          .threads = 1,
      };
      struct decode_state *state = make(&request);
      const char *words = cpu_backend.prefill_library(state);
      if (strncmp(words, "oneDNN ", 7) != 0 ||
          strcmp(words + strcspn(words, ";"), expected[e].own) != 0)
        fail_msg("%s: expected 'oneDNN ...%s', found '%s'", expected[e].family, expected[e].own,
                 words);
      cpu_backend.destroy(state);
    }
}

int main(void) {
  char why[128];
  struct onednn *library = onednn_open(NULL, why, sizeof why);
  has_library = library;
  onednn_close(library);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_prompt_is_as_decoded),
      cmocka_unit_test(test_steps_at_positions),
      cmocka_unit_test(test_beside),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_another_library),
      cmocka_unit_test(test_unknown_libraries),
      cmocka_unit_test(test_library_products),
      cmocka_unit_test(test_experts),
      cmocka_unit_test(test_latent),
      cmocka_unit_test(test_steps_are_our_own),
      cmocka_unit_test(test_products_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
