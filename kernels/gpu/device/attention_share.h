// attention_share: the kinds of attention's kernels, and what a block and a warp of one works on.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_SHARE_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_SHARE_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/device/machine/lane_ring.h"
#include "kernels/gpu/device/machine/matrix_elements.h"

// Below any score; exp(this - a score) is 0.
#define ATTENTION_NONE (-1e30f)

// Compile-time parameters of attention. ELEMENTS: those of the cache and BF16.
template <class ELEMENTS_, int HEADDIM_> struct attention_kind {
  typedef ELEMENTS_ ELEMENTS;
  static constexpr int HEADDIM = HEADDIM_, BYTES = ELEMENTS::A_BYTES, UNIT = ELEMENTS::STEP;
  static constexpr int KEY_TILES = UNIT / TILE_ROWS; // of row tiles, per step of head_dim
  static constexpr int TILES = HEADDIM / TILE_ROWS;  // of the keys and of the values of a unit
  static constexpr bool COPIED = LANE_RING_COPIES;   // into shared memory, or into registers?
  static constexpr int WIDE = HEADDIM > 128 ? 8 : 16;
  static constexpr int LEAST = BYTES == 1 ? 4 : 2; // a step of the keys
  static constexpr int MOST = TILE_PARTS == 4 ? LEAST : COPIED ? ATTENTION_COPIED_TILES : WIDE;
  static constexpr int BATCH = TILES < MOST ? TILES : MOST;            // row tiles fetched together
  static constexpr int SCORES = BATCH < KEY_TILES ? BATCH : KEY_TILES; // row tiles scored together
  static constexpr int BATCHES = TILES / BATCH; // of the keys, and of the values
  static constexpr int BUFFERS = COPIED ? ATTENTION_COPIED_BATCHES : TILE_PARTS == 4 ? 1 : 2;
  static constexpr int BLOCKS = COPIED && HEADDIM <= 128 ? 3 : 2; // blocks on a multiprocessor
  // Bytes from column to column in shared memory, such that neighbors are in different banks.
  static constexpr int QUERY_BYTES = HEADDIM * 2 + 16, WEIGHT_BYTES = VALUE_BLOCK * 2 + 16;
  static constexpr int PARTIAL = HEADDIM + ATTENTION_PARTIAL; // floats of a split's column
  static constexpr int COLUMNS = TILE_COLUMNS;                // of a split
  static constexpr int AT_ONCE = 16;      // splits whose sums a lane has in flight
  static constexpr bool FOLLOWED = false; // more warps than ATTENTION_WARPS?
  static constexpr bool FAMILY = false;   // with the features of family.h?
  static constexpr bool PROMPT = false;   // for many positions of one row?
  // The part of a warp's results that is in shared memory at a time: attention_shared_bytes.
  static constexpr int ROUNDS = TILE_COLUMNS == 16 && HEADDIM > ATTENTION_MERGED ? 2 : 1;
  static constexpr int MERGED = HEADDIM / ROUNDS, HELD = MERGED + 2;
};

// Attention in a block of more warps; the additional ones have no units, and there are fewer
// registers.
template <class ELEMENTS, int HEADDIM, int BATCH_>
struct attention_narrow : attention_kind<ELEMENTS, HEADDIM> {
  typedef attention_kind<ELEMENTS, HEADDIM> WIDER;
  static constexpr int BATCH = BATCH_ < WIDER::BATCH ? BATCH_ : WIDER::BATCH;
  static constexpr int SCORES = BATCH < WIDER::KEY_TILES ? BATCH : WIDER::KEY_TILES;
  static constexpr int BATCHES = WIDER::TILES / BATCH;
  static constexpr bool COPIED = false; // shared memory is full of weights
  static constexpr int BUFFERS = TILE_PARTS == 4 ? 1 : 2;
  static constexpr bool FOLLOWED = true;
  static constexpr int AT_ONCE = 8;
};

template <class ELEMENTS, int HEADDIM> struct attention_family : attention_kind<ELEMENTS, HEADDIM> {
  static constexpr bool FAMILY = true;
};

// Attention of a prompt: its columns are the heads that read one kv head, position after position.
// The keys and values of all positions are in the cache.
template <class ELEMENTS, int HEADDIM>
struct attention_prompt : attention_family<ELEMENTS, HEADDIM> {
  static constexpr bool PROMPT = true;
  static constexpr int BLOCKS = 2; // a column's own position takes registers, too
};

