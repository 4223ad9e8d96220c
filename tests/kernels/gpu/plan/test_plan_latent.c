// Plans of latent attention on GPUs, at DeepSeek-V3's sizes: launches stay within their regions, on
// several ranks and in a prompt's passes too; the cost of a step; and what is refused.
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/limits.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/planner.h"
#include "tests/support/kernels/planned.h"

// DeepSeek-V3 (data/models.csv).
static const struct decode_shape deepseek = {
    .layers = 61,
    .hidden = 7168,
    .heads = 128,
    .kv_heads = 128,
    .head_dim = 192,
    .ffn_hidden = 18432,
    .vocab = 129280,
    .norm_epsilon = 1e-6f,
    .rope_theta = 1e4f,
    .biases = BIAS_ROUTER,
    .latent = {.rank = 512, .query_rank = 1536, .rope_dim = 64, .value_dim = 128},
    .experts = {.count = 256,
                .chosen = 8,
                .hidden = 2048,
                .shared_hidden = 2048,
                .dense_layers = 3,
                .router = ROUTER_SIGMOID,
                .groups = 8,
                .kept_groups = 4,
                .scale = 2.5f},
    .rope = {.interleaved = true}};

static void check_heads(const struct plan *plan, const struct gpu_launch *launch) {
  const struct heads_arguments *a = launch->arguments;
  const struct product_arguments *p = &a->product;
  const bool first = planned_region_at(plan, p->weights) == REGION_K_B; // or v_b
  const size_t heads = (size_t)plan->request.shape.heads, rows = (size_t)p->rows;
  const size_t whole = heads * rows, row = (size_t)p->stride * 2;
  assert_int_equal(launch->grid[2], heads);
  planned_within(plan, first ? REGION_K_B : REGION_V_B, p->weights, whole * row);
  assert_int_equal(a->output_step, rows);
  assert_int_equal(p->output_stride, whole);
  planned_within(plan, first ? REGION_ABSORBED : REGION_ATTENDED, p->output,
                 (size_t)p->batch * whole * sizeof(float));
  assert_true(launch->shared_bytes + 16 <= plan->device.shared_bytes);
  if (planned_begins(launch, "heads_matrix"))
    planned_within(plan, REGION_ACTIVATIONS, p->activations,
                   (heads - 1) * a->activations_step + (size_t)p->batch_padded * row);
  else
    planned_within(plan, planned_region_at(plan, p->input), p->input,
                   ((size_t)(p->batch - 1) * (size_t)p->input_stride +
                    (heads - 1) * (size_t)a->input_step + (size_t)p->columns) *
                       sizeof(float));
}

// Grid and splits.
static void check_rows(const struct plan *plan, const struct gpu_launch *launch) {
  const struct latent_arguments *a = launch->arguments;
  const size_t batch = launch->grid[2], items = batch * (size_t)a->head_groups;
  assert_int_equal(batch, plan->request.batch);
  assert_true(a->head_groups * LATENT_HEADS >= a->heads);
  planned_within(plan, REGION_COUNTERS, a->counters, items * sizeof(unsigned));
  assert_in_range(a->splits, 1, a->context_padded / VALUE_BLOCK);
  if (a->splits > 1)
    planned_within(plan, REGION_PARTIALS, a->partials,
                   items * (size_t)a->splits * LATENT_HEADS * (LATENT_RANK + ATTENTION_PARTIAL) *
                       sizeof(float));
}

// Of a prompt: the positions' own angles, and a column or an entry for each.
static void check_positions(const struct plan *plan, const struct gpu_launch *launch) {
  const struct latent_arguments *a = launch->arguments;
  const size_t width = (size_t)a->head_dim * sizeof(float);
  const char *angles = planned_base + plan->region[REGION_PROMPT_ANGLES].offset;
  assert_ptr_equal(a->angles, angles + (size_t)a->first * width);
  planned_within(plan, REGION_PROMPT_ANGLES, a->angles, (size_t)a->batch * width);
  if (strstr(launch->kernel, "_entries"))
    assert_int_equal(launch->grid[0], a->batch);
  else
    assert_in_range((int)launch->grid[0] * LATENT_HEADS, a->batch * a->heads,
                    a->batch * a->heads + LATENT_HEADS - 1);
}

