// A step in one launch: which block and warp uses which of the weights, and in what order; its
// stages, and the division of a block's shared memory.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/launches/streaming.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/stream.h"
#include "kernels/integers.h"
#include "kernels/routing.h"
#include "tests/support/kernels/planned.h"
#include "tests/support/kernels/shapes.h"

// ---- the division of one product

// A product, how many blocks and warps share it, and how often each byte was used, of all matrices
// that it may have.
struct divided {
  struct stream_product product;
  int blocks, warps;
  unsigned char *used;
  size_t bytes;
};

static void use(const struct divided *d, const unsigned char *from, int bytes) {
  const size_t at = (size_t)(from - d->used);
  assert_true(at < d->bytes && (size_t)bytes <= d->bytes - at);
  for (int i = 0; i < bytes; i++)
    d->used[at + (size_t)i]++;
}

// The codes of a unit and what belongs to them, of each row that there is.
static void use_unit(const struct divided *d, const struct stream_place *place) {
  for (int row = 0; row < (stream_has_second(place) ? 2 : 1); row++) {
    use(d, place->row[row] + place->at, stream_bytes(place));
    assert_int_equal(stream_beside_at(place) % 16, 0);
    if (place->beside > 0)
      use(d, place->row[row] + stream_beside_at(place), stream_beside_bytes(place));
  }
}

// What is said of the units from this one on agrees with each of them: they are of this pair until
// it ends, and whole until one is not.
static void check_rest(struct stream_place place) {
  const int units = stream_units_of_pair(&place), whole = stream_whole_units(&place);
  for (int i = 0; i < units; i++) {
    const bool is_whole = stream_has_second(&place) && stream_bytes(&place) == STREAM_BYTES;
    assert_true(is_whole == (i < whole));
    assert_true(stream_ends_pair(&place) == (i == units - 1));
    stream_advance(&place);
  }
}

// A warp's units, in which each pair's come one after the other and pairs are in order; returns how
// many, and adds each to the unit count of its pair's sharer as the kernel does.
static int check_warp(const struct divided *d, int block, int warp, int *left, int *carried) {
  struct stream_place place = stream_begin(&d->product, block, d->blocks, warp, d->warps);
  int units = 0, pair = -1, at = 0;
  int *to = place.at == 0 ? &left[place.pair] : &carried[warp];
  for (; place.left > 0; units++) {
    assert_true(units == 0 || (place.pair == pair && place.at == at + STREAM_BYTES) ||
                (place.pair == pair + 1 && place.at == 0));
    assert_in_range(stream_bytes(&place), 16, STREAM_BYTES);
    pair = place.pair;
    at = place.at;
    use_unit(d, &place);
    check_rest(place);
    ++*to;
    if (stream_ends_pair(&place))
      to = &left[pair + 1];
    stream_advance(&place);
  }
  return units;
}

// The units of every pair of a block are found again by its sharers, and nobody has more work than
// another by more than a unit.
static void check_block(const struct divided *d, int block) {
  const int rows = stream_rows(&d->product, block, d->blocks);
  const int pairs = stream_pairs(&d->product, rows);
  int *left = calloc((size_t)pairs + 1, sizeof *left), carried[16] = {0};
  int fewest = INT32_MAX, most = 0;
  assert_non_null(left);
  for (int warp = 0; warp < d->warps; warp++) {
    const int units = check_warp(d, block, warp, left, carried);
    fewest = units < fewest ? units : fewest;
    most = units > most ? units : most;
  }
  assert_in_range(most - fewest, 0, 1);
  for (int pair = 0; pair < pairs; pair++) {
    const struct stream_sharers sharers = stream_sharers_of(&d->product, rows, pair, d->warps);
    int found = left[pair];
    for (int warp = sharers.first + 1; warp <= sharers.last; warp++)
      found += carried[warp];
    assert_int_equal(found, stream_columns(&d->product));
    assert_true(sharers.last < d->warps);
  }
  free(left);
}

// Rows of units, each with so many bytes of codes and beside them.
struct row_of_units {
  int units, code_bytes, beside_bytes;
};

