// What is verified before it is measured: a device that computes wrong results is detected, in its
// precisions and at shapes that the oracle can follow.
#include "kernels/cpu/backend.h"
#include "kernels/decode.h"
#include "kernels/family.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/measure/protocol.h"
#include "probe/measure/result.h"
#include "probe/measure/trial.h"
#include "probe/options/options.h"
#include "probe/sessions/session.h"
#include "tests/support/fixture.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/shapes.h"
#include "tests/support/stand_in.h"

#include "probe/devices/precision.h"
#include "probe/measure/prefill.h"
#include "probe/measure/verify.h"
#include "probe/sessions/verification.h"

#include <cmocka.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void test_wrong_kernel(void **state) {
  (void)state;
  struct scene scene;
  struct measurement result;
  scene_start(&scene);
  stand_in.wrong = true;
  assert_int_equal(result_measure(&scene.protocol, &scene.trial, &result), PROTOCOL_FAILED);
  expect_error(&scene.fixture, "wrong", "results differ from the oracle's: error 0.1");
  assert_true(scene.fixture.diagnostics.machine_failed);
  assert_true(stand_in.runs == 1);
  scene_end(&scene);
}

// What --verify-only reports: one layer and two of every workload, whatever the result of the
// first.
static const struct {
  bool wrong, fails;
  int stop_after;
  size_t contexts;
  enum verification_outcome outcome;
  const char *says, *error;
} verification_cases[] = {
    {false, false, 0, 1, VERIFICATION_AGREES, "\n2 comparisons within tolerance\n", ""},
    {false, false, 0, 2, VERIFICATION_AGREES, "\n4 comparisons within tolerance\n", ""},
    {true, false, 0, 2, VERIFICATION_DIFFERS, "\n4 of 4 comparisons out of tolerance\n", ""},
    {true, false, 0, 1, VERIFICATION_DIFFERS, "1e-02  WRONG\n", ""},
    {false, false, 3, 2, VERIFICATION_STOPPED, "  ok\n", ""},
    {false, true, 0, 2, VERIFICATION_FAILED, "tolerance\n",
     "tiny bf16, batch 3, context 12: cannot be verified: the device failed: the fan fell off"},
};

static void test_verify_only(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof verification_cases / sizeof verification_cases[0]; i++) {
    struct scene scene;
    char printed[4096] = "";
    scene_start(&scene);
    stand_in.wrong = verification_cases[i].wrong;
    stand_in.fails = verification_cases[i].fails;
    stand_in.stop_after = verification_cases[i].stop_after;
    const struct probe_options options = {.kv = "bf16",
                                          .precisions = {"bf16"},
                                          .precision_count = 1,
                                          .batches = {{3}, 1},
                                          .contexts = {{12, 5}, verification_cases[i].contexts},
                                          .seed = 7};
    const struct session session = {.options = &options, .protocol = scene.protocol};
    FILE *out = fmemopen(printed, sizeof printed, "w");
    const enum verification_outcome outcome = verification_run(&session, &scene.trial.model, out);
    fclose(out);
    expect_error(&scene.fixture, "verify only", verification_cases[i].error);
    if (outcome != verification_cases[i].outcome)
      fail_msg("case %zu: outcome %d\n%s", i, outcome, printed);
    expect_fragment(printed, verification_cases[i].says);
    assert_int_equal(scene.fixture.diagnostics.machine_failed, verification_cases[i].fails);
    assert_true(stand_in.now_s < 1); // nothing was timed
    scene_end(&scene);
  }
}

