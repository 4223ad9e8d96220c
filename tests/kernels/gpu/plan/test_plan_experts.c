// Plans of mixtures of experts on GPUs: every launch stays within its regions, in every format, on
// several ranks, and by the vendor's library; which experts this takes; and the cost of a step.
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/arithmetic.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/units.h"
#include "kernels/gpu/vendor.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/planned.h"

// There is room for the results of all experts' slots, and for what items may read beyond the last
// slot.
static void check_experts(const struct plan *plan) {
  size_t count = 0, routes = 0;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, NULL);
  const size_t slots = (size_t)plan->experts.slots;
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    const struct expert_arguments *a = launches[i].arguments;
    routes += planned_begins(&launches[i], "route");
    assert_in_range(launches[i].grid[2], 1, 65535);
    if (!planned_begins(&launches[i], "expert_"))
      continue;
    const bool matrix = planned_begins(&launches[i], "expert_matrix"),
               down = a->product.second == NULL;
    const size_t stride = (size_t)a->product.stride, rows = (size_t)a->product.rows;
    const size_t copies = (size_t)plan->request.shape.experts.count;
    const char *const kind = launches[i].kernel + strlen("expert_");
    const enum element type = planned_weights(kind);
    const size_t row = lies_in_units(type) ? unit_row_bytes(type, a->product.stride)
                                           : stride * planned_weight_bytes(kind);
    planned_within(plan, down ? REGION_EXPERT_DOWN : REGION_EXPERT_GATE, a->product.weights,
                   copies * rows * row);
    assert_int_equal(a->product.bias != NULL, (plan->request.shape.biases & BIAS_MLP) != 0);
    if (a->product.bias)
      planned_within(plan, down ? REGION_EXPERT_DOWN_BIAS : REGION_EXPERT_GATE_BIAS,
                     a->product.bias, copies * rows * sizeof(float));
    planned_within(plan, down ? REGION_EXPERT_SUMS : REGION_EXPERT_OUT, a->product.output,
                   slots * rows * sizeof(float));
    planned_within(plan, REGION_ITEMS, a->items, launches[i].grid[2] * sizeof *a->items);
    if (matrix)
      planned_within(plan, REGION_GATHERED, a->product.activations,
                     (slots + (size_t)a->product.batch_padded) * stride *
                         (strstr(launches[i].kernel, "e4m3_e4m3") ? 1 : 2));
    assert_true(launches[i].shared_bytes + 16 <= plan->device.shared_bytes);
  }
  assert_int_equal(routes, plan->experts.layers);
  free(launches);
}

// ---- by the vendor's library, in a prompt's pass

static struct plan prompt_plan(int hidden, int own, int count, int chosen, enum element element,
                               int positions, int tuned) {
  const enum element activations = lies_in_units(element) ? ELEMENT_BF16 : element;
  const struct decode_types types = {element,      activations, ELEMENT_BF16,
                                     ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32};
  struct gpu_device device = planned_h200;
  struct decode_shape shape = piece_plain;
  shape.hidden = hidden;
  shape.biases = BIAS_MLP;
  shape.experts = (struct decode_experts){.count = count, .chosen = chosen, .hidden = own};
  struct decode_request request = planned_request(&shape, &types, 1, 4096);
  request.chunk = positions;
  device.tuning.library_count = tuned;
  const struct plan plan = planned(&request, &device);
  struct plan prompt;
  assert_null(gpu_plan_prompt(&plan, &prompt));
  return prompt;
}