static void check_divided(int rows, const struct row_of_units *row, bool gated, int blocks,
                          int warps) {
  struct divided d = {.product = stream_product_of(NULL, NULL, rows, row->units, row->code_bytes,
                                                   row->beside_bytes),
                      .blocks = blocks,
                      .warps = warps};
  const size_t matrix = (size_t)rows * (size_t)d.product.row_bytes;
  unsigned char *used = d.used = calloc(2, matrix);
  assert_non_null(used);
  d.product.weights = used;
  d.product.second = gated ? used + matrix : NULL;
  d.bytes = 2 * matrix;
  for (int block = 0; block < blocks; block++)
    check_block(&d, block);
  for (size_t i = 0; i < 2 * matrix; i++)
    if (used[i] != (i < matrix || gated))
      fail_msg("byte %zu of %d rows of %d units of %d and %d, %d blocks, %d warps: used %d times",
               i, rows, row->units, row->code_bytes, row->beside_bytes, blocks, warps, used[i]);
  free(used);
}

// Every byte of the weights is used once: rows and columns that fill no pair and no unit, fewer
// rows than blocks, and fewer units than warps; without scales, and with those of every format.
static void test_every_byte_once(void **state) {
  (void)state;
  static const int rows[] = {1, 2, 3, 5, 31, 64, 203}, blocks[] = {1, 2, 7, 64, 132};
  static const struct row_of_units row[] = {
      {1, 16, 0},   {8, 16, 0},  {1, 1024, 0}, {65, 16, 0}, {21, 128, 0}, {8, 1024, 0},
      {1, 64, 4},   {17, 64, 4}, {32, 64, 4},  {9, 64, 8},  {33, 64, 8},  {16, 64, 36},
      {19, 64, 36}, {1, 128, 2}, {9, 128, 2},  {17, 64, 2}, {48, 64, 2},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    for (size_t u = 0; u < sizeof row / sizeof row[0]; u++)
      for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        for (int gated = 0; gated < 2; gated++)
          check_divided(rows[r], &row[u], gated, blocks[k], gated ? 8 : 16);
}

// Three items of a layer with five experts, one of which the step does not have: of the experts
// chosen every byte is used once, of the others none.
static void check_chosen(int rows, const struct row_of_units *row, bool gated, int blocks) {
  static const int experts[] = {2, 1, 4};
  enum { EXPERTS = 5, ITEMS = 3, WARPS = 16 };
  const struct stream_product of_all =
      stream_product_of(NULL, NULL, rows, row->units, row->code_bytes, row->beside_bytes);
  const size_t matrix = (size_t)rows * (size_t)of_all.row_bytes, all = EXPERTS * matrix;
  unsigned char *used = calloc(2, all);
  assert_non_null(used);
  for (int item = 1; item <= ITEMS; item++) {
    struct divided d = {of_all, blocks, WARPS, used, 2 * all};
    d.product.weights = used;
    d.product.second = gated ? used + all : NULL;
    d.product.item = (short)item;
    stream_choose(&d.product, experts);
    assert_int_equal(d.product.rows, item <= experts[0] ? rows : 0);
    for (int block = 0; block < blocks; block++)
      check_block(&d, block);
  }
  for (size_t i = 0; i < 2 * all; i++) {
    const size_t expert = i % all / matrix;
    if (used[i] != ((expert == 1 || expert == 4) && (i < all || gated)))
      fail_msg("byte %zu of expert %zu of %d rows of %d units, %d blocks: used %d times", i, expert,
               rows, row->units, blocks, used[i]);
  }
  free(used);
}

static void test_chosen_experts_once(void **state) {
  (void)state;
  static const int rows[] = {1, 5, 64, 101}, blocks[] = {1, 7, 132};
  static const struct row_of_units row[] = {{8, 16, 0}, {21, 128, 0}, {17, 64, 4}, {9, 128, 2}};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    for (size_t u = 0; u < sizeof row / sizeof row[0]; u++)
      for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        for (int gated = 0; gated < 2; gated++)
          check_chosen(rows[r], &row[u], gated, blocks[k]);
}

// ---- the step

static struct gpu_device streaming_device(const struct gpu_device *from) {
  struct gpu_device device = *from;
  device.cooperative = true;
  device.tuning.step = STEP_STREAMING;
  return device;
}

// One for each of a layer's stages, after clearing and the embedding.
static const int kinds_e4m3[] = {
    STREAMING_CLEAR,    STREAMING_EMBED,       STREAMING_STORE_E4M3, STREAMING_ATTENTION_E4M3_128,
    STREAMING_ADD_E4M3, STREAMING_SWIGLU_E4M3, STREAMING_ADD_E4M3};
static const int kinds_mxfp4[] = {
    STREAMING_CLEAR, STREAMING_EMBED, STREAMING_MXFP4, STREAMING_ATTENTION_BF16_128,
    STREAMING_MXFP4, STREAMING_MXFP4, STREAMING_MXFP4};

static void check_stages(const struct streaming_lists *lists, const int *kinds, int batch,
                         int units) {
  for (size_t i = 0; i < lists->count; i++) {
    const struct streaming_stage *stage = &lists->stages[i];
    const int inside = kinds[i < 2 ? i : 2 + (i - 2) % 5];
    assert_int_equal(stage->kind, i + 1 == lists->count   ? STREAMING_SAMPLE
                                  : i + 2 == lists->count ? STREAMING_STORE_BF16
                                                          : inside);
    assert_in_range(stage->blocks, 1, batch * units);
    assert_int_equal(stage->blocks % (stage->grid[0] * stage->grid[1]), 0);
  }
}

// The stages' products in the same order, and together all the bytes of the model's.
static void check_products(const struct plan *plan, const struct streaming_lists *lists) {
  uint64_t bytes = 0, wanted = 0;
  size_t next = 0;
  for (size_t i = 0; i < lists->count; i++) {
    const struct streaming_stage *stage = &lists->stages[i];
    if (stage->kind < STREAMING_STORE_BF16 || stage->kind >= STREAMING_ATTENTION_BF16_64)
      continue;
    const struct stream_product *product = &lists->products[next++];
    const int matrices = product->second ? 2 : 1;
    assert_ptr_equal(product->weights, stage->arguments.product.weights);
    assert_ptr_equal(product->second, stage->arguments.product.second);
    assert_int_equal(stage->blocks, 132);
    bytes += (uint64_t)matrices * (uint64_t)product->rows * (uint64_t)product->row_bytes;
  }
  for (int p = 0; p < PRODUCTS; p++) {
    const struct plan_product *product = &plan->product[p];
    wanted += (uint64_t)(product->rows * (product->gated ? 2 : 1)) * gpu_plan_row_bytes(product) *
              (uint64_t)product->layers;
  }
  assert_int_equal(next, lists->product_count);
  assert_true(bytes == wanted);
}

static void check_step(const struct decode_types *types, const int *kinds) {
  static const char *const kernels[] = {"streaming_1", "streaming_2", "streaming_4", "streaming_4"};
  const struct gpu_device device = streaming_device(&planned_h200);
  for (int batch = 1; batch <= 4; batch++) {
    const struct decode_request request = planned_request(&llama_8b, types, batch, 512);
    const struct plan plan = planned(&request, &device);
    struct streaming_lists lists;
    assert_true(plan.streaming);
    struct gpu_launch *launch = gpu_plan_streaming(&plan, NULL, &lists);
    assert_non_null(launch);
    assert_string_equal(launch->kernel, kernels[batch - 1]);
    assert_true(launch->cooperative);
    assert_true(launch->shared_bytes + STREAMING_SHARED <= device.shared_bytes);
    assert_int_equal(launch->grid[0], 132);
    assert_int_equal(lists.count, 4 + 5 * llama_8b.layers);
    assert_true(lists.count * sizeof *lists.stages <= plan.region[REGION_STAGES].layer_bytes);
    assert_true(lists.product_count * sizeof *lists.products <=
                plan.region[REGION_STREAM].layer_bytes);
    check_stages(&lists, kinds, batch, 132);
    check_products(&plan, &lists);
    free(launch);
  }
}

// One block on each of the device's multiprocessors; each stage is as in a launch of its own, but
// products with weights in units round their own activations.
static void test_stages(void **state) {
  (void)state;
  check_step(&planned_types[PLANNED_E4M3_KV], kinds_e4m3);
  check_step(&planned_types[PLANNED_MXFP4], kinds_mxfp4);
}

// Each block has rows of every product: a device with more multiprocessors than that leaves some.
static void test_each_block_has_rows(void **state) {
  (void)state;
  static const struct {
    int hidden, heads, ffn_hidden, blocks;
  } cases[] = {{4096, 32, 14336, 132}, {128, 16, 512, 128}, {512, 1, 512, 132}, {512, 16, 90, 90}};
  const struct gpu_device device = streaming_device(&planned_h200);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct decode_shape shape = llama_8b;
    shape.hidden = cases[i].hidden;
    shape.heads = shape.kv_heads = cases[i].heads;
    shape.ffn_hidden = cases[i].ffn_hidden;
    const struct decode_request request =
        planned_request(&shape, &planned_types[PLANNED_E4M3_KV], 1, 512);
    const struct plan plan = planned(&request, &device);
    struct streaming_lists lists;
    struct gpu_launch *launch = gpu_plan_streaming(&plan, NULL, &lists);
    assert_non_null(launch);
    assert_int_equal(launch->grid[0], cases[i].blocks);
    for (int p = 0; p < PRODUCTS; p++)
      if (plan.product[p].rows > 0) {
        assert_int_equal(plan.product[p].blocks, cases[i].blocks);
        assert_true(plan.product[p].blocks <= plan.product[p].rows);
      }
    free(launch);
  }
}

