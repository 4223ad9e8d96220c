// How a GPU's plan divides the work: vectors or tiles, slices, splits and stages, and a step in one
// launch.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/even.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/units.h"
#include "kernels/integers.h"
#include "tests/support/kernels/planned.h"
#include "tests/support/kernels/shapes.h"

static void test_choices(void **state) {
  (void)state;
  static const struct {
    const struct gpu_device *device;
    const struct decode_shape *shape;
    int batch;
    bool vector;
    int slice; // of the FFN's down with bf16 activations
  } cases[] = {
      {&planned_h200, &llama_8b, 1, true, 0},       {&planned_h200, &llama_8b, 4, true, 0},
      {&planned_h200, &llama_8b, 5, false, 16},     {&planned_h200, &llama_70b, 2, true, 0},
      {&planned_h200, &llama_70b, 4, true, 0}, // 229 KB of activations
      {&planned_h200, &llama_70b, 64, false, 64},   {&planned_h200, &llama_70b, 256, false, 128},
      {&planned_mi300x, &llama_8b, 2, true, 0},     {&planned_mi300x, &llama_8b, 4, false, 16},
      {&planned_mi300x, &llama_70b, 64, false, 64},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        planned_request(cases[i].shape, &planned_types[PLANNED_BF16], cases[i].batch, 512);
    const struct plan plan = planned(&request, cases[i].device);
    if (plan.vector != cases[i].vector || plan.product[PRODUCT_DOWN].slice != cases[i].slice)
      fail_msg("case %zu: vector %d, slice %d", i, plan.vector, plan.product[PRODUCT_DOWN].slice);
  }
}

// Up to four vectors; weights that must be converted are left to wgmma, where it is used, above
// two.
static void test_vectors_by_type(void **state) {
  (void)state;
  static const struct gpu_device *const devices[] = {&planned_h200, &planned_h200_wgmma};
  for (size_t m = 0; m < PLANNED_TYPES; m++)
    for (int batch = 1; batch <= 5; batch++)
      for (int wgmma = 0; wgmma < 2; wgmma++) {
        const struct decode_request request =
            planned_request(&llama_8b, &planned_types[m], batch, 512);
        const struct plan plan = planned(&request, devices[wgmma]);
        assert_int_equal(plan.vector,
                         !lies_in_units(planned_types[m].weights) &&
                             batch <= (wgmma && planned_types[m].weights == ELEMENT_E4M3 ? 2 : 4));
      }
}

// Two blocks of one vector share a multiprocessor, if its memory holds the activations of both, and
// then get as much of it; of several vectors, and in a step in one launch, there is one.
static void test_blocks_of_vectors(void **state) {
  (void)state;
  struct gpu_device streaming = planned_h200;
  struct decode_shape long_rows = llama_8b; // whose FFN's down is that of Llama 3.1 405B
  struct decode_shape wide = llama_8b;      // whose down takes more than half of an H200's memory
  streaming.cooperative = true;
  streaming.tuning.step = STEP_STREAMING;
  long_rows.ffn_hidden = 53248;
  wide.ffn_hidden = 65536;
  const struct {
    const struct gpu_device *device;
    const struct decode_shape *shape;
    int batch, gate_up, down; // blocks; a row of `down` to a warp makes 256 or 512 of 8B
  } cases[] = {
      {&planned_h200, &llama_8b, 1, 2 * 132, 256},
      {&planned_h200, &llama_8b, 2, 132, 132},
      {&planned_h200, &llama_8b, 4, 132, 132},
      {&planned_h200, &llama_70b, 1, 2 * 132, 2 * 132},
      {&planned_h200, &long_rows, 1, 2 * 132, 256},
      {&planned_h200, &wide, 1, 2 * 132, 132},
      {&streaming, &llama_8b, 1, 132, 132},
      {&planned_mi300x, &llama_8b, 1, 2 * 304, 512},
      {&planned_mi300x, &llama_70b, 1, 2 * 304, 304},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        planned_request(cases[i].shape, &planned_types[PLANNED_BF16], cases[i].batch, 512);
    const struct plan plan = planned(&request, cases[i].device);
    const size_t given = (size_t)plan.carveout * 228 * 1024 / 100;
    assert_true(plan.vector && plan.streaming == (cases[i].device == &streaming));
    if (cases[i].device == &planned_h200 && plan.product[PRODUCT_DOWN].blocks > 132)
      assert_in_range(2 * (plan.product[PRODUCT_DOWN].shared_bytes + 1024), 1, given);
    if (plan.product[PRODUCT_GATE_UP].blocks != cases[i].gate_up ||
        plan.product[PRODUCT_DOWN].blocks != cases[i].down)
      fail_msg("case %zu: %d blocks of gate and up, %d of down", i,
               plan.product[PRODUCT_GATE_UP].blocks, plan.product[PRODUCT_DOWN].blocks);
  }
}

