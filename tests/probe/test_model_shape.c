// What the probe decodes, and what the model counts, from the same rows of data/models.csv.
#include "tests/support/fixture.h"
#include "tests/support/tables.h"

#include "kernels/cpu/backend.h"
#include "kernels/decode.h"
#include "kernels/family.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/planner.h"
#include "model/evidence/memory.h"
#include "probe/devices/model_shape.h"

#include <math.h>
#include <string.h>

static struct memory_model model_named(struct tables *tables, const char *id) {
  const struct table *models = tables_load(tables, CATALOG_MODELS);
  const long row = catalog_find(models, id);
  assert_true(row >= 0);
  return memory_model_of(models, (size_t)row);
}

static struct measurement_shape shape_named(struct tables *tables, const char *id) {
  struct measurement_shape shape;
  struct model_notes notes;
  assert_int_equal(model_shape_find(&tables->catalog, id, &shape, &notes), 0);
  return shape;
}

// The kernels count the same bytes for the same shapes: weights, of which they store norms in 32
// bits and read one embedding per row; and the cache, into which they write one slot per row.
static void test_both_count_alike(void **state) {
  (void)state;
  static const char *const models[] = {"tinyllama-1.1b", "llama-2-7b", "llama-2-70b"};
  const double batch = 3, context = 100;
  struct tables tables;
  tables_open(&tables, "data");
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    const struct memory_model model = model_named(&tables, models[i]);
    const struct measurement_shape shape = shape_named(&tables, models[i]);
    struct decode_cost cost;
    const struct decode_request request = {
        .shape = model_shape_of(&shape, shape.layers),
        .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
        .batch = (int)batch,
        .context = (int)context,
        .threads = 1};
    assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_OK);
    const double norms = (2 * model.layers + 1) * model.hidden;
    assert_true((double)cost.weight_bytes == memory_weights(&model, "bf16") + 2 * norms -
                                                 2 * (model.vocab - batch) * model.hidden);
    assert_true((double)cost.kv_bytes == batch * memory_kv(&model, context + 1, 16));
  }
  arena_free(&tables.arena);
}

// The differences of each model from a Llama, according to its paper or code.
static void test_pieces_of_every_row(void **state) {
  (void)state;
  enum {
    QWEN3 = FAMILY_QK_NORM,
    FALCON = FAMILY_LAYER_NORM | FAMILY_GELU | FAMILY_PARALLEL,
    GPT_OSS = FAMILY_CLAMPED_SWIGLU | FAMILY_BIASES | FAMILY_SINKS | FAMILY_WINDOW | FAMILY_ROPE |
              FAMILY_EXPERTS,
    DEEPSEEK = FAMILY_BIASES | FAMILY_ROPE | FAMILY_EXPERTS | FAMILY_SIGMOID_ROUTER |
               FAMILY_SHARED_EXPERT | FAMILY_DENSE_LAYERS | FAMILY_LATENT | FAMILY_SCORE_SCALE,
  };
  static const struct {
    const char *id;
    unsigned pieces;
  } rows[] = {
      {"tinyllama-1.1b", 0},
      {"smollm-135m", 0},
      {"llama-2-7b", 0},
      {"llama-2-70b", 0},
      {"llama-3.1-8b", FAMILY_ROPE},
      {"llama-3.1-70b", FAMILY_ROPE},
      {"llama-3.1-405b", FAMILY_ROPE},
      {"mistral-7b", FAMILY_WINDOW},
      {"mixtral-8x7b", FAMILY_EXPERTS},
      {"mixtral-8x22b", FAMILY_EXPERTS},
      {"gpt-oss-20b", GPT_OSS},
      {"gpt-oss-120b", GPT_OSS},
      {"qwen2.5-7b", FAMILY_BIASES},
      {"qwen2.5-72b", FAMILY_BIASES},
      {"qwen3-8b", QWEN3},
      {"qwen3-32b", QWEN3},
      {"qwen3-235b-a22b", QWEN3 | FAMILY_EXPERTS},
      {"deepseek-v3", DEEPSEEK},
      {"falcon-40b", FALCON},
      {"falcon-180b", FALCON},
      {"phi-3-mini", FAMILY_WINDOW},
  };
  struct tables tables;
  tables_open(&tables, "data");
  assert_int_equal(tables_load(&tables, CATALOG_MODELS)->rows, sizeof rows / sizeof rows[0]);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct measurement_shape shape;
    struct model_notes notes;
    assert_int_equal(model_shape_find(&tables.catalog, rows[i].id, &shape, &notes), 0);
    const struct decode_shape decoded = model_shape_of(&shape, shape.layers);
    if (family_pieces(&decoded) != rows[i].pieces)
      fail_msg("%s: pieces %#x, expected %#x", rows[i].id, family_pieces(&decoded), rows[i].pieces);
    assert_null(family_fault(&decoded));
    assert_string_equal(notes.stand_ins, ""); // every row has its own
    assert_string_equal(notes.expert_precision,
                        strncmp(rows[i].id, "gpt-oss", 7) == 0 ? "mxfp4" : "");
  }
  arena_free(&tables.arena);
}

