// The plans of the GPU's backends: where things lie, what a step costs, and that every launch stays
// within what the plan has made room for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/gpu/host/launches.h"
#include "kernels/gpu/host/plan.h"

// Units, width of a warp and shared memory of a block (CUDA C++ Programming Guide; AMD's CDNA 3
// ISA).
static const struct gpu_device h200 = {.described = {.name = "H200", .units = 132},
                                       .warp = 32,
                                       .shared_bytes = 232448,
                                       .overlap = true,
                                       .wgmma = true};
static const struct gpu_device h200_wgmma = {.described = {.name = "H200 by wgmma", .units = 132},
                                             .warp = 32,
                                             .shared_bytes = 232448,
                                             .overlap = true,
                                             .wgmma = true,
                                             .tuning = {.matrix = MATRIX_WGMMA}};
static const struct gpu_device mi300x = {.described = {.name = "MI300X", .units = 304},
                                         .warp = 64,
                                         .shared_bytes = 65536,
                                         .any_chunk = true};
static const struct gpu_device small = {
    .described = {.name = "small", .units = 3}, .warp = 32, .shared_bytes = 49152};
static const struct gpu_device *const devices[] = {&h200, &mi300x, &small, &h200_wgmma};
#define DEVICES (sizeof devices / sizeof devices[0])

static const struct decode_shape llama_8b = {.layers = 32,
                                             .hidden = 4096,
                                             .heads = 32,
                                             .kv_heads = 8,
                                             .head_dim = 128,
                                             .ffn_hidden = 14336,
                                             .vocab = 128256,
                                             .norm_epsilon = 1e-5f,
                                             .rope_theta = 5e5f};
static const struct decode_shape llama_70b = {.layers = 80,
                                              .hidden = 8192,
                                              .heads = 64,
                                              .kv_heads = 8,
                                              .head_dim = 128,
                                              .ffn_hidden = 28672,
                                              .vocab = 32000,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};
static const struct decode_shape odd = {.layers = 2,
                                        .hidden = 72,
                                        .heads = 6,
                                        .kv_heads = 2,
                                        .head_dim = 40,
                                        .ffn_hidden = 101,
                                        .vocab = 203,
                                        .norm_epsilon = 1e-5f,
                                        .rope_theta = 1e4f};

// Weights, activations, KV, head, accumulation.
static const struct decode_types mixes[] = {
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
};
#define MIXES (sizeof mixes / sizeof mixes[0])

static char *const base = (char *)UINT64_C(0x100000000); // never touched: plans only compute

static struct decode_request request_of(const struct decode_shape *shape,
                                        const struct decode_types *types, int batch, int context) {
  return (struct decode_request){
      .shape = *shape, .types = *types, .batch = batch, .context = context, .seed = 1};
}

static struct plan plan_of(const struct decode_request *request, const struct gpu_device *device) {
  struct plan plan;
  const char *why;
  if (gpu_plan_make(request, device, &plan, &why) != DECODE_OK)
    fail_msg("%s: %s", device->described.name, why);
  return plan;
}

// ---- where things lie

static bool is_layered(enum plan_region region) {
  return region == REGION_ATTENTION_NORM || region == REGION_FFN_NORM || region == REGION_QKV ||
         region == REGION_WO || region == REGION_GATE || region == REGION_UP ||
         region == REGION_DOWN || region == REGION_KEYS || region == REGION_VALUES;
}

static size_t bytes_of(const struct plan *plan, enum plan_region region) {
  const size_t layers = is_layered(region) ? (size_t)plan->request.shape.layers : 1;
  return plan->region[region].layer_bytes * layers;
}

static void check_regions(const struct plan *plan) {
  size_t sum = 0;
  for (int r = 0; r < REGIONS; r++) {
    const struct plan_extent *a = &plan->region[r];
    assert_int_equal(a->offset % 256, 0);
    assert_int_equal(a->layer_bytes % 256, 0);
    assert_true(a->scales == 0 || (a->scales % 256 == 0 && a->scales < a->layer_bytes));
    assert_true(a->offset + bytes_of(plan, (enum plan_region)r) <= plan->bytes);
    sum += bytes_of(plan, (enum plan_region)r);
    for (int s = 0; s < r; s++) {
      const struct plan_extent *b = &plan->region[s];
      assert_true(a->offset + bytes_of(plan, (enum plan_region)r) <= b->offset ||
                  b->offset + bytes_of(plan, (enum plan_region)s) <= a->offset);
    }
  }
  assert_int_equal(sum, plan->bytes);
}

// All of `bytes` at `at` in one layer of one region.
static void expect_within(const struct plan *plan, enum plan_region region, const void *at,
                          size_t bytes) {
  const struct plan_extent *extent = &plan->region[region];
  const size_t offset = (size_t)((const char *)at - base) - extent->offset;
  if ((const char *)at < base + extent->offset || offset >= bytes_of(plan, region) ||
      offset % extent->layer_bytes + bytes > extent->layer_bytes)
    fail_msg("%zu bytes at %zu are not within region %d of %zu", bytes, offset, (int)region,
             bytes_of(plan, region));
}