static void check_latent(const struct plan *plan, const struct gpu_launch *launch) {
  const struct latent_arguments *a = launch->arguments;
  const size_t element = planned_begins(launch, "latent_bf16") ? 2 : 1;
  const size_t batch = plan->prompt ? (size_t)a->batch : launch->grid[2];
  const size_t rows = plan->prompt ? 1 : batch, rank = (size_t)a->rank;
  assert_true(a->stride <= LATENT_STRIDE);
  planned_within(plan, REGION_KEYS, a->latents,
                 rows * (size_t)a->context_padded * (size_t)a->stride * element);
  planned_within(plan, REGION_QKV_OUT, a->entries,
                 ((batch - 1) * (size_t)a->entry_stride + rank + (size_t)a->rope_dim) *
                     sizeof(float));
  planned_within(plan, planned_region_at(plan, a->queries), a->queries,
                 ((batch - 1) * (size_t)a->query_stride + (size_t)(a->heads * a->head_dim)) *
                     sizeof(float));
  planned_within(plan, REGION_LATENT_SUMS, a->output,
                 batch * (size_t)a->heads * rank * sizeof(float));
  assert_true(launch->shared_bytes + 16 <= plan->device.shared_bytes);
  if (plan->prompt)
    check_positions(plan, launch);
  else
    check_rows(plan, launch);
}

// In every layer k_b and v_b, for all rows of the batch, with its attention between them: one
// launch, or a prompt's two. Frees the launches.
static void check_launches(const struct plan *plan, struct gpu_launch *launches, size_t count,
                           int batch) {
  size_t rows = 0, attentions = 0;
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    if (planned_begins(&launches[i], "heads_")) {
      const struct heads_arguments *a = launches[i].arguments;
      check_heads(plan, &launches[i]);
      rows += (size_t)a->product.batch;
    }
    if (planned_begins(&launches[i], "latent_")) {
      check_latent(plan, &launches[i]);
      attentions++;
    }
  }
  const size_t layers = (size_t)plan->request.shape.layers;
  assert_int_equal(attentions, layers * (plan->prompt ? 2 : 1));
  assert_int_equal(rows, 2 * layers * (size_t)batch);
  free(launches);
}

static void check_latent_step(const struct plan *plan) {
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, NULL);
  check_launches(plan, launches, count, plan->request.batch);
}

static void test_latent(void **state) {
  (void)state;
  static const int batches[] = {1, 2, 4, 5, 33, 64, 256};
  struct decode_shape plain = deepseek; // queries directly from wq
  plain.latent.query_rank = 0;
  plain.heads = 17;
  const struct decode_shape *const shapes[] = {&deepseek, &plain};
  for (size_t s = 0; s < 2; s++)
    for (size_t d = 0; d < PLANNED_DEVICES; d++)
      for (size_t m = 0; m < PLANNED_TYPES; m++)
        for (size_t b = 0; b < sizeof batches / sizeof batches[0] && d != 2; b++) {
          const struct decode_request request =
              planned_request(shapes[s], &planned_types[m], batches[b], b % 2 ? 513 : 4096);
          const struct plan plan = planned(&request, planned_devices[d]);
          struct decode_cost gpu = gpu_plan_cost(&plan), cpu;
          planned_regions(&plan);
          check_latent_step(&plan);
          if (cpu_backend.cost(0, &request, &cpu) != DECODE_OK)
            continue;
          assert_int_equal(gpu.weight_bytes, cpu.weight_bytes);
          assert_int_equal(gpu.kv_bytes, cpu.kv_bytes);
          assert_int_equal(gpu.operations, cpu.operations);
        }
  const struct decode_request request =
      planned_request(&deepseek, &planned_types[PLANNED_E4M3_KV], 1, 512);
  planned_refused(&request, &planned_small, "more shared memory");
  struct gpu_device device = planned_h200;
  device.cooperative = true;
  device.tuning.step = STEP_STREAMING;
  assert_non_null(planned(&request, &device).fallback);
  // Latents of 576 elements in each layer, the new one written.
  const struct plan plan = planned(&request, &planned_h200);
  assert_int_equal(gpu_plan_cache_bytes(&plan), 61 * 513 * 576);
}