// What a block works on.
struct attention_share {
  int row, kv_head;                 // of the batch; of the cache
  int head, heads;                  // first query head, and how many; for a prompt, columns
  int unit, end;                    // units of positions: this warp's first; the split's end
  const char *keys, *values;        // of this row and kv head
  const float *query, *key, *value; // in qkv
};

// The most work first: the last positions.
template <class KIND>
DEVICE struct attention_share attention_prompt_share(const struct attention_arguments &a) {
  struct attention_share s = {};
  const int heads = a.heads / a.kv_heads;
  const int block = grid_blocks(0) - 1 - warp_alike_anew(block_index(0));
  s.kv_head = block_index(1);
  s.head = block * TILE_COLUMNS;
  s.heads = a.batch * heads - s.head < TILE_COLUMNS ? a.batch * heads - s.head : TILE_COLUMNS;
  const int from = a.first + s.head / heads + 1 - a.window;
  s.unit = (from > 0 ? from / KIND::UNIT : 0) + warp_index();
  s.end = (a.first + (s.head + s.heads - 1) / heads) / KIND::UNIT + 1;
  const size_t positions = (size_t)s.kv_head * (size_t)a.context_padded;
  s.keys = static_cast<const char *>(a.keys) + positions * (size_t)(a.head_stride * KIND::BYTES);
  s.values = static_cast<const char *>(a.values) + positions * (size_t)(a.head_dim * KIND::BYTES);
  return s;
}

// What a block's column is: the row's distance in positions from the first, and its query head.
struct attention_column {
  int row, head;
};
template <class KIND>
DEVICE struct attention_column attention_column_of(const struct attention_arguments &a,
                                                   const struct attention_share &s, int column) {
  if (!KIND::PROMPT) {
    return {s.row, s.head + column};
  }
  const int heads = a.heads / a.kv_heads;
  return {(s.head + column) / heads, s.kv_head * heads + (s.head + column) % heads};
}

// A prompt's blocks are enough without.
template <class KIND> DEVICE int attention_splits(const struct attention_arguments &a) {
  return KIND::PROMPT ? 1 : a.splits;
}

template <class KIND>
DEVICE struct attention_share attention_share_of(const struct attention_arguments &a) {
  if constexpr (KIND::PROMPT) {
    return attention_prompt_share<KIND>(a);
  }
  struct attention_share s;
  const int heads = a.heads / a.kv_heads, group = block_index(1) % a.head_groups;
  s.row = block_index(2);
  s.kv_head = block_index(1) / a.head_groups;
  s.head = s.kv_head * heads + group * TILE_COLUMNS;
  s.heads =
      heads - group * TILE_COLUMNS < TILE_COLUMNS ? heads - group * TILE_COLUMNS : TILE_COLUMNS;

  const int before = KIND::FAMILY ? a.first / VALUE_BLOCK : 0; // blocks that have no unit
  const int blocks = (a.context + VALUE_BLOCK - 1) / VALUE_BLOCK - before, split = block_index(0);
  const int units = (a.context + KIND::UNIT - 1) / KIND::UNIT, per_block = VALUE_BLOCK / KIND::UNIT;
  const int end = (before + blocks * (split + 1) / a.splits) * per_block;
  s.unit = (before + blocks * split / a.splits) * per_block;
  if constexpr (KIND::FAMILY) {
    s.unit = s.unit > a.first / KIND::UNIT ? s.unit : a.first / KIND::UNIT;
  }
  s.unit += warp_index();
  s.end = end < units ? end : units;
  if constexpr (KIND::FOLLOWED) {
    s.unit = warp_index() < ATTENTION_WARPS ? s.unit : s.end;
  }

  const size_t positions = (size_t)(s.row * a.kv_heads + s.kv_head) * (size_t)a.context_padded;
  s.keys = static_cast<const char *>(a.keys) + positions * (size_t)(a.head_stride * KIND::BYTES);
  s.values = static_cast<const char *>(a.values) + positions * (size_t)(a.head_dim * KIND::BYTES);
  s.query = a.qkv + (size_t)s.row * (size_t)((a.heads + 2 * a.kv_heads) * a.head_dim) +
            s.head * a.head_dim;
  s.key = s.query + (a.heads - s.head + s.kv_head) * a.head_dim;
  s.value = s.key + a.kv_heads * a.head_dim;
  return s;
}

// Whether a kernel of the step, or this block, has written to this unit.
template <class KIND>
DEVICE bool attention_is_fresh(const struct attention_arguments &a, int unit) {
  return KIND::PROMPT || (unit + 1) * KIND::UNIT >= a.context;
}

#endif