// ---- a mixture of experts: a layer without, and two with a shared expert or without

static const struct mixture {
  struct decode_types types;
  int up, down; // kinds of the experts' products
} mixtures[] = {
    {{ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
     STREAMING_SWIGLU_E4M3,
     STREAMING_ADD_E4M3},
    {{ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_MXFP4},
     STREAMING_MXFP4,
     STREAMING_MXFP4},
};

static struct decode_shape mixture_shape(int shared) {
  struct decode_shape shape = llama_8b;
  shape.layers = 3;
  shape.experts = (struct decode_experts){
      .count = 8, .chosen = 2, .hidden = 14336, .shared_hidden = shared, .dense_layers = 1};
  return shape;
}

// A stage's products, from the next-th on, are as many as it has items; returns how many.
static size_t check_items(const struct plan *plan, const struct streaming_lists *lists,
                          const struct streaming_stage *stage, size_t next) {
  const struct product_arguments *product = &stage->arguments.product;
  const bool routed = product->expert_row_bytes > 0;
  const size_t items = routed ? (size_t)plan->experts.items : 1;
  assert_int_equal(stage->blocks, 132 * items);
  assert_int_equal(product->without_residual, routed);
  for (size_t item = 0; item < items; item++) {
    const struct stream_product *own = &lists->products[next + item];
    assert_ptr_equal(own->weights, product->weights);
    assert_ptr_equal(own->second, product->second);
    assert_int_equal(own->rows, product->rows);
    assert_int_equal(own->item, routed ? item + 1 : 0);
    assert_true(!routed || own->row_bytes == product->expert_row_bytes);
  }
  return items;
}

// A choice opens the stream as far as the experts of the next one, and the last all of it.
static void check_choices(const struct plan *plan, const struct streaming_lists *lists, int first) {
  size_t next = 0, choices = 0;
  int known = first;
  for (size_t i = 0; i < lists->count; i++) {
    const struct streaming_stage *stage = &lists->stages[i];
    if (stage->kind == STREAMING_ROUTE) {
      assert_int_equal(stage->blocks, 132);
      known = stage->arguments.route.products;
      choices++;
    }
    if (stage->kind < STREAMING_STORE_BF16 || stage->kind >= STREAMING_ATTENTION_BF16_64)
      continue;
    next += check_items(plan, lists, stage, next);
    assert_true(next <= (size_t)known);
    if ((size_t)known < lists->product_count)
      assert_int_equal(lists->products[known].item, 1);
  }
  assert_int_equal(choices, plan->experts.layers);
  assert_int_equal(next, known);
  assert_int_equal(next, lists->product_count);
}

static void check_mixture(const struct mixture *mixture, int batch, int shared) {
  const struct gpu_device device = streaming_device(&planned_h200);
  const struct decode_shape shape = mixture_shape(shared);
  const struct decode_request request = planned_request(&shape, &mixture->types, batch, 512);
  const struct plan plan = planned(&request, &device);
  struct streaming_lists lists;
  assert_true(plan.streaming);
  struct gpu_launch *launch = gpu_plan_streaming(&plan, NULL, &lists);
  assert_non_null(launch);
  const struct streaming_arguments *arguments = launch->arguments;
  assert_int_equal(round_up(lists.count * sizeof *lists.stages, 256),
                   plan.region[REGION_STAGES].layer_bytes);
  assert_int_equal(round_up(lists.product_count * sizeof *lists.products, 256),
                   plan.region[REGION_STREAM].layer_bytes);
  check_choices(&plan, &lists, arguments->product_count);
  // Clearing, the embedding, a layer's five, qkv, attention, wo and the router.
  const struct streaming_stage *choice = lists.stages + 11, *up = choice + (shared > 0 ? 2 : 1);
  assert_int_equal(choice->kind, STREAMING_ROUTE);
  assert_int_equal(up[0].kind, mixture->up);
  assert_int_equal(up[1].kind, mixture->down);
  assert_int_equal(up[2].kind, STREAMING_COMBINE);
  assert_true(arguments->experts >= arguments->sums);
  assert_true((size_t)arguments->experts + sizeof(int) * (size_t)(plan.experts.items + 1) <=
              (size_t)arguments->ring);
  assert_true(route_shared_bytes(batch, 8, 2) <= plan.stream.sums);
  free(launch);
}

static void test_mixtures(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof mixtures / sizeof mixtures[0]; m++)
    for (int batch = 1; batch <= 4; batch++)
      for (int shared = 0; shared <= 300; shared += 300)
        check_mixture(&mixtures[m], batch, shared);
}