static bool begins(const struct gpu_launch *launch, const char *start) {
  return strncmp(launch->kernel, start, strlen(start)) == 0;
}

// Of "vector_bf16_...", "matrix_e4m3_...".
static size_t weight_bytes(const char *kernel) {
  return strncmp(strchr(kernel, '_'), "_bf16", 5) == 0 ? 2 : 1;
}

static enum plan_region region_at(const struct plan *plan, const void *at) {
  const size_t offset = (size_t)((const char *)at - base);
  for (int r = 0; r < REGIONS; r++)
    if (offset >= plan->region[r].offset &&
        offset < plan->region[r].offset + bytes_of(plan, (enum plan_region)r))
      return (enum plan_region)r;
  fail_msg("no region at %zu", offset);
  return REGIONS;
}

static const struct product_arguments *product_of(const struct gpu_launch *launch) {
  const struct wgmma_arguments *wgmma = launch->arguments;
  return begins(launch, "wgmma") ? &wgmma->product : launch->arguments;
}

static void check_map(const struct tensor_map *map, const void *from, int rows, size_t row_bytes,
                      int box_rows) {
  assert_ptr_equal(map->matrix.from, from);
  assert_int_equal(map->matrix.rows, rows);
  assert_int_equal(map->matrix.row_bytes, row_bytes);
  assert_int_equal(map->matrix.row_bytes % 16, 0);
  assert_int_equal((uintptr_t)from % 16, 0);
  assert_int_equal(map->matrix.box_rows, box_rows);
}

// Of wgmma: what the maps are of, and that the stages are what shared memory has room for. Gives
// the rows that a block covers, of gate and up together.
static size_t check_wgmma(const struct plan *plan, const struct gpu_launch *launch,
                          size_t activation_row) {
  const struct wgmma_arguments *w = launch->arguments;
  const struct product_arguments *a = &w->product;
  const size_t element = weight_bytes(launch->kernel), row = (size_t)a->stride * element;
  const size_t activation = strstr(launch->kernel, "_e4m3_e4m3") ? 1 : 2;
  const int columns = atoi(strrchr(launch->kernel, '_') + 1);
  assert_int_equal(launch->map_count, a->second ? 3 : 2);
  assert_ptr_equal(launch->maps, w);
  check_map(&launch->maps[0], a->weights, a->rows, row, 64);
  check_map(&launch->maps[1], a->activations, a->batch_padded, activation_row, a->batch_padded);
  if (a->second)
    check_map(&launch->maps[2], a->second, a->rows, row, 64);
  assert_true(columns == 16 || columns == 32 || columns == 64 || (columns == 128 && element == 2));
  assert_true(a->batch_padded == columns || a->batch_padded == 2 * columns);
  assert_true((a->splits - 1) * 128 < a->stride * (int)element); // a whole step for each
  assert_in_range(w->stages, 3, 6);
  const size_t stage = wgmma_stage_bytes(a->batch_padded, columns, element, activation);
  const size_t more = wgmma_shared_bytes(stage, w->stages + 1);
  assert_int_equal(stage % 1024, 0);
  assert_int_equal(launch->shared_bytes, wgmma_shared_bytes(stage, w->stages));
  assert_true(w->stages == 6 || more + 16 > plan->device.shared_bytes);
  assert_int_equal(launch->block, 288);
  return a->batch_padded == columns ? 256 : 128;
}

