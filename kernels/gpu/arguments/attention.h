// attention: the arguments of attention, and of the rotation before a prompt's.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_ATTENTION_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_ATTENTION_H

#include "kernels/gpu/arguments/layout.h"

#include <stddef.h>

enum {
  ATTENTION_WARPS = 4,
  ATTENTION_MERGED = 128, // elements of a head that fit when 16 columns are merged
  ATTENTION_SPLITS = 128, // at most: what the merge has room for
  ATTENTION_PARTIAL = 4,  // floats before a partial result's sums
  // Where keys and values are copied: row tiles, of 1 KiB, that a warp copies together, and how
  // often, before it uses the first. With two blocks on a multiprocessor 128 KB are on their way;
  // an H200 needs 48 (docs/gpu-model.md).
  ATTENTION_COPIED_TILES = 4,
  ATTENTION_COPIED_BATCHES = 4,
  ATTENTION_RING = ATTENTION_WARPS * ATTENTION_COPIED_BATCHES * ATTENTION_COPIED_TILES * 1024
};

// attention_KV_HEADDIM, HEADDIM 64, 128 or 256: the head_dim padded. Grid (splits, kv_heads *
// head_groups, batch), block ATTENTION_WARPS warps. A head group is at most TILE_COLUMNS
// (matrix_tile) of the heads / kv_heads query heads that read one kv head; head_groups is the
// number of groups that takes. `angles` rotate the queries and the new key. Keys and values of the
// new position, context - 1, are rounded and written to the cache by every block that reads them,
// all with the same bits. Each split takes a share of the blocks of VALUE_BLOCK positions; with
// splits > 1 the partial results go to `partials`, and the last block to arrive at
// counters[batch][kv head and group] merges them. Queries and softmax weights enter the products as
// BF16. The output is stored as `passed` says.
//
// attention_KV_family_HEADDIM: the same, with what only some families have: the last fields, each
// of which is 0 or NULL if a layer does not have it. It reads no block before the one with `first`.
struct attention_arguments {
  const float *qkv;    // [batch][heads * head_dim + 2 * kv_heads * head_dim]: q, k, v
  const float *angles; // [head_dim / 2][2]: cosine and sine at position context - 1
  void *keys, *values; // of this layer, as above
  int batch, heads, kv_heads, head_groups, head_dim, head_stride, context, context_padded, splits;
  float *partials; // [batch][kv_heads * head_groups][splits][TILE_COLUMNS][ATTENTION_PARTIAL +
                   // HEADDIM]: the largest score, the sum of exponentials, two unused, the weighted
                   // values
  unsigned *counters;
  float *output;                // [batch][heads * head_dim]
  const float *q_norm, *k_norm; // [head_dim], both or neither
  const float *sinks;           // [heads]
  float epsilon;                // of the norms
  float score_scale;            // 1 for none
  int first;                    // first position that is attended to
  int interleaved;              // whether adjacent elements form the rope pairs
  int window;                   // for a prompt: positions attended to, 1 or more
  int passed;                   // enum passed
};

// turn_KV: for a prompt's positions, rotates the new queries in place and the keys by their
// position's angles, each after its norm if there is one, and writes rounded keys and values to the
// row's cache. Grid (positions, blocks of heads of all three), block SMALL_THREADS, one warp per
// head.
//
// attention_KV_prompt_HEADDIM, run after it: computes what attention_KV_family_HEADDIM does, for
// the positions `first` to first + batch - 1 of one row: each attends to itself and those before,
// at most a window. Grid (blocks of columns, kv_heads), one split; a column is a position and one
// of the query heads of a kv head, TILE_COLUMNS per block. `context`, `angles` and norms are not
// read.
struct turn_arguments {
  float *qkv;                   // [positions][...] as attention's
  const float *angles;          // [positions][head_dim / 2][2]
  void *keys, *values;          // of this layer and row
  const float *q_norm, *k_norm; // [head_dim], both or neither
  float epsilon;
  int first; // position
  int heads, kv_heads, head_dim, head_stride, context_padded, interleaved;
};

// Shared memory of attention for a padded head_dim of at most ATTENTION_MERGED and a tile of that
// many columns.
static inline size_t attention_tile_shared_bytes(int head_dim_padded, int columns) {
  const size_t head_dim = (size_t)head_dim_padded;
  const size_t queries = head_dim * 2 + 16, weights = ATTENTION_WARPS * (VALUE_BLOCK * 2 + 16);
  const size_t merge = ATTENTION_WARPS * (head_dim + 2) * 4;
  return (size_t)columns * (queries + weights + merge);
}

// Shared memory of a block, for a padded head_dim. Where keys and values are copied, the tile has 8
// columns, and warps merge where their copies were. Otherwise it is enough for the widest tile (16
// columns), whose warps merge a head of 256 in two rounds; narrower tiles fit in the same room in
// one round.
static inline size_t attention_shared_bytes(int head_dim_padded, int copied) {
  const int merged = head_dim_padded < ATTENTION_MERGED ? head_dim_padded : ATTENTION_MERGED;
  const size_t beyond = 16 * 2 * (size_t)(head_dim_padded - merged); // of the queries
  const size_t queries = (size_t)head_dim_padded * 2 + 16;
  const size_t weights = ATTENTION_WARPS * (VALUE_BLOCK * 2 + 16);
  return copied ? 8 * (queries + weights) + ATTENTION_RING
                : attention_tile_shared_bytes(merged, 16) + beyond;
}

#endif
