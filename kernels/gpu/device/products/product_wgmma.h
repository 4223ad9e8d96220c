// product_wgmma: weights times a batch of activations on the matrix unit of sm_90a: the kernels
// wgmma_* of arguments/wgmma.h. The weights are A, the batch is B. Two warpgroups multiply what a
// third one's thread copies (wgmma_ring.h); norms between products need no kernel (wgmma_norm.h),
// and what several blocks have of a tile meets in L2 or in a cluster (wgmma_merge.h).
//
// BF16 x BF16 goes from shared memory straight into the matrix unit. In E4M3 x BF16 the weights
// pass through registers, where they become BF16; the activations are in an order for which a
// lane's 16 bytes of a row, even pieces first, are what the matrix unit wants from it, in other
// banks than its neighbors'. E4M3 x E4M3 is summed by the unit with about 14 bits (DeepSeek-V3
// technical report, arXiv 2412.19437, 3.5.2), so the sum starts again at each step, 128 elements,
// and is then added in float. Both take registers that 128 columns would need; hence their limit of
// 64.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_WGMMA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_WGMMA_H

#include "kernels/gpu/device/machine/matrix_wgmma.h"
#include "kernels/gpu/device/products/wgmma_merge.h"
#include "kernels/gpu/device/products/wgmma_norm.h"
#include "kernels/gpu/device/products/wgmma_ring.h"

// ---- multiplying: warpgroups. `a` is where the first tile of weights begins, `b` the warpgroup's
// columns; `b_bytes` from one block of B to the next.

// What differs between the element types: how a step's sums are added to `sum`.
template <class ELEMENTS> struct wgmma_multiply;

template <> struct wgmma_multiply<bf16_bf16> {
  template <class KIND>
  DEVICE void step(const char *a, const char *b, int, typename KIND::sums &sum) {
    const uint64_t first = wgmma_matrix(a), second = wgmma_matrix(a + WGMMA_TILE_BYTES);
    const uint64_t columns = wgmma_matrix(b);
    wgmma_begin(sum);
#pragma unroll
    for (int k = 0; k < WGMMA_STEP_BYTES / 32; k++) {
      typedef wgmma_instruction<KIND::COLUMNS> instruction;
      const uint64_t next = (uint64_t)(k * WGMMA_NEXT);
      instruction::template bf16<0>(sum, first + next, columns + next);
      instruction::template bf16<1>(sum, second + next, columns + next);
    }
    wgmma_wait(sum);
  }
};

// The two rows of a tile that a lane holds, as BF16 for the 4 instructions of half a step.
DEVICE void wgmma_convert(const char *tile, int half, uint32_t (&out)[4][4]) {
  const int row = wgmma_row(0), t = lane_index() % 4;
  const char *from = tile + wgmma_place(row, (2 * t + half) * 16);
  const struct words4 upper = load_shared(from);
  const struct words4 lower = load_shared(from + 8 * WGMMA_STEP_BYTES);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    out[i][0] = e4m3_pair_bf16(upper.word[i]);
    out[i][1] = e4m3_pair_bf16(lower.word[i]);
    out[i][2] = e4m3_pair_bf16(upper.word[i], 1);
    out[i][3] = e4m3_pair_bf16(lower.word[i], 1);
  }
}

// The next half is converted while this one is multiplied.
template <> struct wgmma_multiply<e4m3_bf16> {
  template <class KIND, int TILE>
  DEVICE void half(const char *a, const char *b, int b_bytes, typename KIND::sums &sum, int half) {
    uint32_t rows[4][4];
    wgmma_convert(a + TILE * WGMMA_TILE_BYTES, half, rows);
    wgmma_registers_set();
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const uint64_t columns = wgmma_matrix(b + half * b_bytes) + (uint64_t)(k * WGMMA_NEXT);
      wgmma_instruction<KIND::COLUMNS>::template bf16_registers<TILE>(sum, rows[k], columns);
    }
  }
  template <class KIND>
  DEVICE void step(const char *a, const char *b, int b_bytes, typename KIND::sums &sum) {
    wgmma_begin(sum);
    half<KIND, 0>(a, b, b_bytes, sum, 0);
    half<KIND, 0>(a, b, b_bytes, sum, 1);
    half<KIND, 1>(a, b, b_bytes, sum, 0);
    half<KIND, 1>(a, b, b_bytes, sum, 1);
    wgmma_wait(sum);
  }
};