static void check_product(const struct plan *plan, const struct gpu_launch *launch) {
  const struct product_arguments *a = product_of(launch);
  const bool wgmma = begins(launch, "wgmma"), matrix = wgmma || begins(launch, "matrix");
  const size_t rows = (size_t)a->rows, element = weight_bytes(launch->kernel);
  const size_t bytes = rows * (size_t)a->stride * element;
  const enum plan_region weights = region_at(plan, a->weights);
  expect_within(plan, weights, a->weights, bytes);
  assert_int_equal(element == 1, a->scales != NULL);
  if (a->scales)
    expect_within(plan, weights, a->scales, rows * sizeof(float));
  assert_int_equal(strstr(launch->kernel, "swiglu") != NULL, a->second != NULL);
  if (a->second)
    expect_within(plan, region_at(plan, a->second), a->second, bytes);
  assert_true(a->stride % ROW_ALIGNMENT == 0 && a->stride >= a->columns);
  expect_within(plan, region_at(plan, a->output), a->output,
                (size_t)a->batch * (size_t)a->output_stride * sizeof(float));
  assert_true(launch->shared_bytes + (matrix ? 16 : 0) <= plan->device.shared_bytes);
  if (!matrix) {
    assert_true(a->input && launch->grid[0] >= 1 && a->batch <= plan->vector_rows);
    return;
  }
  const size_t activation = strstr(launch->kernel, "_e4m3_e4m3") ? 1 : 2;
  const size_t padded = wgmma && activation > element ? 128 : ROW_ALIGNMENT;
  const size_t activation_row = gpu_round_up((size_t)a->stride, padded) * activation;
  const size_t groups = (size_t)a->batch_padded / (size_t)atoi(strrchr(launch->kernel, '_') + 1);
  const size_t all_rows =
      wgmma ? check_wgmma(plan, launch, activation_row) : MATRIX_ROWS * MATRIX_WARPS / groups;
  const size_t covered = all_rows / (a->second ? 2 : 1);
  assert_true(groups == 1 || groups == 2 || groups == 4);
  assert_true(launch->grid[0] * covered >= rows && (launch->grid[0] - 1) * covered < rows);
  assert_int_equal(launch->grid[1], a->splits);
  assert_in_range(a->splits, 1, 8);
  assert_true(wgmma || (a->splits - 1) * MATRIX_CHUNK < a->stride); // a whole chunk for each
  assert_true(wgmma || a->chunk == MATRIX_CHUNK || plan->device.any_chunk);
  assert_true(wgmma || (a->chunk > 0 && MATRIX_CHUNK % a->chunk == 0));
  assert_true(wgmma || a->chunk >= matrix_least_chunk(element)); // a step of the tile
  expect_within(plan, REGION_COUNTERS, a->counters, launch->grid[0] * sizeof(unsigned));
  if (a->splits > 1)
    expect_within(plan, REGION_PARTIALS, a->partials,
                  (size_t)a->splits * (a->second ? 2 : 1) * (size_t)a->batch_padded * rows *
                      sizeof(float));
  expect_within(plan, REGION_ACTIVATIONS, a->activations, (size_t)a->batch_padded * activation_row);
  // The rows of the batch that come in are those that go out.
  const size_t in =
      (size_t)((const char *)a->activations - base) - plan->region[REGION_ACTIVATIONS].offset;
  const size_t out =
      (size_t)((const char *)a->output - base) - plan->region[region_at(plan, a->output)].offset;
  assert_int_equal(in / activation_row, out / ((size_t)a->output_stride * sizeof(float)));
}

static void check_attention(const struct plan *plan, const struct gpu_launch *launch) {
  const struct attention_arguments *a = launch->arguments;
  const size_t element = begins(launch, "attention_bf16") ? 2 : 1,
               tile = (size_t)plan->device.warp / 4;
  const size_t vectors = (size_t)a->batch * (size_t)a->kv_heads * (size_t)a->context_padded;
  const size_t items = (size_t)a->batch * (size_t)a->kv_heads * (size_t)a->head_groups;
  expect_within(plan, REGION_KEYS, a->keys, vectors * (size_t)a->head_stride * element);
  expect_within(plan, REGION_VALUES, a->values, vectors * (size_t)a->head_dim * element);
  expect_within(plan, REGION_COUNTERS, a->counters, items * sizeof(unsigned));
  assert_in_range(a->splits, 1, a->context_padded / VALUE_BLOCK);
  assert_true(a->head_groups * (int)tile >= a->heads / a->kv_heads);
  if (a->splits > 1)
    expect_within(plan, REGION_PARTIALS, a->partials,
                  items * (size_t)a->splits * tile * ((size_t)plan->head_dim_padded + 2) *
                      sizeof(float));
  assert_true(launch->shared_bytes <= plan->device.shared_bytes);
  expect_within(plan, REGION_ATTENDED, a->output,
                (size_t)a->batch * (size_t)a->heads * (size_t)a->head_dim * sizeof(float));
}

// The rows of the batch that one product's launches write, each exactly once.
static void check_step(const struct plan *plan) {
  size_t count = 0, products = 0, attentions = 0;
  const char *const *what;
  struct gpu_launch *launches = gpu_plan_step(plan, base, &count, &what);
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    assert_true(begins(&launches[i], "wgmma") || launches[i].map_count == 0);
    if (begins(&launches[i], "vector") || begins(&launches[i], "matrix") ||
        begins(&launches[i], "wgmma")) {
      const struct product_arguments *a = product_of(&launches[i]);
      check_product(plan, &launches[i]);
      products += (size_t)a->batch * (size_t)a->rows;
    }
    if (begins(&launches[i], "attention")) {
      check_attention(plan, &launches[i]);
      attentions++;
    }
  }
  size_t rows = (size_t)plan->product[PRODUCT_HEAD].rows;
  for (int p = 0; p < PRODUCT_HEAD; p++)
    rows += (size_t)plan->request.shape.layers * (size_t)plan->product[p].rows;
  assert_int_equal(products, rows * (size_t)plan->request.batch);
  assert_int_equal(attentions, plan->request.shape.layers);
  assert_string_equal(what[0], "embed");
  assert_non_null(strstr(what[count / 2], "layer "));
  assert_string_equal(what[count - 1], "sample");
  free(launches);
}

