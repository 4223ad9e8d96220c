// Plans of the GPU backends: the memory layout; every launch of a step stays within the room that
// the plan has reserved, for families and for several ranks too.
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/launches/exchange.h"
#include "kernels/gpu/launches/fill.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/plan/vectors.h"
#include "kernels/gpu/units.h"
#include "kernels/gpu/vendor.h"
#include "kernels/integers.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/planned.h"
#include "tests/support/kernels/shapes.h"

static bool has_row_scales(enum element element) {
  return element == ELEMENT_E4M3 || element == ELEMENT_INT8 || element == ELEMENT_NVFP4;
}

static const struct product_arguments *product_of(const struct gpu_launch *launch) {
  const struct wgmma_arguments *wgmma = launch->arguments;
  return planned_begins(launch, "wgmma") ? &wgmma->product : launch->arguments;
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

// For wgmma: what the maps describe, and that the stages fill the room in shared memory. Returns
// the rows that a block covers, of gate and up together.
static size_t check_wgmma(const struct plan *plan, const struct gpu_launch *launch,
                          size_t activation_row) {
  const struct wgmma_arguments *w = launch->arguments;
  const struct product_arguments *a = &w->product;
  const size_t element = planned_weight_bytes(launch->kernel), row = (size_t)a->stride * element;
  const size_t activation = strstr(launch->kernel, "_e4m3_e4m3") ? 1 : 2;
  const int columns = atoi(strrchr(launch->kernel, '_') + 1);
  assert_int_equal(launch->map_count, a->second ? 3 : 2);
  assert_ptr_equal(launch->maps, w);
  check_map(&launch->maps[0], a->weights, a->rows, row, 64);
  check_map(&launch->maps[1], a->activations, a->batch_padded, activation_row,
            a->batch_padded / w->beside);
  if (a->second)
    check_map(&launch->maps[2], a->second, a->rows, row, 64);
  assert_true(columns == 16 || columns == 32 || columns == 64 || (columns == 128 && element == 2));
  assert_true(a->batch_padded == columns || a->batch_padded == 2 * columns);
  const struct even_work *work = &w->work;
  const size_t beside = (size_t)w->beside, cluster = beside * (size_t)w->parts;
  const size_t strips = strstr(launch->kernel, "wgmma_strips_") ? 2 : 1;
  const size_t rows = a->batch_padded == columns ? 256 * strips : 128;
  const size_t tile = rows / (a->second ? 2 : 1) * beside;
  assert_true(work->tiles * tile >= (size_t)a->rows && (work->tiles - 1) * tile < (size_t)a->rows);
  assert_true(work->steps * 128 >= row && (work->steps - 1) * 128 < row);
  assert_in_range(work->blocks, 1, work->tiles * work->steps);
  assert_in_range((uint64_t)work->tiles * work->steps * work->blocks, 1, UINT32_MAX);
  assert_int_equal(launch->grid[0], work->blocks * cluster);
  assert_int_equal(launch->cluster, cluster);
  assert_in_range(cluster, 1, 8);
  assert_true(w->parts == 1 || (work->blocks == work->tiles && w->parts <= (int)work->steps));
  planned_within(plan, REGION_COUNTERS, a->counters, launch->grid[0] * 8 * sizeof(unsigned));
  if (work->blocks > work->tiles || work->tiles % work->blocks != 0)
    planned_within(plan, REGION_PARTIALS, a->partials,
                   2 * (size_t)launch->grid[0] * 256 * strips * (size_t)columns * sizeof(float));
  assert_in_range(w->stages, 3, 9);
  const size_t stage[] = {
      wgmma_shared_bytes(a->batch_padded, columns, element, activation, w->stages, (int)strips),
      wgmma_shared_bytes(a->batch_padded, columns, element, activation, w->stages + 1,
                         (int)strips)};
  assert_int_equal(launch->shared_bytes, stage[0]);
  assert_true(w->stages == 9 || stage[1] + 16 > plan->device.shared_bytes);
  assert_int_equal(w->slots, strips == 1 ? w->stages : w->stages / 2 + 1);
  assert_int_equal(launch->block, 384);
  return rows;
}

static size_t output_element(const struct product_arguments *a) {
  return a->passed == PASSED_FLOAT ? sizeof(float) : 2;
}

// For matrix tiles: the blocks cover every row; the places of the parts and the vectors.
static void check_tiles(const struct plan *plan, const struct gpu_launch *launch,
                        const struct product_arguments *a, bool wgmma) {
  const bool in_units = lies_in_units(planned_weights(launch->kernel));
  const size_t rows = (size_t)a->rows, element = planned_weight_bytes(launch->kernel);
  const size_t activation = strstr(launch->kernel, "_e4m3_e4m3") ? 1 : 2;
  const size_t padded = wgmma && activation > element ? 128 : ROW_ALIGNMENT;
  const size_t activation_row = round_up((size_t)a->stride, padded) * activation;
  const size_t groups = (size_t)a->batch_padded / (size_t)atoi(strrchr(launch->kernel, '_') + 1);
  const size_t all_rows =
      wgmma ? check_wgmma(plan, launch, activation_row) : MATRIX_ROWS * MATRIX_WARPS / groups;
  const size_t covered = all_rows / (a->second ? 2 : 1);
  assert_true(groups == 1 || groups == 2 || groups == 4);
  assert_true(wgmma || launch->grid[0] * covered >= rows);
  assert_true(wgmma || (launch->grid[0] - 1) * covered < rows);
  assert_int_equal(launch->grid[1], a->splits);
  assert_in_range(a->splits, 1, wgmma ? 1 : 8);
  assert_true(wgmma || (a->splits - 1) * MATRIX_CHUNK < a->stride); // a whole chunk for each
  const int only = in_units ? MATRIX_CHUNK : MATRIX_COPIED_CHUNK;
  assert_true(wgmma || a->chunk == only || plan->device.any_chunk);
  assert_true(wgmma || (a->chunk > 0 && MATRIX_CHUNK % a->chunk == 0));
  assert_in_range(a->buffers, wgmma ? 0 : 2, plan->device.any_chunk || in_units ? 2 : 3);
  assert_true(wgmma || a->chunk >= (in_units ? UNIT : matrix_least_chunk(element)));
  planned_within(plan, REGION_COUNTERS, a->counters, launch->grid[0] * sizeof(unsigned));
  if (a->splits > 1)
    planned_within(plan, REGION_PARTIALS, a->partials,
                   (size_t)a->splits * (a->second ? 2 : 1) * (size_t)a->batch_padded * rows *
                       sizeof(float));
  const enum plan_region from = planned_region_at(plan, a->activations);
  const bool made = from == REGION_ATTENDED || from == REGION_FFN_OUT; // by the kernel before
  assert_true(from == REGION_ACTIVATIONS || from == REGION_SCALED || made);
  assert_int_equal(made, a->rounded);
  planned_within(plan, from, a->activations, (size_t)a->batch_padded * activation_row);
  // The batch rows that come in are those that go out.
  const size_t in =
      (size_t)((const char *)a->activations - planned_base) - plan->region[from].offset;
  const size_t out = (size_t)((const char *)a->output - planned_base) -
                     plan->region[planned_region_at(plan, a->output)].offset;
  assert_int_equal(in / activation_row, out / ((size_t)a->output_stride * output_element(a)));
}

static void check_product(const struct plan *plan, const struct gpu_launch *launch) {
  const struct product_arguments *a = product_of(launch);
  const bool wgmma = planned_begins(launch, "wgmma"),
             matrix = wgmma || planned_begins(launch, "matrix");
  const enum element type = planned_weights(launch->kernel);
  const bool in_units = lies_in_units(type);
  const size_t rows = (size_t)a->rows, element = planned_weight_bytes(launch->kernel);
  const size_t row = in_units ? unit_row_bytes(type, a->stride) : (size_t)a->stride * element;
  const size_t bytes = rows * row;
  const enum plan_region weights = planned_region_at(plan, a->weights);
  assert_int_equal(row % 16, 0);
  planned_within(plan, weights, a->weights, bytes);
  assert_int_equal(has_row_scales(type), a->scales != NULL);
  if (a->scales)
    planned_within(plan, weights, a->scales, rows * sizeof(float));
  assert_int_equal(strstr(launch->kernel, "swiglu") || strstr(launch->kernel, "gated"),
                   a->second != NULL);
  const struct {
    const float *vector;
    size_t floats;
  } vectors[] = {{a->bias, rows},
                 {a->second_bias, rows},
                 {a->norm, (size_t)a->columns},
                 {a->norm_bias, (size_t)a->columns}};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
    if (vectors[i].vector)
      planned_within(plan, planned_region_at(plan, vectors[i].vector), vectors[i].vector,
                     vectors[i].floats * sizeof(float));
  if (a->second)
    planned_within(plan, planned_region_at(plan, a->second), a->second, bytes);
  assert_true(a->stride % (in_units ? UNIT : ROW_ALIGNMENT) == 0 && a->stride >= a->columns);
  planned_within(plan, planned_region_at(plan, a->output), a->output,
                 (size_t)a->batch * (size_t)a->output_stride * output_element(a));
  assert_true(launch->shared_bytes + (matrix ? 16 : 0) <= plan->device.shared_bytes);
  if (matrix)
    check_tiles(plan, launch, a, wgmma);
  else
    assert_true(a->input && launch->grid[0] >= 1 && a->batch <= plan->vector_rows);
}

static void check_attention(const struct plan *plan, const struct gpu_launch *launch) {
  const struct attention_arguments *a = launch->arguments;
  const size_t element = planned_begins(launch, "attention_bf16") ? 2 : 1,
               tile = (size_t)plan->device.warp / 4;
  const size_t vectors = (size_t)a->batch * (size_t)a->kv_heads * (size_t)a->context_padded;
  const size_t items = (size_t)a->batch * (size_t)a->kv_heads * (size_t)a->head_groups;
  planned_within(plan, REGION_KEYS, a->keys, vectors * (size_t)a->head_stride * element);
  planned_within(plan, REGION_VALUES, a->values, vectors * (size_t)a->head_dim * element);
  planned_within(plan, REGION_COUNTERS, a->counters, items * sizeof(unsigned));
  assert_in_range(a->splits, 1, a->context_padded / VALUE_BLOCK);
  assert_true(a->head_groups * (int)tile >= a->heads / a->kv_heads);
  if (a->splits > 1)
    planned_within(plan, REGION_PARTIALS, a->partials,
                   items * (size_t)a->splits * tile *
                       ((size_t)plan->head_dim_padded + ATTENTION_PARTIAL) * sizeof(float));
  assert_true(launch->shared_bytes <= plan->device.shared_bytes);
  planned_within(plan, REGION_ATTENDED, a->output,
                 (size_t)a->batch * (size_t)a->heads * (size_t)a->head_dim * sizeof(float));
}

// The batch rows that one product's launches write, each exactly once.
static void check_step(const struct plan *plan) {
  size_t count = 0, products = 0, attentions = 0;
  const char *const *what;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, &what);
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    assert_true(planned_begins(&launches[i], "wgmma") || launches[i].map_count == 0);
    if (planned_begins(&launches[i], "vector") || planned_begins(&launches[i], "matrix") ||
        planned_begins(&launches[i], "wgmma")) {
      const struct product_arguments *a = product_of(&launches[i]);
      check_product(plan, &launches[i]);
      products += (size_t)a->batch * (size_t)a->rows;
    }
    if (planned_begins(&launches[i], "attention")) {
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
  struct gpu_launch *launches = gpu_plan_fill(plan, planned_base, &count);
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    const struct fill_arguments *a = launches[i].arguments;
    const struct fill_units_arguments *u = launches[i].arguments;
    if (planned_begins(&launches[i], "fill_units")) {
      elements += (size_t)u->rows * (size_t)u->columns;
      planned_within(plan, planned_region_at(plan, u->destination), u->destination,
                     (size_t)u->rows * unit_row_bytes((enum element)u->element, u->stride));
      planned_within(plan, REGION_TABLES, u->table, sizeof *u->table);
      continue;
    }
    if (planned_begins(&launches[i], "fill_value"))
      continue;
    const size_t element = planned_begins(&launches[i], "fill_f32")    ? 4
                           : planned_begins(&launches[i], "fill_bf16") ? 2
                                                                       : 1;
    elements += (size_t)a->rows * (size_t)a->columns;
    if (a->layout == FILL_MATRIX)
      planned_within(plan, planned_region_at(plan, a->destination), a->destination,
                     (size_t)a->rows * (size_t)a->stride * element);
  }
  const struct decode_shape *s = &plan->request.shape;
  const size_t h = (size_t)s->hidden, q = (size_t)s->heads * (size_t)s->head_dim;
  const size_t k = (size_t)s->kv_heads * (size_t)s->head_dim;
  const size_t cache = (size_t)plan->request.batch * (size_t)plan->request.context * k;
  const size_t mlp = (s->mlp == MLP_GELU ? 2 : 3) * h * (size_t)s->ffn_hidden;
  const size_t matrices = (size_t)s->layers * (2 * (q + k) * h + mlp + 2 * cache) +
                          ((size_t)s->vocab + (size_t)plan->whole.vocab) * h;
  assert_int_equal(elements, matrices + vectors_all(s));
  free(launches);
}