// Where a run would choose the fastest, each variant that it would try is verified, in time.
static const struct {
  struct stand_in_variant variants[3];
  bool fastest;
  double step_s;
  enum verification_outcome outcome;
  const char *says[4]; // in this order
} variant_cases[] = {
    {{{"step=a", 1, false, false}, {"step=b", 1, false, false}},
     true,
     0.002,
     VERIFICATION_AGREES,
     {"  ok\n", "  ok: step=a\n", "  ok: step=b\n", "6 comparisons within tolerance\n"}},
    {{{"step=a", 1, false, false}, {"step=b", 1, true, false}},
     true,
     0.002,
     VERIFICATION_DIFFERS,
     {"  ok: step=a\n", "  WRONG: step=b\n", "2 of 6 comparisons out of tolerance\n", ""}},
    {{{"step=a", 1, false, true}, {"step=b", 1, false, false}},
     true,
     0.002,
     VERIFICATION_AGREES,
     {"not here: step=a: the device does not support", "  ok: step=b\n", "4 comparisons within",
      ""}},
    {{{"step=a", 1, false, false}, {"step=b", 1, false, false}, {"step=c", 1, false, false}},
     true,
     45, // two steps at each of two depths
     VERIFICATION_PARTIAL,
     {"  ok: step=a\n", "4 comparisons within tolerance\n",
      "not verified, as the variants had taken 120 s: tiny bf16, batch 3, context 12, step=b\n",
      "batch 3, context 12, step=c\n"}},
    {{{"step=a", 1, true, false}, {"step=b", 1, false, false}, {"step=c", 1, false, false}},
     true,
     45,
     VERIFICATION_DIFFERS, // whatever the others are
     {"  WRONG: step=a\n", "  ok: step=b\n", "2 of 6 comparisons out of tolerance\n", "step=c\n"}},
    {{{"step=a", 1, true, false}},
     false,
     0.002,
     VERIFICATION_AGREES,
     {"2 comparisons within tolerance\n", "", "", ""}},
};

static void test_verify_variants(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof variant_cases / sizeof variant_cases[0]; i++) {
    struct scene scene;
    char printed[4096] = "";
    scene_start(&scene);
    stand_in.step_s = variant_cases[i].step_s;
    memcpy(stand_in.variants, variant_cases[i].variants, sizeof variant_cases[i].variants);
    const struct probe_options options = {.kv = "bf16",
                                          .precisions = {"bf16"},
                                          .precision_count = 1,
                                          .batches = {{3}, 1},
                                          .contexts = {{12}, 1},
                                          .fastest = variant_cases[i].fastest,
                                          .seed = 7};
    const struct session session = {.options = &options, .protocol = scene.protocol};
    FILE *out = fmemopen(printed, sizeof printed, "w");
    const enum verification_outcome outcome = verification_run(&session, &scene.trial.model, out);
    fclose(out);
    expect_error(&scene.fixture, "variants", "");
    if (outcome != variant_cases[i].outcome)
      fail_msg("case %zu: outcome %d\n%s", i, outcome, printed);
    const char *at = printed;
    for (size_t s = 0; s < 4; s++) {
      at = strstr(at, variant_cases[i].says[s]);
      if (!at)
        fail_msg("case %zu: expected '%s' in\n%s", i, variant_cases[i].says[s], printed);
    }
    scene_end(&scene);
  }
}

