// A prompt whose products are computed by the vendor's library, on stand-ins for cuBLASLt and
// hipBLASLt (tests/stand_ins/blaslt) in the emulators: the results equal the oracle's, and those of
// decoding token by token, in every family. If the library is missing, unknown, declines a product
// or fails in the middle of a prompt, pertoken's own tiles take over, and the report says for which
// products and why. Likewise beside steps of other rows, and for routed experts: all, some or none
// of them by the library.
// Deep: every family with more chunks, on all emulators and as nvcc's PTX; experts with more
// positions than a tile takes.
// Seconds: 14, deep 38
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/prompted.h"
#include "tests/support/kernels/tolerance.h"
#include "tests/support/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/routing.h"

enum { SHORT = 9 };

static const char *const variables[] = {"FAKE_BLASLT_VERSION", "FAKE_BLASLT_FAIL",
                                        "FAKE_BLASLT_FAIL_AT", "FAKE_BLASLT_NO_WAY",
                                        "FAKE_BLASLT_ALTER",   "PERTOKEN_GPU_TUNING"};

// By warp width: 32, 64.
static struct stand_in {
  const char *file, *name;
  char path[512];
  int (*alive)(void), (*type)(void);
  long (*products)(void), (*attempts)(void);
} stand_ins[] = {{.file = "fake_cublaslt", .name = "cuBLASLt 13.1.0"},
                 {.file = "fake_hipblaslt", .name = "hipBLASLt 1.0.0"}};
enum { KINDS = sizeof stand_ins / sizeof stand_ins[0] };

// In E4M3 the libraries need multiples of 16 rows, which all products have here except those of the
// MLP without a gate.
static const struct decode_shape even = {.layers = 2,
                                         .hidden = 80,
                                         .heads = 3,
                                         .kv_heads = 1,
                                         .head_dim = 16,
                                         .ffn_hidden = 112,
                                         .vocab = PIECE_VOCAB,
                                         .norm_epsilon = 1e-5f,
                                         .rope_theta = 1e4f};

static int load(void **unused) {
  for (int k = 0; k < KINDS; k++) {
    struct stand_in *one = &stand_ins[k];
    void *library = library_open(one->file);
    Dl_info where;
    *(void **)&one->alive = library_symbol(library, "fake_blaslt_alive");
    *(void **)&one->type = library_symbol(library, "fake_blaslt_type");
    *(void **)&one->products = library_symbol(library, "fake_blaslt_products");
    *(void **)&one->attempts = library_symbol(library, "fake_blaslt_attempts");
    if (!one->attempts || !dladdr(*(void **)&one->attempts, &where))
      return -1;
    snprintf(one->path, sizeof one->path, "%s", where.dli_fname);
  }
  return emulated_load(unused);
}

static struct stand_in *library_of(const struct emulated *plugin) {
  return &stand_ins[plugin->warp == 64];
}

// Selects the library file; everything else is unset.
static void use(const struct emulated *plugin) {
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  setenv("EMULATOR_PRODUCTS", library_of(plugin)->path, 1);
}

static void expect_words(const char *words, const char *expected, const char *name) {
  if (strcmp(words, expected) != 0)
    fail_msg("%s: '%s', not '%s'", name, words, expected);
}

// A prompt by the library, and the report of it.
static void check(const struct emulated *plugin, const struct decode_request *request, int count,
                  const char *own, const char *name) {
  const struct stand_in *library = library_of(plugin);
  const long before = library->products();
  char expected[128];
  use(plugin);
  const char *words = prompted_check(plugin, request, count, name);
  snprintf(expected, sizeof expected, "%s%s%s", library->name, *own ? "; own tiles: " : "", own);
  expect_words(words, expected, name);
  assert_true(library->products() > before);
  assert_int_equal(library->alive(), 0);
}