static void test_regions(void **state) {
  (void)state;
  static const int batches[] = {1, 2, 3, 4, 5, 16, 17, 33, 64, 65, 129, 256};
  const struct decode_shape *const shapes[] = {&piece_plain, &llama_8b, &llama_70b};
  for (size_t s = 0; s < 3; s++)
    for (size_t d = 0; d < PLANNED_DEVICES; d++)
      for (size_t m = 0; m < PLANNED_TYPES; m++)
        for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
          const struct decode_request request =
              planned_request(shapes[s], &planned_types[m], batches[b], b % 2 ? 513 : 4096);
          if (s > 0 && d == 2)
            continue; // heads too wide for so little shared memory
          const struct plan plan = planned(&request, planned_devices[d]);
          planned_regions(&plan);
          check_step(&plan);
          check_fill(&plan);
        }
}

// How the products' inputs are stored by what makes them, and how often they are rounded apart.
static void check_passed(const struct plan *plan, bool rounds) {
  size_t count, apart = 0;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, NULL);
  const size_t layers = (size_t)plan->request.shape.layers;
  int passed = PASSED_FLOAT; // by the last maker
  assert_non_null(launches);
  for (size_t i = 0; i < count; i++) {
    const struct attention_arguments *attention = launches[i].arguments;
    if (planned_begins(&launches[i], "attention"))
      passed = attention->passed;
    apart += planned_begins(&launches[i], "round");
    if (!strstr(launches[i].kernel, "_swiglu") && !strstr(launches[i].kernel, "_add"))
      continue;
    const struct product_arguments *a = product_of(&launches[i]);
    const bool paired = planned_begins(&launches[i], "wgmma_e4m3_bf16");
    if (strstr(launches[i].kernel, "_add")) {
      assert_int_equal(passed, rounds ? PASSED_FLOAT : paired ? PASSED_PAIRED : PASSED_BF16);
      assert_int_equal(a->rounded, !rounds);
    } else {
      assert_false(a->rounded);
      passed = a->passed;
    }
  }
  const size_t between = gpu_plan_norm_from(plan, PRODUCT_QKV) < PRODUCTS ? 2 * layers - 1 : 0;
  assert_int_equal(apart, plan->vector ? 0 : (rounds ? 4 : 2) * layers + 1 - between);
  free(launches);
}