// Two blocks of attention on a multiprocessor: the number of splits makes the last round of them
// nearly full.
static void test_attention_fills_rounds(void **state) {
  (void)state;
  for (size_t m = 0; m < 2 * PLANNED_TYPES; m++)
    for (int batch = 16; batch <= 256; batch *= 2) {
      const struct decode_request request =
          planned_request(&llama_70b, &planned_types[m / 2], batch, 4096);
      const struct plan plan = planned(&request, m % 2 ? &planned_h200_wgmma : &planned_h200);
      const int room = 2 * 132, rows = 8 * batch;
      const int rounds = (rows * plan.attention_splits + room - 1) / room;
      const int blocks = (64 + plan.attention_splits - 1) / plan.attention_splits;
      if (rows * 64 * 10 < 9 * rounds * blocks * room)
        fail_msg("mix %zu, batch %d: %d splits, %d rounds of %d blocks", m / 2, batch,
                 plan.attention_splits, rounds, blocks);
    }
}

// The sums that splits write and read again count: if there are enough blocks, they are not split
// just to fill the last round.
static void test_splits_cost(void **state) {
  (void)state;
  for (size_t m = 0; m < PLANNED_TYPES; m++) {
    const struct decode_request request = planned_request(&llama_70b, &planned_types[m], 64, 4096);
    const struct plan plan = planned(&request, &planned_h200);
    assert_int_equal(plan.product[PRODUCT_GATE_UP].blocks, 224);
    assert_int_equal(plan.product[PRODUCT_GATE_UP].splits, 1);
    assert_int_equal(plan.product[PRODUCT_DOWN].blocks, 32);
    assert_in_range(plan.product[PRODUCT_DOWN].splits, 3, 4);
  }
}

