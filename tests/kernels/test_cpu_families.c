// The differences between model families, on the CPU: each piece of family.h separately and whole
// families, at sizes that are not multiples of a vector, compared with the oracle; and that the
// comparison detects an omitted piece. Prompts in chunks give the same results as token by token.
// Deep: every instruction set with every family, mix of types and batch, rather than some of each.
// Seconds: 12, deep 65
#include "tests/support/depth.h"
#include "tests/support/fixture.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/isa.h"
#include "tests/support/kernels/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/element.h"

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

static void check_request(const struct decode_request *request, const char *what) {
  compared_steps(&cpu_backend, request, request, what, 2);
}

// Batches, contexts and threads in turn; the deep run has all of them, and under sanitizers one by
// vectors and one by tiles for each family and mix.
static void test_isa(void **state) {
  const enum cpu_isa isa = *(const enum cpu_isa *)*state;
  static const int batches[] = {1, 2, 7, 11}, contexts[] = {1, 37, 130}, threads[] = {1, 2, 3};
  const struct piece *piece;
  isa_use(isa);
  for (size_t f = 0; (piece = piece_at(f)); f++)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t b = 0; b < 4; b++) {
        const bool no_experts = piece->shape.experts.count == 0;
        const size_t every = !depth_is_full() ? 4 : SANITIZED ? 2 : 1;
        if ((f + m + b + (size_t)isa) % every != 0 ||
            (no_experts && element_has_blocks(mixes[m].types.experts)))
          continue;
        const size_t turn = f + m + b;
        const struct decode_request request =
            request_of(&piece->shape, &mixes[m].types, batches[b], contexts[turn % 3],
                       threads[(turn + b) % 3]);
        char what[128];
        snprintf(what, sizeof what, "%s, %s, %s", isa_names[isa], piece->name, mixes[m].name);
        check_request(&request, what);
      }
  cpu_force_isa(CPU_ISAS);
}

// A context of several chunks that four threads share; a window leaves out whole ones, or spans
// two.
static void test_long_windows(void **unused) {
  (void)unused;
  static const int windows[] = {40, 300, 700, 2000};
  for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++)
    for (int threads = 1; threads <= 4; threads += 3) {
      struct decode_shape shape = piece_plain;
      shape.window = windows[w];
      shape.full_every = 2;
      shape.sinks = true;
      shape.kv_heads = 1;
      struct decode_request request = request_of(&shape, &mixes[1].types, 1, 1100, threads);
      check_request(&request, "long window");
    }
}

// The oracle of the same model without the piece must not agree.
static void test_pieces_left_out_are_noticed(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = piece_at(f)); f++) {
    const struct decode_request request =
        request_of(&piece->shape, &mixes[0].types, 2, piece->context, 2);
    if (!compared_apart(&cpu_backend, &request, &piece->without, piece->name))
      fail_msg("%s: left out, but the logits are the same", piece->name);
  }
}

// Forced choices equal the table's, step by step, and are counted.
static void test_forced_routing(void **unused) {
  (void)unused;
  static const enum decode_routing routings[] = {ROUTING_UNIFORM, ROUTING_SKEWED};
  struct decode_shape shape = piece_plain;
  shape.experts = (struct decode_experts){.count = 9, .chosen = 3, .hidden = 40, .dense_layers = 1};
  for (size_t r = 0; r < 2; r++) {
    struct decode_request request = request_of(&shape, &mixes[0].types, 7, 20, 2);
    request.routing = routings[r];
    request.skew = 1.2f;
    check_request(&request, "forced routing");
    compared_forced(&cpu_backend, &request, 3);
  }
}

// A prompt of one row, in chunks, leaves the same cache and logits as its tokens one by one.
static void test_prompts(void **unused) {
  (void)unused;
  enum { BATCH = 2, ROW = 1, VOCAB = PIECE_VOCAB, PROMPT = 23, CONTEXT = 30, CHUNK_SIZE = 9 };
  static float one_by_one[BATCH * VOCAB], in_chunks[BATCH * VOCAB];
  int tokens[PROMPT];
  for (int i = 0; i < PROMPT; i++)
    tokens[i] = (i * 37 + 5) % VOCAB;
  const struct piece *piece;
  for (size_t f = 0; (piece = piece_at(f)); f++) {
    struct decode_request request =
        request_of(&piece->shape, &mixes[0].types, BATCH, CONTEXT, 1 + (int)f % 2);
    request.chunk = CHUNK_SIZE;
    struct decode_state *state = compared_state(&cpu_backend, &request, piece->name);
    struct decode_state *other = compared_state(&cpu_backend, &request, piece->name);
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
      fail_msg("%s: expected a difference of up to 1e-3, found %g", piece->name,
               sqrt(difference / norm));
    cpu_backend.destroy(state);
    cpu_backend.destroy(other);
  }
}