// Experts of Mixtral 8x7B, DeepSeek-V3 and Qwen3-30B-A3B.
static void test_experts_for_a_library(void **state) {
  (void)state;
  static const struct {
    int hidden, own, count, chosen, positions, tuned;
    enum element element;
    int from;
    bool fits;
  } cases[] = {
      {4096, 14336, 8, 2, 2048, 0, ELEMENT_BF16, 64, true},
      {4096, 14336, 8, 2, 128, 0, ELEMENT_BF16, 64, true},
      {4096, 14336, 8, 2, 127, 0, ELEMENT_BF16, 64, false},
      {7168, 2048, 256, 8, 2048, 0, ELEMENT_E4M3, 64, true},
      {2048, 768, 128, 8, 2048, 0, ELEMENT_BF16, 456, false},
      {2048, 768, 128, 8, 2048, 256, ELEMENT_BF16, 256, true},
      {2048, 768, 128, 8, 2048, 257, ELEMENT_BF16, 257, false},
      {4096, 14336, 8, 2, 2048, 0, ELEMENT_MXFP4, 64, false},
      {40, 31, 8, 2, 2048, 1, ELEMENT_BF16, 1, false}, // matrices of an odd number of 128 bytes
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct plan prompt =
        prompt_plan(cases[i].hidden, cases[i].own, cases[i].count, cases[i].chosen,
                    cases[i].element, cases[i].positions, cases[i].tuned);
    assert_int_equal(prompt.experts.library_count, cases[i].from);
    assert_int_equal(gpu_plan_fits_library(&prompt, PRODUCT_EXPERT_GATE_UP), cases[i].fits);
  }
}

static void check_multiplied(const struct plan *plan, const struct vendor_arguments *a,
                             const struct expert_run *run) {
  const struct vendor_product *p = &a->multiplied;
  const bool down = a->product == PRODUCT_EXPERT_DOWN;
  const size_t row = (size_t)p->size.stride * gpu_element_bytes(p->size.element);
  const size_t vectors = (size_t)p->size.vectors, rows = (size_t)p->size.rows;
  const enum plan_region weights = planned_region_at(plan, p->weights);
  assert_true(p->size.vectors >= run->count && p->size.vectors < run->count + 64);
  assert_true(weights == REGION_EXPERT_DOWN
                  ? down
                  : !down && (weights == REGION_EXPERT_GATE || weights == REGION_EXPERT_UP));
  const void *const begins[] = {p->weights, p->activations, p->out, p->workspace};
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
    assert_int_equal((uintptr_t)begins[i] % VENDOR_ALIGNMENT, 0);
  planned_within(plan, weights, p->weights, rows * row);
  planned_within(plan, REGION_GATHERED, p->activations, vectors * row);
  planned_within(plan, REGION_SUMS, p->out, vectors * rows * sizeof(float));
  planned_within(plan, REGION_WORKSPACE, p->workspace, VENDOR_WORKSPACE);
}

// Two runs of our own tiles around an expert with nearly all of a pass's positions.
static void check_runs(const struct plan *prompt, enum product_name name) {
  const int batch = prompt->request.batch;
  const struct expert_run runs[] = {
      {.items = 2},
      {.item = 2, .items = 3, .library = true, .expert = 5, .first = 37, .count = batch - 1},
      {.item = 5, .items = 1}};
  const struct prompt_piece piece = {.count = batch, .ends = true};
  size_t count = 0, own = 0, multiplied = 0, finished = 0;
  struct gpu_launch *launches =
      gpu_plan_pass_experts(prompt, &piece, 1, name, runs, 3, planned_base, &count);
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    if (planned_begins(&launches[i], "expert_matrix")) {
      const struct expert_arguments *a = launches[i].arguments;
      const char *items = planned_base + prompt->region[REGION_ITEMS].offset + ITEMS_OFFSET;
      const struct expert_run *run = &runs[2 * own++];
      assert_ptr_equal(a->items, items + (size_t)run->item * sizeof *a->items);
      assert_int_equal(launches[i].grid[2], run->items);
    } else if (planned_begins(&launches[i], VENDOR_MULTIPLY)) {
      check_multiplied(prompt, launches[i].arguments, &runs[1]);
      multiplied++;
    } else if (planned_begins(&launches[i], "finish")) {
      const struct finish_arguments *a = launches[i].arguments;
      const size_t rows = (size_t)a->product.rows;
      planned_within(prompt, planned_region_at(prompt, a->product.output), a->product.output,
                     (size_t)runs[1].count * rows * sizeof(float));
      assert_int_equal(launches[i].grid[1], runs[1].count);
      assert_non_null(a->product.bias);
      finished++;
    }
  }
  assert_int_equal(own, 2);
  assert_int_equal(multiplied, name == PRODUCT_EXPERT_DOWN ? 1 : 2);
  assert_int_equal(finished, 1);
  free(launches);
}

