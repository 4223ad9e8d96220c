// Mixtures of experts on the GPU kernels, run by the host emulator: each router and routing, by
// vectors and by matrix tiles, with biases and a clamp, in every format, compared with the oracle;
// omitting a piece is detected; forced choices and the counts of experts touched.
// Deep: every shape with every mix of types and batch, on all emulators and as nvcc's PTX, and more
// steps than a forced routing's table has.
// Seconds: 5, deep 55
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/units.h"
#include "kernels/routing.h"

enum { MAX_BATCH = 40 };

// Pieces with experts.
enum { MIXTRAL, SOFTMAX_OF_ALL, GROUPS, ONE_OF_ONE, GPT_OSS, UNCLAMPED, SHARED, MIXTURES };

static const struct mix {
  const char *name;
  struct decode_types types;
} mixes[] = {
    {"bf16", {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"e4m3 weights",
     {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"e4m3", {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"bf16 with experts in e4m3",
     {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
#define EXPERTS_IN(ELEMENT)                                                                        \
  { ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT }
    {"bf16 with experts in mxfp4", EXPERTS_IN(ELEMENT_MXFP4)},
    {"bf16 with experts in int4-g128", EXPERTS_IN(ELEMENT_INT4_GROUP)},
    {"bf16 with experts in int8", EXPERTS_IN(ELEMENT_INT8)},
    {"bf16 with experts in nvfp4", EXPERTS_IN(ELEMENT_NVFP4)},
    {"bf16 with experts in mxfp6", EXPERTS_IN(ELEMENT_MXFP6_E2M3)},
    {"bf16 with experts in mxfp6-e3m2", EXPERTS_IN(ELEMENT_MXFP6_E3M2)},
    {"bf16 with experts in int8-g128", EXPERTS_IN(ELEMENT_INT8_GROUP)},
    {"e4m3 with experts in mxfp4",
     {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_MXFP4}},
    {"mxfp4", {ELEMENT_MXFP4, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int8", {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
};
enum { MIXES = sizeof mixes / sizeof mixes[0], FIRST_FORMAT = 4 }; // mxfp4

static struct decode_request request_of(const struct decode_shape *shape, size_t mix, int batch) {
  return (struct decode_request){
      .shape = *shape, .types = mixes[mix].types, .batch = batch, .context = 5, .seed = 20};
}

static void check_request(const struct emulated *plugin, const struct decode_request *request,
                          const char *piece, const char *mix, int steps) {
  char what[160];
  snprintf(what, sizeof what, "%s, %s, %s", plugin->name, piece, mix);
  compared_steps(plugin->backend, request, request, what, steps);
}

static void check_case(size_t mixture, size_t mix, int batch, size_t plugin) {
  const struct piece *piece = piece_of(PIECE_EXPERTS, mixture);
  const struct decode_request request = request_of(&piece->shape, mix, batch);
  check_request(&emulated[plugin], &request, piece->name, mixes[mix].name,
                batch == 1 || (batch < 5 && depth_is_full()) ? 2 : 1);
}

// By one vector, by several, by matrix tiles of one item for an expert and of several.
static void test_every_mixture(void **unused) {
  static const struct {
    size_t mixture, mix;
    int batch;
  } some[] = {{0, 0, 1}, {0, 1, 7},  {1, 2, 2},  {1, 0, 3}, {2, 1, 1}, {2, 2, 7},
              {2, 3, 4}, {3, 0, 2},  {4, 4, 1},  {4, 4, 7}, {4, 0, 3}, {6, 5, 1},
              {0, 6, 6}, {4, 11, 2}, {4, 13, 2}, {6, 12, 1}};
  (void)unused;
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
    check_case(some[i].mixture, some[i].mix, some[i].batch, i % EMULATED);
}

// The emulators have 64 columns, which most rows of the batch use, in mxfp4 only; PTX has them in
// all formats. Each format with one mixture and with gpt-oss.
static bool is_combined(size_t f, size_t m, int batch, bool is_ptx) {
  if (m < FIRST_FORMAT)
    return f < GPT_OSS || batch < 7;
  return (f == m % MIXTURES || f == GPT_OSS) && batch != 3 &&
         (batch < MAX_BATCH || m == FIRST_FORMAT || is_ptx);
}

static void test_every_mixture_with_every_mix(void **unused) {
  static const int batches[] = {1, 3, 7, MAX_BATCH};
  (void)unused;
  assert_null(piece_of(PIECE_EXPERTS, MIXTURES));
  for (size_t f = 0; f < MIXTURES; f++)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t b = 0; b < 4; b++) {
        const size_t judge = (f + m + b) % EMULATED;
        const bool is_half = (f + m / 2 + b) % 2 == 0;
        if (is_combined(f, m, batches[b], emulated[judge].ptx) && (is_half || !SANITIZED))
          check_case(f, m, batches[b], judge);
      }
}

static void test_pieces_left_out_are_noticed(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = piece_of(PIECE_EXPERTS, f)); f++) {
    const struct emulated *plugin = &emulated[f % EMULATED];
    const struct decode_request request = request_of(&piece->shape, 0, 2);
    if (!compared_apart(plugin->backend, &request, &piece->without, piece->name))
      fail_msg("%s: %s: unnoticed", plugin->name, piece->name);
  }
}

static void test_forced_routing(void **unused) {
  static const int batches[] = {1, 4, 17};
  (void)unused;
  struct decode_shape shape = piece_of(PIECE_EXPERTS, MIXTRAL)->shape;
  shape.experts = (struct decode_experts){.count = 9, .chosen = 3, .hidden = 40, .dense_layers = 1};
  for (size_t b = 0; b < 3; b++) {
    const struct emulated *plugin = &emulated[b % EMULATED];
    struct decode_request request = request_of(&shape, 0, batches[b]);
    request.routing = b == 0 ? ROUTING_UNIFORM : ROUTING_SKEWED;
    request.skew = 3; // so that one expert gets nearly all rows
    if (b == 2 || depth_is_full())
      check_request(plugin, &request, "forced routing", "bf16", 1);
    compared_forced(plugin->backend, &request, b > 0 ? 2 : depth_is_full() ? ROUTING_STEPS + 2 : 3);
  }
}

// A valid request except for one number.
static void test_refused_in_words(void **unused) {
  static const struct {
    const char *words;
    size_t offset;
    int value;
  } refusals[] = {
#define REFUSAL(field, value, words) {words, offsetof(struct decode_request, field), value}
      REFUSAL(shape.experts.chosen, 6, "more experts per token than experts"),
      REFUSAL(shape.experts.chosen, 0, "no expert per token"),
      REFUSAL(shape.experts.hidden, 0, "experts without a width"),
      REFUSAL(shape.experts.hidden, 1 << 17, "wider"),
      REFUSAL(shape.experts.count, MAX_DECODE_EXPERTS + 1, "more experts than a layer can have"),
      REFUSAL(shape.mlp, MLP_GELU, "experts with a gate"),
      REFUSAL(types.experts, ELEMENTS, "experts in the weights' type"),
      REFUSAL(types.activations, ELEMENT_E4M3, "activations in bf16"),
      REFUSAL(ranks, 3, "2 heads cannot be divided among 3 devices"),
      REFUSAL(routing, 7, "an unknown routing"),
  };
  const struct decode_backend *backend = emulated[0].backend;
  struct decode_request known = request_of(&piece_of(PIECE_EXPERTS, MIXTRAL)->shape, 0, 1);
  struct decode_cost cost;
  (void)unused;
  known.shape.ffn_hidden = 0; // there is no dense MLP
  assert_int_equal(backend->cost(0, &known, &cost), DECODE_OK);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct decode_request r = known;
    memcpy((char *)&r + refusals[i].offset, &refusals[i].value, sizeof refusals[i].value);
    assert_int_equal(backend->cost(0, &r, &cost), DECODE_UNSUPPORTED);
    if (!strstr(backend->error(), refusals[i].words))
      fail_msg("\"%s\" lacks \"%s\"", backend->error(), refusals[i].words);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_mixture),
      cmocka_unit_test(test_pieces_left_out_are_noticed),
      cmocka_unit_test(test_forced_routing),
      cmocka_unit_test(test_refused_in_words),
  };
  const struct CMUnitTest deep[] = {cmocka_unit_test(test_every_mixture_with_every_mix)};
  if (emulated_load(NULL))
    return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL) +
                     (depth_is_full() ? cmocka_run_group_tests(deep, NULL, NULL) : 0);
  return emulated_unload(NULL) + failed;
}