// What is rounded to BF16, and has no padding, is rounded by its maker.
static void test_passed(void **state) {
  (void)state;
  static const int batches[] = {1, 4, 16, 64};
  struct decode_shape odd = llama_8b;
  odd.ffn_hidden += 32; // of whose inputs down's alone is padded
  for (size_t d = 0; d < PLANNED_DEVICES; d++)
    for (size_t m = 0; m < PLANNED_MXFP4; m++)
      for (size_t b = 0; b < 4 && d != 2; b++) {
        const struct decode_types *types = &planned_types[m];
        const struct decode_request request = planned_request(&llama_8b, types, batches[b], 513);
        const struct decode_request padded = planned_request(&odd, types, batches[b], 513);
        const struct plan plan = planned(&request, planned_devices[d]);
        const bool rounds = types->activations == ELEMENT_E4M3;
        check_passed(&plan, rounds);
        const struct plan other = planned(&padded, planned_devices[d]);
        assert_int_equal(gpu_plan_passed(&other, PRODUCT_DOWN), PASSED_FLOAT);
        assert_int_equal(gpu_plan_passed(&other, PRODUCT_WO) == PASSED_FLOAT, rounds);
      }
  const struct decode_request request =
      planned_request(&llama_8b, &planned_types[PLANNED_BF16], 1, 513);
  struct gpu_device device = planned_h200;
  device.cooperative = true;
  device.tuning.step = STEP_STREAMING;
  const struct plan streaming = planned(&request, &device);
  assert_true(streaming.streaming);
  check_passed(&streaming, true);
}