// What finishes the product of an expert that has the slots from 16 on; and those of the first.
static struct finish_arguments finishing(const struct plan *prompt, enum product_name name,
                                         int expert) {
  const struct expert_run run = {
      .items = 1, .library = true, .expert = expert, .first = expert ? 16 : 0, .count = 16};
  const struct prompt_piece piece = {.count = prompt->request.batch, .ends = true};
  size_t count = 0;
  struct gpu_launch *launches =
      gpu_plan_pass_experts(prompt, &piece, 1, name, &run, 1, planned_base, &count);
  assert_non_null(launches);
  assert_true(planned_begins(&launches[count - 1], "finish"));
  const struct finish_arguments *a = launches[count - 1].arguments;
  const struct finish_arguments out = *a;
  free(launches);
  return out;
}

// Matrices, scales and biases are expert by expert, and outputs slot by slot. The scales of a
// tensor's rows are all the same, so that results do not show which were taken.
static void check_expert(const struct plan *prompt, enum product_name name) {
  enum { EXPERT = 5 };
  const struct product_arguments first = finishing(prompt, name, 0).product;
  const struct product_arguments a = finishing(prompt, name, EXPERT).product;
  const size_t row = gpu_plan_row_bytes(&prompt->product[name]);
  const ptrdiff_t rows = EXPERT * (ptrdiff_t)a.rows;
  assert_int_equal((const char *)a.weights - (const char *)first.weights, rows * (ptrdiff_t)row);
  assert_int_equal(a.bias - first.bias, rows);
  assert_int_equal(a.output - first.output, 16 * (ptrdiff_t)a.output_stride);
  if (a.scales)
    assert_int_equal(a.scales - first.scales, rows);
  assert_int_equal(a.second != NULL, name == PRODUCT_EXPERT_GATE_UP);
  if (!a.second)
    return;
  assert_int_equal((const char *)a.second - (const char *)first.second, rows * (ptrdiff_t)row);
  assert_int_equal(a.second_bias - first.second_bias, rows);
  if (a.scales)
    assert_int_equal(a.second_scales - first.second_scales, rows);
}

static void test_runs_of_experts(void **state) {
  (void)state;
  static const int positions[] = {17, 100, 129, 1000, 2048};
  static const enum element elements[] = {ELEMENT_BF16, ELEMENT_E4M3};
  for (size_t e = 0; e < 2; e++)
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
      struct plan prompt = prompt_plan(80, 48, 8, 2, elements[e], positions[i], 1);
      for (int p = PRODUCT_EXPERT_GATE_UP; p <= PRODUCT_EXPERT_DOWN; p++) {
        prompt.product[p].library = gpu_plan_fits_library(&prompt, (enum product_name)p);
        assert_true(prompt.product[p].library);
        check_runs(&prompt, (enum product_name)p);
        check_expert(&prompt, (enum product_name)p);
      }
    }
}

// ---- steps

// What is read, computed and expected for experts; every launch stays within its regions.
static void check_mixture(const struct decode_shape *shape, const struct decode_types *types,
                          const struct gpu_device *device, int batch) {
  const struct decode_request request = planned_request(shape, types, batch, 777);
  const struct plan plan = planned(&request, device);
  const struct decode_cost gpu = gpu_plan_cost(&plan);
  struct decode_cost cpu;
  planned_regions(&plan);
  check_experts(&plan);
  if (cpu_backend.cost(0, &request, &cpu) != DECODE_OK)
    return; // activations in e4m3
  assert_int_equal(gpu.weight_bytes, cpu.weight_bytes);
  assert_int_equal(gpu.expert_bytes, cpu.expert_bytes);
  assert_true(gpu.expected_experts == cpu.expected_experts);
  assert_int_equal(gpu.operations, cpu.operations);
}