template <> struct wgmma_multiply<e4m3_e4m3> {
  template <class KIND, int TILE>
  DEVICE void tile(const char *a, const char *b, typename KIND::sums &sum) {
    typedef wgmma_instruction<KIND::COLUMNS> instruction;
    const uint64_t rows = wgmma_matrix(a), columns = wgmma_matrix(b);
    float part[KIND::COLUMN_TILES][1][4] = {};
    wgmma_begin(part);
    instruction::template e4m3<0, false>(part, rows, columns);
#pragma unroll
    for (int k = 1; k < WGMMA_STEP_BYTES / 32; k++) {
      const uint64_t next = (uint64_t)(k * WGMMA_NEXT);
      instruction::template e4m3<0, true>(part, rows + next, columns + next);
    }
    wgmma_wait(part);
#pragma unroll
    for (int i = 0; i < KIND::COLUMN_TILES * 4; i++) {
      sum[i / 4][TILE][i % 4] += part[i / 4][0][i % 4];
    }
  }
  template <class KIND>
  DEVICE void step(const char *a, const char *b, int, typename KIND::sums &sum) {
    tile<KIND, 0>(a, b, sum);
    tile<KIND, 1>(a + WGMMA_TILE_BYTES, b, sum);
  }
};

// A warp is done with a stage: tells all blocks that bring something into it.
template <class KIND>
DEVICE void wgmma_release(const struct wgmma_arguments &a, const struct wgmma_share &share,
                          uint64_t *empty) {
  warp_wait();
  if (wgmma_beside<KIND>(a) > 1) {
    if (lane_index() < MAX_WGMMA_BESIDE) {
      barrier_arrive_at(empty, share.part * MAX_WGMMA_BESIDE + lane_index());
    }
  } else if (lane_index() == 0) {
    barrier_arrive(empty);
  }
}

template <class KIND>
DEVICE void wgmma_sum(const struct wgmma_arguments &a, const struct wgmma_share &share,
                      int rows_group, int columns_group, int steps, struct wgmma_turn &turn,
                      typename KIND::sums (&sum)[KIND::STRIPS]) {
  const int b_bytes = a.product.batch_padded * WGMMA_STEP_BYTES;
  const int weights = rows_group * WGMMA_TILES * WGMMA_TILE_BYTES;
  const int activations = share.activations + columns_group * KIND::COLUMNS * WGMMA_STEP_BYTES;
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    const char *columns = share.ring + activations + wgmma_slot<KIND>(turn) * share.slot_bytes;
#pragma unroll
    for (int strip = 0; strip < KIND::STRIPS; strip++) {
      const char *at = share.ring + turn.stage * share.stage_bytes + weights;
      barrier_wait(share.full + turn.stage, turn.phase);
      wgmma_multiply<typename KIND::ELEMENTS>::template step<KIND>(at, columns, b_bytes,
                                                                   sum[strip]);
      stamp_product(sum[strip][0][0][0]);
      wgmma_release<KIND>(a, share, share.empty + turn.stage);
      wgmma_advance(share, turn);
    }
    wgmma_advance_slot(share, turn);
  }
}

template <class KIND>
DEVICE void wgmma_tiles_of(const struct wgmma_arguments &a, const struct wgmma_share &share) {
  const struct product_arguments &p = a.product;
  const int group = warp_index() / 4;
  const bool side_by_side = p.batch_padded > KIND::COLUMNS; // in the columns
  const int rows_group = side_by_side ? 0 : group, columns_group = side_by_side ? group : 0;
  struct wgmma_turn turn = {0, 0, 0};
#pragma unroll 1
  for (unsigned unit = share.begin; unit < share.end;) {
    const unsigned tile = unit / a.work.steps, next = (tile + 1) * a.work.steps;
    const unsigned stop = next < share.end ? next : share.end;
    typename KIND::sums sum[KIND::STRIPS] = {};
    wgmma_sum<KIND>(a, share, rows_group, columns_group, (int)(stop - unit), turn, sum);
    const bool in_parts = wgmma_parts<KIND>(a) > 1;
    const bool is_whole = in_parts || wgmma_merge<KIND>(a, share, tile, sum);
#pragma unroll
    for (int strip = 0; strip < KIND::STRIPS; strip++) {
      const int row = wgmma_first_row<KIND>(a, share, tile, strip) + rows_group * KIND::ROWS;
      const struct matrix_share of_strip = {row, columns_group * KIND::COLUMNS, 0, 0};
      if (in_parts) {
        wgmma_finish_parts<KIND>(a, share, of_strip, sum[strip]);
      } else if (is_whole) {
        wgmma_finish<KIND>(a, share, of_strip, sum[strip]);
      }
    }
    unit = stop;
  }
}