// Norms between products: each product takes what the one before it passes on, times the gain of
// its own norm, in its own layer.
static void check_norms(const struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const size_t vectors = (size_t)plan->product[PRODUCT_WO].slice;
  const size_t sums = (size_t)wgmma_squares(shape->hidden), hidden = (size_t)shape->hidden;
  const char *const *what;
  size_t count;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, &what);
  assert_non_null(launches);
  const void *scaled = NULL, *gain = NULL;
  const bool qkvs = gpu_plan_norm_from(plan, PRODUCT_QKV) < PRODUCTS,
             ups = gpu_plan_norm_from(plan, PRODUCT_GATE_UP) < PRODUCTS;
  int rounds[2] = {0, 0}; // in layer 0 and for the head, and in all others
  for (size_t i = 0; i < count; i++) {
    const struct wgmma_arguments *a = launches[i].arguments;
    const int layer = strncmp(what[i], "layer ", 6) == 0 ? atoi(what[i] + 6) : -1;
    const bool qkv = strstr(what[i], " qkv"), up = strstr(what[i], " gate and up");
    rounds[layer > 0] += planned_begins(&launches[i], "round");
    if (!planned_begins(&launches[i], "wgmma"))
      continue;
    const bool before = (up && ups) || (qkv && layer > 0 && qkvs);
    assert_int_equal(planned_region_at(plan, a->product.activations) == REGION_SCALED, before);
    if (before || a->norm.scaled)
      planned_within(plan, REGION_SQUARES, a->norm.squares, vectors * sums * sizeof(float));
    else
      assert_null(a->norm.squares);
    if (before) {
      const struct plan_extent *norm = &plan->region[up ? REGION_FFN_NORM : REGION_ATTENTION_NORM];
      assert_ptr_equal(a->product.activations, scaled);
      assert_ptr_equal(gain, planned_base + norm->offset + (size_t)layer * norm->layer_bytes);
      assert_null(a->norm.scaled);
    }
    if (a->norm.scaled)
      planned_within(plan, REGION_SCALED, a->norm.scaled, vectors * hidden * 2);
    const bool wo = strstr(what[i], " wo"), down = strstr(what[i], " down");
    assert_int_equal(a->norm.scaled != NULL,
                     (wo && ups) || (down && qkvs && layer + 1 < shape->layers));
    scaled = wo || down ? a->norm.scaled : scaled;
    gain = wo || down ? a->norm.gain : gain;
  }
  assert_int_equal(rounds[0], 2 + !ups);
  assert_int_equal(rounds[1], (!qkvs + !ups) * (shape->layers - 1));
  free(launches);
}