// Without a ring an item's product has as many blocks as let those of all items that a step has on
// average be on the device together, or fewer, and each its own pairs' sums.
static void check_items_together(const struct plan *plan, const struct streaming_stage *stage,
                                 double touched) {
  const struct product_arguments *product = &stage->arguments.product;
  const int blocks = stage->grid[0], warps = 8;
  const int rows = (product->rows + blocks - 1) / blocks;
  assert_true(product->expert_row_bytes > 0);
  assert_int_equal(stage->blocks, blocks * plan->experts.items);
  assert_true(blocks * touched <= 304);
  assert_true(rows <= warps || (blocks + 1) * ceil(touched) > 304);
  if (stage->kind > STREAMING_SWIGLU_E4M3)
    assert_in_range(product->second ? rows : (rows + 1) / 2, 1, plan->stream.pairs);
}

static void check_mixture_in_registers(const struct mixture *mixture, int batch) {
  const struct gpu_device device = streaming_device(&planned_mi300x);
  struct decode_shape shape = mixture_shape(300);
  shape.ffn_hidden = shape.experts.hidden = 1024;
  const struct decode_request request = planned_request(&shape, &mixture->types, batch, 512);
  const struct plan plan = planned(&request, &device);
  const double touched = routing_expected(&shape, batch) / 2;
  struct streaming_lists lists;
  assert_true(plan.streaming);
  struct gpu_launch *launch = gpu_plan_streaming(&plan, NULL, &lists);
  assert_non_null(launch);
  const struct streaming_arguments *arguments = launch->arguments;
  const struct streaming_stage *choice = lists.stages + 11;
  assert_int_equal(choice->kind, STREAMING_ROUTE);
  assert_int_equal(choice->blocks, 304);
  assert_int_equal(choice[2].kind, mixture->up);
  check_items_together(&plan, &choice[2], touched);
  assert_int_equal(choice[3].kind, mixture->down);
  check_items_together(&plan, &choice[3], touched);
  assert_int_equal(arguments->slots, 0);
  assert_true(route_shared_bytes(batch, 8, 2) <= plan.stream.sums);
  const size_t sums = streaming_sums_bytes(arguments->pairs, 8, plan.vector_rows);
  assert_true((size_t)arguments->experts >=
              (size_t)arguments->sums + (arguments->pairs > 0 ? sums : 0));
  assert_true((size_t)arguments->experts + sizeof(int) * (size_t)(plan.experts.items + 1) <=
              launch->shared_bytes);
  assert_true(launch->shared_bytes + STREAMING_SHARED <= device.shared_bytes);
  free(launch);
}