// Fills write within their regions, and all rows of every tensor.
static void check_fill(const struct plan *plan) {
  size_t count = 0, elements = 0;
  struct gpu_launch *launches = gpu_plan_fill(plan, base, &count);
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    const struct fill_arguments *a = launches[i].arguments;
    if (begins(&launches[i], "fill_value"))
      continue;
    const size_t element = begins(&launches[i], "fill_f32")    ? 4
                           : begins(&launches[i], "fill_bf16") ? 2
                                                               : 1;
    elements += (size_t)a->rows * (size_t)a->columns;
    if (a->layout == FILL_MATRIX)
      expect_within(plan, region_at(plan, a->destination), a->destination,
                    (size_t)a->rows * (size_t)a->stride * element);
  }
  const struct decode_shape *s = &plan->request.shape;
  const size_t h = (size_t)s->hidden, q = (size_t)s->heads * (size_t)s->head_dim;
  const size_t k = (size_t)s->kv_heads * (size_t)s->head_dim;
  const size_t cache = (size_t)plan->request.batch * (size_t)plan->request.context * k;
  const size_t layer = 2 * (q + k) * h + 3 * h * (size_t)s->ffn_hidden + 2 * h + 2 * cache;
  assert_int_equal(elements, (size_t)s->layers * layer +
                                 ((size_t)s->vocab + (size_t)plan->whole.vocab) * h + h);
  free(launches);
}

static void test_regions(void **state) {
  (void)state;
  static const int batches[] = {1, 2, 3, 4, 5, 16, 17, 33, 64, 65, 129, 256};
  const struct decode_shape *const shapes[] = {&odd, &llama_8b, &llama_70b};
  for (size_t s = 0; s < 3; s++)
    for (size_t d = 0; d < DEVICES; d++)
      for (size_t m = 0; m < MIXES; m++)
        for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
          const struct decode_request request =
              request_of(shapes[s], &mixes[m], batches[b], b % 2 ? 513 : 4096);
          if (s > 0 && d == 2)
            continue; // heads too wide for so little shared memory
          const struct plan plan = plan_of(&request, devices[d]);
          check_regions(&plan);
          check_step(&plan);
          check_fill(&plan);
        }
}

// Of ranks: what lies where, two all-reduces of the residual stream a layer, one for the tokens,
// and the stream added by the first rank alone.
static void check_rank(const struct plan *plan) {
  size_t count = 0, sums = 0, most = 0;
  struct gpu_launch *launches = gpu_plan_step(plan, base, &count, NULL);
  const size_t batch = (size_t)plan->request.batch, hidden = (size_t)plan->request.shape.hidden;
  check_regions(plan);
  check_step(plan);
  check_fill(plan);
  for (size_t i = 0; i < count; i++) {
    const struct all_reduce_arguments *a = launches[i].arguments;
    const bool sum = begins(&launches[i], ALL_REDUCE_SUM);
    assert_false(plan->rank > 0 && !begins(&launches[i], "vector") &&
                 strstr(launches[i].kernel, "_add_"));
    if (!begins(&launches[i], "all_reduce"))
      continue;
    sums += sum;
    most += begins(&launches[i], ALL_REDUCE_MAX);
    assert_int_equal(a->count, sum ? batch * hidden : batch);
    expect_within(plan, sum ? REGION_X : REGION_KEYS_OF_TOKENS, a->memory,
                  sum ? batch * hidden * sizeof(float) : batch * sizeof(uint64_t));
  }
  assert_int_equal(sums, 2 * plan->request.shape.layers);
  assert_int_equal(most, 1);
  free(launches);
}

static void test_ranks(void **state) {
  (void)state;
  static const int batches[] = {1, 4, 64, 256};
  for (size_t d = 0; d < 2; d++)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t b = 0; b < 4; b++) {
        struct decode_request request = request_of(&llama_70b, &mixes[m], batches[b], 4096);
        const struct plan whole = plan_of(&request, devices[d]);
        request.ranks = 8;
        struct plan plan = plan_of(&request, devices[d]);
        assert_true(8 * gpu_plan_cost(&plan).kv_bytes == gpu_plan_cost(&whole).kv_bytes);
        assert_true(plan.bytes < whole.bytes / 7);
        check_rank(&plan);
        plan.rank = 7;
        check_rank(&plan);
      }
}

// ---- costs