// In BF16 the libraries take any shape.
static void test_every_family(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = prompted_piece(&f));) {
    const bool mixture = piece->shape.experts.count > 0, latent = piece->shape.latent.rank > 0;
    const char *own = latent && mixture ? "latent, experts" : latent ? "latent" : "experts";
    if (!depth_is_full() && f % 3 && piece->shape.latent.query_rank == 0)
      continue;
    for (size_t p = 0; p < (depth_is_full() ? 2 : 1); p++) {
      const struct emulated *plugin = &emulated[(f / 3 + p) % EMULATED];
      const struct decode_request request =
          prompted_request(&piece->shape, &prompted_mixes[0].types, f % 2 ? 7 : 17);
      check(plugin, &request, f % 2 ? SHORT : 20, mixture || latent ? own : "", piece->name);
    }
  }
}

// Without a negative zero only if the device stores them so.
static void check_codes(const struct emulated *plugin, const struct decode_request *request,
                        int count) {
  enum { E4M3 = 28, E4M3_FNUZ = 1000 };
  check(plugin, request, count, "", "e4m3");
  assert_int_equal(library_of(plugin)->type(), plugin->fnuz ? E4M3_FNUZ : E4M3);
}

// With the scales of E4M3, in the codes that a device stores; every epilogue.
static void test_in_e4m3(void **unused) {
  (void)unused;
  const struct decode_shape plain = even;
  struct decode_shape biased = even, single = even;
  biased.biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP;
  biased.mlp = MLP_CLAMPED_SWIGLU;
  single.mlp = MLP_GELU;
  single.norm = NORM_LAYER;
  single.parallel = true;
  const struct decode_shape *const shapes[] = {&plain, &biased, &single};
  for (size_t s = 0; s < 3; s++)
    for (size_t p = 0; p < EMULATED; p++) {
      const struct decode_request request =
          prompted_request(shapes[s], &prompted_mixes[1].types, s ? 8 : 18);
      if (depth_is_full() || p == s % 2 || s == 0)
        check_codes(&emulated[p], &request, s ? SHORT : 20);
    }
}

// Compared with decoding token by token on the device.
static void test_decoded_alike(void **unused) {
  (void)unused;
  for (size_t p = 0; p < 2; p++)
    for (size_t m = 0; m < 2; m++) {
      if (m != p && !depth_is_full())
        continue;
      const struct decode_request request =
          prompted_request(&even, &prompted_mixes[m].types, SHORT);
      const long before = library_of(&emulated[p])->products();
      use(&emulated[p]);
      const double error = prompted_decoded(&emulated[p], &request, SHORT, 5);
      if (!(error < (m ? 2e-2 : 4e-3)))
        fail_msg("%s, %s: error %g", emulated[p].name, prompted_mixes[m].name, error);
      assert_true(library_of(&emulated[p])->products() > before);
    }
}

// An oracle of the same model without what a finishing kernel adds must not agree.
static void test_pieces_left_out_are_noticed(void **unused) {
  static const char *const names[] = {"GELU", "clamped SwiGLU", "biases of q, k and v",
                                      "bias of wo", "biases of the MLP"};
  (void)unused;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const struct emulated *plugin = &emulated[i % 2];
    const struct piece *piece = piece_named(names[i]);
    struct decode_request request =
        prompted_request(&piece->shape, &prompted_mixes[0].types, SHORT);
    use(plugin);
    struct decode_state *state = compared_state(plugin->backend, &request, piece->name);
    prompted_take(plugin, state, SHORT, SHORT, prompted_tokens(PIECE_VOCAB));
    request.shape = piece->without;
    struct reference *oracle = prompted_oracle(&request, SHORT);
    if (prompted_error(plugin, state, oracle) <= tolerance_of_rows(&request))
      fail_msg("%s: %s: unnoticed", plugin->name, piece->name);
    plugin->backend->destroy(state);
    reference_destroy(oracle);
  }
}