// MI300X's 64 KiB, of which kernels use 16 bytes themselves, hold the activations of 256 rows in
// all mixes but one.
static void test_slices_of_mi300x(void **state) {
  (void)state;
  static const struct {
    // Bytes of an element, 0 for weights stored in units; of gate and up.
    int weights, activations, batch_padded, chunk, slices;
  } cases[] = {{2, 2, 16, 256, 1}, {2, 2, 32, 256, 1},  {2, 2, 64, 128, 1},  {2, 2, 128, 64, 1},
               {2, 2, 256, 32, 1}, {1, 2, 16, 256, 1},  {1, 2, 32, 256, 1},  {1, 2, 64, 128, 1},
               {1, 2, 128, 64, 1}, {1, 2, 256, 64, 2},  {1, 1, 16, 256, 1},  {1, 1, 32, 256, 1},
               {1, 1, 64, 256, 1}, {1, 1, 128, 128, 1}, {1, 1, 256, 64, 1},  {0, 2, 16, 256, 1},
               {0, 2, 32, 256, 1}, {0, 2, 64, 128, 1},  {0, 2, 128, 128, 2}, {0, 2, 256, 128, 4}};
  for (int batch = 5; batch <= 256; batch++)
    for (size_t m = 0; m < PLANNED_TYPES; m++) {
      const struct decode_request request =
          planned_request(&llama_70b, &planned_types[m], batch, 4096);
      const struct plan plan = planned(&request, &planned_mi300x);
      const struct plan_product *product = &plan.product[PRODUCT_GATE_UP];
      const bool in_units = lies_in_units(planned_types[m].weights);
      const int weights = in_units ? 0 : planned_types[m].weights == ELEMENT_BF16 ? 2 : 1;
      const int activations = in_units || planned_types[m].activations == ELEMENT_BF16 ? 2 : 1;
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

// An A100, and what RTX 6000s have, beside an H200: CUDA C++ Programming Guide, technical
// specifications. Copied weights find room for their ring, and activations so many chunks that they
// are on their way for as long: only the largest slices of E4M3 must do with fewer.
static void test_rings_of_nvidia(void **state) {
  (void)state;
  static const struct {
    size_t shared_bytes;
    int most, most_buffered; // slices: of all, and of E4M3 with three buffers
  } devices[] = {{232448, 128, 128}, {166912, 128, 64}, {101376, 64, 32}};
  for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++)
    for (int batch = 5; batch <= 256; batch++)
      for (size_t m = 0; m < PLANNED_TYPES; m++) {
        const struct decode_request request =
            planned_request(&llama_70b, &planned_types[m], batch, 4096);
        struct gpu_device device = planned_h200;
        device.shared_bytes = devices[d].shared_bytes;
        const struct plan plan = planned(&request, &device);
        for (int p = 0; p < PRODUCTS; p++) {
          const struct plan_product *product = &plan.product[p];
          const bool narrow = product->weights == ELEMENT_E4M3;
          if (product->rows == 0 || lies_in_units(product->weights))
            continue;
          assert_int_equal(product->chunk, MATRIX_COPIED_CHUNK);
          assert_true(product->shared_bytes > MATRIX_RING);
          assert_int_equal(product->slice, plan.batch_padded < devices[d].most ? plan.batch_padded
                                                                               : devices[d].most);
          if (product->activations == ELEMENT_BF16)
            assert_int_equal(product->buffers,
                             narrow && product->slice <= devices[d].most_buffered ? 3 : 2);
        }
      }
}

// The largest batches, and how many stages ahead their weights are fetched.
static void test_stages_of_wgmma(void **state) {
  (void)state;
  static const struct {
    enum planned_mix mix;
    int batch, columns, slice, stages;
  } cases[] = {{PLANNED_BF16, 5, 16, 16, 6},
               {PLANNED_BF16, 64, 32, 64, 9},
               {PLANNED_BF16, 128, 128, 128, 4},
               {PLANNED_BF16, 256, 128, 256, 4},
               {PLANNED_E4M3_KV, 16, 16, 16, 6},
               {PLANNED_E4M3_KV, 64, 64, 64, 4},
               {PLANNED_E4M3_KV, 128, 64, 128, 4},
               {PLANNED_E4M3_KV, 256, 64, 128, 4},
               {PLANNED_E4M3_BUT_HEAD, 64, 32, 64, 9},
               {PLANNED_E4M3_BUT_HEAD, 128, 64, 128, 7},
               {PLANNED_E4M3_BUT_HEAD, 256, 64, 128, 7}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        planned_request(&llama_8b, &planned_types[cases[i].mix], cases[i].batch, 4096);
    const struct plan plan = planned(&request, &planned_h200_wgmma);
    const struct plan_product *down = &plan.product[PRODUCT_DOWN];
    if (!down->wgmma || down->warp_columns != cases[i].columns || down->slice != cases[i].slice ||
        down->stages != cases[i].stages)
      fail_msg("case %zu: %d columns, slices of %d, %d stages", i, down->warp_columns, down->slice,
               down->stages);
  }
}

// No two blocks of a wgmma product share a multiprocessor: each takes more than half of its 228 KB
// of shared memory, of which every block also has 1 KB (CUDA C++ Programming Guide, technical
// specifications).
static void test_wgmma_has_a_multiprocessor_to_itself(void **state) {
  (void)state;
  static const struct decode_shape *const shapes[] = {&tinyllama, &llama_8b, &llama_70b};
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
    for (size_t m = 0; m < PLANNED_TYPES; m++)
      for (int batch = 5; batch <= 256; batch++) {
        const struct decode_request request =
            planned_request(shapes[s], &planned_types[m], batch, 512);
        const struct plan plan = planned(&request, &planned_h200_wgmma);
        for (int p = 0; p < PRODUCTS; p++)
          if (plan.product[p].wgmma)
            assert_in_range(2 * (plan.product[p].shared_bytes + 1024), 228 * 1024 + 1, SIZE_MAX);
      }
}

// ---- the even division of wgmma (even.h)

// Every unit is done by one block, and by the one that even_block names; no block does two more
// than another; a range has at most two pieces of tiles that others have a part in, at places of
// its own.
static void check_even(struct even_work work) {
  const unsigned units = work.tiles * work.steps, least = units / work.blocks;
  unsigned next = 0;
  assert_int_equal(even_begin(&work, work.blocks), units);
  for (unsigned block = 0; block < work.blocks; block++) {
    const unsigned begin = even_begin(&work, block), end = even_begin(&work, block + 1);
    assert_int_equal(begin, next);
    assert_in_range(end - begin, least, least + (units % work.blocks > 0));
    bool used[2] = {false, false};
    for (unsigned tile = begin / work.steps; tile <= (end - 1) / work.steps; tile++) {
      const struct even_pieces pieces = even_pieces(&work, tile);
      const unsigned place = even_place(&work, tile, block) - 2 * block;
      assert_in_range(block, pieces.first, pieces.first + pieces.count - 1);
      if (pieces.count == 1)
        continue;
      assert_in_range(place, 0, 1);
      assert_false(used[place]);
      used[place] = true;
    }
    for (; next < end; next++)
      assert_int_equal(even_block(&work, next), block);
  }
}

// The sums of a tile's pieces, arriving in some order, meet as in product_wgmma.h: those added at a
// node are of the same pieces whatever the order, each node is met at twice, and one block has the
// result. A sum is the set of its pieces, as bits.
static void check_tree(unsigned count, const unsigned *order) {
  uint64_t sums[64] = {0};
  unsigned arrived[64] = {0}, results = 0;
  for (unsigned i = 0; i < count; i++) {
    unsigned at = order[i], step = 1;
    sums[at] = UINT64_C(1) << at;
    for (; step < count; step *= 2) {
      const unsigned other = even_other(at, step), node = at | step;
      if (other >= count)
        continue;
      assert_in_range(node, 1, count - 1);
      if (++arrived[node] == 1)
        break;
      assert_int_equal(arrived[node], 2);
      const uint64_t both = sums[at] | sums[other];
      at &= ~step;
      sums[at] = both;
      for (unsigned p = 0; p < count; p++)
        assert_int_equal(sums[at] >> p & 1, p >= at && p < at + 2 * step);
    }
    results += step >= count;
  }
  assert_int_equal(results, 1);
}

static void check_trees(unsigned count, unsigned seed) {
  unsigned order[64];
  for (unsigned i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    const unsigned other = (seed >> 8) % (i + 1);
    order[i] = other < i ? order[other] : i;
    order[other] = i;
  }
  check_tree(count, order);
}

static void test_even_division(void **state) {
  (void)state;
  static const unsigned blocks[] = {1, 2, 3, 7, 16, 108, 114, 132};
  for (unsigned tiles = 1; tiles < 40; tiles += tiles < 8 ? 1 : 7)
    for (unsigned steps = 1; steps < 70; steps += steps < 8 ? 1 : 11)
      for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++)
        if (blocks[b] <= tiles * steps)
          check_even((struct even_work){tiles, steps, blocks[b]});
  check_even((struct even_work){501, 128, 132});
  check_even((struct even_work){224, 64, 132});
  check_even((struct even_work){32, 224, 128});
  for (unsigned count = 1; count <= 64; count++)
    for (unsigned seed = 0; seed < 8; seed++)
      check_trees(count, seed);
}