static void test_cost_as_on_the_cpu(void **state) {
  (void)state;
  const struct decode_shape *const shapes[] = {&odd, &llama_8b, &llama_70b};
  for (size_t s = 0; s < 3; s++)
    for (size_t m = 0; m < 3; m++) // of those with bf16 activations
      for (int batch = 1; batch <= 64; batch *= 4) {
        const struct decode_request request = request_of(shapes[s], &mixes[m], batch, 777);
        const struct plan plan = plan_of(&request, &h200);
        const struct decode_cost gpu = gpu_plan_cost(&plan);
        struct decode_cost cpu;
        assert_int_equal(cpu_backend.cost(&request, &cpu), DECODE_OK);
        assert_int_equal(gpu.weight_bytes, cpu.weight_bytes);
        assert_int_equal(gpu.kv_bytes, cpu.kv_bytes);
        assert_int_equal(gpu.operations, cpu.operations);
        assert_int_equal(gpu.resident_bytes, plan.bytes);
      }
}

// By hand: one layer, nothing but ones and twos.
static void test_cost_by_hand(void **state) {
  (void)state;
  const struct decode_shape shape = {.layers = 1,
                                     .hidden = 64,
                                     .heads = 1,
                                     .kv_heads = 1,
                                     .head_dim = 64,
                                     .ffn_hidden = 64,
                                     .vocab = 64,
                                     .norm_epsilon = 1e-5f,
                                     .rope_theta = 1e4f};
  const struct decode_request request = request_of(&shape, &mixes[0], 1, 10);
  const struct plan plan = plan_of(&request, &h200);
  const struct decode_cost cost = gpu_plan_cost(&plan);
  const uint64_t square = 64 * 64; // q, k, v, wo, gate, up, down, head, and a row of the embedding
  assert_int_equal(cost.weight_bytes, 8 * square * 2 + 64 * 2 + 3 * 64 * 4);
  assert_int_equal(cost.kv_bytes, 11 * 2 * 64 * 2);
  assert_int_equal(cost.operations, 2 * 8 * square + 10 * 4 * 64);
  static const struct {
    const char *stage;
    uint64_t bytes;
  } stages[] = {{"qkv", 3 * 64 * 64 * 2},
                {"wo", 64 * 64 * 2},
                {"gate and up", 2 * 64 * 64 * 2},
                {"down", 64 * 64 * 2},
                {"head", 64 * 64 * 2},
                {"attention", 11 * 2 * 64 * 2},
                {"embed", 0},
                {"sample", 0}};
  for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
    assert_int_equal(gpu_plan_stage_bytes(&plan, stages[i].stage), stages[i].bytes);
}

// NVIDIA's H200 datasheet: 141 GB.
static void test_70b_fits_one_h200(void **state) {
  (void)state;
  struct decode_request request = request_of(&llama_70b, &mixes[1], 1, 512);
  struct plan plan = plan_of(&request, &h200);
  assert_true(plan.vector);
  assert_in_range(plan.bytes, UINT64_C(68000000000), UINT64_C(75000000000));
  request = request_of(&llama_70b, &mixes[1], 64, 4096);
  plan = plan_of(&request, &h200);
  assert_false(plan.vector);
  assert_in_range(plan.bytes, UINT64_C(110000000000), UINT64_C(135000000000));
}

// ---- a step in one launch

// As many blocks as the device has units, each stage as its own launch has it.
static void test_persistent(void **state) {
  (void)state;
  static const int kinds[] = {PERSISTENT_EMBED,          PERSISTENT_STORE_E4M3,
                              PERSISTENT_ATTENTION_E4M3, PERSISTENT_ADD_E4M3,
                              PERSISTENT_SWIGLU_E4M3,    PERSISTENT_ADD_E4M3};
  static const char *const kernels[] = {"persistent_1", "persistent_2", "persistent_4",
                                        "persistent_4"};
  struct gpu_device device = h200;
  device.cooperative = true;
  device.tuning.step = STEP_PERSISTENT;
  for (int batch = 1; batch <= 4; batch++) {
    const struct decode_request request = request_of(&llama_8b, &mixes[1], batch, 512);
    const struct plan plan = plan_of(&request, &device);
    const struct persistent_stage *stages = NULL;
    size_t count = 0;
    assert_true(plan.persistent);
    struct gpu_launch *launch = gpu_plan_persistent(&plan, NULL, &stages, &count);
    assert_non_null(launch);
    assert_string_equal(launch->kernel, kernels[batch - 1]);
    assert_true(launch->cooperative);
    assert_true(launch->shared_bytes + PERSISTENT_SHARED <= device.shared_bytes);
    assert_int_equal(launch->grid[0], 132);
    assert_int_equal(count, 3 + 5 * llama_8b.layers);
    assert_true(count * sizeof *stages <= plan.region[REGION_STAGES].layer_bytes);
    for (size_t i = 0; i < count; i++) {
      const int inside = kinds[i == 0 ? 0 : 1 + (i - 1) % 5];
      assert_int_equal(stages[i].kind, i + 1 == count   ? PERSISTENT_SAMPLE
                                       : i + 2 == count ? PERSISTENT_STORE_BF16
                                                        : inside);
      assert_in_range(stages[i].blocks, 1, batch * 132);
      assert_int_equal(stages[i].blocks % (stages[i].grid[0] * stages[i].grid[1]), 0);
    }
    free(launch);
  }
}