// Nor may it agree if the library adds its sums to what was there before.
static void test_alterations_are_noticed(void **unused) {
  (void)unused;
  for (size_t p = 0; p < 2; p++) {
    const struct emulated *plugin = &emulated[p];
    const struct decode_request request = prompted_request(&even, &prompted_mixes[p].types, SHORT);
    use(plugin);
    setenv("FAKE_BLASLT_ALTER", "beta", 1);
    struct decode_state *state = compared_state(plugin->backend, &request, "altered");
    prompted_take(plugin, state, SHORT, SHORT, prompted_tokens(PIECE_VOCAB));
    struct reference *oracle = prompted_oracle(&request, SHORT);
    if (prompted_error(plugin, state, oracle) <= tolerance_of_rows(&request))
      fail_msg("%s: unnoticed", plugin->name);
    plugin->backend->destroy(state);
    reference_destroy(oracle);
  }
}

// ---- when the library cannot be used

// Each is correct except for one thing.
static const struct decline {
  const char *variable, *value;
  size_t mix;
  int chunk;
  const char *words;
} declines[] = {
    {"EMULATOR_PRODUCTS", "/no/such", 0, 7, "own tiles: EMULATOR_PRODUCTS: /no/such: "},
    {"EMULATOR_PRODUCTS", "", 0, 7, "own tiles: libno-products.so was not found; "},
    {"FAKE_BLASLT_VERSION", "140000", 0, 7,
     "own tiles: cuBLASLt 14.0.0 is not a supported version, 12 and 13"},
    {"FAKE_BLASLT_FAIL", "create", 0, 7, "own tiles: cuBLASLt gives no handle (status 1)"},
    {"FAKE_BLASLT_FAIL", "multiply", 0, 7,
     "own tiles: cuBLASLt 13.1.0 fails to multiply (status 13)"},
    {"FAKE_BLASLT_NO_WAY", "1", 0, 7, "own tiles: cuBLASLt 13.1.0 has no way to multiply 16 "},
    {"FAKE_BLASLT_NO_WAY", "0", 2, 7, "own tiles: passes this short, or weights and activations"},
    {"FAKE_BLASLT_NO_WAY", "0", 0, 3, "own tiles: passes this short, or weights and activations"},
};

static void test_own_tiles_serve(void **unused) {
  (void)unused;
  const struct emulated *plugin = &emulated[0];
  for (size_t i = 0; i < sizeof declines / sizeof declines[0]; i++) {
    const struct decline *decline = &declines[i];
    const struct decode_request request =
        prompted_request(&piece_plain, &prompted_mixes[decline->mix].types, decline->chunk);
    use(plugin);
    setenv(decline->variable, decline->value, 1);
    const long before = stand_ins[0].products();
    const char *words = prompted_check(plugin, &request, SHORT, decline->words);
    if (strncmp(words, decline->words, strlen(decline->words)) != 0)
      fail_msg("'%s', not '%s'", words, decline->words);
    assert_int_equal(stand_ins[0].products(), before);
    assert_int_equal(stand_ins[0].alive(), 0);
  }
}

// A single declined product is named, with the reason; the library keeps the others.
static void test_some_are_declined(void **unused) {
  (void)unused;
  const struct emulated *plugin = &emulated[0];
  struct decode_shape shape = even;
  shape.hidden = 72; // too many or too few of its rows for the kernel that writes x
  const struct decode_request request = prompted_request(&shape, &prompted_mixes[1].types, 7);
  const long before = stand_ins[0].products();
  use(plugin);
  expect_words(prompted_check(plugin, &request, SHORT, "declined"),
               "cuBLASLt 13.1.0; own tiles: output, MLP (cuBLASLt 13.1.0 has no way to multiply 16 "
               "vectors by 72 x 64 in e4m3 (status 15))",
               "declined");
  assert_true(stand_ins[0].products() > before);
}

// Each product of a prompt in turn fails: the pass starts again without the library for it.
static void test_failing_midway(void **unused) {
  // The products of a layer, in their order: qkv, wo, gate, up, down.
  static const char *const products[] = {"qkv", "output", "MLP", "MLP", "MLP"};
  (void)unused;
  const struct emulated *plugin = &emulated[0];
  const struct decode_request request = prompted_request(&even, &prompted_mixes[0].types, 7);
  for (int i = 0; i < 10; i += depth_is_full() ? 1 : 3) {
    char at[24], expected[200];
    use(plugin);
    snprintf(at, sizeof at, "%ld", stand_ins[0].attempts() + i + 1);
    setenv("FAKE_BLASLT_FAIL_AT", at, 1);
    snprintf(expected, sizeof expected,
             "cuBLASLt 13.1.0; own tiles: %s (cuBLASLt 13.1.0 fails to multiply (status 13))",
             products[i % 5]);
    expect_words(prompted_check(plugin, &request, SHORT, "failing"), expected, at);
  }
}

