// latent: the arguments of latent attention.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_LATENT_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_LATENT_H

#include "kernels/integers.h"

#include <stddef.h>

// latent_KV: latent attention, between k_b and v_b. Grid (splits, head_groups, batch), block
// LATENT_WARPS warps. A position's entry is `rank` elements that are both keys and values and
// rope_dim elements that are keys only, the same for all heads; a head group is at most
// LATENT_HEADS of these. The entry of position context - 1 is normalized, rotated, rounded and
// written by every block that reads it, all with the same bits. Splits are divided and merged like
// those of attention_*.
//
// latent_KV_entries: for the positions `first` to first + batch - 1 of a prompt, writes their
// entries to the row's cache. Grid (positions), block SMALL_THREADS.
//
// latent_KV_prompt, run after it: computes what latent_KV does for these positions: each attends to
// itself and those before. Grid (blocks of columns), block LATENT_WARPS warps; a column is a
// position and a head, LATENT_HEADS per block, each of which reads the cache up to the last of its
// positions. For both `latents` begins at the row, `batch` counts positions, and each has its own
// angles, [head_dim] apart; context, splits, partials and counters are not read.
//
// latents: [batch][context_padded][stride], stride = rank + rope_dim rounded up to ROW_ALIGNMENT,
// at most LATENT_STRIDE, and rank at most LATENT_RANK; the padding zero.
struct latent_arguments {
  const float *queries;  // [batch][query_stride], head_dim per head; the last elements are rotated
  const float *absorbed; // [batch][heads][rank]: k_b times the first elements
  const float *entries;  // [batch][entry_stride], the new ones
  const float *norm;     // [rank], of these
  const float *angles;   // [rope_dim / 2][2]: cosine and sine at position context - 1
  void *latents;         // of this layer
  int query_stride, entry_stride, heads, head_groups, head_dim, rank, rope_dim, stride;
  int context, context_padded, splits, interleaved;
  float epsilon;     // of the norm
  float score_scale; // 1 for none
  float *partials;   // [batch][head_groups][splits][LATENT_HEADS][ATTENTION_PARTIAL + LATENT_RANK],
                     // as in attention
  unsigned *counters;
  float *output;    // [batch][heads][rank]
  int batch, first; // of a prompt
};

enum {
  LATENT_WARPS = 4,
  LATENT_HEADS = 16,
  LATENT_UNIT = 32, // positions
  LATENT_RANK = 512,
  LATENT_STRIDE = 576,
  LATENT_SCORES = 40,      // floats between heads' scores in shared memory: for the banks
  LATENT_WEIGHT_BYTES = 80 // between heads' weights: likewise
};

static inline size_t latent_query_bytes(int stride) {
  return (size_t)stride * 2 + 16;
}
static inline size_t latent_value_bytes(int rank) {
  return round_up((size_t)rank, 16) * LATENT_UNIT * 2;
}

// Queries, a unit's values, each warp's part of its scores, their weights, and three floats per
// head; merging the splits needs less.
static inline size_t latent_shared_bytes(int stride, int rank) {
  const size_t heads = LATENT_HEADS, scores = LATENT_WARPS * heads * LATENT_SCORES * 4;
  return heads * latent_query_bytes(stride) + latent_value_bytes(rank) + scores +
         heads * LATENT_WEIGHT_BYTES + heads * 3 * 4;
}

#endif
