// What sets model families apart, on the CPU: each piece of family.h by itself and whole families,
// at sizes that fit no vector, against the oracle; and that the comparison would notice a piece left
// out. Prompts in chunks leave what the same tokens leave one by one.
// Deep: every instruction set with every family, mix of types and batch, rather than some of each.
// Seconds: 5
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/element.h"
#include "kernels/family.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "kernels/routing.h"
#include "tests/support/depth.h"

enum { MOST_BATCH = 11, VOCAB = 203, MOST_CHOICES = 8 * MOST_BATCH * 8 };

static const char *const isa_names[CPU_ISAS] = {"portable", "avx2", "avx512", "avx512-bf16", "amx"};

// What all of them are but for what their rows below say.
#define WIDTHS                                                                                     \
  .layers = 3, .hidden = 72, .ffn_hidden = 200, .vocab = VOCAB, .norm_epsilon = 1e-5f,             \
  .rope_theta = 1e4f
#define SIZES WIDTHS, .heads = 6, .kv_heads = 2, .head_dim = 40

// `without` is the same with the piece left out, which the comparison must notice.
static const struct family {
  const char *name;
  struct decode_shape shape, without;
} families[] = {
    {"layer norm", {SIZES, .norm = NORM_LAYER}, {SIZES}},
    {"GELU", {SIZES, .mlp = MLP_GELU}, {SIZES}},
    {"clamped SwiGLU", {SIZES, .mlp = MLP_CLAMPED_SWIGLU}, {SIZES}},
    {"parallel", {SIZES, .parallel = true}, {SIZES}},
    {"biases of q, k and v", {SIZES, .biases = BIAS_QKV}, {SIZES}},
    {"bias of wo", {SIZES, .biases = BIAS_OUTPUT}, {SIZES}},
    {"biases of the MLP", {SIZES, .biases = BIAS_MLP}, {SIZES}},
    {"norms of heads", {SIZES, .qk_norm = true}, {SIZES}},
    {"sinks", {SIZES, .sinks = true}, {SIZES}},
    {"window", {SIZES, .window = 21}, {SIZES}},
    {"window in two of three layers",
     {SIZES, .window = 35, .full_every = 3},
     {SIZES, .window = 35}},
    {"score scale", {SIZES, .score_scale = 3}, {SIZES}},
    {"Llama 3's angles",
     {SIZES, .rope = {ROPE_LLAMA3, .factor = 8, .low = 1, .high = 4, .original_context = 64}},
     {SIZES}},
    {"YaRN",
     {SIZES, .rope = {ROPE_YARN, .factor = 32, .low = 1, .high = 8, .magnitude = 1.35f,
                      .original_context = 128, .whole = true}},
     {SIZES, .rope = {ROPE_YARN, .factor = 32, .low = 1, .high = 8, .magnitude = 1.2f,
                      .original_context = 128, .whole = true}}},
    {"interleaved pairs", {SIZES, .rope = {.interleaved = true}}, {SIZES}},
    {"Falcon: one kv head, parallel, layer norm, GELU",
     {.layers = 2,
      .hidden = 104,
      .heads = 7,
      .kv_heads = 1,
      .head_dim = 24,
      .ffn_hidden = 416,
      .vocab = VOCAB,
      .norm_epsilon = 1e-5f,
      .rope_theta = 1e4f,
      .norm = NORM_LAYER,
      .mlp = MLP_GELU,
      .parallel = true},
     {.layers = 2,
      .hidden = 104,
      .heads = 7,
      .kv_heads = 1,
      .head_dim = 24,
      .ffn_hidden = 416,
      .vocab = VOCAB,
      .norm_epsilon = 1e-5f,
      .rope_theta = 1e4f,
      .norm = NORM_LAYER,
      .mlp = MLP_GELU}},
    {"experts, softmax of the chosen",
     {SIZES, .experts = {.count = 5, .chosen = 2, .hidden = 136}},
     {SIZES, .experts = {.count = 5, .chosen = 2, .hidden = 136, .router = ROUTER_SOFTMAX_ALL}}},
    {"experts, softmax of all, a bias",
     {SIZES, .biases = BIAS_ROUTER,
      .experts = {.count = 21, .chosen = 6, .hidden = 40, .router = ROUTER_SOFTMAX_ALL}},
     {SIZES, .biases = BIAS_ROUTER, .experts = {.count = 21, .chosen = 6, .hidden = 40}}},
    {"sigmoid router of groups, shared expert, dense layers first",
     {SIZES, .biases = BIAS_ROUTER,
      .experts = {.count = 24,
                  .chosen = 4,
                  .hidden = 56,
                  .shared_hidden = 88,
                  .dense_layers = 1,
                  .router = ROUTER_SIGMOID,
                  .groups = 4,
                  .kept_groups = 2,
                  .scale = 2.5f}},
     {SIZES, .biases = BIAS_ROUTER,
      .experts = {.count = 24,
                  .chosen = 4,
                  .hidden = 56,
                  .shared_hidden = 88,
                  .dense_layers = 1,
                  .router = ROUTER_SIGMOID,
                  .groups = 4,
                  .kept_groups = 2,
                  .scale = 1}}},
    {"GPT-OSS: experts, biases, clamped SwiGLU, sinks, windows, YaRN",
     {SIZES, .mlp = MLP_CLAMPED_SWIGLU, .biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP | BIAS_ROUTER,
      .sinks = true, .window = 19, .full_every = 2,
      .experts = {.count = 8, .chosen = 3, .hidden = 72},
      .rope = {ROPE_YARN, .factor = 32, .low = 1, .high = 32, .magnitude = 1.35f,
               .original_context = 4096}},
     {SIZES, .mlp = MLP_CLAMPED_SWIGLU, .biases = BIAS_QKV | BIAS_OUTPUT | BIAS_ROUTER,
      .sinks = true, .window = 19, .full_every = 2,
      .experts = {.count = 8, .chosen = 3, .hidden = 72},
      .rope = {ROPE_YARN, .factor = 32, .low = 1, .high = 32, .magnitude = 1.35f,
               .original_context = 4096}}},
    {"latent attention",
     {WIDTHS, .heads = 6, .head_dim = 44, .latent = {.rank = 56, .rope_dim = 12, .value_dim = 28}},
     {WIDTHS, .heads = 6, .head_dim = 44, .latent = {.rank = 56, .rope_dim = 14, .value_dim = 28}}},
    {"latent attention of one head, wider than a chunk's scores",
     {WIDTHS, .heads = 1, .head_dim = 40, .latent = {.rank = 600, .rope_dim = 20, .value_dim = 72}},
     {WIDTHS, .heads = 1, .head_dim = 40,
      .latent = {.rank = 600, .rope_dim = 18, .value_dim = 72}}},
    {"DeepSeek: latent attention with queries of low rank, groups of experts, YaRN",
     {WIDTHS, .heads = 6, .head_dim = 56, .biases = BIAS_ROUTER, .score_scale = 1.6f,
      .latent = {.rank = 72, .query_rank = 88, .rope_dim = 24, .value_dim = 40},
      .experts = {.count = 16,
                  .chosen = 4,
                  .hidden = 56,
                  .shared_hidden = 88,
                  .dense_layers = 1,
                  .router = ROUTER_SIGMOID,
                  .groups = 4,
                  .kept_groups = 2,
                  .scale = 2.5f},
      .rope = {ROPE_YARN, .factor = 40, .low = 1, .high = 32, .original_context = 4096,
               .whole = true, .interleaved = true}},
     {WIDTHS, .heads = 6, .head_dim = 56, .biases = BIAS_ROUTER, .score_scale = 1.6f,
      .latent = {.rank = 72, .rope_dim = 24, .value_dim = 40},
      .experts = {.count = 16,
                  .chosen = 4,
                  .hidden = 56,
                  .shared_hidden = 88,
                  .dense_layers = 1,
                  .router = ROUTER_SIGMOID,
                  .groups = 4,
                  .kept_groups = 2,
                  .scale = 2.5f},
      .rope = {ROPE_YARN, .factor = 40, .low = 1, .high = 32, .original_context = 4096,
               .whole = true, .interleaved = true}}},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

static const struct mix {
  const char *name;
  struct decode_types types;
} mixes[] = {
    {"float activations",
     {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"bf16", {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int8", {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"bf16 with an e4m3 cache and experts in e4m3",
     {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_E4M3}},
    {"bf16 with experts in mxfp4",
     {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_MXFP4}},
    {"int8 with experts in int4",
     {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8, ELEMENT_F32, ELEMENT_INT4_GROUP}},
};
enum { MIXES = sizeof mixes / sizeof mixes[0] };

static struct decode_request request_of(const struct decode_shape *shape,
                                        const struct decode_types *types, int batch, int context,
                                        int threads) {
  return (struct decode_request){.shape = *shape,
                                 .types = *types,
                                 .batch = batch,
                                 .context = context,
                                 .seed = 20,
                                 .threads = threads};
}

static struct decode_state *make(const struct decode_request *request) {
  static enum decode_status status; // static: cppcheck takes the state to point at it
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state)
    fail_msg("create: status %d, %s", status, cpu_backend.error());
  return state;
}

static struct reference *make_reference(const struct decode_request *request) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_non_null(reference);
  return reference;
}

// One step of both from the same tokens, the oracle with the device's experts.
static struct reference_verdict step_both(struct decode_state *state, struct reference *reference,
                                          const struct decode_types *types) {
  static float logits[MOST_BATCH * VOCAB];
  static int chosen[MOST_CHOICES];
  int tokens[MOST_BATCH];
  assert_int_equal(cpu_backend.tokens(state, tokens), DECODE_OK);
  assert_int_equal(reference_set_tokens(reference, tokens), 0);
  memset(logits, 0xFF, sizeof logits);
  assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
  assert_int_equal(cpu_backend.logits(state, logits), DECODE_OK);
  assert_int_equal(cpu_backend.tokens(state, tokens), DECODE_OK);
  assert_int_equal(cpu_backend.chosen(state, chosen), DECODE_OK);
  if (reference_request(reference)->shape.experts.count > 0)
    reference_set_chosen(reference, chosen);
  reference_step(reference);
  return reference_check(reference, logits, tokens, reference_tolerance(types));
}

static void check_request(const struct decode_request *request, const char *what) {
  struct reference *reference = make_reference(request);
  struct decode_state *state = make(request);
  for (int step = 0; step < 2; step++) {
    const struct reference_verdict verdict = step_both(state, reference, &request->types);
    if (!verdict.pass)
      fail_msg(
          "%s, batch %d, context %d, threads %d, step %d: error %g, shortfall %g, routing %g%s",
          what, request->batch, request->context, request->threads, step, verdict.error,
          verdict.shortfall, verdict.routing, verdict.greedy ? "" : ", not the largest");
  }
  cpu_backend.destroy(state);
  reference_destroy(reference);
}

// In turns the batches, contexts and threads; in the deep run all of them.
static void check_isa(enum cpu_isa isa) {
  static const int batches[] = {1, 2, 7, 11}, contexts[] = {1, 37, 130}, threads[] = {1, 2, 3};
  if (!cpu_has(isa)) {
    print_message("this machine has no %s\n", isa_names[isa]);
    skip();
  }
  cpu_force_isa(isa);
  for (size_t f = 0; f < FAMILIES; f++)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t b = 0; b < 4; b++) {
        const bool no_experts = families[f].shape.experts.count == 0;
        if ((!depth_is_full() && (f + m + b + (size_t)isa) % 4 != 0) ||
            (no_experts && element_has_blocks(mixes[m].types.experts)))
          continue;
        const size_t turn = f + m + b;
        const struct decode_request request =
            request_of(&families[f].shape, &mixes[m].types, batches[b], contexts[turn % 3],
                       threads[(turn + b) % 3]);
        char what[128];
        snprintf(what, sizeof what, "%s, %s, %s", isa_names[isa], families[f].name, mixes[m].name);
        check_request(&request, what);
      }
  cpu_force_isa(CPU_ISAS);
}