// ---- routed experts

// From how many positions the library takes an expert; the default is beyond such small ones.
static void use_experts(const struct emulated *plugin, int positions) {
  char tuning[40];
  use(plugin);
  snprintf(tuning, sizeof tuning, "library_count=%d", positions);
  setenv("PERTOKEN_GPU_TUNING", tuning, 1);
}

// What the library is given of experts whose table is known: all three matrices of each with that
// many positions of a chunk.
static long products_of_experts(const struct decode_request *request, int count, int positions) {
  const struct decode_experts *experts = &request->shape.experts;
  const size_t chosen = (size_t)experts->chosen, batch = (size_t)request->batch;
  uint16_t *table = malloc(routing_entries(request) * sizeof *table);
  long products = 0;
  assert_non_null(table);
  routing_fill(request, table);
  for (int layer = 0; layer < request->shape.layers; layer++)
    for (int first = 0; first < count; first += request->chunk) {
      int of[16] = {0};
      for (int p = first; p < count && p < first + request->chunk; p++) {
        const size_t step =
            (size_t)(p % ROUTING_STEPS) * (size_t)request->shape.layers + (size_t)layer;
        for (size_t k = 0; k < chosen; k++)
          of[table[(step * batch + PROMPTED_ROW) * chosen + k]]++;
      }
      for (int e = 0; e < experts->count; e++)
        products += of[e] >= positions ? 3 : 0;
    }
  free(table);
  return products;
}

// With all matrices as the libraries take them.
static const struct decode_shape mixture = {
    .layers = 2,
    .hidden = 80,
    .heads = 3,
    .kv_heads = 1,
    .head_dim = 16,
    .vocab = PIECE_VOCAB,
    .norm_epsilon = 1e-5f,
    .rope_theta = 1e4f,
    .mlp = MLP_CLAMPED_SWIGLU,
    .biases = BIAS_MLP,
    .experts = {.count = 11, .chosen = 4, .hidden = 48, .shared_hidden = 32}};

// A pass's other products: of each layer qkv, wo, the router, and the shared expert's gate, up and
// down.
static long products_besides(const struct decode_request *request) {
  return 6L * request->shape.layers;
}

// All of them by the library, some, or none that the table gives enough positions; the number of
// products is the table's.
static void test_experts_of_a_table(void **unused) {
  enum { COUNT = 26, CHUNK = 17, PASSES = 2 };
  static const int positions[] = {1, 5, 17};
  (void)unused;
  for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++)
    for (size_t m = 0; m < 2; m++) {
      const struct emulated *plugin = &emulated[(i + m) % 2];
      struct decode_request request = prompted_request(&mixture, &prompted_mixes[m].types, CHUNK);
      char own[160];
      if (!depth_is_full() && m != i % 2)
        continue;
      request.routing = ROUTING_UNIFORM;
      const long before = library_of(plugin)->products();
      const long experts = products_of_experts(&request, COUNT, positions[i]);
      assert_int_equal(experts > 0, positions[i] < CHUNK);
      use_experts(plugin, positions[i]);
      snprintf(own, sizeof own, "%s; own tiles: experts with under %d positions",
               library_of(plugin)->name, positions[i]);
      if (experts == 0)
        snprintf(own, sizeof own, "%s; own tiles: experts", library_of(plugin)->name);
      if (positions[i] == 1)
        snprintf(own, sizeof own, "%s", library_of(plugin)->name);
      expect_words(prompted_check(plugin, &request, COUNT, own), own, "experts of a table");
      assert_int_equal(library_of(plugin)->products() - before,
                       experts + PASSES * products_besides(&request));
    }
}