// `cluster`: as tuned, 0 for the plan's choice, which is none.
static struct plan planned_with_clusters(const struct decode_shape *shape, size_t mix, int batch,
                                         int units, int cluster) {
  struct gpu_device device = planned_h200_wgmma;
  const struct decode_request request = planned_request(shape, &planned_types[mix], batch, 512);
  device.described.units = units;
  device.tuning.wgmma_beside = cluster;
  return planned(&request, &device);
}

static struct plan planned_on(const struct decode_shape *shape, size_t mix, int batch, int units) {
  return planned_with_clusters(shape, mix, batch, units, 0);
}

// On whole devices, on parts of them and on one larger than the work: each multiprocessor has one
// block at most. Sixteen cannot bring what the memory could: up to 64 rows of the batch, whose sums
// are small, no product leaves more than a seventh of their time; an odd one may be left over.
static void test_wgmma_is_even(void **state) {
  (void)state;
  static const int units[] = {1, 16, 61, 114, 132, 100000};
  static const struct decode_shape *const shapes[] = {&tinyllama, &llama_8b, &llama_70b};
  for (size_t c = 0; c < 3 * 6 * PLANNED_TYPES; c++)
    for (int batch = 16; batch <= 256; batch *= 4) {
      const int room = units[c / 3 % 6];
      const struct plan plan = planned_on(shapes[c % 3], c / 18, batch, room);
      for (int p = 0; p < PRODUCTS; p++) {
        const struct even_work work = plan.product[p].work;
        const unsigned all = work.tiles * work.steps;
        const unsigned beside = (unsigned)plan.product[p].beside;
        const unsigned parts = (unsigned)plan.product[p].parts;
        if (!plan.product[p].wgmma)
          continue;
        check_even(work);
        assert_int_equal(plan.product[p].blocks, work.blocks * beside * parts);
        assert_in_range(plan.product[p].blocks, 1, room);
        const unsigned longest = (all + work.blocks * parts - 1) / (work.blocks * parts);
        const unsigned used = (unsigned)room / beside;
        const unsigned rows =
            64U * (unsigned)plan.product[p].strips *
            (unsigned)wgmma_tiles(plan.product[p].slice, plan.product[p].warp_columns);
        if (room <= 16 && batch <= 64 && longest * rows > 20 * 256 && longest * used * 7 > 8 * all)
          fail_msg("%u tiles of %u steps in %u blocks of %d", work.tiles, work.steps, work.blocks,
                   room);
      }
    }
}