static void test_norms(void **state) {
  (void)state;
  static const int batches[] = {16, 64, 128};
  for (size_t m = PLANNED_BF16; m <= PLANNED_E4M3_KV; m++)
    for (size_t b = 0; b < 3; b++)
      for (int own = 0; own < 2; own++) {
        const struct decode_request request =
            planned_request(&llama_8b, &planned_types[m], batches[b], 513);
        struct gpu_device device = planned_h200_wgmma;
        if (own)
          device.tuning = (struct gpu_tuning){0};
        const struct plan plan = planned(&request, &device);
        const bool wide = m == PLANNED_BF16 && b == 2;
        assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_QKV), wide ? PRODUCTS : PRODUCT_DOWN);
        assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_GATE_UP),
                         wide && own ? PRODUCTS : PRODUCT_WO);
        assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_HEAD), PRODUCTS);
        check_norms(&plan);
      }
}

// Of vectors with padding, whose kernels have no wgmma, of E4M3, of which nobody has a whole sum,
// of a prompt, and with the MLP beside attention.
static void test_norms_apart(void **state) {
  (void)state;
  struct decode_request request =
      planned_request(&llama_8b, &planned_types[PLANNED_E4M3_KV], 64, 513);
  struct plan plan = planned(&request, &planned_h200);
  assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_QKV), PRODUCTS);
  request.types = planned_types[PLANNED_E4M3_BUT_HEAD];
  plan = planned(&request, &planned_h200_wgmma);
  assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_QKV), PRODUCTS);
  request.types = planned_types[PLANNED_E4M3_KV];
  request.shape.hidden += 64;
  plan = planned(&request, &planned_h200_wgmma);
  assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_QKV), PRODUCTS);
  assert_int_equal(planned_region_bytes(&plan, REGION_SQUARES), 0);
  request.types = planned_types[PLANNED_BF16];
  plan = planned(&request, &planned_h200_wgmma);
  check_norms(&plan);
  request.shape.parallel = true;
  plan = planned(&request, &planned_h200_wgmma);
  assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_GATE_UP), PRODUCTS);
  request.shape.parallel = false;
  request.ranks = 8;
  plan = planned(&request, &planned_h200_wgmma);
  assert_int_equal(gpu_plan_norm_from(&plan, PRODUCT_GATE_UP), PRODUCTS);
}