static void test_portable(void **unused) {
  (void)unused;
  check_isa(CPU_PORTABLE);
}

static void test_avx2(void **unused) {
  (void)unused;
  check_isa(CPU_AVX2);
}

static void test_avx512(void **unused) {
  (void)unused;
  check_isa(CPU_AVX512);
}

static void test_avx512_bf16(void **unused) {
  (void)unused;
  check_isa(CPU_AVX512_BF16);
}

static void test_amx(void **unused) {
  (void)unused;
  check_isa(CPU_AMX);
}

// A context of several chunks that four threads share, of which a window leaves out whole ones, or
// lies across two.
static void test_long_windows(void **unused) {
  (void)unused;
  static const int windows[] = {40, 300, 700, 2000};
  for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++)
    for (int threads = 1; threads <= 4; threads += 3) {
      struct decode_shape shape = {SIZES, .window = windows[w], .full_every = 2, .sinks = true};
      shape.kv_heads = 1;
      struct decode_request request = request_of(&shape, &mixes[1].types, 1, 1100, threads);
      check_request(&request, "long window");
    }
}

// The oracle of the same model without the piece must not agree: norms and error of the logits.
static void test_pieces_left_out_are_noticed(void **unused) {
  (void)unused;
  for (size_t f = 0; f < FAMILIES; f++) {
    struct decode_request request = request_of(&families[f].shape, &mixes[0].types, 2, 64, 2);
    struct decode_request without = request;
    without.shape = families[f].without;
    struct decode_state *state = make(&request);
    struct reference *reference = make_reference(&without);
    if (step_both(state, reference, &request.types).pass)
      fail_msg("%s: unnoticed", families[f].name);
    reference_destroy(reference);
    cpu_backend.destroy(state);
  }
}