// ---- choices

static void test_choices(void **state) {
  (void)state;
  static const struct {
    const struct gpu_device *device;
    const struct decode_shape *shape;
    int batch;
    bool vector;
    int slice; // of the ffn's down with bf16 activations
  } cases[] = {
      {&h200, &llama_8b, 1, true, 0},       {&h200, &llama_8b, 4, true, 0},
      {&h200, &llama_8b, 5, false, 16},     {&h200, &llama_70b, 2, true, 0},
      {&h200, &llama_70b, 4, true, 0}, // 229 KB of activations
      {&h200, &llama_70b, 64, false, 64},   {&h200, &llama_70b, 256, false, 128},
      {&mi300x, &llama_8b, 2, true, 0},     {&mi300x, &llama_8b, 4, false, 16},
      {&mi300x, &llama_70b, 64, false, 64},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        request_of(cases[i].shape, &mixes[0], cases[i].batch, 512);
    const struct plan plan = plan_of(&request, cases[i].device);
    if (plan.vector != cases[i].vector || plan.product[PRODUCT_DOWN].slice != cases[i].slice)
      fail_msg("case %zu: vector %d, slice %d", i, plan.vector, plan.product[PRODUCT_DOWN].slice);
  }
}

// Weights that are to be converted leave the vector units less time: arithmetic of the kernels' own
// instructions, beside what memory gives in the meantime.
static void test_vectors_by_type(void **state) {
  (void)state;
  for (size_t m = 0; m < MIXES; m++)
    for (int batch = 1; batch <= 5; batch++) {
      const struct decode_request request = request_of(&llama_8b, &mixes[m], batch, 512);
      const struct plan plan = plan_of(&request, &h200);
      assert_int_equal(plan.vector, batch <= (mixes[m].weights == ELEMENT_E4M3 ? 2 : 4));
    }
}

// Two blocks of attention with BF16 keys fit a multiprocessor's registers, three with E4M3: so many
// splits that the last round of them is nearly full.
static void test_attention_fills_rounds(void **state) {
  (void)state;
  for (size_t m = 0; m < MIXES; m++)
    for (int batch = 16; batch <= 256; batch *= 2) {
      const struct decode_request request = request_of(&llama_70b, &mixes[m], batch, 4096);
      const struct plan plan = plan_of(&request, &h200);
      const int room = 132 * (mixes[m].kv == ELEMENT_E4M3 ? 3 : 2), rows = 8 * batch;
      const int rounds = (rows * plan.attention_splits + room - 1) / room;
      const int blocks = (64 + plan.attention_splits - 1) / plan.attention_splits;
      if (rows * 64 * 10 < 9 * rounds * blocks * room)
        fail_msg("mix %zu, batch %d: %d splits, %d rounds of %d blocks", m, batch,
                 plan.attention_splits, rounds, blocks);
    }
}

// What splits write and read again counts: where there are blocks enough, they are not split to
// fill the last round.
static void test_splits_cost(void **state) {
  (void)state;
  for (size_t m = 0; m < MIXES; m++) {
    const struct decode_request request = request_of(&llama_70b, &mixes[m], 64, 4096);
    const struct plan plan = plan_of(&request, &h200);
    assert_int_equal(plan.product[PRODUCT_GATE_UP].blocks, 224);
    assert_int_equal(plan.product[PRODUCT_GATE_UP].splits, 1);
    assert_int_equal(plan.product[PRODUCT_DOWN].blocks, 32);
    assert_in_range(plan.product[PRODUCT_DOWN].splits, 3, 4);
  }
}

