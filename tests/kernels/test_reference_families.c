// The differences of model families from a Llama, in double precision: stages and routers worked
// out by hand, prompts, and expert choices taken from a device. `test_reference_families print`
// prints a model of every family with its logits for check_reference.py.
#include "tests/support/fixture.h"
#include "tests/support/kernels/families.h"

#include "kernels/family.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/router.h"
#include "kernels/reference/stages.h"
#include "kernels/routing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct decode_types wide = {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16,
                                         ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32};
static const struct decode_types narrow = {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_E4M3,
                                           ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};

enum { BATCH = 3, CONTEXT = 9, CHUNK = 7, VOCAB = 40 };

static struct decode_request request_of(const struct family *family,
                                        const struct decode_types *types) {
  return (struct decode_request){.shape = family->shape,
                                 .types = *types,
                                 .batch = BATCH,
                                 .context = CONTEXT,
                                 .seed = 38,
                                 .chunk = CHUNK};
}

static struct reference *create(const struct decode_request *request) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_int_equal(status, DECODE_OK);
  assert_non_null(reference);
  return reference;
}

static const struct family *named(const char *name) {
  for (size_t i = 0; i < family_count; i++)
    if (strcmp(families[i].name, name) == 0)
      return &families[i];
  fail_msg("no family %s", name);
  return NULL;
}

// (1, 7): mean 4, deviations -3 and 3, variance 9.
static void test_layernorm(void **state) {
  (void)state;
  double x[] = {1, 7};
  reference_layernorm(x, (const double[]){2, -1}, (const double[]){0.5, 10}, 2, 0, x);
  expect_near(x[0], -1.5, 1e-15, "layer norm");
  expect_near(x[1], 9, 1e-15, "layer norm");
  double equal[] = {3, 3};
  reference_layernorm(equal, (const double[]){1, 1}, (const double[]){0, 1}, 2, 1, equal);
  assert_true(equal[0] == 0 && equal[1] == 1);
}

// gelu(x) is x times the share of a normal distribution below x: 0.8413447 at 1. The clamped gate
// limits values above 7 to 7, and up is kept between -7 and 7.
static void test_activations(void **state) {
  (void)state;
  double gelu[3];
  reference_activation(MLP_GELU, gelu, (const double[]){0, 1, -1}, 3);
  assert_true(gelu[0] == 0);
  expect_near(gelu[1], 0.841344746068543, 1e-14, "gelu");
  expect_near(gelu[2], -0.158655253931457, 1e-14, "gelu");

  double gate[] = {9, 0, 1, -20};
  reference_activation(MLP_CLAMPED_SWIGLU, gate, (const double[]){-1e3, 5, 30, 1}, 4);
  expect_near(gate[0], -6 * 7 / (1 + exp(-7 * 1.702)), 1e-12, "clamped");
  assert_true(gate[1] == 0);
  expect_near(gate[2], 8 / (1 + exp(-1.702)), 1e-14, "clamped");
  expect_near(gate[3], -40 / (1 + exp(20 * 1.702)), 1e-14, "clamped"); // no lower limit
}

// Two scores 0 and a sink of ln 2: of four parts, each score gets one. A sink of -infinity has no
// effect, one of 1000 leaves nothing.
static void test_sink(void **state) {
  (void)state;
  static const struct {
    double sink, share;
  } cases[] = {{0.6931471805599453, 0.25}, {-INFINITY, 0.5}, {1000, 0}};
  for (size_t i = 0; i < 3; i++) {
    double scores[2] = {0, 0};
    reference_softmax_beside(scores, 2, cases[i].sink);
    expect_near(scores[0], cases[i].share, 1e-15, "share");
    expect_near(scores[1], cases[i].share, 1e-15, "share");
  }
}

static void test_score_factor(void **state) {
  (void)state;
  struct decode_shape shape = {.head_dim = 16};
  assert_true(reference_score_factor(&shape) == 0.25);
  shape.score_scale = 3;
  assert_true(reference_score_factor(&shape) == 0.75);
}