// More than the library is asked for in the smaller steps, and than our own tiles take at a time.
static void test_experts_with_many_positions(void **unused) {
  enum { COUNT = 280 };
  (void)unused;
  if (!depth_is_full())
    skip();
  struct decode_shape shape = mixture;
  shape.layers = 1;
  shape.experts.count = 4;
  shape.experts.chosen = 2;
  for (size_t p = 0; p < 2; p++) {
    struct decode_request request = prompted_request(&shape, &prompted_mixes[p].types, COUNT);
    request.context = COUNT + 1;
    request.routing = ROUTING_UNIFORM;
    const long before = library_of(&emulated[p])->products();
    use_experts(&emulated[p], 140);
    prompted_check(&emulated[p], &request, COUNT, "many positions");
    const long experts = products_of_experts(&request, COUNT, 140);
    assert_int_equal(library_of(&emulated[p])->products() - before,
                     experts + products_besides(&request));
    assert_in_range(experts, 3, 9);
  }
}

// Those that the model chooses: every router, shared expert and bias of the families.
static void test_experts_of_a_router(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = piece_of(PIECE_EXPERTS, f)); f++) {
    const struct emulated *plugin = &emulated[f % 2];
    const long before = library_of(plugin)->products();
    struct decode_shape shape = piece->shape;
    if (!depth_is_full() && f % 2 && f > 1)
      continue;
    shape.hidden = 80; // where the libraries take the experts' matrices
    shape.experts.hidden += shape.experts.hidden % 2;
    const struct decode_request request = prompted_request(&shape, &prompted_mixes[0].types, 17);
    use_experts(plugin, f % 2 ? 3 : 1);
    const char *words = prompted_check(plugin, &request, 20, piece->name);
    if (strstr(words, "own tiles: ") && !strstr(words, "own tiles: experts with under 3 positions"))
      fail_msg("%s: %s", piece->name, words);
    assert_true(library_of(plugin)->products() > before);
  }
}

// Compared with decoding token by token on the device, which chooses by the same table.
static void test_experts_decoded_alike(void **unused) {
  (void)unused;
  struct decode_request request = prompted_request(&mixture, &prompted_mixes[0].types, SHORT);
  request.routing = ROUTING_UNIFORM;
  use_experts(&emulated[0], 2);
  const double error = prompted_decoded(&emulated[0], &request, SHORT, 7);
  if (!(error < 4e-3))
    fail_msg("expected an error below 4e-3, found %g", error);
}

// Each product of a pass's first layer in turn fails, of whichever expert: our own tiles do that
// product for all experts, and the other one goes on.
static void test_experts_declined_midway(void **unused) {
  static const char *const words =
      "cuBLASLt 13.1.0; own tiles: experts (cuBLASLt 13.1.0 fails to multiply (status 13))";
  const struct emulated *plugin = &emulated[0];
  struct decode_request request = prompted_request(&mixture, &prompted_mixes[0].types, 7);
  const long before = 5; // qkv, wo, router, and the shared expert's gate and up
  (void)unused;
  request.routing = ROUTING_UNIFORM;
  const long of_layer = products_of_experts(&request, 7, 2) / 2;
  for (long i = 1; i <= of_layer; i += depth_is_full() ? 5 : 11) {
    char at[24];
    use_experts(plugin, 2);
    snprintf(at, sizeof at, "%ld", stand_ins[0].attempts() + before + i);
    setenv("FAKE_BLASLT_FAIL_AT", at, 1);
    expect_words(prompted_check(plugin, &request, SHORT, at), words, at);
  }
}

