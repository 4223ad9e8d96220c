// What a variant and PERTOKEN_GPU_TUNING may contain, that plans follow it, and which variants
// there are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/even.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/plan/variants.h"

static const struct decode_request llama_8b = {
    .shape = {.layers = 32,
              .hidden = 4096,
              .heads = 32,
              .kv_heads = 8,
              .head_dim = 128,
              .ffn_hidden = 14336,
              .vocab = 128256,
              .norm_epsilon = 1e-5f,
              .rope_theta = 5e5f},
    .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    .batch = 1,
    .context = 4096,
    .seed = 1};

static const struct gpu_device h200 = {.described = {.name = "H200", .units = 132},
                                       .architecture = "sm_90",
                                       .warp = 32,
                                       .shared_bytes = 232448,
                                       .wgmma = true,
                                       .clusters = MAX_CLUSTER,
                                       .cooperative = true};
static const struct gpu_device mi300x = {.described = {.name = "MI300X", .units = 304},
                                         .architecture = "gfx942",
                                         .warp = 64,
                                         .shared_bytes = 65536,
                                         .any_chunk = true,
                                         .cooperative = true};

static struct plan plan_of(int batch, const char *tuning) {
  struct gpu_device device = h200;
  struct decode_request request = llama_8b;
  struct plan plan;
  const char *why = "";
  char words[256] = "";
  request.batch = batch;
  if (!gpu_tuning_read(tuning, &device.tuning, words, sizeof words) ||
      gpu_plan_make(&request, 0, &device, &plan, &why) != DECODE_OK)
    fail_msg("%s: %s%s", tuning, words, why);
  return plan;
}

static void test_read_and_written(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {NULL, ""},
      {"", ""},
      {"  ", ""},
      {"attention_splits=2", "attention_splits=2"},
      {" step=launches  matrix_splits=1 ", "matrix_splits=1 step=launches"},
      {"attention_splits=128 matrix_splits=8", "matrix_splits=8 attention_splits=128"},
      {"attention_splits=2 attention_splits=3", "attention_splits=3"},
      {"matrix=wgmma library_count=2048", "library_count=2048 matrix=wgmma"},
      {"step=streaming matrix=registers attention_splits=16",
       "attention_splits=16 matrix=registers step=streaming"},
      {"wgmma_beside=2 matrix=wgmma", "matrix=wgmma wgmma_beside=2"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct gpu_tuning tuning;
    char words[256] = "", written[128];
    if (!gpu_tuning_read(rows[i][0], &tuning, words, sizeof words))
      fail_msg("%s: %s", rows[i][0], words);
    gpu_tuning_write(&tuning, written, sizeof written);
    assert_string_equal(written, rows[i][1]);
  }
}

static void test_refused(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"matrix_split=2", "unknown choice 'matrix_split=2'; known: matrix_splits, attention_splits, "
                         "library_count, matrix, wgmma_strips, wgmma_beside, wgmma_parts, "
                         "stream_flying, step"},
      {"matrix_splits", "unknown choice 'matrix_splits'"},
      {"=2", "unknown choice '=2'"},
      {"matrix_splits=0", "unknown matrix_splits '0'; known: 1 to 8"},
      {"matrix_splits=9", "'9'"},
      {"wgmma_beside=3", "unknown wgmma_beside '3'; known: 1 to 2"},
      {"library_count=2049", "unknown library_count '2049'; known: 1 to 2048"},
      {"matrix_splits=2x", "'2x'"},
      {"matrix_splits=-1", "'-1'"},
      {"step=1", "unknown step '1'; known: graph, launches"},
      {"matrix=mma", "unknown matrix 'mma'; known: registers, wgmma"},
      {"step=graph attention_splits=129", "'129'"},
      {"step=99999999999999999999", "'99999999999999999999'"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct gpu_tuning tuning;
    char words[256] = "";
    assert_false(gpu_tuning_read(rows[i][0], &tuning, words, sizeof words));
    if (!strstr(words, rows[i][1]))
      fail_msg("%s: expected '%s' in '%s'", rows[i][0], rows[i][1], words);
  }
}

static void test_plans_follow(void **state) {
  (void)state;
  const struct plan own = plan_of(1, "");
  assert_true(own.vector);
  assert_true(plan_of(3, "").vector);
  assert_int_equal(plan_of(1, "attention_splits=5").attention_splits, 5);
  assert_int_equal(plan_of(64, "matrix=registers matrix_splits=3").product[PRODUCT_QKV].splits, 3);
  assert_false(plan_of(64, "matrix=registers").product[PRODUCT_QKV].wgmma);
  assert_true(plan_of(64, "matrix=wgmma").product[PRODUCT_QKV].wgmma);
  assert_true(plan_of(64, "").product[PRODUCT_QKV].wgmma);
  assert_true(plan_of(4, "matrix=wgmma").vector);
  assert_int_equal(plan_of(128, "").product[PRODUCT_WO].beside, 1);
  assert_int_equal(plan_of(128, "wgmma_beside=2").product[PRODUCT_WO].beside, 2);
  assert_int_equal(plan_of(128, "matrix=wgmma wgmma_beside=1").product[PRODUCT_WO].beside, 1);
  assert_int_equal(plan_of(16, "matrix=wgmma").product[PRODUCT_WO].beside, 1);
  assert_int_equal(plan_of(16, "matrix=wgmma wgmma_beside=2").product[PRODUCT_WO].beside, 2);
  assert_int_equal(plan_of(64, "matrix=wgmma wgmma_parts=2").product[PRODUCT_WO].parts, 2);
  assert_int_equal(plan_of(64, "matrix=wgmma wgmma_parts=1").product[PRODUCT_WO].parts, 1);
  assert_int_equal(plan_of(64, "wgmma_strips=2").product[PRODUCT_WO].strips, 2);
  assert_int_equal(plan_of(64, "wgmma_strips=1").product[PRODUCT_GATE_UP].strips, 1);
  // Of 64 columns only, and no batch is divided into slices of these.
  assert_int_equal(plan_of(32, "wgmma_strips=2").product[PRODUCT_WO].strips, 1);
  assert_int_equal(plan_of(128, "wgmma_strips=2").product[PRODUCT_WO].strips, 1);
  const struct even_work halves =
      plan_of(64, "matrix=wgmma matrix_splits=2").product[PRODUCT_WO].work;
  assert_int_equal(halves.blocks, 2 * halves.tiles);
  assert_int_equal(plan_of(1, "step=streaming").stream.slots, 6);
  assert_int_equal(plan_of(1, "step=streaming").stream.flying, 2);
  assert_int_equal(plan_of(1, "step=streaming stream_flying=8").stream.slots, 6);
  assert_int_equal(plan_of(1, "step=streaming stream_flying=8").stream.flying, 8);
  // 4096 positions are 64 blocks.
  assert_int_equal(plan_of(1, "attention_splits=100").attention_splits, 64);
}