static void expect_choice(const struct decode_experts *experts, const double *scores,
                          const int *expected) {
  int chosen[MAX_DECODE_EXPERTS];
  router_choose(experts, scores, chosen);
  if (!router_same(experts, expected, chosen))
    fail_msg("chose %d and %d, not %d and %d", chosen[0], chosen[1], expected[0], expected[1]);
}

// Groups (0, 1), (2, 3), (4, 5): their sums are 1.0, 1.1 and 1.2, so the best expert of all, 0, is
// in the group that is dropped. Without groups it is chosen; of equal ones, the first.
static void test_choose(void **state) {
  (void)state;
  struct decode_experts experts = {
      .count = 6, .chosen = 2, .router = ROUTER_SIGMOID, .groups = 3, .kept_groups = 2};
  const double scores[] = {0.9, 0.1, 0.5, 0.6, 0.7, 0.5};
  expect_choice(&experts, scores, (const int[]){4, 3});
  experts.groups = 0;
  expect_choice(&experts, scores, (const int[]){0, 4});
  experts.router = ROUTER_SOFTMAX_ALL;
  expect_choice(&experts, (const double[]){1, 2, 2, 2, 0, 0}, (const int[]){1, 2});
  experts = (struct decode_experts){
      .count = 3, .chosen = 2, .router = ROUTER_SIGMOID, .groups = 3, .kept_groups = 2};
  expect_choice(&experts, (const double[]){1, 3, 2}, (const int[]){2, 1}); // groups of one
}

// r = (ln 1, ln 2, ln 5): the weights of experts 0 and 2 are 1/6 and 5/6 relative to each other,
// 1/8 and 5/8 relative to all; with sigmoid, 1/2 and 5/6 have the ratio 3 to 5.
static void test_weigh(void **state) {
  (void)state;
  static const struct {
    enum decode_router router;
    float scale;
    double first, second;
  } cases[] = {{ROUTER_SOFTMAX_CHOSEN, 0, 5.0 / 6, 1.0 / 6},
               {ROUTER_SOFTMAX_ALL, 0, 5.0 / 8, 1.0 / 8},
               {ROUTER_SIGMOID, 0, 5.0 / 8, 3.0 / 8},
               {ROUTER_SIGMOID, 2, 10.0 / 8, 6.0 / 8}};
  const double r[] = {log(1), log(2), log(5)};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_experts experts = {
        .count = 3, .chosen = 2, .router = cases[i].router, .scale = cases[i].scale};
    int chosen[] = {0, 2};
    double weights[2];
    router_weigh(&experts, r, chosen, weights);
    assert_true(chosen[0] == 2 && chosen[1] == 0); // the largest weight first
    expect_near(weights[0], cases[i].first, 1e-15, "weight");
    expect_near(weights[1], cases[i].second, 1e-15, "weight");
  }
}

// The bias counts in the choice: sigmoid(0) + 0.25.
static void test_scores(void **state) {
  (void)state;
  struct decode_experts experts = {.count = 1, .chosen = 1, .router = ROUTER_SIGMOID};
  double score;
  router_scores(&experts, (const double[]){0}, (const double[]){0.25}, &score);
  assert_true(score == 0.75);
  router_scores(&experts, (const double[]){0}, NULL, &score);
  assert_true(score == 0.5);
  experts.router = ROUTER_SOFTMAX_CHOSEN;
  router_scores(&experts, (const double[]){-3}, (const double[]){0.25}, &score);
  assert_true(score == -3);
}