// Without a library, with one that takes their sizes for no product, or in types that none takes.
static void test_experts_without_a_library(void **unused) {
  static const char *const odd = "cuBLASLt 13.1.0; own tiles: experts (cuBLASLt 13.1.0 has no way "
                                 "to multiply 16 vectors by 40 x 128 in e4m3 (status 15))";
  const struct emulated *plugin = &emulated[0];
  struct decode_request request = prompted_request(&mixture, &prompted_mixes[0].types, 7);
  (void)unused;
  use_experts(plugin, 1);
  setenv("EMULATOR_PRODUCTS", "/no/such", 1);
  const char *words = prompted_check(plugin, &request, SHORT, "no library");
  assert_int_equal(strncmp(words, "own tiles: EMULATOR_PRODUCTS: ", 30), 0);
  use_experts(plugin, 1);
  request.types.experts = ELEMENT_MXFP4;
  expect_words(prompted_check(plugin, &request, SHORT, "mxfp4"),
               "cuBLASLt 13.1.0; own tiles: experts", "mxfp4");
  request.types = prompted_mixes[1].types;
  request.shape.experts.hidden = 40;
  request.routing = ROUTING_UNIFORM;
  use_experts(plugin, 1);
  expect_words(prompted_check(plugin, &request, SHORT, "odd"), odd, "odd");
}

// ---- beside steps of the other rows

static void check_beside(const struct emulated *plugin, const struct decode_request *request,
                         const char *name) {
  const struct prompted_beside beside = {.row = 1, .position = 20, .count = SHORT};
  const long before = library_of(plugin)->products();
  prompted_check_beside(plugin, request, &beside, name);
  assert_true(library_of(plugin)->products() > before);
  assert_int_equal(library_of(plugin)->alive(), 0);
}

static void test_steps_beside(void **unused) {
  (void)unused;
  for (size_t p = 0; p < 2; p++) {
    struct decode_request request = prompted_request(&even, &prompted_mixes[p].types, 7);
    request.batch = 3;
    use(&emulated[p]);
    check_beside(&emulated[p], &request, "beside");
  }
}

static void test_experts_beside_steps(void **unused) {
  (void)unused;
  for (int p = 0; p < 2; p++) {
    struct decode_request request = prompted_request(&mixture, &prompted_mixes[0].types, 7);
    request.batch = 3;
    request.routing = ROUTING_UNIFORM;
    use_experts(&emulated[p], p + 1);
    check_beside(&emulated[p], &request, "experts beside");
  }
}

// A step is counted once although its pass is begun again, after the last router, without the
// library for the shared expert; its number is seen in the experts from the table.
static void test_failing_beside_a_step(void **unused) {
  enum { SHARED_DOWN = 6 }; // after qkv, wo, router, gate and up
  (void)unused;
  const struct emulated *plugin = &emulated[0];
  struct decode_shape shape = even;
  shape.layers = 1;
  shape.ffn_hidden = 0;
  shape.experts =
      (struct decode_experts){.count = 9, .chosen = 3, .hidden = 40, .shared_hidden = 24};
  struct decode_request request = prompted_request(&shape, &prompted_mixes[0].types, 7);
  request.batch = 3;
  request.routing = ROUTING_UNIFORM;
  const long attempts = stand_ins[0].attempts();
  char at[24];
  use(plugin);
  snprintf(at, sizeof at, "%ld", attempts + SHARED_DOWN);
  setenv("FAKE_BLASLT_FAIL_AT", at, 1);
  check_beside(plugin, &request, "failing beside a step");
  assert_true(stand_ins[0].attempts() > attempts + SHARED_DOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_family),
      cmocka_unit_test(test_in_e4m3),
      cmocka_unit_test(test_decoded_alike),
      cmocka_unit_test(test_pieces_left_out_are_noticed),
      cmocka_unit_test(test_alterations_are_noticed),
      cmocka_unit_test(test_own_tiles_serve),
      cmocka_unit_test(test_some_are_declined),
      cmocka_unit_test(test_failing_midway),
      cmocka_unit_test(test_experts_of_a_table),
      cmocka_unit_test(test_experts_with_many_positions),
      cmocka_unit_test(test_experts_of_a_router),
      cmocka_unit_test(test_experts_decoded_alike),
      cmocka_unit_test(test_experts_declined_midway),
      cmocka_unit_test(test_experts_without_a_library),
      cmocka_unit_test(test_steps_beside),
      cmocka_unit_test(test_experts_beside_steps),
      cmocka_unit_test(test_failing_beside_a_step),
  };
  return cmocka_run_group_tests(tests, load, emulated_unload);
}
