// A prompt on several devices (tensor parallel), run by the host emulator: chunks compared with the
// oracle and with the same prompt decoded token by token, of dense models, mixtures and latent
// attention, in several formats, beside steps and followed by one; lost parts and lost all-reduces,
// which are detected; products by a library that declines them on one rank alone; and what happens
// if a device fails in the middle.
// Deep: every family, more mixes of types, every format, and more failing products.
// Seconds: 18, deep 80
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/decode.h"
#include "kernels/reference/reference.h"
#include "kernels/weights.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/prompted.h"
#include "tests/support/kernels/ranked.h"
#include "tests/support/kernels/tolerance.h"
#include "tests/support/library.h"

enum { BATCH = PROMPTED_BATCH, SHORT = 6, LONGER = 66 };

static const struct decode_shape tiny = {.layers = 1,
                                         .hidden = 24,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .head_dim = 8,
                                         .ffn_hidden = 13,
                                         .vocab = RANKED_VOCAB,
                                         .norm_epsilon = 1e-5f,
                                         .rope_theta = 1e4f};

static struct emulated plugins[RANKED];

// Types of which the library takes no product, so that no rank has room for it.
static const struct decode_types *const bf16_of_e4m3 = &ranked_types[1];

static int load(void **unused) {
  if (ranked_load(unused))
    return -1;
  for (size_t i = 0; i < RANKED; i++)
    plugins[i] = (struct emulated){.name = ranked[i].name, .backend = ranked[i].backend};
  return 0;
}

static int begin(void **unused) {
  static const char *const variables[] = {"EMULATOR_PRODUCTS", "FAKE_BLASLT_FAIL_AT",
                                          "PERTOKEN_GPU_TUNING"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  return ranked_begin(unused);
}

static struct decode_request request_of(const struct decode_shape *shape,
                                        const struct decode_types *types, int chunk, int ranks) {
  struct decode_request request = prompted_request(shape, types, chunk);
  alarm(RANKED_PATIENCE_S); // for each request anew
  request.shape = ranked_shape(shape, ranks);
  request.ranks = ranks;
  request.devices = ranked_devices;
  return request;
}

// ---- the same as the oracle, and as decoding

// By vectors and by matrices; within a block of the cache and beyond it; a last piece of one
// position. With two KV heads, pairs of the four ranks share one.
static void test_prompts_are_the_oracles(void **unused) {
  static const struct {
    int chunk, count;
  } sizes[] = {{5, SHORT}, {3, SHORT + 1}, {LONGER - 1, LONGER}, {7, 8}};
  struct decode_shape shape = piece_plain;
  (void)unused;
  for (size_t m = 0; m < RANKED_TYPES; m++)
    for (size_t s = 0; s < 4; s++) {
      const int ranks = (m + s) % 2 ? 4 : 2;
      shape.layers = sizes[s].count == LONGER ? 1 : 2;
      const struct decode_request request =
          request_of(&shape, &ranked_types[m], sizes[s].chunk, ranks);
      if (s == m || (depth_is_full() && !SANITIZED && sizes[s].count != LONGER))
        prompted_check(&plugins[(m + s / 2) % RANKED], &request, sizes[s].count, "plain");
    }
}

static void test_every_family(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = prompted_piece(&f));)
    for (size_t m = 0; m < PROMPTED_MIXES; m++) {
      const int ranks = (f + m) % 2 ? 4 : 2;
      const struct decode_request request =
          request_of(&piece->shape, &prompted_mixes[m].types, 5 + (int)(f % 3), ranks);
      const bool is_some = depth_is_full() && (f + m) % (SANITIZED ? 9 : 2) == 0;
      if ((is_some || (f % 9 == 0 && m == (f % 2 ? 2 : 1))) && prompted_is_comparable(piece, m))
        prompted_check(&plugins[(f + m) / 2 % RANKED], &request, SHORT, piece->name);
    }
}