static void test_mixtures_in_registers(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof mixtures / sizeof mixtures[0]; m++)
    for (int batch = 1; batch <= 4; batch++)
      check_mixture_in_registers(&mixtures[m], batch);
}

// ---- by what stages know that they can begin

// Where a stage's vector comes from, and where its own goes; NULL for none.
struct ends {
  const void *from, *to;
};
static struct ends ends_of(const struct streaming_stage *stage) {
  if (stage->kind == STREAMING_EMBED)
    return (struct ends){NULL, stage->arguments.embed.x};
  if (stage->kind >= STREAMING_ATTENTION_BF16_64 && stage->kind <= STREAMING_ATTENTION_E4M3_128)
    return (struct ends){stage->arguments.attention.qkv, stage->arguments.attention.output};
  if (stage->kind >= STREAMING_STORE_BF16 && stage->kind < STREAMING_ATTENTION_BF16_64)
    return (struct ends){stage->arguments.product.input, stage->arguments.product.output};
  if (stage->kind == STREAMING_COMBINE)
    return (struct ends){NULL, stage->arguments.combine.x};
  return (struct ends){NULL, NULL};
}

// The mark of what lies at a place after `count` stages, or -1 if no stage has written there.
static int mark_after(const struct streaming_lists *lists, size_t count, const void *place) {
  int mark = -1;
  for (size_t i = 0; i < count; i++)
    if (ends_of(&lists->stages[i]).to == place)
      mark = (unsigned char)lists->stages[i].marks;
  return mark;
}