// Forced choices are the table's, step by step, and are counted.
static void test_forced_routing(void **unused) {
  (void)unused;
  static const enum decode_routing routings[] = {ROUTING_UNIFORM, ROUTING_SKEWED};
  enum { BATCH = 7, STEPS = 3, LAYERS = 3 };
  for (size_t r = 0; r < 2; r++) {
    const struct decode_shape shape = {
        SIZES, .experts = {.count = 9, .chosen = 3, .hidden = 40, .dense_layers = 1}};
    struct decode_request request = request_of(&shape, &mixes[0].types, BATCH, 20, 2);
    request.routing = routings[r];
    request.skew = 1.2f;
    check_request(&request, "forced routing");

    struct decode_state *state = make(&request);
    static uint16_t table[ROUTING_STEPS * LAYERS * BATCH * 3];
    assert_int_equal(routing_entries(&request), sizeof table / sizeof table[0]);
    routing_fill(&request, table);
    uint64_t distinct = 0;
    for (size_t step = 0; step < STEPS; step++) {
      int chosen[LAYERS * BATCH * 3];
      assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
      assert_int_equal(cpu_backend.chosen(state, chosen), DECODE_OK);
      for (size_t layer = 0; layer < LAYERS; layer++) {
        bool touched[9] = {false};
        for (size_t i = 0; i < (size_t)BATCH * 3; i++) {
          if (layer == 0)
            assert_int_equal(chosen[i], -1);
          else
            touched[table[(step * LAYERS + layer) * BATCH * 3 + i]] = true;
        }
        for (size_t e = 0; e < 9; e++)
          distinct += touched[e];
        for (size_t i = layer * BATCH * 3; layer > 0 && i < (layer + 1) * BATCH * 3; i++)
          assert_true(touched[chosen[i]]);
      }
    }
    struct decode_touched touched;
    assert_int_equal(cpu_backend.touched(state, &touched), DECODE_OK);
    assert_int_equal(touched.steps, STEPS);
    assert_int_equal(touched.experts, distinct);
    cpu_backend.destroy(state);
  }
}