// A shared expert, a dense layer, biases and a clamp; and experts that a table chooses, whose lines
// are those of the prompt's positions on every rank.
static void test_mixtures(void **unused) {
  static const struct {
    size_t piece;
    int ranks;
    enum decode_routing routing;
  } some[] = {{6, 2, ROUTING_MODEL}, {0, 4, ROUTING_UNIFORM}, {2, 2, ROUTING_MODEL}};
  (void)unused;
  for (size_t i = 0; i < (depth_is_full() ? 3 : 2); i++) {
    const struct piece *piece = piece_of(PIECE_EXPERTS, some[i].piece);
    struct decode_request request = request_of(&piece->shape, bf16_of_e4m3, 5, some[i].ranks);
    request.routing = some[i].routing;
    prompted_check(&plugins[i % RANKED], &request, SHORT, piece->name);
  }
}

// Every rank has the entries of all heads: queries of full rank, and of low rank with experts.
static void test_latent_attention(void **unused) {
  (void)unused;
  for (size_t p = 0; p < 2; p++)
    for (size_t m = 0; m < (depth_is_full() ? RANKED_TYPES : 1); m++) {
      const struct piece *piece = piece_of(PIECE_LATENT, 2 * p);
      const struct decode_request request =
          request_of(&piece->shape, &ranked_types[m], 5, (m + p) % 2 ? 4 : 2);
      prompted_check(&plugins[(m + p) % RANKED], &request, SHORT, piece->name);
    }
}

// The other rows' steps go with a chunk, and meet as it does.
static void test_steps_beside_prompts(void **unused) {
  static const struct {
    enum piece_kind kind;
    size_t piece;
    int ranks;
  } some[] = {{PIECE_LATENT, 0, 2}, {PIECE_EXPERTS, 6, 4}, {PIECE_EXPERTS, 0, 2}};
  (void)unused;
  for (size_t i = 0; i < (depth_is_full() ? 3 : 2); i++) {
    const struct piece *piece = piece_of(some[i].kind, some[i].piece);
    const struct prompted_beside beside = {.row = (int)i, .position = 62, .count = 6};
    struct decode_request request = request_of(&piece->shape, bf16_of_e4m3, 4, some[i].ranks);
    request.batch = 3;
    request.routing = piece->shape.experts.count > 0 ? ROUTING_UNIFORM : ROUTING_MODEL;
    prompted_check_beside(&plugins[i % RANKED], &request, &beside, piece->name);
  }
}

// Of a model whose heads and MLP are whole blocks on every rank, the last one short.
static void test_every_format(void **unused) {
  struct decode_shape shape = piece_plain;
  (void)unused;
  shape.heads = 4;
  shape.head_dim = 64;
  shape.ffn_hidden = 300;
  for (int e = ELEMENT_INT8; e < ELEMENTS; e++) {
    struct decode_types types = ranked_types[0];
    types.weights = (enum element)e;
    const bool is_wide = depth_is_full() && e == ELEMENT_MXFP4; // one of the two with 64 columns
    const struct decode_request request = request_of(&shape, &types, is_wide ? 40 : 5, 2);
    if (depth_is_full() || e == ELEMENT_MXFP4)
      prompted_check(&plugins[(size_t)e % RANKED], &request, is_wide ? 41 : SHORT, "format");
  }
}

// The tolerance would hide what both omit.
static void test_decoded_alike(void **unused) {
  (void)unused;
  for (int ranks = depth_is_full() ? 2 : 4; ranks <= 4; ranks += 2) {
    const struct decode_request request =
        request_of(ranks == 4 ? &tiny : &piece_plain, &prompted_mixes[0].types, SHORT, ranks);
    const double error = prompted_decoded(&plugins[ranks / 4], &request, SHORT, 5);
    if (!(error < 4e-3))
      fail_msg("%d ranks: error %g", ranks, error);
  }
}

// ---- what is lost is noticed

// Rank 2 of 4 lacks its rows or columns of a tensor.
static struct reference *without(const struct decode_request *request, enum tensor tensor,
                                 size_t rows, size_t columns, bool of_rows) {
  const struct decode_prompt prompt = {
      .row = PROMPTED_ROW, .count = SHORT, .tokens = prompted_tokens(request->shape.vocab)};
  enum decode_status status;
  struct reference *oracle = reference_create(request, &status);
  assert_non_null(oracle);
  for (int layer = 0; layer < request->shape.layers; layer++) {
    double *values = reference_tensor(oracle, tensor, layer);
    for (size_t i = 0; i < rows * columns; i++)
      if ((of_rows ? i / columns * 4 / rows : i % columns * 4 / columns) == 2)
        values[i] = 0;
  }
  assert_int_equal(reference_prefill(oracle, &prompt), 0);
  return oracle;
}