// By marks: those that its vector has. Its own are the other ones than last time, first 1, because
// memory is cleared; attention tells its splits by the marks of its queries.
static void check_marks(const struct streaming_lists *lists, size_t i) {
  const struct streaming_stage *stage = &lists->stages[i];
  const struct ends ends = ends_of(stage);
  if (stage->awaits != MARK_NONE)
    assert_int_equal(stage->awaits, mark_after(lists, i, ends.from));
  if (stage->marks != MARK_NONE)
    assert_int_equal(stage->marks,
                     mark_after(lists, i, ends.to) == MARK_ONE ? MARK_ZERO : MARK_ONE);
  if (stage->kind >= STREAMING_ATTENTION_BF16_64 && stage->kind <= STREAMING_ATTENTION_E4M3_128)
    assert_int_equal(stage->awaits, stage->marks);
}

// By what each stage waits: m for marks, b for all blocks, - for nothing.
static void check_order(const struct streaming_lists *lists, const char *wanted) {
  int arrivals = 1; // in clearing
  char found[512] = "";
  assert_true(lists->count < sizeof found);
  for (size_t i = 0; i < lists->count; i++) {
    const struct streaming_stage *stage = &lists->stages[i];
    check_marks(lists, i);
    found[i] = stage->barriers > 0 ? 'b' : stage->awaits != MARK_NONE ? 'm' : '-';
    if (stage->barriers > 0) {
      assert_int_equal(stage->barriers, ++arrivals);
      assert_int_equal(stage[-1].arrivals, arrivals);
    } else if (i > 0) {
      assert_int_equal(stage[-1].arrivals, 0);
    }
  }
  assert_int_equal(lists->stages[lists->count - 1].arrivals, arrivals + 1);
  assert_string_equal(found, wanted);
}

// For batches up to the largest that fits such a device.
static void check_order_on(const struct gpu_device *from, int largest,
                           const struct decode_shape *shape, const char *wanted) {
  const struct gpu_device device = streaming_device(from);
  for (int batch = 1; batch <= largest; batch++) {
    const struct decode_request request =
        planned_request(shape, &planned_types[PLANNED_E4M3_KV], batch, 512);
    const struct plan plan = planned(&request, &device);
    struct streaming_lists lists;
    struct gpu_launch *launch = gpu_plan_streaming(&plan, planned_base, &lists);
    assert_non_null(launch);
    check_order(&lists, wanted);
    const struct streaming_clear *clear = &lists.stages[0].arguments.clear;
    planned_within(&plan, REGION_X, clear->passed, 16);
    planned_within(&plan, REGION_PARTIALS, (char *)clear->passed + (size_t)clear->pieces * 16 - 16,
                   16);
    free(launch);
  }
}

static void check_order_of(const struct decode_shape *shape, const char *wanted) {
  check_order_on(&planned_h200, 4, shape, wanted);
  check_order_on(&planned_mi300x, 2, shape, wanted);
}