static void test_precisions(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  const struct {
    const char *weights, *kv, *head;
    enum decode_status status;
    struct measurement_types types;
  } cases[] = {
      {"bf16", "bf16", "bf16", DECODE_OK, {"bf16", "bf16", "bf16", "bf16", "f32", ""}},
      {"int8", "fp8", "weights", DECODE_OK, {"int8", "int8", "e4m3", "int8", "f32", ""}},
      {"int8", "bf16", "bf16", DECODE_OK, {"int8", "int8", "bf16", "bf16", "f32", ""}},
      {"fp8", "bf16", "bf16", DECODE_UNSUPPORTED, {"", "", "", "", "", ""}},
      {"mxfp4", "bf16", "bf16", DECODE_OK, {"mxfp4", "bf16", "bf16", "bf16", "f32", ""}},
      {"nvfp4", "bf16", "weights", DECODE_OK, {"nvfp4", "bf16", "bf16", "nvfp4", "f32", ""}},
      {"fp4", "bf16", "bf16", DECODE_OK, {"nvfp4", "bf16", "bf16", "bf16", "f32", ""}},
      {"mxfp6", "fp8", "bf16", DECODE_OK, {"mxfp6-e2m3", "bf16", "e4m3", "bf16", "f32", ""}},
      {"mxfp6-e3m2", "bf16", "bf16", DECODE_OK, {"mxfp6-e3m2", "bf16", "bf16", "bf16", "f32", ""}},
      {"int4", "bf16", "bf16", DECODE_OK, {"int4-group", "int8", "bf16", "bf16", "f32", ""}},
      {"int8-g128", "bf16", "bf16", DECODE_OK, {"int8-group", "int8", "bf16", "bf16", "f32", ""}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct precision_request wanted = {
        .weights = cases[i].weights, .kv = cases[i].kv, .head = cases[i].head};
    struct decode_request request = trial_request(&scene.trial, 8);
    assert_int_equal(precision_choose(&scene.device, &wanted, &request), cases[i].status);
    if (cases[i].status != DECODE_OK)
      continue;
    const struct measurement_types types = precision_texts(&request.types);
    assert_string_equal(types.weights, cases[i].types.weights);
    assert_string_equal(types.activations, cases[i].types.activations);
    assert_string_equal(types.kv, cases[i].types.kv);
    assert_string_equal(types.head, cases[i].types.head);
  }
  scene_end(&scene);
}

// Requested by name, or as narrow as the weights; in gpt-oss only the experts are in 4 bits.
static void test_activations_and_experts(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  static const struct {
    const char *weights, *activations;
    bool of_experts_alone;
    bool found;
    const char *held, *entering, *experts; // or, if not found, what goes with these weights
  } cases[] = {
      {"mxfp4", "fp8", false, true, "mxfp4", "e4m3", ""},
      {"mxfp4", "weights", false, true, "mxfp4", "e4m3", ""},
      {"int4", "weights", false, true, "int4-group", "int8", ""},
      {"int4", "bf16", false, true, "int4-group", "bf16", ""},
      {"int4", "fp8", false, false, "int8 or bf16", "", ""},
      {"mxfp4", "int8", false, false, "bf16 or fp8", "", ""},
      {"bf16", "int8", false, false, "bf16", "", ""},
      {"mxfp4", NULL, true, true, "bf16", "bf16", "mxfp4"},
      {"mxfp4", "weights", true, true, "bf16", "bf16", "mxfp4"},
      {"mxfp4", "fp8", true, false, "bf16", "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct precision_request wanted = {.weights = cases[i].weights,
                                             .kv = "bf16",
                                             .head = "bf16",
                                             .activations = cases[i].activations,
                                             .of_experts_alone = cases[i].of_experts_alone};
    struct decode_request request = trial_request(&scene.trial, 8);
    const enum decode_status status = precision_choose(&scene.device, &wanted, &request);
    const char *others = precision_other_activations(&wanted, &scene.fixture.arena);
    assert_int_equal(status, cases[i].found ? DECODE_OK : DECODE_UNSUPPORTED);
    assert_int_equal(!others, cases[i].found);
    if (!cases[i].found) {
      assert_string_equal(others, cases[i].held);
      continue;
    }
    const struct measurement_types types = precision_texts(&request.types);
    assert_string_equal(types.weights, cases[i].held);
    assert_string_equal(types.activations, cases[i].entering);
    assert_string_equal(types.experts, cases[i].experts);
    struct decode_types read;
    assert_true(precision_types(&types, &read));
    assert_memory_equal(&read, &request.types, sizeof read);
  }
  scene_end(&scene);
}

static enum decode_status prefill_and_stop(struct decode_state *state,
                                           const struct decode_prompt *prompt) {
  stand_in_stop = SIGINT;
  return cpu_backend.prefill(state, prompt);
}

// Ctrl-C in a first prompt is no failure of the device.
static void test_stopped_in_a_prompt(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  struct decode_backend stopping = cpu_backend;
  stopping.prefill = prefill_and_stop;
  scene.device.backend = &stopping;
  scene.trial.prefills = (int[]){8, 12};
  scene.trial.prefill_count = 2;
  scene.trial.chunk = 4;
  const struct decode_request request = trial_request(&scene.trial, 8);
  enum decode_status status;
  struct decode_state *model = cpu_backend.create(0, &request, &status);
  assert_non_null(model);
  struct measurement result = {0};
  assert_int_equal(prefill_measure(&scene.protocol, &scene.trial, model, &result), DECODE_OK);
  assert_int_equal(stand_in_stop, SIGINT);
  cpu_backend.destroy(model);
  scene_end(&scene);
}

// A prompt's work is that of a step at each of its positions, with logits for the last alone,
// however long the cache is.
static void test_work_of_a_prompt(void **state) {
  (void)state;
  enum { PROMPT = 23 };
  const struct device cpu = {.backend = &cpu_backend};
  const struct piece *piece;
  for (size_t i = 0; (piece = piece_at(i)); i++) {
    struct decode_request request = {
        .shape = piece->shape,
        .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
        .batch = 1,
        .chunk = 1};
    double wanted = -2.0 * (PROMPT - 1) * piece->shape.vocab * piece->shape.hidden;
    for (request.context = 1; request.context <= PROMPT; request.context++) {
      struct decode_cost cost;
      assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_OK);
      wanted += (double)cost.operations;
    }
    for (request.batch = 1; request.batch <= 3; request.batch += 2)
      for (request.context = PROMPT; request.context < 3 * PROMPT; request.context += 13)
        if (prefill_operations(&cpu, &request, PROMPT) != wanted)
          fail_msg("%s, context %d: %.0f, not %.0f", piece->name, request.context,
                   prefill_operations(&cpu, &request, PROMPT), wanted);
  }
}