// A prompt of one row, in chunks, leaves in its cache and logits what its tokens leave one by one.
static void test_prompts(void **unused) {
  (void)unused;
  enum { BATCH = 2, ROW = 1, PROMPT = 23, CONTEXT = 30, CHUNK_SIZE = 9 };
  static float one_by_one[BATCH * VOCAB], in_chunks[BATCH * VOCAB];
  int tokens[PROMPT];
  for (int i = 0; i < PROMPT; i++)
    tokens[i] = (i * 37 + 5) % VOCAB;
  for (size_t f = 0; f < FAMILIES; f++) {
    struct decode_request request =
        request_of(&families[f].shape, &mixes[0].types, BATCH, CONTEXT, 1 + (int)f % 2);
    request.chunk = CHUNK_SIZE;
    struct decode_state *state = make(&request), *other = make(&request);
    for (int i = 0; i < PROMPT; i++) {
      assert_int_equal(cpu_backend.set_position(state, i), DECODE_OK);
      assert_int_equal(cpu_backend.set_tokens(state, (int[]){0, tokens[i]}), DECODE_OK);
      assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
    }
    cpu_backend.logits(state, one_by_one);
    for (int first = 0; first < PROMPT; first += CHUNK_SIZE) {
      const int left = PROMPT - first;
      const struct decode_prompt prompt = {.row = ROW,
                                           .first = first,
                                           .count = left < CHUNK_SIZE ? left : CHUNK_SIZE,
                                           .tokens = tokens + first};
      assert_int_equal(cpu_backend.prefill(other, &prompt), DECODE_OK);
    }
    cpu_backend.logits(other, in_chunks);
    double difference = 0, norm = 0;
    for (int i = ROW * VOCAB; i < (ROW + 1) * VOCAB; i++) {
      difference += pow((double)one_by_one[i] - (double)in_chunks[i], 2);
      norm += pow((double)one_by_one[i], 2);
    }
    if (!(difference <= norm * 1e-6))
      fail_msg("%s: %g", families[f].name, sqrt(difference / norm));
    cpu_backend.destroy(state);
    cpu_backend.destroy(other);
  }
}