// What families have in addition to matrices does not overlap, either: with every possible vector,
// and with none of the gate's.
static void test_families(void **state) {
  (void)state;
  struct decode_shape full = piece_plain, falcon = piece_plain;
  full.norm = falcon.norm = NORM_LAYER;
  full.mlp = MLP_CLAMPED_SWIGLU;
  full.biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP;
  full.qk_norm = full.sinks = true;
  full.window = 100;
  full.full_every = 2;
  falcon.mlp = MLP_GELU;
  falcon.parallel = true;
  const struct decode_shape *const shapes[] = {&full, &falcon};
  for (size_t s = 0; s < 2; s++)
    for (size_t d = 0; d < 3; d++) // not by wgmma
      for (int batch = 1; batch <= 16; batch *= 4) {
        const struct decode_request request =
            planned_request(shapes[s], &planned_types[PLANNED_E4M3_KV], batch, 513);
        const struct plan plan = planned(&request, planned_devices[d]);
        planned_regions(&plan);
        check_step(&plan);
        check_fill(&plan);
      }
  const struct decode_request request =
      planned_request(&full, &planned_types[PLANNED_BF16], 1, 513);
  struct gpu_device device = planned_h200;
  const struct plan plan = planned(&request, &device);
  assert_int_equal(gpu_plan_attention(&plan, 0).first, 413);
  assert_int_equal(gpu_plan_attention(&plan, 1).first, 0);
  assert_in_range(gpu_plan_attention(&plan, 0).splits, 1, 3); // blocks of the window
  planned_refused(&request, &planned_h200_wgmma,
                  "matrix=wgmma supports only products as in a Llama");
  device.cooperative = true;
  device.tuning.step = STEP_STREAMING;
  assert_non_null(strstr(planned(&request, &device).fallback, "products as in a Llama"));
}