static void test_experts(void **state) {
  (void)state;
  struct decode_shape shape = piece_plain;
  shape.layers = 3;
  shape.biases = BIAS_ROUTER;
  shape.experts = (struct decode_experts){.count = 24,
                                          .chosen = 4,
                                          .hidden = 33,
                                          .shared_hidden = 88,
                                          .dense_layers = 1,
                                          .router = ROUTER_SOFTMAX_ALL};
  for (size_t d = 0; d < PLANNED_DEVICES; d++)
    for (size_t m = 0; m < PLANNED_TYPES; m++)
      for (int batch = 1; batch <= 256; batch *= 4)
        check_mixture(&shape, &planned_types[m], planned_devices[d], batch);
}

// As in gpt-oss: only the experts are in few bits, with biases, after attention in bf16. Up to the
// batch of the vector kernels, these compute all but the experts' products.
static void test_experts_in_units(void **state) {
  (void)state;
  struct decode_shape shape = piece_plain;
  shape.mlp = MLP_CLAMPED_SWIGLU;
  shape.biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP | BIAS_ROUTER;
  shape.experts = (struct decode_experts){.count = 12, .chosen = 4, .hidden = 101};
  for (size_t m = 0; m < PLANNED_TYPES; m++)
    for (int batch = 1; batch <= 256; batch *= 4) {
      struct decode_types types = planned_types[PLANNED_BF16];
      types.experts = planned_types[m].weights;
      check_mixture(&shape, &types, &planned_h200, batch);
      const struct decode_request request = planned_request(&shape, &types, batch, 777);
      const struct plan plan = planned(&request, &planned_h200);
      assert_int_equal(plan.product[PRODUCT_QKV].vector, batch <= 4);
      assert_int_equal(plan.product[PRODUCT_EXPERT_DOWN].vector,
                       batch <= 4 && !lies_in_units(types.experts));
    }
}

// What the ranks of a mixture add up: the stream and the biases of down come from the first one.
static void check_combining(const struct plan *plan) {
  size_t count = 0, combines = 0;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, NULL);
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    const struct combine_arguments *c = launches[i].arguments;
    const struct expert_arguments *e = launches[i].arguments;
    if (planned_begins(&launches[i], "combine")) {
      assert_int_equal(c->without_residual, plan->rank > 0);
      combines++;
    }
    if (planned_begins(&launches[i], "expert_") && !e->product.second)
      assert_int_equal(e->product.bias == NULL, plan->rank > 0);
  }
  assert_int_equal(combines, plan->experts.layers);
  free(launches);
}