// MI300X's 64 KiB, of which kernels take 16 bytes for themselves, hold the activations of 256 rows
// in all mixes but one.
static void test_slices_of_mi300x(void **state) {
  (void)state;
  static const struct {
    int weights, activations, batch_padded, chunk, slices; // bytes of an element; of gate and up
  } cases[] = {{2, 2, 16, 256, 1}, {2, 2, 32, 256, 1},  {2, 2, 64, 128, 1}, {2, 2, 128, 64, 1},
               {2, 2, 256, 32, 1}, {1, 2, 16, 256, 1},  {1, 2, 32, 256, 1}, {1, 2, 64, 128, 1},
               {1, 2, 128, 64, 1}, {1, 2, 256, 64, 2},  {1, 1, 16, 256, 1}, {1, 1, 32, 256, 1},
               {1, 1, 64, 256, 1}, {1, 1, 128, 128, 1}, {1, 1, 256, 64, 1}};
  for (int batch = 5; batch <= 256; batch++)
    for (size_t m = 0; m < MIXES; m++) {
      const struct decode_request request = request_of(&llama_70b, &mixes[m], batch, 4096);
      const struct plan plan = plan_of(&request, &mi300x);
      const struct plan_product *product = &plan.product[PRODUCT_GATE_UP];
      const int weights = mixes[m].weights == ELEMENT_BF16 ? 2 : 1;
      const int activations = mixes[m].activations == ELEMENT_BF16 ? 2 : 1;
      size_t c = 0;
      while (cases[c].weights != weights || cases[c].activations != activations ||
             cases[c].batch_padded < batch)
        c++;
      for (int p = 0; p < PRODUCTS; p++)
        assert_true(plan.product[p].shared_bytes + 16 <= 65536);
      if (product->chunk != cases[c].chunk ||
          product->slice * cases[c].slices != cases[c].batch_padded)
        fail_msg("batch %d, mix %zu: slices of %d, chunks of %d", batch, m, product->slice,
                 product->chunk);
    }
}

// Where the kernels know one length of chunks only, it is that.
static void test_chunk_of_h200(void **state) {
  (void)state;
  for (int batch = 5; batch <= 256; batch++)
    for (size_t m = 0; m < MIXES; m++) {
      const struct decode_request request = request_of(&llama_70b, &mixes[m], batch, 4096);
      const struct plan plan = plan_of(&request, &h200);
      for (int p = 0; p < PRODUCTS; p++)
        assert_int_equal(plan.product[p].chunk, MATRIX_CHUNK);
    }
}

// The largest batches, and how many stages their weights are ahead.
static void test_stages_of_wgmma(void **state) {
  (void)state;
  static const struct {
    size_t mix;
    int batch, columns, slice, stages;
  } cases[] = {{0, 5, 16, 16, 6},     {0, 64, 64, 64, 5},   {0, 128, 128, 128, 4},
               {0, 256, 128, 256, 4}, {1, 16, 16, 16, 6},   {1, 64, 64, 64, 4},
               {1, 128, 64, 128, 4},  {1, 256, 64, 128, 4}, {3, 64, 64, 64, 5},
               {3, 128, 64, 128, 6},  {3, 256, 64, 128, 6}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        request_of(&llama_70b, &mixes[cases[i].mix], cases[i].batch, 4096);
    const struct plan plan = plan_of(&request, &h200_wgmma);
    const struct plan_product *down = &plan.product[PRODUCT_DOWN];
    if (!down->wgmma || down->warp_columns != cases[i].columns || down->slice != cases[i].slice ||
        down->stages != cases[i].stages)
      fail_msg("case %zu: %d columns, slices of %d, %d stages", i, down->warp_columns, down->slice,
               down->stages);
  }
}

// About as many blocks as the device holds, when there are few of them without splits.
static void test_splits_fill_the_device(void **state) {
  (void)state;
  const struct decode_request request = request_of(&llama_8b, &mixes[0], 16, 4096);
  const struct plan plan = plan_of(&request, &h200);
  const struct plan_product *qkv = &plan.product[PRODUCT_QKV]; // 24 blocks of 256 rows
  assert_int_equal(qkv->blocks, 24);
  assert_int_equal(qkv->splits, 8);
  assert_int_equal(plan.product[PRODUCT_HEAD].splits, 1); // 501 blocks are enough
  const struct decode_request one = request_of(&llama_8b, &mixes[0], 1, 4096);
  const struct plan alone = plan_of(&one, &h200);
  assert_in_range(8 * alone.attention_splits, 132, 4 * 132);
}

// ---- what is refused

static void expect_refused(const struct decode_request *request, const struct gpu_device *device,
                           const char *words) {
  struct plan plan;
  const char *why = NULL;
  assert_int_equal(gpu_plan_make(request, device, &plan, &why), DECODE_UNSUPPORTED);
  assert_non_null(why);
  if (!strstr(why, words))
    fail_msg("expected '%s' in '%s'", words, why);
}