// By the costs measured on an H200 (docs/gpu-model.md), on a device that holds no sixteen clusters
// of eight. Fewer blocks bring the same bytes in the same time, as memory and L2 set it: so whole
// tiles are not divided to give each multiprocessor an even part, and a tile has as few pieces as
// the multiprocessors keep up with. E4M3, which they convert, needs more, most where its
// activations are few.
static void test_measured_costs(void **state) {
  (void)state;
  static const struct {
    const struct decode_shape *shape;
    enum planned_mix mix;
    int batch;
    enum product_name which;
    unsigned tiles, blocks, merges;
  } cases[] = {
      {&llama_8b, PLANNED_BF16, 64, PRODUCT_QKV, 24, 48, 1},
      {&llama_8b, PLANNED_BF16, 64, PRODUCT_WO, 16, 64, 2},
      {&llama_8b, PLANNED_BF16, 64, PRODUCT_GATE_UP, 56, 56, 0}, // of two strips
      {&llama_8b, PLANNED_BF16, 64, PRODUCT_DOWN, 16, 64, 2},
      {&llama_8b, PLANNED_BF16, 64, PRODUCT_HEAD, 501, 132, 1},
      {&llama_8b, PLANNED_E4M3_KV, 64, PRODUCT_QKV, 24, 96, 2},
      {&llama_8b, PLANNED_E4M3_KV, 64, PRODUCT_WO, 16, 64, 2},
      {&llama_8b, PLANNED_E4M3_KV, 64, PRODUCT_GATE_UP, 56, 112, 1},
      {&llama_8b, PLANNED_E4M3_KV, 64, PRODUCT_DOWN, 16, 128, 3},
      {&llama_8b, PLANNED_E4M3_KV, 16, PRODUCT_QKV, 24, 96, 2},
      {&llama_8b, PLANNED_E4M3_KV, 16, PRODUCT_WO, 16, 128, 3},
      {&llama_8b, PLANNED_E4M3_KV, 16, PRODUCT_GATE_UP, 112, 112, 0},
      {&llama_70b, PLANNED_E4M3_KV, 64, PRODUCT_QKV, 40, 80, 1},
      {&llama_70b, PLANNED_E4M3_KV, 64, PRODUCT_WO, 32, 128, 2},
      {&llama_70b, PLANNED_E4M3_KV, 64, PRODUCT_GATE_UP, 112, 112, 0},
      {&llama_70b, PLANNED_E4M3_KV, 64, PRODUCT_HEAD, 125, 125, 0},
  };
  struct gpu_device device = planned_h200_wgmma;
  device.clusters = 4;
  device.tuning.wgmma_beside = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        planned_request(cases[i].shape, &planned_types[cases[i].mix], cases[i].batch, 512);
    const struct plan plan = planned(&request, &device);
    const struct even_work work = plan.product[cases[i].which].work;
    if (work.tiles != cases[i].tiles || work.blocks != cases[i].blocks ||
        gpu_plan_merges(&work) != cases[i].merges)
      fail_msg("case %zu: %u tiles in %u blocks, %u merges", i, work.tiles, work.blocks,
               gpu_plan_merges(&work));
  }
}