static void test_lost_parts_are_noticed(void **unused) {
  const struct decode_request request = request_of(&piece_plain, bf16_of_e4m3, SHORT, 4);
  const struct decode_shape *s = &request.shape;
  const size_t hidden = (size_t)s->hidden, q = (size_t)s->heads * (size_t)s->head_dim;
  const struct {
    enum tensor tensor;
    size_t rows, columns;
    bool of_rows;
  } cases[] = {{TENSOR_WQ, q, hidden, true},
               {TENSOR_WO, hidden, q, false},
               {TENSOR_UP, (size_t)s->ffn_hidden, hidden, true},
               {TENSOR_DOWN, hidden, (size_t)s->ffn_hidden, false}};
  (void)unused;
  for (size_t p = 0; p < RANKED; p++) {
    struct decode_state *state = compared_state(plugins[p].backend, &request, "lost");
    prompted_take(&plugins[p], state, SHORT, SHORT, prompted_tokens(s->vocab));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      struct reference *oracle =
          without(&request, cases[i].tensor, cases[i].rows, cases[i].columns, cases[i].of_rows);
      if (prompted_error(&plugins[p], state, oracle) <= tolerance_of_rows(&request))
        fail_msg("%s: tensor %d is not noticed", plugins[p].name, (int)cases[i].tensor);
      reference_destroy(oracle);
    }
    plugins[p].backend->destroy(state);
  }
}

// One of the prompt's all-reduces does nothing: two in each layer and, for the token, one at the
// end, after which the ranks have tokens of their own. Three are those of the state's creation.
static void test_lost_all_reduces_are_noticed(void **unused) {
  const struct decode_backend *backend = plugins[0].backend;
  const struct decode_request request = request_of(&tiny, bf16_of_e4m3, SHORT, 4);
  struct reference *oracle = prompted_oracle(&request, SHORT);
  const int before = 3, last = before + 2 * request.shape.layers + 1;
  (void)unused;
  for (int n = before + 1; n <= last + 1; n++) {
    char number[16];
    int tokens[BATCH];
    snprintf(number, sizeof number, "%d", n);
    setenv("EMULATOR_SKIP_REDUCE", number, 1);
    struct decode_state *state = compared_state(backend, &request, "lost");
    prompted_take(&plugins[0], state, SHORT, SHORT, prompted_tokens(request.shape.vocab));
    if (n == last) {
      assert_int_equal(backend->tokens(state, tokens), DECODE_FAILED);
      assert_string_equal(backend->error(), "the ranks disagree about the tokens");
    } else {
      const bool is_noticed =
          prompted_error(&plugins[0], state, oracle) > tolerance_of_rows(&request);
      assert_int_equal(is_noticed, n < last); // of one more, there is none
    }
    backend->destroy(state);
  }
  reference_destroy(oracle);
}

// ---- products by the vendor's library

static struct {
  char path[512];
  int (*alive)(void);
  long (*products)(void), (*attempts)(void);
} blaslt;

static void use_library(void) {
  void *library = library_open("fake_cublaslt");
  Dl_info where;
  *(void **)&blaslt.alive = library_symbol(library, "fake_blaslt_alive");
  *(void **)&blaslt.products = library_symbol(library, "fake_blaslt_products");
  *(void **)&blaslt.attempts = library_symbol(library, "fake_blaslt_attempts");
  assert_true(dladdr(*(void **)&blaslt.attempts, &where));
  snprintf(blaslt.path, sizeof blaslt.path, "%s", where.dli_fname);
  setenv("EMULATOR_PRODUCTS", blaslt.path, 1);
}

static void expect_words(const char *words, const char *expected) {
  if (strcmp(words, expected) != 0)
    fail_msg("'%s', not '%s'", words, expected);
}