// Counted by hand.
static void test_cost(void **unused) {
  (void)unused;
  const struct decode_types types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16,
                                     ELEMENT_BF16, ELEMENT_F32,  ELEMENT_E4M3};
  const struct decode_request request = {
      .shape = {.layers = 3,
                .hidden = 4,
                .heads = 2,
                .kv_heads = 1,
                .head_dim = 2,
                .ffn_hidden = 8,
                .vocab = 10,
                .norm_epsilon = 1e-5f,
                .rope_theta = 1e4f,
                .norm = NORM_LAYER,
                .biases = BIAS_QKV | BIAS_MLP | BIAS_ROUTER,
                .sinks = true,
                .window = 3,
                .full_every = 3,
                .experts = {.count = 6, .chosen = 2, .hidden = 16, .dense_layers = 1}},
      .types = types,
      .batch = 5,
      .context = 9,
      .threads = 1,
  };
  struct decode_cost cost;
  assert_int_equal(cpu_backend.cost(&request, &cost), DECODE_OK);
  // q, k, v, o with the biases of q, k, v; two norms with biases; sinks; of every layer.
  const uint64_t attention = 2 * (16 + 8 + 8 + 16) + 4 * (4 + 2 + 2) + 4 * (4 * 4 + 2);
  const uint64_t dense = 2 * 3 * 32 + 4 * (8 + 8 + 4), router = 2 * 6 * 4 + 4 * 6;
  const uint64_t head = 2 * 10 * 4 + 4 * 2 * 4, embedding = 2 * 5 * 4;
  assert_int_equal(cost.weight_bytes, 3 * attention + dense + 2 * router + head + embedding);
  // One byte a weight, and for each row a scale and a bias.
  assert_int_equal(cost.expert_bytes, 3 * 16 * 4 + (16 + 16 + 4) * (4 + 4));
  assert_true(fabs(cost.expected_experts - 2 * 6 * (1 - pow(4.0 / 6, 5))) < 1e-9);
  // Two layers see three positions, the last all nine; each writes one.
  assert_int_equal(cost.kv_bytes, 5 * (3 + 3 + 9 + 3) * 2 * 2 * 2);
  const uint64_t met = 3 * 48 + 3 * 32 + 2 * (24 + 2 * 3 * 64) + 40;
  assert_int_equal(cost.operations, 5 * (2 * met + (3 + 3 + 9) * 2 * 4 * 2));
}