// The shortfall of a device's choice, with scores whose largest magnitude is 4.
static void test_shortfall(void **state) {
  (void)state;
  const struct decode_experts plain = {.count = 4, .chosen = 2};
  const double scores[] = {4, 2, 3, -1};
  static const struct {
    int chosen[2];
    double missed;
  } cases[] = {{{0, 2}, 0},    {{2, 0}, 0},        {{0, 1}, 0.25},     {{1, 2}, 0.5},
               {{3, 1}, 1.25}, {{0, 0}, INFINITY}, {{0, 4}, INFINITY}, {{-1, 0}, INFINITY}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double missed = router_shortfall(&plain, scores, cases[i].chosen);
    assert_true(missed == cases[i].missed);
  }
}

// Groups of two, one kept: sums 6, 5.5 and 3. Taking the entire second group falls short by 0.5;
// one of each group is not a valid choice; taking 3 instead of 2 within the second adds nothing to
// that unless their scores differ by more.
static void test_shortfall_of_groups(void **state) {
  (void)state;
  const struct decode_experts one = {
      .count = 6, .chosen = 1, .router = ROUTER_SIGMOID, .groups = 3, .kept_groups = 1};
  const double scores[] = {4, 2, 3, 2.5, 2, 1};
  static const struct {
    int chosen;
    double missed;
  } cases[] = {{0, 0}, {1, 2}, {2, 0.5}, {3, 0.5}, {4, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_near(router_shortfall(&one, scores, &cases[i].chosen), cases[i].missed / 4, 1e-15,
                "shortfall");
  struct decode_experts two = one;
  two.chosen = 2;
  assert_true(isinf(router_shortfall(&two, scores, (const int[]){0, 2})));
  // Two groups kept, with sums 6, 5.5 and 5.4; the last one has the second largest single score. A
  // device that kept the first and the last, which nearly displaced the second, uses none of the
  // second.
  two.kept_groups = 2;
  expect_near(router_shortfall(&two, (const double[]){3, 3, 3.5, 2, 2.7, 2.7}, (const int[]){0, 1}),
              0.1 / 3.5, 1e-14, "shortfall");
}

static bool logits_equal(const double *a, const double *b) {
  for (size_t i = 0; i < VOCAB; i++)
    if (fabs(a[i] - b[i]) > 1e-12)
      return false;
  return true;
}

// A prompt in one pass, in two, and token by token gives the same results, for every family; the
// rows that do not take part keep their caches, and the other rows make a step.
static void test_prompts(void **state) {
  (void)state;
  static const int tokens[CHUNK] = {5, 0, 39, 12, 12, 7, 30};
  for (size_t i = 0; i < family_count; i++)
    for (int n = 0; n < 2; n++) {
      const struct decode_request request = request_of(&families[i], n ? &narrow : &wide);
      struct reference *whole = create(&request), *parts = create(&request),
                       *steps = create(&request);
      assert_int_equal(
          reference_prefill(whole, &(struct decode_prompt){1, 0, CHUNK, tokens, false}), 0);
      assert_int_equal(reference_prefill(parts, &(struct decode_prompt){1, 0, 3, tokens, false}),
                       0);
      assert_int_equal(
          reference_prefill(parts, &(struct decode_prompt){1, 3, CHUNK - 3, tokens + 3, true}), 0);
      for (int t = 0; t < CHUNK; t++) {
        assert_int_equal(reference_set_position(steps, t), 0);
        assert_int_equal(reference_set_tokens(steps, (const int[]){0, tokens[t], 0}), 0);
        reference_step(steps);
      }
      const double *expected = reference_logits(steps) + VOCAB;
      if (!logits_equal(reference_logits(whole) + VOCAB, expected) ||
          !logits_equal(reference_logits(parts) + VOCAB, expected))
        fail_msg("%s: a prompt is not what its tokens are one by one", families[i].name);
      assert_int_equal(reference_tokens(whole)[1], reference_tokens(steps)[1]);

      struct reference *alone = create(&request); // what the other rows computed
      reference_step(alone);
      assert_true(logits_equal(reference_logits(parts), reference_logits(alone)));
      assert_true(
          logits_equal(reference_logits(parts) + 2 * VOCAB, reference_logits(alone) + 2 * VOCAB));
      reference_destroy(alone);
      reference_destroy(whole);
      reference_destroy(parts);
      reference_destroy(steps);
    }
}

static void test_prompts_refused(void **state) {
  (void)state;
  const struct decode_request request = request_of(named("mixtral"), &wide);
  struct reference *r = create(&request);
  static const int tokens[CHUNK + 1] = {0}, beyond[] = {40};
  const struct decode_prompt bad[] = {
      {-1, 0, 1, tokens, false},        {BATCH, 0, 1, tokens, false}, {0, 0, 0, tokens, false},
      {0, 0, CHUNK + 1, tokens, false}, {0, 3, CHUNK, tokens, false}, {0, -1, 1, tokens, false},
      {0, 0, 1, beyond, false},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(reference_prefill(r, &bad[i]), -1);
  assert_int_equal(reference_set_position(r, CONTEXT), -1);
  assert_int_equal(reference_set_position(r, -1), -1);
  reference_destroy(r);
}

// A window longer than the context has no effect; a window of one position is that position itself.
static void test_windows(void **state) {
  (void)state;
  struct decode_request request = request_of(named("mistral"), &wide);
  double logits[3][VOCAB];
  static const int windows[3] = {0, CONTEXT, 4};
  for (int i = 0; i < 3; i++) {
    request.shape.window = windows[i];
    struct reference *r = create(&request);
    reference_step(r);
    memcpy(logits[i], reference_logits(r), sizeof logits[i]);
    reference_destroy(r);
  }
  assert_true(logits_equal(logits[0], logits[1]) && !logits_equal(logits[0], logits[2]));

  // What precedes the window does not matter, not even to the first of its positions.
  request.shape.window = 4;
  struct reference *r = create(&request);
  for (int layer = 0; layer < 2; layer++)
    for (size_t d = 0; d < (CONTEXT - 4) * 16; d++)
      reference_cache(r, TENSOR_KEYS, layer)[d] = reference_cache(r, TENSOR_VALUES, layer)[d] = NAN;
  reference_step(r);
  assert_true(logits_equal(reference_logits(r), logits[2]));
  reference_destroy(r);
}

// A single expert that is always chosen equals a dense MLP.
static void test_one_expert_is_dense(void **state) {
  (void)state;
  struct decode_request dense = request_of(named("qwen2"), &wide), sparse = dense;
  sparse.shape.experts =
      (struct decode_experts){.count = 1, .chosen = 1, .hidden = sparse.shape.ffn_hidden};
  sparse.shape.ffn_hidden = 0;
  struct reference *a = create(&dense), *b = create(&sparse);
  static const enum tensor pairs[][2] = {{TENSOR_GATE, TENSOR_EXPERT_GATE},
                                         {TENSOR_UP, TENSOR_EXPERT_UP},
                                         {TENSOR_DOWN, TENSOR_EXPERT_DOWN}};
  for (int layer = 0; layer < 2; layer++)
    for (size_t i = 0; i < 3; i++)
      memcpy(reference_tensor(b, pairs[i][1], layer), reference_tensor(a, pairs[i][0], layer),
             20 * 24 * sizeof(double));
  reference_step(a);
  reference_step(b);
  assert_true(logits_equal(reference_logits(a), reference_logits(b)));
  assert_int_equal(reference_chosen(b)[0], 0);
  assert_null(reference_chosen(a));
  reference_destroy(a);
  reference_destroy(b);
}

// A device's choice is used, and its shortfall reported; the next step chooses by itself again.
static void test_given_choice(void **state) {
  (void)state;
  const struct decode_request request = request_of(named("mixtral"), &wide);
  struct reference *r = create(&request), *own = create(&request);
  enum { CHOICES = 2 * BATCH * 2 };
  int chosen[CHOICES];
  float logits[BATCH * VOCAB];
  reference_step(own);
  memcpy(chosen, reference_chosen(own), sizeof chosen);
  for (int i = 0; i < CHOICES; i += 2) { // in the other order
    const int first = chosen[i];
    chosen[i] = chosen[i + 1];
    chosen[i + 1] = first;
  }
  reference_set_chosen(r, chosen);
  reference_step(r);
  assert_true(reference_routing_shortfall(r) == 0);
  assert_true(logits_equal(reference_logits(r), reference_logits(own)));

  int tokens[BATCH];
  memcpy(tokens, reference_tokens(own), sizeof tokens);
  reference_step(own);
  memcpy(chosen, reference_chosen(own), sizeof chosen);
  int other = 0; // the first row of the last layer replaces its second expert by another
  while (other == chosen[CHOICES / 2] || other == chosen[CHOICES / 2 + 1])
    other++;
  chosen[CHOICES / 2 + 1] = other;
  reference_set_chosen(r, chosen);
  reference_step(r);
  const double shortfall = reference_routing_shortfall(r);
  assert_true(shortfall > 0 && isfinite(shortfall));
  assert_false(logits_equal(reference_logits(r), reference_logits(own)));
  assert_true(
      router_same(&request.shape.experts, reference_chosen(r) + CHOICES / 2, chosen + CHOICES / 2));
  for (size_t i = 0; i < BATCH * VOCAB; i++)
    logits[i] = (float)reference_logits(r)[i];
  memcpy(tokens, reference_tokens(r), sizeof tokens);
  assert_true(reference_check(r, logits, tokens, 1.01 * shortfall).pass);
  assert_false(reference_check(r, logits, tokens, 0.99 * shortfall).pass);
  expect_near(reference_check(r, logits, tokens, 1).routing, shortfall, 0, "routing");

  chosen[0] = chosen[1]; // not a valid choice
  reference_set_chosen(r, chosen);
  reference_step(r);
  assert_true(isinf(reference_routing_shortfall(r)));
  reference_step(r);
  assert_true(reference_routing_shortfall(r) == 0);
  reference_destroy(r);
  reference_destroy(own);
}

// Forced choices equal the table's, step after step, and for a prompt those of its positions; a
// device that chose differently is reported.
static void test_forced(void **state) {
  (void)state;
  struct decode_request request = request_of(named("gpt-oss"), &wide);
  request.routing = ROUTING_SKEWED;
  request.skew = 1;
  const struct decode_experts *experts = &request.shape.experts;
  uint16_t *table = malloc(routing_entries(&request) * sizeof *table);
  assert_non_null(table);
  routing_fill(&request, table);
  struct reference *r = create(&request);
  const size_t per_step = 2 * BATCH * 2;
  for (size_t step = 0; step < ROUTING_STEPS + 2; step++) {
    reference_step(r);
    for (size_t at = 0; at < per_step; at += 2) {
      const uint16_t *entry = table + step % ROUTING_STEPS * per_step + at;
      const int expected[] = {entry[0], entry[1]};
      assert_true(router_same(experts, expected, reference_chosen(r) + at));
    }
  }
  int chosen[2 * BATCH * 2];
  memcpy(chosen, reference_chosen(r), sizeof chosen);
  reference_set_chosen(r, chosen); // those of the previous step
  reference_step(r);
  assert_true(isinf(reference_routing_shortfall(r)));
  reference_destroy(r);
  free(table);
}

static void test_refused(void **state) {
  (void)state;
  struct decode_request requests[12];
  const struct decode_request mixture = request_of(named("mixtral"), &wide);
  size_t i = 0;
  for (size_t k = 0; k < 12; k++)
    requests[k] = mixture;
  requests[i++].shape.experts.chosen = 7;
  requests[i++].shape.experts.hidden = 0;
  requests[i++].shape.experts.count = MAX_DECODE_EXPERTS + 1;
  requests[i++].shape.window = -1;
  requests[i++].shape.full_every = 2;
  requests[i++].shape.latent = (struct decode_latent){.rank = 4, .rope_dim = 8, .value_dim = 4};
  requests[i++].chunk = -1;
  requests[i++].ranks = 5; // of 12 rows of an expert
  requests[i].routing = ROUTING_SKEWED;
  requests[i++].skew = -1;
  requests[i++].types.experts = ELEMENTS;
  requests[i++].shape.rope.scaling = ROPE_YARN; // without a factor
  requests[i].shape.experts.dense_layers = 1;   // and no dense MLP for it
  requests[i++].shape.ffn_hidden = 0;
  assert_int_equal(i, 12);
  for (i = 0; i < 12; i++) {
    enum decode_status status;
    assert_null(reference_create(&requests[i], &status));
    assert_int_equal(status, DECODE_UNSUPPORTED);
  }
  struct decode_request same = mixture;
  same.shape.ffn_hidden = 0;
  same.types.experts = ELEMENT_MXFP4;
  reference_destroy(create(&same));
}

// Deep models of every family stay in range: logits of about unit variance.
static void test_depth(void **state) {
  (void)state;
  for (size_t i = 0; i < family_count; i++) {
    struct decode_request request = request_of(&families[i], &narrow);
    request.shape.layers = 32;
    struct reference *r = create(&request);
    reference_step(r);
    double squares = 0;
    for (size_t k = 0; k < BATCH * VOCAB; k++)
      squares += reference_logits(r)[k] * reference_logits(r)[k] / (BATCH * VOCAB);
    if (!(squares > 0.25 && squares < 4))
      fail_msg("%s: variance of logits %g", families[i].name, squares);
    reference_destroy(r);
  }
}

static const struct decode_types of_families[] = {
    {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
};
static const struct decode_types of_mixtures = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16,
                                                ELEMENT_BF16, ELEMENT_F32,  ELEMENT_MXFP4};

static void print_families(void) {
  for (size_t i = 0; i < family_count; i++) {
    const struct family *family = &families[i];
    for (size_t k = 0; k < sizeof of_families / sizeof of_families[0]; k++) {
      const struct decode_request request = request_of(family, &of_families[k]);
      family_print(family->name, &request);
    }
    if (family->shape.experts.count == 0)
      continue;
    struct decode_request request = request_of(family, &of_mixtures);
    family_print(family->name, &request);
    request.routing = ROUTING_UNIFORM;
    family_print(family->name, &request);
  }
}

static const struct decode_types of_formats[] = {
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_BF16, ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E3M2, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_F32, ELEMENT_BF16, ELEMENT_INT4_GROUP, ELEMENT_F32, ELEMENT_F32},
};

// Rows of several blocks, the last of which is short.
static void print_formats(void) {
  for (size_t i = 0; i < sizeof of_formats / sizeof of_formats[0]; i++) {
    struct decode_request request = request_of(named("llama"), &of_formats[i]);
    request.shape.layers = 1;
    request.shape.hidden = 40;
    request.shape.ffn_hidden = 140;
    request.batch = 1;
    request.chunk = 2;
    family_print("llama", &request);
  }
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "print") == 0) {
    print_families();
    print_formats();
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layernorm),
      cmocka_unit_test(test_activations),
      cmocka_unit_test(test_sink),
      cmocka_unit_test(test_score_factor),
      cmocka_unit_test(test_choose),
      cmocka_unit_test(test_weigh),
      cmocka_unit_test(test_scores),
      cmocka_unit_test(test_shortfall),
      cmocka_unit_test(test_shortfall_of_groups),
      cmocka_unit_test(test_prompts),
      cmocka_unit_test(test_prompts_refused),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_one_expert_is_dense),
      cmocka_unit_test(test_given_choice),
      cmocka_unit_test(test_forced),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_depth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