// All ranks multiply by the library, except for the router, which all must compute alike, and for
// experts with few positions. In E4M3 the library needs multiples of 16 rows, and only the first of
// two ranks has these of the MLP.
static void test_ranks_have_a_library(void **unused) {
  static const char *const in_e4m3 =
      "cuBLASLt 13.1.0; own tiles: MLP (cuBLASLt 13.1.0 has no way to multiply 16 vectors by 15 x "
      "128 in e4m3 (status 15))";
  struct decode_shape even = piece_plain;
  (void)unused;
  use_library();
  struct decode_request request = request_of(&piece_plain, &prompted_mixes[0].types, 5, 4);
  expect_words(prompted_check(&plugins[0], &request, SHORT, "library"), "cuBLASLt 13.1.0");
  assert_true(blaslt.products() >= 4 * 2 * 2 * 5);
  request = request_of(&piece_of(PIECE_EXPERTS, 6)->shape, &prompted_mixes[0].types, 5, 2);
  setenv("PERTOKEN_GPU_TUNING", "library_count=2", 1);
  expect_words(prompted_check(&plugins[0], &request, SHORT, "mixture"),
               "cuBLASLt 13.1.0; own tiles: router, experts with under 2 positions");
  even.hidden = 80;
  even.head_dim = 16;
  even.heads = 8;
  even.ffn_hidden = 31;
  request = request_of(&even, &prompted_mixes[1].types, 5, 2);
  expect_words(prompted_check(&plugins[0], &request, SHORT, "uneven"), in_e4m3);
  assert_int_equal(blaslt.alive(), 0);
}

// The library fails once, on whichever rank asks then: that rank goes on with its own tiles, and
// meets the others in the same all-reduces. With a shared expert, x has grown before its last
// product.
static void test_a_library_fails_on_one_rank(void **unused) {
  const struct piece *pieces[] = {piece_named("parallel"), piece_of(PIECE_EXPERTS, 6)};
  (void)unused;
  use_library();
  setenv("PERTOKEN_GPU_TUNING", "library_count=2", 1);
  for (int i = 0; i < 40; i += depth_is_full() ? 3 : 13)
    for (size_t p = 0; p < 2; p++) {
      if (!depth_is_full() && (size_t)i % 2 != p)
        continue;
      const struct decode_request request =
          request_of(&pieces[p]->shape, &prompted_mixes[0].types, 5, 2);
      char at[24];
      snprintf(at, sizeof at, "%ld", blaslt.attempts() + i + 1);
      setenv("FAKE_BLASLT_FAIL_AT", at, 1);
      const char *words = prompted_check(&plugins[0], &request, SHORT, at);
      if (!strstr(words, "cuBLASLt 13.1.0; own tiles: ") ||
          !strstr(words, " (cuBLASLt 13.1.0 fails to multiply (status 13))"))
        fail_msg("%s: expected that cuBLASLt fails, found '%s'", pieces[p]->name, words);
    }
  assert_int_equal(blaslt.alive(), 0);
}

// ---- failures

static void expect_ended(const struct decode_backend *backend, struct decode_state *state,
                         const char *words) {
  static const int tokens[] = {1, 2};
  const struct decode_prompt prompt = {.count = 2, .tokens = tokens};
  for (int call = 0; call < 3; call++) {
    const enum decode_status status = call == 0   ? backend->prefill(state, &prompt)
                                      : call == 1 ? backend->set_position(state, 3)
                                                  : backend->run(state, 1);
    assert_int_equal(status, DECODE_FAILED);
    if (!strstr(backend->error(), words))
      fail_msg("'%s' lacks '%s'", backend->error(), words);
  }
}

// A device is lost at each of a prompt's launches, in its first piece or its second; the others,
// which wait for it, end too.
static void test_a_rank_is_lost(void **unused) {
  const struct decode_backend *backend = plugins[0].backend;
  const int *tokens = prompted_tokens(RANKED_VOCAB);
  const struct decode_prompt first = {.count = 5, .tokens = tokens};
  const struct decode_prompt second = {.first = 5, .count = 4, .tokens = tokens + 5};
  const struct decode_request request = request_of(&tiny, bf16_of_e4m3, 5, 4);
  int lost[2] = {0};
  (void)unused;
  for (int launch = 18;; launch += 5) {
    enum decode_status status = DECODE_OK;
    char number[16], device[16], words[96];
    snprintf(number, sizeof number, "%d", launch);
    snprintf(device, sizeof device, "%d", ranked_devices[launch % 4]);
    snprintf(words, sizeof words, "rank %d of 4, device %d: the device is lost", launch % 4,
             ranked_devices[launch % 4]);
    setenv("EMULATOR_FAIL_DEVICE", device, 1);
    setenv("EMULATOR_FAIL_LAUNCH", number, 1);
    struct decode_state *state = backend->create(ranked_devices[0], &request, &status);
    if (!state) // before that, which test_tensor_parallel covers
      continue;
    const bool in_first = backend->prefill(state, &first) != DECODE_OK;
    const bool in_second = !in_first && backend->prefill(state, &second) != DECODE_OK;
    if (in_first || in_second)
      expect_ended(backend, state, words);
    backend->destroy(state);
    lost[0] += in_first;
    lost[1] += in_second;
    if (!in_first && !in_second)
      break;
  }
  assert_true(lost[0] >= 3 && lost[1] >= 3);
}