// For ranks: the layout, two all-reduces of the residual stream per layer, one for the tokens, and
// the stream added by the first rank only.
static void check_rank(const struct plan *plan) {
  size_t count = 0, sums = 0, most = 0;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, NULL);
  const size_t batch = (size_t)plan->request.batch, hidden = (size_t)plan->request.shape.hidden;
  planned_regions(plan);
  check_step(plan);
  check_fill(plan);
  for (size_t i = 0; i < count; i++) {
    const struct all_reduce_arguments *a = launches[i].arguments;
    const bool sum = planned_begins(&launches[i], ALL_REDUCE_SUM);
    assert_false(plan->rank > 0 && !planned_begins(&launches[i], "vector") &&
                 strstr(launches[i].kernel, "_add_"));
    if (!planned_begins(&launches[i], "all_reduce"))
      continue;
    sums += sum;
    most += planned_begins(&launches[i], ALL_REDUCE_MAX);
    assert_int_equal(a->count, sum ? batch * hidden : batch);
    planned_within(plan, sum ? REGION_X : REGION_KEYS_OF_TOKENS, a->memory,
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
    for (size_t m = 0; m < PLANNED_TYPES; m++)
      for (size_t b = 0; b < 4; b++) {
        struct decode_request request =
            planned_request(&llama_70b, &planned_types[m], batches[b], 4096);
        const struct plan whole = planned(&request, planned_devices[d]);
        request.ranks = 8;
        struct plan plan = planned(&request, planned_devices[d]);
        assert_true(8 * gpu_plan_cost(&plan).kv_bytes == gpu_plan_cost(&whole).kv_bytes);
        assert_true(plan.bytes < whole.bytes / 7);
        check_rank(&plan);
        plan = planned_rank(&request, 7, planned_devices[d]);
        check_rank(&plan);
      }
}

// ---- passes of a prompt by the vendor's library

static void check_multiplied(const struct plan *prompt, const struct gpu_launch *launch,
                             int count) {
  const struct vendor_arguments *a = launch->arguments;
  const struct vendor_product *p = &a->multiplied;
  const struct plan_product *product = &prompt->product[a->product];
  const size_t row = (size_t)p->size.stride * gpu_element_bytes(p->size.element);
  const size_t vectors = (size_t)p->size.vectors, rows = (size_t)p->size.rows;
  assert_true(p->size.vectors >= count && p->size.vectors < count + 16);
  assert_true(p->size.rows == product->rows && p->size.stride == product->stride);
  const void *const begins[] = {p->weights, p->activations, p->out, p->workspace};
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
    assert_int_equal((uintptr_t)begins[i] % VENDOR_ALIGNMENT, 0);
  planned_within(prompt, planned_region_at(prompt, p->weights), p->weights, rows * row);
  const bool made = gpu_plan_passed(prompt, (enum product_name)a->product) != PASSED_FLOAT;
  const enum plan_region maker = a->product == (int)PRODUCT_WO ? REGION_ATTENDED : REGION_FFN_OUT;
  planned_within(prompt, made ? maker : REGION_ACTIVATIONS, p->activations, vectors * row);
  planned_within(prompt, REGION_SUMS, p->out, vectors * rows * sizeof(float));
  planned_within(prompt, REGION_WORKSPACE, p->workspace, VENDOR_WORKSPACE);
}

// The finishing kernel reads what was multiplied before it, the second sums following all of the
// first.
static void check_finish(const struct plan *prompt, const struct gpu_launch *launches, size_t at,
                         int count) {
  const struct finish_arguments *a = launches[at].arguments;
  const struct vendor_arguments *last = launches[at - 1].arguments;
  const struct vendor_arguments *first = launches[at - (a->second_sums ? 2 : 1)].arguments;
  const size_t sums = (size_t)first->multiplied.size.vectors * (size_t)a->product.rows;
  assert_ptr_equal(first->multiplied.out, a->sums);
  assert_ptr_equal(first->multiplied.weights, a->product.weights);
  if (a->second_sums) {
    assert_ptr_equal(last->multiplied.out, a->second_sums);
    assert_ptr_equal(last->multiplied.weights, a->product.second);
    assert_true(a->sums + sums <= a->second_sums);
  }
  assert_int_equal(launches[at].grid[1], count);
  assert_true(launches[at].grid[0] * launches[at].block >= (unsigned)a->product.rows);
  assert_int_equal(first->multiplied.size.element == ELEMENT_E4M3,
                   a->product.activation_scales != NULL);
  planned_within(prompt, planned_region_at(prompt, a->product.output), a->product.output,
                 (size_t)count * (size_t)a->product.output_stride * sizeof(float));
}

static void check_pass(const struct plan *prompt, int count, size_t products) {
  const struct prompt_piece piece = {.count = count, .ends = true};
  size_t launched = 0, multiplied = 0, finished = 0;
  struct gpu_launch *launches = gpu_plan_pass(prompt, &piece, planned_base, &launched);
  assert_non_null(launches);
  for (size_t i = 0; i < launched; i++) {
    if (planned_begins(&launches[i], VENDOR_MULTIPLY)) {
      check_multiplied(prompt, &launches[i], count);
      multiplied++;
    } else if (planned_begins(&launches[i], "finish")) {
      check_finish(prompt, launches, i, count);
      finished++;
    }
  }
  const size_t layers = (size_t)prompt->request.shape.layers;
  assert_int_equal(finished, layers * products);
  assert_int_equal(multiplied, layers * (products + 1)); // the gate's
  free(launches);
}

// qkv, wo, gate and up, down; a pass is as long as the chunk, up to a maximum.
static void test_passes_by_library(void **state) {
  (void)state;
  static const int counts[] = {1, 16, 17, 300, 2048};
  const struct decode_shape *const shapes[] = {&piece_plain, &llama_8b};
  for (size_t s = 0; s < 2; s++)
    for (size_t d = 0; d < 2; d++)
      for (size_t m = PLANNED_BF16; m <= PLANNED_E4M3_BUT_HEAD; m += PLANNED_E4M3_BUT_HEAD) {
        struct decode_request request = planned_request(shapes[s], &planned_types[m], 2, 4096);
        request.chunk = 3000;
        const struct plan plan = planned(&request, planned_devices[d]);
        struct plan prompt;
        size_t products = 0;
        assert_null(gpu_plan_prompt(&plan, &prompt));
        assert_int_equal(prompt.request.batch, 2048);
        assert_int_equal(plan.bytes, prompt.bytes);
        for (int p = 0; p < PRODUCTS; p++) {
          assert_false(gpu_plan_fits_library(&plan, (enum product_name)p));
          prompt.product[p].library = gpu_plan_fits_library(&prompt, (enum product_name)p);
          products += prompt.product[p].library;
        }
        assert_int_equal(products, 4);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
          check_pass(&prompt, counts[c], products);
      }
}

// For a mixture also the router, and passes with as many pairs as the router's kernel has room for.
static void test_passes_of_a_mixture(void **state) {
  (void)state;
  static const int chosen[][2] = {{1, 2048}, {8, 2048}, {9, 1820}, {64, 256}};
  for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
    struct decode_shape shape = piece_of(PIECE_EXPERTS, 0)->shape;
    shape.experts.count = 70;
    shape.experts.chosen = chosen[i][0];
    struct decode_request request = planned_request(&shape, &planned_types[PLANNED_BF16], 2, 4096);
    request.chunk = 3000;
    const struct plan plan = planned(&request, &planned_h200);
    struct plan prompt;
    assert_null(gpu_plan_prompt(&plan, &prompt));
    assert_int_equal(prompt.request.batch, chosen[i][1]);
    assert_int_equal(plan.bytes, prompt.bytes);
    assert_true(gpu_plan_fits_library(&prompt, PRODUCT_ROUTER));
  }
}