template <class KIND> DEVICE void wgmma_product(const struct wgmma_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  const struct wgmma_share share = wgmma_share_of<KIND>(a, shared);
  const bool copies = thread_index() == WGMMA_GROUPS * 128;
  if (copies) {
    wgmma_maps_ahead<KIND>(a);
  }
  if (thread_index() == 0) {
#pragma unroll 1
    for (int stage = 0; stage < share.stages; stage++) {
      barrier_make(share.full + stage, 1);
      barrier_make(share.empty + stage, WGMMA_GROUPS * 4 * wgmma_beside<KIND>(a));
    }
#pragma unroll 1
    for (int warp = 0; warp < WGMMA_GROUPS * 4; warp++) {
      barrier_make(share.there + warp, wgmma_parts<KIND>(a));
      barrier_make(share.taken + warp, wgmma_parts<KIND>(a));
    }
    barriers_made();
  }
  block_wait();
  const bool in_cluster = wgmma_beside<KIND>(a) * wgmma_parts<KIND>(a) > 1;
  if (in_cluster) {
    cluster_arrive();
  }
  if (copies) {
    wgmma_bring_first<KIND>(a, share);
  }
  wait_for_previous();
  if (in_cluster) {
    cluster_wait(); // all have made their barriers
  }
  if (copies) {
    wgmma_bring_second<KIND>(a, share);
  }
  if constexpr (NORM_BEFORE<KIND>) {
    wgmma_find<KIND>(a.norm, a.product, share.found);
  }
  if (warp_index() < WGMMA_GROUPS * 4) {
    wgmma_take_registers();
    wgmma_tiles_of<KIND>(a, share);
    return;
  }
  wgmma_leave_registers();
  if (copies) {
    wgmma_bring_rest<KIND>(a, share);
  }
  if (wgmma_parts<KIND>(a) > 1) {
    wgmma_leave_ring();
  }
}

#define WGMMA_KERNEL(elements, end, END, columns)                                                  \
  KERNEL_BOUNDS(wgmma_##elements##_##end##_##columns, wgmma_arguments, WGMMA_THREADS, 1) {         \
    wgmma_product<wgmma_kind<elements, END, columns>>(a);                                          \
  }
#define WGMMA_STRIPS_KERNEL(elements, end, END, columns)                                           \
  KERNEL_BOUNDS(wgmma_strips_##elements##_##end##_##columns, wgmma_arguments, WGMMA_THREADS, 1) {  \
    wgmma_product<wgmma_kind<elements, END, columns, MAX_WGMMA_STRIPS>>(a);                        \
  }
#define WGMMA_KERNELS(elements, columns)                                                           \
  WGMMA_KERNEL(elements, store, MATRIX_STORE, columns)                                             \
  WGMMA_KERNEL(elements, add, MATRIX_ADD, columns)                                                 \
  WGMMA_KERNEL(elements, swiglu, MATRIX_SWIGLU, columns)

#define WGMMA_STRIPS_KERNELS(elements, columns)                                                    \
  WGMMA_STRIPS_KERNEL(elements, store, MATRIX_STORE, columns)                                      \
  WGMMA_STRIPS_KERNEL(elements, add, MATRIX_ADD, columns)                                          \
  WGMMA_STRIPS_KERNEL(elements, swiglu, MATRIX_SWIGLU, columns)

WGMMA_STRIPS_KERNELS(bf16_bf16, 64)
WGMMA_STRIPS_KERNELS(e4m3_bf16, 64)
WGMMA_STRIPS_KERNELS(e4m3_e4m3, 64)
WGMMA_KERNELS(bf16_bf16, 16)
WGMMA_KERNELS(bf16_bf16, 32)
WGMMA_KERNELS(bf16_bf16, 64)
WGMMA_KERNELS(bf16_bf16, 128)
WGMMA_KERNELS(e4m3_bf16, 16)
WGMMA_KERNELS(e4m3_bf16, 32)
WGMMA_KERNELS(e4m3_bf16, 64)
WGMMA_KERNELS(e4m3_e4m3, 16)
WGMMA_KERNELS(e4m3_e4m3, 32)
WGMMA_KERNELS(e4m3_e4m3, 64)

#endif