// Computed by hand.
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
  assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_OK);
  // q, k, v, o with the biases of q, k, v; two norms with biases; sinks; for every layer.
  const uint64_t attention = 2 * (16 + 8 + 8 + 16) + 4 * (4 + 2 + 2) + 4 * (4 * 4 + 2);
  const uint64_t dense = 2 * 3 * 32 + 4 * (8 + 8 + 4), router = 2 * 6 * 4 + 4 * 6;
  const uint64_t head = 2 * 10 * 4 + 4 * 2 * 4, embedding = 2 * 5 * 4;
  assert_int_equal(cost.weight_bytes, 3 * attention + dense + 2 * router + head + embedding);
  // One byte per weight, and for each row a scale and a bias.
  assert_int_equal(cost.expert_bytes, 3 * 16 * 4 + (16 + 16 + 4) * (4 + 4));
  assert_true(fabs(cost.expected_experts - 2 * 6 * (1 - pow(4.0 / 6, 5))) < 1e-9);
  // Two layers see three positions, the last one all nine; each writes one.
  assert_int_equal(cost.kv_bytes, 5 * (3 + 3 + 9 + 3) * 2 * 2 * 2);
  const uint64_t met = 3 * 48 + 3 * 32 + 2 * (24 + 2 * 3 * 64) + 40;
  assert_int_equal(cost.operations, 5 * (2 * met + (3 + 3 + 9) * 2 * 4 * 2));
  // A bias for choosing experts has the same length, and as many layers read it.
  struct decode_request chosen = request;
  struct decode_cost chosen_cost;
  chosen.shape.experts.router = ROUTER_SIGMOID;
  assert_int_equal(cpu_backend.cost(0, &chosen, &chosen_cost), DECODE_OK);
  assert_int_equal(chosen_cost.weight_bytes, cost.weight_bytes);
}

// Latent attention stores and reads one short vector per position.
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
  assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_OK);
  // q_a, q_b, kv_a, wo and the MLP with a scale for each row, k_b and v_b in bf16, four norms.
  const uint64_t held = 5 * 4 + 18 * 5 + 12 * 4 + 4 * 21 + 3 * 32;
  const uint64_t rows = 5 + 18 + 12 + 4 + 8 + 8 + 4, heads = 3 * (4 * 10 + 7 * 10);
  const uint64_t layer = held + 4 * rows + 2 * heads + 4 * (4 + 4 + 5 + 10);
  assert_int_equal(cost.weight_bytes, 2 * layer + 4 * 4 + (10 + 2) * 4 * 2);
  assert_int_equal(cost.kv_bytes, 2 * 2 * (9 + 1) * 12 * 2);
  assert_int_equal(cost.operations,
                   2 * (2 * 2 * (held + heads) + 2 * 40) + 2 * 2 * 3 * 9 * 2 * (12 + 10));
}

// Unsupported requests are refused with a reason.
static void test_refusals(void **unused) {
  (void)unused;
  static const struct {
    struct decode_experts experts;
    int window;
    const char *words;
  } cases[] = {
      {{.count = 4, .chosen = 5, .hidden = 8}, 0, "more experts per token"},
      {{.count = 4, .chosen = 2}, 0, "experts without a width"},
      {{0}, -1, "a negative window"},
  };
  struct decode_cost cost;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct decode_request request = request_of(&piece_plain, &mixes[0].types, 1, 8, 1);
    request.shape.experts = cases[i].experts;
    request.shape.window = cases[i].window;
    assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_UNSUPPORTED);
    if (!strstr(cpu_backend.error(), cases[i].words))
      fail_msg("\"%s\" does not say \"%s\"", cpu_backend.error(), cases[i].words);
  }
  struct decode_request forced = request_of(&piece_plain, &mixes[0].types, 1, 8, 1);
  forced.routing = ROUTING_UNIFORM;
  assert_int_equal(cpu_backend.cost(0, &forced, &cost), DECODE_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ISA_TESTS(test_isa),
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