static void test_merges(void **state) {
  (void)state;
  static const struct {
    struct even_work work;
    unsigned merges;
  } cases[] = {{{5, 8, 5}, 0}, {{224, 64, 112}, 0}, {{224, 64, 132}, 1}, {{32, 224, 132}, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(gpu_plan_merges(&cases[i].work), cases[i].merges);
}

// Two blocks share activations if that is chosen and there are two multiprocessors, and never by
// themselves. All of a launch's blocks are in clusters, and a box is one block's part of the
// activations.
static void test_clusters(void **state) {
  (void)state;
  struct decode_shape narrow = llama_8b; // qkv is a tile of one block
  narrow.heads = 1;
  narrow.kv_heads = 1;
  narrow.head_dim = 64;
  static const int units[] = {1, 2, 3, 16, 78, 114, 132};
  for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
    const int most = units[u] > 1 ? MAX_WGMMA_BESIDE : 1;
    const struct plan wide = planned_with_clusters(&llama_70b, PLANNED_E4M3_KV, 64, units[u], most);
    const struct plan own = planned_on(&llama_70b, PLANNED_E4M3_KV, 64, units[u]);
    assert_int_equal(wide.product[PRODUCT_GATE_UP].beside, most);
    assert_int_equal(own.product[PRODUCT_GATE_UP].beside, 1);
    for (int tuned = 1; tuned <= MAX_WGMMA_BESIDE; tuned++) {
      const struct plan plan = planned_with_clusters(&narrow, PLANNED_E4M3_KV, 64, units[u], tuned);
      assert_int_equal(plan.product[PRODUCT_QKV].beside, least(tuned, most));
      assert_null(plan.fallback);
    }
    size_t count;
    struct gpu_launch *launches = gpu_plan_step(&wide, planned_base, &count, NULL);
    assert_non_null(launches);
    for (size_t i = 0; i < count; i++) {
      const struct wgmma_arguments *a = launches[i].arguments;
      if (!planned_begins(&launches[i], "wgmma_"))
        continue;
      assert_int_equal(launches[i].cluster, a->beside * a->parts);
      assert_int_equal(launches[i].grid[0], a->work.blocks * launches[i].cluster);
      assert_int_equal(a->activations.matrix.rows, 64);
      assert_int_equal((int)a->activations.matrix.box_rows * a->beside, 64);
    }
    free(launches);
  }
}

// By itself the step of a dense model like a Llama takes wgmma; a mixture's, one of another family
// and one on a device without it do not.
static void test_who_takes_wgmma(void **state) {
  (void)state;
  struct gpu_device device = planned_h200, without = planned_h200;
  struct decode_shape mixture = llama_8b, family = llama_8b;
  device.tuning.matrix = without.tuning.matrix = 0;
  without.wgmma = false;
  mixture.ffn_hidden = 0;
  mixture.experts = (struct decode_experts){.count = 8, .chosen = 2, .hidden = 512};
  family.biases = BIAS_QKV;
  const struct {
    const struct gpu_device *device;
    const struct decode_shape *shape;
    bool takes;
  } cases[] = {{&device, &llama_8b, true},
               {&device, &mixture, false},
               {&device, &family, false},
               {&without, &llama_8b, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        planned_request(cases[i].shape, &planned_types[PLANNED_BF16], 16, 512);
    const struct plan plan = planned(&request, cases[i].device);
    assert_int_equal(plan.product[PRODUCT_QKV].wgmma, cases[i].takes);
  }
}

// A tile's sums meet in shared memory where a cluster for each tile leaves few multiprocessors
// without a block, the merges would be three, and the device has clusters of that size.
static void test_parts(void **state) {
  (void)state;
  struct gpu_device device = planned_h200_wgmma;
  const struct decode_request request =
      planned_request(&llama_8b, &planned_types[PLANNED_E4M3_KV], 64, 512);
  device.tuning.wgmma_beside = 0;
  const struct plan eight = planned(&request, &device);
  const enum product_name whole[] = {PRODUCT_WO, PRODUCT_DOWN};
  for (int i = 0; i < 2; i++) { // 16 tiles of 256 rows
    const struct plan_product *product = &eight.product[whole[i]];
    assert_int_equal(product->beside, 1);
    assert_int_equal(product->parts, 8);
    assert_int_equal(product->work.blocks, 16);
    assert_int_equal(product->blocks, 128);
  }
  assert_int_equal(eight.product[PRODUCT_GATE_UP].parts, 1);
  device.clusters = 4;
  const struct plan four = planned(&request, &device);
  assert_int_equal(four.product[PRODUCT_WO].parts, 1);
  assert_int_equal(four.product[PRODUCT_WO].work.blocks, 64);
  assert_null(four.fallback);
  device.clusters = MAX_CLUSTER;
  for (int tuned = 1; tuned <= MAX_CLUSTER; tuned++) {
    device.tuning.wgmma_beside = 1;
    device.tuning.wgmma_parts = tuned;
    const struct plan plan = planned(&request, &device);
    assert_int_equal(plan.product[PRODUCT_QKV].parts, tuned);
    assert_int_equal(plan.product[PRODUCT_QKV].blocks % tuned, 0);
  }
  device.described.units = 7; // none of eight
  assert_int_equal(planned(&request, &device).product[PRODUCT_WO].parts, 1);
}

// A device without clusters runs the same kernels without, and says so.
static void test_without_clusters(void **state) {
  (void)state;
  struct gpu_device device = planned_h200_wgmma;
  const struct decode_request request =
      planned_request(&llama_70b, &planned_types[PLANNED_E4M3_KV], 64, 512);
  device.clusters = 1;
  const struct plan plan = planned(&request, &device);
  assert_int_equal(plan.product[PRODUCT_GATE_UP].beside, 1);
  assert_non_null(strstr(plan.fallback, "does not run clusters"));
  device.tuning.wgmma_beside = device.tuning.wgmma_parts = 1;
  assert_null(planned(&request, &device).fallback);
  device.tuning.matrix = MATRIX_REGISTERS;
  assert_null(planned(&request, &device).fallback);
}

// About as many blocks as the device holds, if there are few of them without splits.
static void test_splits_fill_the_device(void **state) {
  (void)state;
  const struct decode_request request =
      planned_request(&llama_8b, &planned_types[PLANNED_BF16], 16, 4096);
  const struct plan plan = planned(&request, &planned_h200);
  const struct plan_product *qkv = &plan.product[PRODUCT_QKV]; // 24 blocks of 256 rows
  assert_int_equal(qkv->blocks, 24);
  assert_int_equal(qkv->splits, 8);
  assert_int_equal(plan.product[PRODUCT_HEAD].splits, 1); // 501 blocks are enough
  const struct decode_request one =
      planned_request(&llama_8b, &planned_types[PLANNED_BF16], 1, 4096);
  const struct plan alone = planned(&one, &planned_h200);
  assert_in_range(8 * alone.attention_splits, 132, 4 * 132);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_vectors_by_type),
      cmocka_unit_test(test_blocks_of_vectors),
      cmocka_unit_test(test_attention_fills_rounds),
      cmocka_unit_test(test_splits_cost),
      cmocka_unit_test(test_slices_of_mi300x),
      cmocka_unit_test(test_rings_of_nvidia),
      cmocka_unit_test(test_stages_of_wgmma),
      cmocka_unit_test(test_wgmma_has_a_multiprocessor_to_itself),
      cmocka_unit_test(test_even_division),
      cmocka_unit_test(test_wgmma_is_even),
      cmocka_unit_test(test_who_takes_wgmma),
      cmocka_unit_test(test_measured_costs),
      cmocka_unit_test(test_merges),
      cmocka_unit_test(test_clusters),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_without_clusters),
      cmocka_unit_test(test_splits_fill_the_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