// gpt-oss-120b in the form in which it ships: its experts' 2880 rows are 90 blocks; two ranks have
// the same number, and of four or eight the first two have one more than the others.
static void test_experts_in_ranks(void **state) {
  (void)state;
  const struct decode_shape shape = {.layers = 36,
                                     .hidden = 2880,
                                     .heads = 64,
                                     .kv_heads = 8,
                                     .head_dim = 64,
                                     .vocab = 201088,
                                     .norm_epsilon = 1e-5f,
                                     .rope_theta = 150000,
                                     .mlp = MLP_CLAMPED_SWIGLU,
                                     .sinks = true,
                                     .window = 128,
                                     .full_every = 2,
                                     .biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP | BIAS_ROUTER,
                                     .experts = {.count = 128, .chosen = 4, .hidden = 2880}};
  struct decode_types types = planned_types[PLANNED_BF16];
  types.experts = ELEMENT_MXFP4;
  for (int batch = 1; batch <= 64; batch *= 8) {
    struct decode_request request = planned_request(&shape, &types, batch, 4096);
    const struct plan whole = planned(&request, &planned_h200);
    const struct decode_cost all = gpu_plan_cost(&whole);
    for (request.ranks = 2; request.ranks <= 8; request.ranks *= 2) {
      uint64_t bytes = 0, most = 0;
      int rows = 0;
      for (int rank = 0; rank < request.ranks; rank++) {
        const struct plan plan = planned_rank(&request, rank, &planned_h200);
        const int more = 90 % request.ranks > rank, blocks = 90 / request.ranks + more;
        const uint64_t own = gpu_plan_cost(&plan).expert_bytes;
        assert_int_equal(plan.product[PRODUCT_EXPERT_DOWN].columns, 32 * blocks);
        assert_true(gpu_plan_cost(&plan).expected_experts == all.expected_experts);
        planned_regions(&plan);
        check_combining(&plan);
        rows += plan.product[PRODUCT_EXPERT_GATE_UP].rows;
        bytes += own;
        most = rank == 0 ? own : most;
        assert_true(own <= most);
      }
      assert_int_equal(rows, 2880);
      // Each rank holds the biases of down, which only the first one adds.
      const uint64_t again = (uint64_t)(request.ranks - 1) * 2880 * sizeof(float);
      assert_true(bytes == all.expert_bytes + again);
    }
    request.ranks = 2;
    const struct plan half = planned(&request, &planned_h200);
    assert_true(half.bytes < whole.bytes * 11 / 20); // the embedding is whole
    assert_true(2 * half.region[REGION_EXPERT_DOWN].layer_bytes <=
                whole.region[REGION_EXPERT_DOWN].layer_bytes * 107 / 100); // padded to units
  }
}

// Vector kernels multiply floats; for experts in units, which have only matrix kernels at any
// batch, it is what their device has an instruction for.
static void test_arithmetic(void **unused) {
  static const struct {
    enum element weights, experts;
    int batch;
    const struct gpu_device *device;
    const char *words;
  } cases[] = {
      {ELEMENT_BF16, ELEMENT_F32, 1, &planned_h200, "converted bf16 to f32"},
      {ELEMENT_BF16, ELEMENT_F32, 16, &planned_h200, "native bf16"},
      {ELEMENT_BF16, ELEMENT_MXFP4, 1, &planned_h200,
       "native bf16; converted bf16 to f32, mxfp4 to bf16"},
      {ELEMENT_BF16, ELEMENT_MXFP4, 16, &planned_h200, "native bf16; converted mxfp4 to bf16"},
      {ELEMENT_E4M3, ELEMENT_MXFP4, 1, &planned_mi300x,
       "native bf16; converted e4m3 to f32, bf16 to f32, mxfp4 to bf16"},
  };
  (void)unused;
  const struct decode_shape shape = {.layers = 2,
                                     .hidden = 256,
                                     .heads = 2,
                                     .kv_heads = 1,
                                     .head_dim = 64,
                                     .vocab = 99,
                                     .norm_epsilon = 1e-5f,
                                     .rope_theta = 1e4f,
                                     .experts = {.count = 8, .chosen = 2, .hidden = 128}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_types types = {cases[i].weights, ELEMENT_BF16, ELEMENT_BF16,
                                       ELEMENT_BF16,     ELEMENT_F32,  cases[i].experts};
    const struct decode_request request = planned_request(&shape, &types, cases[i].batch, 64);
    const struct plan plan = planned(&request, cases[i].device);
    struct decode_step_form form;
    gpu_plan_arithmetic(&plan, &form);
    assert_string_equal(form.arithmetic, cases[i].words);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_experts),          cmocka_unit_test(test_experts_in_units),
      cmocka_unit_test(test_experts_in_ranks), cmocka_unit_test(test_experts_for_a_library),
      cmocka_unit_test(test_runs_of_experts),  cmocka_unit_test(test_arithmetic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