static void test_refusals(void **state) {
  (void)state;
  const struct decode_request good = request_of(&odd, &mixes[0], 1, 10);
  plan_of(&good, &h200);
#define REFUSED(field, value, words)                                                               \
  do {                                                                                             \
    struct decode_request bad = good;                                                              \
    bad.field = (value);                                                                           \
    expect_refused(&bad, &h200, words);                                                            \
  } while (0)
  REFUSED(types.weights, ELEMENT_INT8, "weights in bf16 or e4m3");
  REFUSED(types.weights, ELEMENT_F32, "weights in bf16 or e4m3");
  REFUSED(types.activations, ELEMENT_F32, "activations in bf16");
  REFUSED(types.activations, ELEMENT_E4M3, "with e4m3 weights");
  REFUSED(types.kv, ELEMENT_INT8, "KV cache");
  REFUSED(types.head, ELEMENT_E4M3, "head");
  REFUSED(types.accumulation, ELEMENT_BF16, "accumulate");
  REFUSED(shape.experts.count, 8, "mixtures of experts");
  REFUSED(shape.head_dim, 41, "even head_dim");
  REFUSED(shape.head_dim, 258, "at most 256");
  REFUSED(shape.kv_heads, 4, "not a multiple of the KV heads");
  REFUSED(shape.kv_heads, 0, "not a multiple of the KV heads");
  REFUSED(shape.hidden, 65537, "wider or deeper");
  REFUSED(shape.layers, 0, "wider or deeper");
  REFUSED(shape.rope_theta, 0, "theta");
  REFUSED(batch, 257, "1 to 256");
  REFUSED(batch, 0, "1 to 256");
  REFUSED(context, 0, "context");
  REFUSED(context, (1 << 24) + 1, "context");
#undef REFUSED
}

// What a block of the whole step takes beside its launch's shared memory counts: one byte too few,
// and the products go to the matrix kernels, which are no part of such a step.
static void test_persistent_shared(void **state) {
  (void)state;
  struct gpu_device device = h200;
  const struct decode_request request = request_of(&llama_8b, &mixes[1], 4, 512);
  const size_t needed = vector_shared_bytes(llama_8b.ffn_hidden, 4, 2);
  device.cooperative = true;
  device.shared_bytes = needed;
  device.tuning.vector_batch = 4;
  assert_true(plan_of(&request, &device).vector);
  device.tuning.step = STEP_PERSISTENT;
  expect_refused(&request, &device, "step=persistent: this batch's activations do not fit");
  device.shared_bytes = needed + PERSISTENT_SHARED - 1;
  expect_refused(&request, &device, "step=persistent: this batch's activations do not fit");
  device.shared_bytes++;
  assert_true(plan_of(&request, &device).persistent);
}

static void test_devices_refused(void **state) {
  (void)state;
  struct decode_request request = request_of(&odd, &mixes[0], 5, 10);
  struct gpu_device device = h200;
  device.warp = 16;
  expect_refused(&request, &device, "warp");
  device = h200_wgmma;
  device.wgmma = false;
  expect_refused(&request, &device, "matrix=wgmma needs sm_90");
  device.wgmma = true;
  device.shared_bytes = 65536;
  expect_refused(&request, &device, "products need more shared memory");
  device = h200;
  device.shared_bytes = 8192;
  expect_refused(&request, &device, "attention with heads this wide");
  request.shape.head_dim = 256;
  expect_refused(&request, &small, "attention with heads this wide");
  const struct plan plan = plan_of(&request, &mi300x); // 64 KiB
  assert_true(attention_shared_bytes(plan.head_dim_padded) + 16 <= mi300x.shared_bytes);
  request = request_of(&llama_8b, &mixes[0], 1, 10);
  device = h200;
  device.tuning.step = STEP_PERSISTENT;
  expect_refused(&request, &device, "needs cooperative launches");
  device.cooperative = true;
  request.batch = 5;
  expect_refused(&request, &device, "step=persistent needs one device, batch 1");
  request.batch = 1;
  assert_true(plan_of(&request, &device).persistent);
  request.ranks = 2;
  expect_refused(&request, &device, "step=persistent needs one device, batch 1");
}

static void test_overflow(void **state) {
  (void)state;
  const struct decode_shape vast = {.layers = 4096,
                                    .hidden = 65536,
                                    .heads = 32768,
                                    .kv_heads = 32768,
                                    .head_dim = 2,
                                    .ffn_hidden = 65536,
                                    .vocab = 1 << 24,
                                    .norm_epsilon = 1e-5f,
                                    .rope_theta = 1e4f};
  struct decode_request request = request_of(&vast, &mixes[0], 128, (1 << 24) - 1); // keys: 2^65
  expect_refused(&request, &h200, "larger than any memory");
  request.context = 1; // large, but no overflow: memory is asked for by others
  plan_of(&request, &h200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_regions),
      cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_cost_as_on_the_cpu),
      cmocka_unit_test(test_cost_by_hand),
      cmocka_unit_test(test_70b_fits_one_h200),
      cmocka_unit_test(test_persistent),
      cmocka_unit_test(test_persistent_shared),
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_slices_of_mi300x),
      cmocka_unit_test(test_chunk_of_h200),
      cmocka_unit_test(test_splits_fill_the_device),
      cmocka_unit_test(test_vectors_by_type),
      cmocka_unit_test(test_attention_fills_rounds),
      cmocka_unit_test(test_splits_cost),
      cmocka_unit_test(test_stages_of_wgmma),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_devices_refused),
      cmocka_unit_test(test_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