// A rank has its heads, all of the entries, and its heads' rows of k_b, v_b and wo.
static void test_latent_in_ranks(void **state) {
  (void)state;
  for (size_t m = 0; m < PLANNED_TYPES; m++) {
    struct decode_request request = planned_request(&deepseek, &planned_types[m], 4, 4096);
    const struct plan whole = planned(&request, &planned_h200);
    request.ranks = 8;
    for (int rank = 0; rank < 8; rank += 7) {
      const struct plan plan = planned_rank(&request, rank, &planned_h200);
      planned_regions(&plan);
      check_latent_step(&plan);
      assert_int_equal(plan.product[PRODUCT_K_B].copies, 128 / 8);
      assert_int_equal(plan.product[PRODUCT_WO].columns, 128 * 128 / 8);
      assert_int_equal(plan.product[PRODUCT_QKV].rows, whole.product[PRODUCT_QKV].rows);
      assert_true(gpu_plan_cost(&plan).kv_bytes == gpu_plan_cost(&whole).kv_bytes);
      assert_true(plan.bytes < whole.bytes / 5);
    }
  }
}

// Passes of a mixture and of a dense model; the library takes all products but those of heads, and
// those of experts if their types agree.
static void test_latent_prompts(void **state) {
  (void)state;
  static const int counts[] = {1, 17, 256, 2048};
  struct decode_shape dense = deepseek;
  dense.experts = (struct decode_experts){0};
  const struct decode_shape *const shapes[] = {&deepseek, &dense};
  for (size_t s = 0; s < 2; s++)
    for (size_t d = 0; d < 2; d++)
      for (size_t m = 0; m < PLANNED_TYPES; m++) {
        struct decode_request request = planned_request(shapes[s], &planned_types[m], 2, 4096);
        request.chunk = 3000;
        const struct plan plan = planned(&request, planned_devices[d]);
        const int most = LIMITS_PASS;
        struct plan prompt;
        assert_null(gpu_plan_prompt(&plan, &prompt));
        assert_int_equal(prompt.request.batch, most);
        assert_int_equal(plan.bytes, prompt.bytes);
        assert_false(gpu_plan_fits_library(&prompt, PRODUCT_K_B));
        assert_false(gpu_plan_fits_library(&prompt, PRODUCT_V_B));
        assert_int_equal(gpu_plan_fits_library(&prompt, PRODUCT_Q_B),
                         gpu_plan_fits_library(&prompt, PRODUCT_WO));
        for (size_t c = 0; c < sizeof counts / sizeof counts[0] && counts[c] <= most; c++) {
          const struct prompt_piece piece = {
              .row = 1, .first = 4096 - counts[c], .count = counts[c], .ends = true};
          size_t count = 0;
          struct gpu_launch *launches = gpu_plan_pass(&prompt, &piece, planned_base, &count);
          check_launches(&prompt, launches, count, counts[c]);
        }
      }
}

// What the kernels for latent attention do not support.
static void test_latent_refused(void **state) {
  (void)state;
  const struct decode_request good =
      planned_request(&deepseek, &planned_types[PLANNED_BF16], 1, 10);
#define REFUSED(field, value, words)                                                               \
  do {                                                                                             \
    struct decode_request bad = good;                                                              \
    bad.field = (value);                                                                           \
    planned_refused(&bad, &planned_h200, words);                                                   \
  } while (0)
  REFUSED(shape.latent.rank, 516, "a rank of up to 512");
  REFUSED(shape.latent.rope_dim, 68, "up to 576 elements");
  REFUSED(shape.latent.rank, 510, "multiples of 4");
  REFUSED(shape.latent.rope_dim, 62, "multiples of 4");
  REFUSED(shape.latent.query_rank, 1538, "multiples of 4");
  REFUSED(shape.latent.value_dim, 1024, "wider than");
#undef REFUSED
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_latent),
      cmocka_unit_test(test_latent_in_ranks),
      cmocka_unit_test(test_latent_prompts),
      cmocka_unit_test(test_latent_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