// Dense layers need no barrier; layers of experts from their choice on, until the next layer.
static void test_order(void **state) {
  (void)state;
  struct decode_shape dense = llama_8b;
  dense.layers = 3;
  const struct decode_shape experts = mixture_shape(0), shared = mixture_shape(300);
  check_order_of(&dense, "--"
                         "mmmmm"
                         "mmmmm"
                         "mmmmm"
                         "mb");
  check_order_of(&experts, "--"
                           "mmmmm"
                           "mmmmbbbb"
                           "mmmmbbbb"
                           "bb");
  check_order_of(&shared, "--"
                          "mmmmm"
                          "mmmmbbbbbb"
                          "mmmmbbbbbb"
                          "bb");
}

// As many slots as there is room for beside the largest product's activations, and nothing
// overlaps: 192 KiB at batch 1 of an 8B model, less where activations take more.
static void test_shared_memory(void **state) {
  (void)state;
  static const struct {
    const struct decode_shape *shape;
    enum planned_mix mix;
    int batch, slots;
  } cases[] = {{&llama_8b, PLANNED_E4M3_KV, 1, 6},  {&llama_8b, PLANNED_E4M3_KV, 2, 5},
               {&llama_8b, PLANNED_E4M3_KV, 4, 3},  {&llama_70b, PLANNED_E4M3_KV, 1, 5},
               {&llama_70b, PLANNED_E4M3_KV, 2, 3}, {&llama_8b, PLANNED_MXFP4, 1, 5},
               {&llama_8b, PLANNED_MXFP4, 2, 4},    {&llama_8b, PLANNED_MXFP4, 4, 2}};
  const struct gpu_device device = streaming_device(&planned_h200);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        planned_request(cases[i].shape, &planned_types[cases[i].mix], cases[i].batch, 512);
    const struct plan plan = planned(&request, &device);
    const struct plan_stream *stream = &plan.stream;
    assert_int_equal(stream->slots, cases[i].slots);
    for (int p = 0; p < PRODUCTS; p++)
      assert_true(plan.product[p].shared_bytes <= stream->sums);
    assert_true(attention_tile_shared_bytes(128, 8) <= stream->sums);
    assert_true(stream->sums + streaming_sums_bytes(stream->pairs, 16, plan.vector_rows) <=
                stream->ring);
    assert_int_equal(stream->ring % 128, 0);
    assert_int_equal(stream->beside, cases[i].mix == PLANNED_MXFP4 ? 64 : 0);
    assert_int_equal(stream->shared_bytes,
                     stream->ring + streaming_ring_bytes(stream->slots, 16, stream->beside));
    assert_true(stream->shared_bytes + STREAMING_SHARED <= device.shared_bytes);
    assert_int_equal(plan.carveout, 100);
  }
}

// Where the kernels hold weights in registers instead, shared memory is the stages' alone, or with
// weights in units also that of the sums.
static void test_without_a_ring(void **state) {
  (void)state;
  const struct gpu_device device = streaming_device(&planned_mi300x);
  const struct decode_request request =
      planned_request(&llama_8b, &planned_types[PLANNED_E4M3_KV], 1, 512);
  const struct plan plan = planned(&request, &device);
  struct streaming_lists lists;
  assert_int_equal(plan.stream.slots, 0);
  struct gpu_launch *launch = gpu_plan_streaming(&plan, NULL, &lists);
  assert_non_null(launch);
  assert_in_range(launch->shared_bytes, attention_tile_shared_bytes(128, 16), 49152);
  free(launch);
  const struct decode_request narrow =
      planned_request(&llama_8b, &planned_types[PLANNED_MXFP4], 1, 512);
  const struct plan units = planned(&narrow, &device);
  launch = gpu_plan_streaming(&units, NULL, &lists);
  assert_non_null(launch);
  assert_int_equal(units.stream.slots, 0);
  assert_int_equal(launch->shared_bytes,
                   units.stream.sums + streaming_sums_bytes(units.stream.pairs, 8, 1));
  assert_true(units.product[PRODUCT_DOWN].shared_bytes <= units.stream.sums);
  check_stages(&lists, kinds_mxfp4, 1, units.device.described.units);
  free(launch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_byte_once),
      cmocka_unit_test(test_chosen_experts_once),
      cmocka_unit_test(test_stages),
      cmocka_unit_test(test_each_block_has_rows),
      cmocka_unit_test(test_mixtures),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_shared_memory),
      cmocka_unit_test(test_without_a_ring),
      cmocka_unit_test(test_mixtures_in_registers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