// The shape that represents a large model has its full width and batch; the oracle computes as many
// rows as it can in seconds.
static void test_verify_plan(void **state) {
  (void)state;
  struct decode_shape one_layer = tinyllama;
  one_layer.layers = 1;
  const struct {
    const struct decode_shape *shape;
    int batch, layers, vocab, rows, steps;
  } cases[] = {
      {&tinyllama, 1, 2, 32000, 1, 2},  {&llama_8b, 1, 2, 128256, 1, 2},
      {&llama_8b, 16, 2, 8192, 16, 1},  {&llama_8b, 64, 2, 8192, 16, 1},
      {&llama_8b, 256, 2, 8192, 16, 1}, {&llama_70b, 64, 2, 8192, 4, 1},
      {&llama_70b, 5, 2, 8192, 4, 1},   {&one_layer, 1, 1, 32000, 1, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request = {
        .shape = *cases[i].shape, .batch = cases[i].batch, .context = 4096};
    const struct verify_plan plan = verify_plan(&request);
    assert_int_equal(plan.request.shape.hidden, cases[i].shape->hidden);
    assert_int_equal(plan.request.shape.ffn_hidden, cases[i].shape->ffn_hidden);
    assert_int_equal(plan.request.shape.layers, cases[i].layers);
    assert_int_equal(plan.request.shape.vocab, cases[i].vocab);
    assert_int_equal(plan.request.batch, cases[i].batch);
    assert_int_equal(plan.request.context, 1024);
    assert_int_equal(plan.rows, cases[i].rows);
    assert_int_equal(plan.steps, cases[i].steps);
  }
}

// However few layers and positions are compared, every kind of layer is among them.
static void test_plan_keeps_the_kinds(void **state) {
  (void)state;
  static const struct decode_shape deepseek = {.layers = 61,
                                               .hidden = 512,
                                               .heads = 8,
                                               .kv_heads = 8,
                                               .head_dim = 64,
                                               .ffn_hidden = 1024,
                                               .vocab = 1000,
                                               .window = 4096,
                                               .full_every = 6,
                                               .experts = {16, 2, 256, .dense_layers = 3}};
  struct decode_request request = {.shape = deepseek, .batch = 1, .context = 8192};
  struct decode_request small = verify_plan(&request).request;
  assert_int_equal(small.shape.layers, 2);
  assert_false(family_layer(&small.shape, 0).experts);
  assert_true(family_layer(&small.shape, 1).experts);
  assert_in_range(family_layer(&small.shape, 0).window, 2, small.context - 1);
  assert_int_equal(family_layer(&small.shape, 1).window, 0);
  request.shape.layers = 1; // as when one layer is compared
  small = verify_plan(&request).request;
  assert_true(family_layer(&small.shape, 0).experts);
  request.context = 4096; // all of it within the window
  assert_int_equal(verify_plan(&request).request.shape.window, 4096);
}

// A CPU that corrupts a row of its results.
static struct {
  int row, token; // of the batch, and what its token becomes; -1: unchanged
  float factor;   // for its first logit
} spoiled;

static enum decode_status spoil_logits(struct decode_state *state, float *out) {
  const enum decode_status status = cpu_backend.logits(state, out);
  out[(size_t)spoiled.row * (size_t)piece_plain.vocab] *= spoiled.factor;
  return status;
}

static enum decode_status spoil_tokens(struct decode_state *state, int *out) {
  const enum decode_status status = cpu_backend.tokens(state, out);
  out[spoiled.row] = spoiled.token < 0 ? out[spoiled.row] : spoiled.token;
  return status;
}

static enum decode_status verify_rows(const struct decode_request *request, int rows, int steps,
                                      struct fixture *fixture,
                                      struct measurement_verification *verification, bool *passed) {
  struct decode_backend backend = cpu_backend;
  backend.logits = spoil_logits;
  backend.tokens = spoil_tokens;
  const struct verify_plan plan = {*request, rows, steps};
  return verify(&backend, 0, request, &plan, &stand_in_stop, &fixture->arena, verification, passed);
}

// The oracle has fewer rows than the device, which routes all of them, by itself or by force: the
// first rows must agree, and each of the others must consist of numbers and have its first largest
// logit as its token.
static void test_more_rows_than_the_oracle(void **state) {
  (void)state;
  static const struct {
    enum decode_routing routing;
    int row, token;
    float factor;
    bool passes;
  } cases[] = {
      {ROUTING_MODEL, 0, -1, 1, true},       {ROUTING_UNIFORM, 0, -1, 1, true},
      {ROUTING_SKEWED, 0, -1, 1, true},      {ROUTING_MODEL, 3, -1, 100, false},
      {ROUTING_MODEL, 4, -1, -1, true}, // one logit of a row that is not compared
      {ROUTING_MODEL, 4, -1, NAN, false},    {ROUTING_MODEL, 8, -1, INFINITY, false},
      {ROUTING_MODEL, 8, 1 << 20, 1, false}, {ROUTING_MODEL, 8, 0, 1, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    struct measurement_verification verification;
    bool passed = false;
    fixture_start(&fixture);
    stand_in_stop = 0;
    spoiled.row = cases[i].row;
    spoiled.token = cases[i].token;
    spoiled.factor = cases[i].factor;
    struct decode_request request = {
        .shape = piece_plain,
        .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
        .batch = 9,
        .context = 7,
        .seed = 3,
        .threads = 1,
        .routing = cases[i].routing,
        .skew = cases[i].routing == ROUTING_SKEWED ? 1 : 0};
    request.shape.layers = 3;
    request.shape.experts = (struct decode_experts){.count = 16, .chosen = 3, .hidden = 40};
    assert_int_equal(verify_rows(&request, 4, 2, &fixture, &verification, &passed), DECODE_OK);
    if (passed != cases[i].passes)
      fail_msg("case %zu: %s, error %g", i, passed ? "passed" : "failed", verification.max_error);
    expect_fragment(verification.what, "9 of 9 rows, 7 of 7 positions, the first 4 rows compared");
    fixture_end(&fixture);
  }
}

static void test_device_names(void **state) {
  (void)state;
  struct scene scene;
  struct device device;
  scene_start(&scene);
  const struct decode_backend *backends[] = {&stand_in_backend, NULL};
  struct diagnostics *diagnostics = &scene.fixture.diagnostics;
  assert_int_equal(device_find("fake:0", backends, &device, diagnostics), 0);
  const struct {
    const char *name, *error;
  } wrong[] = {{"fakr", "unknown device 'fakr'; did you mean 'fake'?"},
               {"gpu7", "unknown device 'gpu7', expected one of: fake"},
               {"fake:1", "no device 'fake:1': fake has 1, counted from 0"},
               {"fake:x", "no device 'fake:x'"},
               {"fake:", "no device 'fake:'"},
               {"", "unknown device ''"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(device_find(wrong[i].name, backends, &device, diagnostics), -1);
    expect_error(&scene.fixture, wrong[i].name, wrong[i].error);
  }
  scene_end(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrong_kernel),
      cmocka_unit_test(test_verify_only),
      cmocka_unit_test(test_verify_variants),
      cmocka_unit_test(test_precisions),
      cmocka_unit_test(test_activations_and_experts),
      cmocka_unit_test(test_stopped_in_a_prompt),
      cmocka_unit_test(test_work_of_a_prompt),
      cmocka_unit_test(test_verify_plan),
      cmocka_unit_test(test_plan_keeps_the_kinds),
      cmocka_unit_test(test_more_rows_than_the_oracle),
      cmocka_unit_test(test_device_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