// KB that sm_90 gives for percent of its 228: the capacity that is not smaller (CUDA Programming
// Guide, Configuring L1/Shared Memory Balance).
static int capacity_for(int carveout) {
  static const int capacities[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  size_t i = 0;
  while (100 * capacities[i] < carveout * 228)
    i++;
  return capacities[i];
}

// All kernels of a step request the same amount of shared memory, and none needs more than that of
// the 228 KB that a multiprocessor of sm_90 has, plus 1 KB per block. Where they leave some, the
// nearest cache has 92 KB.
static void test_carveout_is_enough(void **state) {
  (void)state;
  static const struct {
    int batch, carveout;
    const char *tuning;
  } cases[] = {{1, 71, ""},
               {2, 71, ""},
               {64, 71, "matrix=registers"},
               {64, 100, ""},
               {256, 100, "matrix=wgmma"},
               {4, 71, "matrix=wgmma"}}; // vectors
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(capacity_for(cases[i].carveout), cases[i].carveout < 100 ? 164 : 228);
    const struct plan plan = plan_of(cases[i].batch, cases[i].tuning);
    size_t count = 0;
    struct gpu_launch *launches = gpu_plan_step(&plan, NULL, &count, NULL);
    assert_non_null(launches);
    for (size_t k = 0; k < count; k++) {
      assert_int_equal(launches[k].carveout, cases[i].carveout);
      if (100 * (launches[k].shared_bytes + 1024) > (size_t)cases[i].carveout * 228 * 1024)
        fail_msg("%s: %zu bytes of %d %%", launches[k].kernel, launches[k].shared_bytes,
                 cases[i].carveout);
    }
    free(launches);
  }
}

#define STREAMS "step=streaming, stream_flying=4 step=streaming, "

// What only measurement can choose, by device, weights, batch, experts and tuning.
static void test_variants(void **state) {
  (void)state;
  static const struct {
    const struct gpu_device *device;
    enum element weights;
    int batch, experts, ranks;
    const char *tuning, *variants;
  } cases[] = {
      {&h200, ELEMENT_BF16, 1, 0, 1, "", STREAMS},
      {&h200, ELEMENT_BF16, 4, 0, 1, "", STREAMS},
      {&h200, ELEMENT_E4M3, 2, 0, 1, "", STREAMS},
      {&h200, ELEMENT_E4M3, 4, 0, 1, "", STREAMS "matrix=registers, "},
      {&h200, ELEMENT_BF16, 5, 0, 1, "", "matrix=registers, "},
      {&h200, ELEMENT_E4M3, 64, 0, 1, "", "matrix=registers, wgmma_strips=1, "},
      {&h200, ELEMENT_MXFP4, 1, 0, 1, "", STREAMS "matrix=registers, "},
      {&h200, ELEMENT_BF16, 64, 8, 1, "", "matrix=wgmma, "},
      {&h200, ELEMENT_BF16, 1, 8, 1, "", STREAMS},
      {&h200, ELEMENT_BF16, 1, 0, 1, "attention_splits=4", ""},
      {&h200, ELEMENT_BF16, 1, 0, 2, "", ""},
      {&mi300x, ELEMENT_BF16, 1, 0, 1, "", "step=streaming, "},
      {&mi300x, ELEMENT_BF16, 1, 8, 1, "", "step=streaming, "},
      {&mi300x, ELEMENT_BF16, 64, 0, 1, "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct decode_request request = llama_8b;
    struct gpu_device device = *cases[i].device;
    char words[256] = "", found[256] = "";
    request.batch = cases[i].batch;
    request.ranks = cases[i].ranks;
    request.types.weights = cases[i].weights;
    if (cases[i].experts > 0)
      request.shape.experts =
          (struct decode_experts){.count = cases[i].experts, .chosen = 2, .hidden = 14336};
    assert_true(gpu_tuning_read(cases[i].tuning, &device.tuning, words, sizeof words));
    const char *variant;
    for (int n = 0; (variant = gpu_plan_variant(&request, &device, n)) != NULL; n++)
      snprintf(found + strlen(found), sizeof found - strlen(found), "%s, ", variant);
    if (strcmp(found, cases[i].variants) != 0)
      fail_msg("case %zu: expected '%s', found '%s'", i, cases[i].variants, found);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read_and_written),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_plans_follow),       cmocka_unit_test(test_variants),
      cmocka_unit_test(test_carveout_is_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