// NVIDIA's H200 datasheet: 141 GB.
static void test_70b_fits_one_h200(void **state) {
  (void)state;
  struct decode_request request =
      planned_request(&llama_70b, &planned_types[PLANNED_E4M3_KV], 1, 512);
  struct plan plan = planned(&request, &planned_h200);
  assert_true(plan.vector);
  assert_in_range(plan.bytes, UINT64_C(68000000000), UINT64_C(75000000000));
  request = planned_request(&llama_70b, &planned_types[PLANNED_E4M3_KV], 64, 4096);
  plan = planned(&request, &planned_h200);
  assert_false(plan.vector);
  assert_in_range(plan.bytes, UINT64_C(110000000000), UINT64_C(135000000000));
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
  struct decode_request request =
      planned_request(&vast, &planned_types[PLANNED_BF16], 128, (1 << 24) - 1); // keys: 2^65
  planned_refused(&request, &planned_h200, "larger than any memory");
  request.context = 1; // large, but no overflow: other code requests the memory
  planned(&request, &planned_h200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_regions),
      cmocka_unit_test(test_passed),
      cmocka_unit_test(test_norms),
      cmocka_unit_test(test_norms_apart),
      cmocka_unit_test(test_families),
      cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_passes_by_library),
      cmocka_unit_test(test_passes_of_a_mixture),
      cmocka_unit_test(test_70b_fits_one_h200),
      cmocka_unit_test(test_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