// docs/models.md: the GPU kernels support every row.
static void test_gpus_know_every_row(void **state) {
  (void)state;
  static const struct gpu_device devices[] = {
      {.described = {.name = "H200", .units = 132}, .warp = 32, .shared_bytes = 232448},
      {.described = {.name = "MI300X", .units = 304},
       .warp = 64,
       .shared_bytes = 65536,
       .any_chunk = true}};
  struct tables tables;
  tables_open(&tables, "data");
  const struct table *models = tables_load(&tables, CATALOG_MODELS);
  for (size_t row = 0; row < models->rows; row++)
    for (int i = 0; i < 4; i++) {
      const char *id = table_cell(models, row, "id"), *why = NULL;
      const struct measurement_shape shape = shape_named(&tables, id);
      const struct decode_request request = {.shape = model_shape_of(&shape, shape.layers),
                                             .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16,
                                                       ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
                                             .batch = i < 2 ? 1 : 64,
                                             .context = 512};
      struct plan plan;
      if (gpu_plan_make(&request, 0, &devices[i % 2], &plan, &why) != DECODE_OK)
        fail_msg("%s, %s: %s", devices[i % 2].described.name, id, why);
    }
  arena_free(&tables.arena);
}

// Figures that only these two models have.
static void test_figures_of_the_odd_ones(void **state) {
  (void)state;
  struct tables tables;
  tables_open(&tables, "data");
  const struct measurement_shape oss = shape_named(&tables, "gpt-oss-120b");
  const struct decode_shape gpt = model_shape_of(&oss, oss.layers);
  assert_int_equal(gpt.biases, BIAS_QKV | BIAS_OUTPUT | BIAS_MLP | BIAS_ROUTER);
  assert_int_equal(gpt.rope.scaling, ROPE_YARN);
  assert_false(gpt.rope.whole);
  expect_near((double)gpt.rope.magnitude, 0.1 * log(32) + 1, 1e-7, "YaRN's concentration");
  assert_int_equal(family_layer(&gpt, 0).window, 128);
  assert_int_equal(family_layer(&gpt, 1).window, 0);
  assert_int_equal(gpt.experts.hidden, 2880);
  const struct measurement_shape v3 = shape_named(&tables, "deepseek-v3");
  const struct decode_shape deepseek = model_shape_of(&v3, v3.layers);
  expect_near((double)deepseek.score_scale, pow(0.1 * log(40) + 1, 2), 1e-7, "mscale squared");
  assert_int_equal(deepseek.latent.rank, 512);
  assert_int_equal(deepseek.latent.query_rank, 1536);
  assert_int_equal(deepseek.latent.rope_dim, 64);
  assert_int_equal(deepseek.latent.value_dim, 128);
  assert_int_equal(deepseek.ffn_hidden, 18432);
  assert_int_equal(deepseek.experts.hidden, 2048);
  assert_int_equal(deepseek.experts.shared_hidden, 2048);
  assert_int_equal(deepseek.experts.kept_groups, 4);
  expect_near((double)deepseek.experts.scale, 2.5, 1e-9, "routed scaling");
  assert_true(deepseek.rope.interleaved && deepseek.rope.whole);
  arena_free(&tables.arena);
}

static void test_depths_of_whole_periods(void **state) {
  (void)state;
  static const struct {
    const char *id;
    int asked, next;
  } cases[] = {
      {"llama-2-7b", 1, 1},  {"mistral-7b", 3, 3},  {"gpt-oss-20b", 1, 2},
      {"gpt-oss-20b", 2, 2}, {"gpt-oss-20b", 5, 6}, {"deepseek-v3", 1, 4},
      {"deepseek-v3", 3, 4}, {"deepseek-v3", 4, 4}, {"deepseek-v3", 9, 9},
  };
  struct tables tables;
  tables_open(&tables, "data");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct measurement_shape shape = shape_named(&tables, cases[i].id);
    assert_int_equal(model_shape_depth(&shape, cases[i].asked), cases[i].next);
  }
  const struct measurement_shape mistral = shape_named(&tables, "mistral-7b");
  assert_true(model_shape_window_is_idle(&mistral, 4096));
  assert_false(model_shape_window_is_idle(&mistral, 4097));
  const struct measurement_shape llama = shape_named(&tables, "llama-2-7b");
  assert_false(model_shape_window_is_idle(&llama, 1));
  arena_free(&tables.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_count_alike),
      cmocka_unit_test(test_pieces_of_every_row),
      cmocka_unit_test(test_gpus_know_every_row),
      cmocka_unit_test(test_figures_of_the_odd_ones),
      cmocka_unit_test(test_depths_of_whole_periods),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
