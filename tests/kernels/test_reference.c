// The decode step in double precision: cases worked out by hand, and properties that hold for any
// model.
#include "tests/support/fixture.h"

#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/stages.h"

#include <math.h>
#include <string.h>

static const struct decode_types wide = {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16,
                                         ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32};

// heads * head_dim differs from hidden, and no two sizes are equal, so that a mix-up shows.
static const struct decode_request small = {
    .shape = {.layers = 2,
              .hidden = 20,
              .heads = 4,
              .kv_heads = 2,
              .head_dim = 8,
              .ffn_hidden = 24,
              .vocab = 40,
              .norm_epsilon = 1e-5f,
              .rope_theta = 10000},
    .types = {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    .batch = 3,
    .context = 6,
    .seed = 38}; // the first tokens are 38, 39, 0

static struct reference *create(const struct decode_request *request) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_int_equal(status, DECODE_OK);
  assert_non_null(reference);
  return reference;
}

static void put(struct reference *reference, enum tensor tensor, const double *values,
                size_t count) {
  double *to = reference_tensor(reference, tensor, 0);
  assert_non_null(to);
  memcpy(to, values, count * sizeof *to);
}

#define PUT(reference, tensor, ...)                                                                \
  put(reference, tensor, (const double[]){__VA_ARGS__},                                            \
      sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

// One layer of width 2 whose every number can be followed:
//   x = (1, 7), rms 5; norm weight 5: n = (1, 7); wv = 1: v = (1, 7)
//   context 1: the only softmax weight is 1 and rope turns by 0, so attention gives (1, 7) whatever
//     wq and wk are; wo = (-1 1; -1 -1) gives (6, -8): x = (7, -1), rms 5
//   norm weights (5, 10): m = (7, -2); gate = (ln 3 / 7, 0) gives ln 3, silu(ln 3) = ln 3 * 3/4
//     since 1 + exp(-ln 3) = 4/3; up = (0, -2) gives 4; the product 3 ln 3; down = -2 / ln 3 gives
//     (-6, -6): x = (1, -7), rms 5
//   norm weight 5: (1, -7); head = (1 0; 0 1; 1 1): logits 1, -7, -6 and token 0
static struct reference *hand_model(int context, struct decode_types types) {
  struct decode_request request = {.shape = {.layers = 1,
                                             .hidden = 2,
                                             .heads = 1,
                                             .kv_heads = 1,
                                             .head_dim = 2,
                                             .ffn_hidden = 1,
                                             .vocab = 3,
                                             .rope_theta = 10000},
                                   .types = types,
                                   .batch = 1,
                                   .context = context,
                                   .seed = 1};
  struct reference *r = create(&request);
  PUT(r, TENSOR_EMBEDDING, 9, 9, 1, 7, 9, 9); // the first token is 1
  PUT(r, TENSOR_ATTENTION_NORM, 5, 5);
  PUT(r, TENSOR_WV, 1, 0, 0, 1);
  PUT(r, TENSOR_WO, -1, 1, -1, -1);
  PUT(r, TENSOR_FFN_NORM, 5, 10);
  PUT(r, TENSOR_GATE, log(3) / 7, 0);
  PUT(r, TENSOR_UP, 0, -2);
  PUT(r, TENSOR_DOWN, -2 / log(3), -2 / log(3));
  PUT(r, TENSOR_FINAL_NORM, 5, 5);
  PUT(r, TENSOR_HEAD, 1, 0, 0, 1, 1, 1);
  return r;
}

static void expect_logits(const struct reference *reference, const double *expected, size_t count) {
  for (size_t i = 0; i < count; i++)
    expect_near(reference_logits(reference)[i], expected[i], 1e-14, "logit");
}

static void test_by_hand(void **state) {
  (void)state;
  struct reference *r = hand_model(1, wide);
  assert_int_equal(reference_tokens(r)[0], 1);
  reference_step(r);
  expect_logits(r, (const double[]){1, -7, -6}, 3);
  assert_int_equal(reference_tokens(r)[0], 0);
  reference_destroy(r);
}

// wq = 0 makes both scores 0, so that attention is the mean of the cached (3, -1) and the new
// (1, 7), which is (2, 3); wo = (3 0; -4 0) gives (6, -8), and on as above.
static void test_two_positions_by_hand(void **state) {
  (void)state;
  struct reference *r = hand_model(2, wide);
  PUT(r, TENSOR_WQ, 0, 0, 0, 0);
  PUT(r, TENSOR_WO, 3, 0, -4, 0);
  float *values = reference_cache(r, TENSOR_VALUES, 0);
  values[0] = 3;
  values[1] = -1;
  reference_step(r);
  expect_logits(r, (const double[]){1, -7, -6}, 3);
  assert_true(values[2] == 1 && values[3] == 7);
  reference_destroy(r);
}

// wq and wk turn n into q = (1, 0) and k = (0, 1), for position 1 both turned by 1 radian: the new
// key is (-sin 1, cos 1), its score q.k = 0. The cached key is (2, 0): score 2 cos 1 / sqrt(2).
static void test_rope_by_hand(void **state) {
  (void)state;
  struct reference *r = hand_model(2, wide);
  PUT(r, TENSOR_WQ, 1, 0, 0, 0);
  PUT(r, TENSOR_WK, 0, 0, 1, 0);
  PUT(r, TENSOR_WV, 0, 0, 0, 0);
  PUT(r, TENSOR_WO, 1, 0, 0, 1);
  PUT(r, TENSOR_DOWN, 0, 0);
  float *keys = reference_cache(r, TENSOR_KEYS, 0), *values = reference_cache(r, TENSOR_VALUES, 0);
  keys[0] = 2;
  keys[1] = 0;
  values[0] = 4;
  values[1] = 0;
  reference_step(r);
  expect_near((double)keys[2], -sin(1), 0x1p-8, "key");
  expect_near((double)keys[3], cos(1), 0x1p-8, "key");

  double new_score = (cos(1) * (double)keys[2] + sin(1) * (double)keys[3]) / sqrt(2);
  double share = 1 / (1 + exp(new_score - 2 * cos(1) / sqrt(2)));
  double x0 = 1 + 4 * share, root = sqrt((x0 * x0 + 49) / 2);
  expect_logits(r, (const double[]){5 * x0 / root, 35 / root, 5 * (x0 + 7) / root}, 3);
  reference_destroy(r);
}

static void test_rmsnorm(void **state) {
  (void)state;
  double x[] = {1, 7}; // mean square 25
  reference_rmsnorm(x, (const double[]){1, -2}, 2, 0, x);
  expect_near(x[0], 0.2, 1e-15, "rmsnorm");
  expect_near(x[1], -2.8, 1e-15, "rmsnorm");
  double zero[] = {0, 3};
  reference_rmsnorm(zero, (const double[]){1, 1}, 2, 31.5, zero); // sqrt(4.5 + 31.5) = 6
  assert_true(zero[0] == 0 && zero[1] == 0.5);
}

// Position 0 changes nothing; any other preserves lengths, and the product of two depends only on
// their distance. Pair i is (i, i + 2) and rotates by position / theta^(i/2).
static void test_rope(void **state) {
  (void)state;
  const struct decode_shape shape = {.head_dim = 4, .rope_theta = 100};
  const double a[4] = {0.3, -1.2, 0.7, 2}, b[4] = {-0.5, 0.25, 1.5, -0.75};
  double still[4], turned[4];
  memcpy(still, a, sizeof a);
  reference_rope(&shape, 0, still);
  assert_memory_equal(still, a, sizeof a);

  double unit[4] = {1, 1, 0, 0};
  reference_rope(&shape, 3, unit); // by 3 and by 0.3
  expect_near(unit[0], cos(3), 1e-15, "rope");
  expect_near(unit[2], sin(3), 1e-15, "rope");
  expect_near(unit[1], cos(0.3), 1e-15, "rope");
  expect_near(unit[3], sin(0.3), 1e-15, "rope");

  double products[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    memcpy(still, a, sizeof a);
    memcpy(turned, b, sizeof b);
    reference_rope(&shape, 5 + 90 * k, still);
    reference_rope(&shape, 9 + 90 * k, turned);
    for (int i = 0; i < 4; i++)
      products[k] += still[i] * turned[i];
  }
  expect_near(products[0], products[1], 1e-13, "product");
}

static void test_attention(void **state) {
  (void)state;
  struct decode_shape shape = {.heads = 2, .kv_heads = 1, .head_dim = 2};
  double scores[3], out[4];
  // Equal keys: the mean of the values, for both heads.
  const float equal[6] = {1, 2, 1, 2, 1, 2}, values[6] = {1, 4, 2, 5, 6, 0};
  reference_attention(&shape, 3, (const double[]){5, -1, 0, 3}, equal, values, NULL, scores, out);
  for (int i = 0; i < 4; i++)
    expect_near(out[i], 3, 1e-15, "mean of values");
  // Scores ln 2 and 0 for the first head, 2/3 and 1/3; huge ones for the second, 0 and 1.
  const float keys[4] = {1, 0, 0, 1};
  const double query[4] = {log(2) * sqrt(2), 0, -1e5, 1e5};
  reference_attention(&shape, 2, query, keys, (const float[]){3, 0, 0, 6}, NULL, scores, out);
  const double expected[] = {2, 2, 0, 6};
  for (int i = 0; i < 4; i++)
    expect_near(out[i], expected[i], 1e-15, "weighted values");
}

// Scales are floats.
#define SEVEN_127 ((double)(7 / 127.0f))
#define THREE_448 ((double)(3 / 448.0f))

static void test_round(void **state) {
  (void)state;
  static const struct {
    enum element type;
    double in[4], out[4];
  } cases[] = {
      {ELEMENT_F32, {0.1, 1e-30, -1, 0}, {0.1, 1e-30, -1, 0}},
      {ELEMENT_BF16, {1, 1 + 0x1p-8, 1 + 3 * 0x1p-8, -3}, {1, 1, 1 + 0x1p-6, -3}},
      {ELEMENT_INT8, {127, 62.5, -63.5, 0.5}, {127, 62, -64, 0}},         // scale 1
      {ELEMENT_INT8, {-63.5, 0.75, 31.25, 10}, {-63.5, 1, 31, 10}},       // scale 1/2
      {ELEMENT_E4M3, {448, 17, -19, 0x1p-10}, {448, 16, -20, 0}},         // scale 1
      {ELEMENT_E4M3, {-896, 34, 38, 3 * 0x1p-9}, {-896, 32, 40, 0x1p-7}}, // scale 2
      {ELEMENT_INT8, {0, 0, 0, 0}, {0, 0, 0, 0}},
      {ELEMENT_E4M3, {0, 0, 0, 0}, {0, 0, 0, 0}},
      {ELEMENT_INT8, {0x1p-149, 0, 0, 0}, {0, 0, 0, 0}},         // no float is the scale
      {ELEMENT_INT8, {0x1p-142, 0, 0, 0}, {0x7Fp-149, 0, 0, 0}}, // 128 of its steps
      // x / (7 / 127) is 1.49999996, 4.50000002 and -3.49999995; in float it is halfway.
      {ELEMENT_INT8,
       {7, 0x1.52a54ap-4, 0x1.fbf7fp-3, -0x1.8b162cp-3},
       {127 * SEVEN_127, 2 * SEVEN_127, 4 * SEVEN_127, -4 * SEVEN_127}},
      // x / (3 / 448) is 16.9999997, 17.0000008 and 19.000001; in float 17, 17 and 19.
      {ELEMENT_E4M3,
       {3, 0x1.d24924p-4, 0x1.d24926p-4, 0x1.04924ap-3},
       {448 * THREE_448, 16 * THREE_448, 16 * THREE_448, 20 * THREE_448}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double x[4];
    memcpy(x, cases[i].in, sizeof x);
    reference_round(cases[i].type, x, 4);
    for (int k = 0; k < 4; k++)
      expect_near(x[k], cases[i].out[k], 0, "rounded");
  }
}

// Without layers' help (wo = down = 0) the head is given (1, 7): an INT8 head the 18 steps of 7/127
// nearest to 1, a BF16 head 1 itself, though activations are INT8 elsewhere.
static void test_head_activations(void **state) {
  (void)state;
  struct decode_types types = {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16,
                               ELEMENT_INT8, ELEMENT_F32,  ELEMENT_F32};
  const double c = 18 * SEVEN_127, seven = 127 * SEVEN_127;
  const double expected[2][3] = {{c, seven, c + seven}, {1, 7, 8}};
  for (int i = 0; i < 2; i++) {
    types.head = i ? ELEMENT_BF16 : ELEMENT_INT8;
    struct reference *r = hand_model(1, types);
    PUT(r, TENSOR_WO, 0, 0, 0, 0);
    PUT(r, TENSOR_DOWN, 0, 0);
    reference_step(r);
    expect_logits(r, expected[i], 3);
    reference_destroy(r);
  }
}

// INT8 activations make n = (1, 7) into c = 18 * 7/127 and seven = 127 * 7/127, with the float
// 7/127. wv = 1 stores them as bf16; rounded again before wo = 1 they are c and seven again, so
// that x = (1 + c, 7 + seven). down = 0, and the BF16 head takes the norm of that in bf16.
static void test_activations_rounded(void **state) {
  (void)state;
  struct decode_types types = {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16,
                               ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};
  struct reference *r = hand_model(1, types);
  PUT(r, TENSOR_WO, 1, 0, 0, 1);
  PUT(r, TENSOR_DOWN, 0, 0);
  reference_step(r);
  double c = 18 * SEVEN_127, x0 = 1 + c, x1 = 7 + 127 * SEVEN_127;
  double root = sqrt((x0 * x0 + x1 * x1) / 2) / 5;
  double head[2] = {x0 / root, x1 / root};
  reference_round(ELEMENT_BF16, head, 2);
  expect_logits(r, (const double[]){head[0], head[1], head[0] + head[1]}, 3);
  expect_near((double)reference_cache(r, TENSOR_VALUES, 0)[0],
              (double)float_from_bf16(bf16_from_float((float)c)), 0, "stored value");
  reference_destroy(r);
}

// Every value is one that the type can represent, times the tensor's single scale.
static void test_held_weights(void **state) {
  (void)state;
  static const enum element weights[] = {ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_INT8};
  for (size_t k = 0; k < 3; k++) {
    struct decode_request request = small;
    request.types.weights = weights[k];
    struct reference *r = create(&request);
    const double *held = reference_tensor(r, TENSOR_WO, 1);
    uint64_t key = weights_key(request.seed, TENSOR_WO, 1);
    float scale = weights_scale(&request.shape, TENSOR_WO);
    for (uint64_t i = 0; i < 20 * 32; i++) {
      float q = weights_q(key, i);
      const double expected[] = {
          (double)float_from_bf16(bf16_from_float(q * scale)),
          (double)float_from_e4m3(e4m3_from_float(q)) * (double)scale,
          (double)q * (double)scale,
      };
      expect_near(held[i], expected[k], 0, "weight");
    }
    reference_destroy(r);
  }
}

static void test_cache_filled(void **state) {
  (void)state;
  struct decode_request request = small;
  for (int e4m3 = 0; e4m3 < 2; e4m3++) {
    request.types.kv = e4m3 ? ELEMENT_E4M3 : ELEMENT_BF16;
    struct reference *r = create(&request);
    const float *values = reference_cache(r, TENSOR_VALUES, 1);
    uint64_t key = weights_key(request.seed, TENSOR_VALUES, 1);
    for (uint64_t i = 0; i < 3 * 6 * 16; i++) {
      float exact = (float)weights_q(key, i) / 32;
      float expected = e4m3 ? float_from_e4m3(e4m3_from_float(exact)) : exact;
      assert_true(values[i] == expected);
    }
    reference_step(r);
    for (size_t i = 5 * 16; i < 6 * 16; i++) // the slot written by the first row
      assert_true(!e4m3 || float_from_e4m3(e4m3_from_float(values[i])) == values[i]);
    reference_destroy(r);
  }
}

#define SMALL_LOGITS 120 // batch * vocab

static bool rows_equal(const double *a, const double *b, size_t row) {
  for (size_t i = 40 * row; i < 40 * (row + 1); i++)
    if (a[i] != b[i])
      return false;
  return true;
}

static void step_small(double *logits) {
  struct reference *r = create(&small);
  reference_step(r);
  memcpy(logits, reference_logits(r), SMALL_LOGITS * sizeof *logits);
  reference_destroy(r);
}

// A poisoned cache of the second row affects the second row's logits and nothing else.
static void test_rows_independent(void **state) {
  (void)state;
  double clean[SMALL_LOGITS];
  step_small(clean);
  struct reference *r = create(&small);
  float *values = reference_cache(r, TENSOR_VALUES, 0);
  for (size_t i = 6 * 16; i < 2 * 6 * 16; i++)
    values[i] = NAN;
  reference_step(r);
  const double *logits = reference_logits(r);
  assert_true(rows_equal(logits, clean, 0) && rows_equal(logits, clean, 2));
  assert_true(isnan(logits[40]));
  reference_destroy(r);

  // A batch of only the first row equals the first row of three: its cache has the same indices.
  struct decode_request one = small;
  one.batch = 1;
  r = create(&one);
  reference_step(r);
  assert_true(rows_equal(reference_logits(r), clean, 0));
  reference_destroy(r);
}

// The contents of position context - 1 before the step do not matter, since the step overwrites it;
// all other slots stay unchanged.
static void test_slot_rewritten(void **state) {
  (void)state;
  double clean[SMALL_LOGITS];
  step_small(clean);
  struct reference *r = create(&small);
  float before[3 * 6 * 16];
  for (int layer = 0; layer < 2; layer++)
    for (size_t b = 0; b < 3; b++)
      for (size_t i = 0; i < 16; i++) {
        reference_cache(r, TENSOR_KEYS, layer)[(b * 6 + 5) * 16 + i] = NAN;
        reference_cache(r, TENSOR_VALUES, layer)[(b * 6 + 5) * 16 + i] = NAN;
      }
  const float *keys = reference_cache(r, TENSOR_KEYS, 1);
  memcpy(before, keys, sizeof before);
  reference_step(r);
  assert_memory_equal(reference_logits(r), clean, sizeof clean);
  for (size_t i = 0; i < 3 * 6 * 16; i++)
    assert_true(i / 16 % 6 == 5 ? isfinite(keys[i]) : keys[i] == before[i]);
  reference_destroy(r);
}

// Every position is read, and their order does not matter.
static void test_positions_read(void **state) {
  (void)state;
  double clean[SMALL_LOGITS];
  step_small(clean);
  for (size_t t = 0; t < 5; t++) {
    struct reference *r = create(&small);
    reference_cache(r, TENSOR_VALUES, 1)[t * 16] += 1;
    reference_step(r);
    assert_false(rows_equal(reference_logits(r), clean, 0));
    reference_destroy(r);
  }
  struct reference *r = create(&small);
  for (int layer = 0; layer < 2; layer++)
    for (int which = 0; which < 2; which++) {
      float *cache = reference_cache(r, which ? TENSOR_VALUES : TENSOR_KEYS, layer), kept[16];
      memcpy(kept, cache, sizeof kept); // positions 0 to 4 become 1, 2, 3, 4, 0
      memmove(cache, cache + 16, 4 * sizeof kept);
      memcpy(cache + 64, kept, sizeof kept);
    }
  reference_step(r);
  for (size_t i = 0; i < 40; i++)
    expect_near(reference_logits(r)[i], clean[i], 1e-11, "logit");
  reference_destroy(r);
}

// Copies a tensor of `rows` times two KV heads so that heads 0 and 1 read the first, 2 and 3 the
// second: GQA's sharing, spelled out. Rows are weight rows or cache positions.
static void spread_heads(const void *from, void *to, size_t groups, size_t bytes) {
  for (size_t g = 0; g < groups; g++)
    for (size_t h = 0; h < 4; h++)
      memcpy((char *)to + (g * 4 + h) * bytes, (const char *)from + (g * 2 + h / 2) * bytes, bytes);
}

static void test_gqa_is_shared_mha(void **state) {
  (void)state;
  struct decode_request request = small;
  request.shape.kv_heads = 4;
  struct reference *gqa = create(&small), *mha = create(&request);
  for (int layer = 0; layer < 2; layer++) {
    static const enum tensor weights[] = {TENSOR_WK, TENSOR_WV};
    static const enum tensor caches[] = {TENSOR_KEYS, TENSOR_VALUES};
    for (int k = 0; k < 2; k++) {
      spread_heads(reference_tensor(gqa, weights[k], layer),
                   reference_tensor(mha, weights[k], layer), 1, 8 * 20 * sizeof(double));
      spread_heads(reference_cache(gqa, caches[k], layer), reference_cache(mha, caches[k], layer),
                   3 * 6, 8 * sizeof(float));
    }
  }
  reference_step(gqa);
  reference_step(mha);
  assert_memory_equal(reference_logits(gqa), reference_logits(mha), SMALL_LOGITS * sizeof(double));
  reference_destroy(gqa);
  reference_destroy(mha);
}

// Scaling the weights that write to the residual stream keeps deep models in range, whatever the
// types: logits of about unit variance.
static void test_deep(void **state) {
  (void)state;
  static const struct decode_types types[] = {
      {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
      {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    struct decode_request request = small;
    request.shape.layers = 32;
    request.types = types[i];
    struct reference *r = create(&request);
    double squares = 0;
    for (int step = 0; step < 3; step++)
      reference_step(r);
    for (size_t k = 0; k < SMALL_LOGITS; k++)
      squares += reference_logits(r)[k] * reference_logits(r)[k];
    assert_true(squares > 0.25 * SMALL_LOGITS && squares < 4 * SMALL_LOGITS);
    reference_destroy(r);
  }
}

static void test_tokens(void **state) {
  (void)state;
  struct reference *r = create(&small), *other = create(&small);
  const int first[] = {38, 39, 0}; // (seed + row) mod vocab
  assert_memory_equal(reference_tokens(r), first, sizeof first);
  reference_step(r);
  int chosen[3];
  memcpy(chosen, reference_tokens(r), sizeof chosen);
  for (size_t b = 0; b < 3; b++)
    for (size_t i = 0; i < 40; i++)
      assert_true(reference_logits(r)[b * 40 + i] <=
                  reference_logits(r)[b * 40 + (size_t)chosen[b]]);

  reference_step(r); // from the tokens chosen, which another one is told to use
  assert_int_equal(reference_set_tokens(other, chosen), 0);
  reference_step(other);
  assert_memory_equal(reference_logits(r), reference_logits(other), SMALL_LOGITS * sizeof(double));

  assert_int_equal(reference_set_tokens(other, (const int[]){0, 40, 0}), -1);
  assert_int_equal(reference_set_tokens(other, (const int[]){0, 0, -1}), -1);
  assert_memory_equal(reference_tokens(other), reference_tokens(r), sizeof chosen);
  reference_destroy(r);
  reference_destroy(other);
}

// If logits are equal, the first is chosen.
static void test_tie(void **state) {
  (void)state;
  struct reference *r = hand_model(1, wide);
  PUT(r, TENSOR_HEAD, 0, 1, 1, 0, 1, 0); // logits -7, 1, 1
  reference_step(r);
  assert_int_equal(reference_tokens(r)[0], 1);
  reference_destroy(r);
}

static void test_seeds(void **state) {
  (void)state;
  double logits[SMALL_LOGITS], again[SMALL_LOGITS];
  step_small(logits);
  step_small(again);
  assert_memory_equal(logits, again, sizeof logits);
  static const double golden[] = {-1.1727305071233698, -0.2071858856233815, 0.5387472699609559,
                                  -0.5641378293951099, 1.4788545870550314};
  for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++)
    expect_near(logits[i], golden[i], 1e-11, "golden logit");

  struct decode_request request = small;
  request.seed += 40; // the same first tokens
  struct reference *r = create(&request);
  reference_step(r);
  assert_false(rows_equal(reference_logits(r), logits, 0));
  reference_destroy(r);
}

static void expect_refusal(const struct decode_request *request, enum decode_status expected) {
  enum decode_status status = DECODE_OK;
  assert_null(reference_create(request, &status));
  assert_int_equal(status, expected);
}

static void test_unsupported(void **state) {
  (void)state;
  struct decode_request requests[14];
  size_t count = sizeof requests / sizeof requests[0], i = 0;
  for (size_t k = 0; k < count; k++)
    requests[k] = small;
  requests[i++].shape.kv_heads = 3;
  requests[i++].shape.head_dim = 7;
  requests[i++].shape.layers = 0;
  requests[i++].shape.vocab = -1;
  requests[i++].shape.experts.count = 8;
  requests[i++].shape.rope_theta = NAN;
  requests[i++].shape.norm_epsilon = -1;
  requests[i++].batch = 0;
  requests[i++].context = 0;
  requests[i++].types.weights = ELEMENT_F32;
  requests[i++].types.activations = ELEMENT_INT8; // beside BF16 weights
  requests[i++].types.kv = ELEMENT_INT8;
  requests[i++].types.head = ELEMENT_E4M3;
  requests[i++].types.accumulation = ELEMENT_BF16;
  assert_int_equal(i, count);
  for (i = 0; i < count; i++)
    expect_refusal(&requests[i], DECODE_UNSUPPORTED);
}

static void test_no_memory(void **state) {
  (void)state;
  struct decode_request request = small;
  request.batch = request.context = 1 << 30;
  expect_refusal(&request, DECODE_NO_MEMORY);
  request.shape.layers = 1 << 30;
  expect_refusal(&request, DECODE_NO_MEMORY);
}

static void test_tolerances(void **state) {
  (void)state;
  static const double expected[] = {
      [ELEMENT_F32] = 1e-3, [ELEMENT_BF16] = 1e-2, [ELEMENT_E4M3] = 5e-2, [ELEMENT_INT8] = 2e-2};
  for (int type = 0; type < 4; type++) {
    struct decode_types types = {.activations = (enum element)type};
    expect_near(reference_tolerance(&types), expected[type], 0, "tolerance");
  }
}

// The hand model's logits 1, -7, -6 (norm sqrt(86), largest magnitude 7) compared with what a
// device may report.
static void test_check(void **state) {
  (void)state;
  static const struct {
    float logits[3];
    int token;
    double tolerance;
    bool pass, greedy;
    double error, shortfall;
  } cases[] = {
      {{1, -7, -6}, 0, 1e-3, true, true, 0, 0},
      {{1, -7, -5.95f}, 0, 1e-2, true, true, 0.05 / 9.273618495495704, 0},
      {{1, -7, -5.95f}, 0, 1e-3, false, true, 0.05 / 9.273618495495704, 0},
      {{1, -7, NAN}, 0, 1e-2, false, true, INFINITY, 0},
      {{1, -INFINITY, -6}, 0, 1e-2, false, true, INFINITY, 0},
      {{1, -7, -6}, 2, 1e-2, false, false, 0, 1}, // not the token of its logits
      {{1, -7, 2}, 2, 1e-2, false, true, 8 / 9.273618495495704, 1},
      {{1, -7, 2}, 2, 1, true, true, 8 / 9.273618495495704, 1},
      {{1, -7, 1}, 2, 1, false, false, 7 / 9.273618495495704, 1}, // not the first of two equal ones
      {{1, -7, -6}, 3, 1e-2, false, false, 0, INFINITY},          // not a token
      {{1, -7, -6}, -1, 1e-2, false, false, 0, INFINITY},
  };
  struct reference *r = hand_model(1, wide);
  reference_step(r);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct reference_verdict verdict =
        reference_check(r, cases[i].logits, &cases[i].token, cases[i].tolerance);
    assert_int_equal(verdict.pass, cases[i].pass);
    assert_int_equal(verdict.greedy, cases[i].greedy);
    assert_true(fabs(verdict.error - cases[i].error) < 1e-6 || verdict.error == cases[i].error);
    assert_true(fabs(verdict.shortfall - cases[i].shortfall) < 1e-12 ||
                verdict.shortfall == cases[i].shortfall);
  }
  reference_destroy(r);
}

// The worst row counts; a device may choose the other of two near ties.
static void test_check_rows(void **state) {
  (void)state;
  struct reference *r = create(&small);
  reference_step(r);
  float logits[SMALL_LOGITS];
  int tokens[3];
  for (size_t i = 0; i < SMALL_LOGITS; i++)
    logits[i] = (float)reference_logits(r)[i];
  memcpy(tokens, reference_tokens(r), sizeof tokens);
  assert_true(reference_check(r, logits, tokens, 1e-6).pass);
  tokens[0] = (tokens[0] + 1) % 40;
  assert_false(reference_check(r, logits, tokens, 1).greedy);
  tokens[0] = reference_tokens(r)[0];

  logits[100] += 1;
  double norm = 0;
  for (size_t i = 80; i < 120; i++)
    norm += reference_logits(r)[i] * reference_logits(r)[i];
  expect_near(reference_check(r, logits, tokens, 1e-2).error, 1 / sqrt(norm), 1e-6, "error");
  reference_destroy(r);
}

// A device may choose the other of two near ties if its own logits say so.
static void test_check_near_tie(void **state) {
  (void)state;
  struct reference *r = hand_model(1, wide);
  PUT(r, TENSOR_HEAD, 1, 0, 0, 1, 1.001, 0); // logits 1, -7, 1.001
  reference_step(r);
  assert_int_equal(reference_tokens(r)[0], 2);
  struct reference_verdict verdict =
      reference_check(r, (const float[]){1.002f, -7, 1.001f}, (const int[]){0}, 1e-3);
  assert_true(verdict.pass);
  expect_near(verdict.shortfall, 0.001 / 7, 1e-9, "shortfall");
  reference_destroy(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_two_positions_by_hand),
      cmocka_unit_test(test_rope_by_hand),
      cmocka_unit_test(test_rmsnorm),
      cmocka_unit_test(test_rope),
      cmocka_unit_test(test_attention),
      cmocka_unit_test(test_round),
      cmocka_unit_test(test_head_activations),
      cmocka_unit_test(test_activations_rounded),
      cmocka_unit_test(test_held_weights),
      cmocka_unit_test(test_cache_filled),
      cmocka_unit_test(test_rows_independent),
      cmocka_unit_test(test_slot_rewritten),
      cmocka_unit_test(test_positions_read),
      cmocka_unit_test(test_gqa_is_shared_mha),
      cmocka_unit_test(test_deep),
      cmocka_unit_test(test_tokens),
      cmocka_unit_test(test_tie),
      cmocka_unit_test(test_seeds),
      cmocka_unit_test(test_unsupported),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_tolerances),
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_check_rows),
      cmocka_unit_test(test_check_near_tie),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