static void test_an_all_reduce_fails(void **unused) {
  const struct decode_backend *backend = plugins[1].backend;
  const struct decode_request request = request_of(&piece_plain, bf16_of_e4m3, 5, 4);
  const struct decode_prompt prompt = {.count = 5, .tokens = prompted_tokens(RANKED_VOCAB)};
  (void)unused;
  setenv("EMULATOR_FAIL_DEVICE", "2", 1);
  setenv("EMULATOR_MISS_REDUCE", "4", 1);
  struct decode_state *state = compared_state(backend, &request, "missed");
  assert_int_equal(backend->prefill(state, &prompt), DECODE_FAILED);
  expect_ended(backend, state, "rank 2 of 4, device 2: the all-reduce failed");
  backend->destroy(state);
}

// What is refused ends nothing.
static void test_prompts_are_refused(void **unused) {
  const struct decode_backend *backend = plugins[0].backend;
  static const int tokens[] = {1, 2, 3, 4, 5, 6}, unknown[] = {1, RANKED_VOCAB};
  static const struct {
    const char *what;
    struct decode_prompt prompt;
    enum decode_status status;
  } prompts[] = {
      {"a row", {.row = BATCH, .count = 2, .tokens = tokens}, DECODE_FAILED},
      {"a chunk", {.count = 6, .tokens = tokens}, DECODE_FAILED},
      {"the vocabulary", {.count = 2, .tokens = unknown}, DECODE_FAILED},
  };
  const struct decode_request request = request_of(&piece_plain, bf16_of_e4m3, 5, 2);
  struct decode_state *state = compared_state(backend, &request, "refused");
  (void)unused;
  for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++)
    if (backend->prefill(state, &prompts[i].prompt) != prompts[i].status ||
        !strstr(backend->error(), prompts[i].what))
      fail_msg("expected '%s' to be refused, found '%s'", prompts[i].what, backend->error());
  assert_int_equal(backend->set_position(state, PROMPTED_CONTEXT), DECODE_FAILED);
  assert_int_equal(backend->set_position(state, -1), DECODE_FAILED);
  const struct decode_prompt last = {.first = PROMPTED_CONTEXT - 2, .count = 2, .tokens = tokens};
  assert_int_equal(backend->prefill(state, &last), DECODE_OK);
  assert_int_equal(backend->run(state, 1), DECODE_OK);
  backend->destroy(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_prompts_are_the_oracles, begin),
      cmocka_unit_test_setup(test_every_family, begin),
      cmocka_unit_test_setup(test_mixtures, begin),
      cmocka_unit_test_setup(test_latent_attention, begin),
      cmocka_unit_test_setup(test_steps_beside_prompts, begin),
      cmocka_unit_test_setup(test_every_format, begin),
      cmocka_unit_test_setup(test_decoded_alike, begin),
      cmocka_unit_test_setup(test_lost_parts_are_noticed, begin),
      cmocka_unit_test_setup(test_lost_all_reduces_are_noticed, begin),
      cmocka_unit_test_setup(test_ranks_have_a_library, begin),
      cmocka_unit_test_setup(test_a_library_fails_on_one_rank, begin),
      cmocka_unit_test_setup(test_a_rank_is_lost, begin),
      cmocka_unit_test_setup(test_an_all_reduce_fails, begin),
      cmocka_unit_test_setup(test_prompts_are_refused, begin),
  };
  return cmocka_run_group_tests(tests, load, ranked_unload);
}