// Latent attention holds and reads one short vector a position.
static void test_latent_cost(void **unused) {
  (void)unused;
  const struct decode_request request = {
      .shape = {.layers = 2,
                .hidden = 4,
                .heads = 3,
                .head_dim = 6,
                .ffn_hidden = 8,
                .vocab = 10,
                .norm_epsilon = 1e-5f,
                .rope_theta = 1e4f,
                .latent = {.rank = 10, .query_rank = 5, .rope_dim = 2, .value_dim = 7}},
      .types = {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      .batch = 2,
      .context = 9,
      .threads = 1,
  };
  struct decode_cost cost;
  assert_int_equal(cpu_backend.cost(&request, &cost), DECODE_OK);
  // q_a, q_b, kv_a, wo and the MLP with a scale for each row, k_b and v_b in bf16, four norms.
  const uint64_t held = 5 * 4 + 18 * 5 + 12 * 4 + 4 * 21 + 3 * 32;
  const uint64_t rows = 5 + 18 + 12 + 4 + 8 + 8 + 4, heads = 3 * (4 * 10 + 7 * 10);
  const uint64_t layer = held + 4 * rows + 2 * heads + 4 * (4 + 4 + 5 + 10);
  assert_int_equal(cost.weight_bytes, 2 * layer + 4 * 4 + (10 + 2) * 4 * 2);
  assert_int_equal(cost.kv_bytes, 2 * 2 * (9 + 1) * 12 * 2);
  assert_int_equal(cost.operations,
                   2 * (2 * 2 * (held + heads) + 2 * 40) + 2 * 2 * 3 * 9 * 2 * (12 + 10));
}

// What cannot be is said in words.
static void test_refusals(void **unused) {
  (void)unused;
  const struct {
    struct decode_shape shape;
    const char *words;
  } cases[] = {
      {{SIZES, .experts = {.count = 4, .chosen = 5, .hidden = 8}}, "more experts per token"},
      {{SIZES, .experts = {.count = 4, .chosen = 2}}, "experts without a width"},
      {{SIZES, .window = -1}, "a negative window"},
  };
  struct decode_cost cost;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request = request_of(&cases[i].shape, &mixes[0].types, 1, 8, 1);
    assert_int_equal(cpu_backend.cost(&request, &cost), DECODE_UNSUPPORTED);
    if (!strstr(cpu_backend.error(), cases[i].words))
      fail_msg("\"%s\" does not say \"%s\"", cpu_backend.error(), cases[i].words);
  }
  const struct decode_shape dense = {SIZES};
  struct decode_request forced = request_of(&dense, &mixes[0].types, 1, 8, 1);
  forced.routing = ROUTING_UNIFORM;
  assert_int_equal(cpu_backend.cost(&forced, &cost), DECODE_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_portable),
      cmocka_unit_test(test_avx2),
      cmocka_unit_test(test_avx512),
      cmocka_unit_test(test_avx512_bf16),
      cmocka_unit_test(test_amx),
      cmocka_unit_test(test_long_windows),
      cmocka_unit_test(test_pieces_left_out_are_noticed),
      cmocka_unit_test(test_forced_routing),
      cmocka_unit_test(test_prompts),
      cmocka_unit_test(test_cost),
      cmocka_unit_test(test_latent_cost),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
