// wgmma_merge: what several blocks have of a tile of product_wgmma.h's.
//
// Through L2: a warp merges its own rows and columns of a tile with the same warp of other
// clusters, and waits for nothing but its loads; so whether and when other clusters run does not
// matter.
//
// Where a cluster has several parts, it does a whole tile, and nothing passes through L2: each warp
// puts its sums into its block's ring, no longer in use, and adds up and stores a part of the
// columns, which it reads from the rings of all parts. They are added in the order of even.h's
// tree, so as many pieces merged through L2 have the same sums. Warps wait for the same warp of the
// other parts twice: until it has put its sums there, and, so that no block ends whose ring is
// still read, until it has read. Nothing else is between its start and these two arrivals than its
// own block's work; so, as the blocks of a cluster run at the same time, none waits forever.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_WGMMA_MERGE_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_WGMMA_MERGE_H

#include "kernels/gpu/device/products/wgmma_norm.h"
#include "kernels/gpu/device/products/wgmma_ring.h"

enum { WGMMA_LOADS = 16 }; // of 16 bytes a lane, under way together while sums are merged

// ---- merging: a warp with the same warp of other clusters

// This lane's words of a piece in the workspace, its strips one after the other; WARP words further
// are its next.
template <class KIND>
DEVICE char *wgmma_partial(const struct wgmma_arguments &a, const struct wgmma_share &share,
                           unsigned tile, unsigned block) {
  const size_t place =
      (size_t)even_place(&a.work, tile, block) * (size_t)wgmma_beside<KIND>(a) + (size_t)share.rank;
  const size_t words = (size_t)KIND::STRIPS * KIND::COLUMN_TILES * KIND::TILES * WARP; // of a warp
  return reinterpret_cast<char *>(a.product.partials) +
         ((place * WGMMA_GROUPS * 4 + (size_t)warp_index()) * words + (size_t)lane_index()) *
             sizeof(struct words4);
}

template <class KIND>
DEVICE void wgmma_put(char *to, const typename KIND::sums (&sum)[KIND::STRIPS]) {
  constexpr int COUNT = KIND::COLUMN_TILES * KIND::TILES; // of a strip
#pragma unroll
  for (int i = 0; i < KIND::STRIPS * COUNT; i++) {
    const float(&from)[4] = sum[i / COUNT][i % COUNT / KIND::TILES][i % KIND::TILES];
    publish_words(to + (size_t)i * WARP * sizeof(struct words4),
                  {{bits_of(from[0]), bits_of(from[1]), bits_of(from[2]), bits_of(from[3])}});
  }
}

// WGMMA_LOADS are under way together.
template <class KIND>
DEVICE void wgmma_add(const char *from, typename KIND::sums (&sum)[KIND::STRIPS]) {
  constexpr int COUNT = KIND::COLUMN_TILES * KIND::TILES; // of a strip
  constexpr int LOADS = COUNT < WGMMA_LOADS ? COUNT : WGMMA_LOADS;
#pragma unroll
  for (int first = 0; first < KIND::STRIPS * COUNT; first += LOADS) {
    struct words4 words[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
      words[i] = load_published(from + (size_t)(first + i) * WARP * sizeof(struct words4));
    }
#pragma unroll
    for (int i = 0; i < LOADS * 4; i++) {
      const int index = first + i / 4;
      sum[index / COUNT][index % COUNT / KIND::TILES][index % KIND::TILES][i % 4] +=
          float_of(words[i / 4].word[i % 4]);
    }
  }
}

// Adds the sums of the tile's other pieces, if there are no parts. False if another cluster goes on
// with these.
template <class KIND>
DEVICE bool wgmma_merge(const struct wgmma_arguments &a, const struct wgmma_share &share,
                        unsigned tile, typename KIND::sums (&sum)[KIND::STRIPS]) {
  const struct even_pieces pieces = even_pieces(&a.work, tile);
  // Found anew, since ptxas has no register to keep it in through the steps.
  const unsigned block = (unsigned)warp_alike_anew(block_index(0));
  unsigned at = block / (unsigned)wgmma_beside<KIND>(a) - pieces.first;
#pragma unroll 1
  for (unsigned step = 1; step < pieces.count; step *= 2) {
    const unsigned other = even_other(at, step);
    if (other >= pieces.count) {
      continue;
    }
    const unsigned node =
        (pieces.first + (at | step)) * (unsigned)wgmma_beside<KIND>(a) + (unsigned)share.rank;
    unsigned *counter = a.product.counters + node * WGMMA_GROUPS * 4 + (unsigned)warp_index();
    if (!warp_arrived(counter)) {
      wgmma_put<KIND>(wgmma_partial<KIND>(a, share, tile, pieces.first + at), sum);
      if (!warp_arrives(counter)) {
        return false;
      }
    }
    wgmma_add<KIND>(wgmma_partial<KIND>(a, share, tile, pieces.first + other), sum);
    at &= ~step;
  }
  return true;
}

// ---- adding up parts: a warp with the same warp of the blocks that have the same rows

// This lane's words of the warp's sums in its block's ring; WARP words further are its next. The
// fewest stages are longer.
template <class KIND> DEVICE char *wgmma_put_at(const struct wgmma_share &share) {
  const int words = KIND::COLUMN_TILES * KIND::TILES * WARP; // of a warp
  return share.ring + (warp_index() * words + lane_index()) * (int)sizeof(struct words4);
}

// Called by all warps of the block, the copying one, too: afterwards all that was brought into the
// ring has been used.
DEVICE void wgmma_leave_ring(void) {
  block_wait();
}

// Tells the same warp of all parts, and waits for it there. Arrivals of both kinds at one barrier
// would not do: one part could arrive a second time before another has for the first time.
DEVICE void wgmma_meet(const struct wgmma_arguments &a, const struct wgmma_share &share,
                       uint64_t *barriers) {
  uint64_t *barrier = barriers + warp_index();
  warp_wait();
  if (lane_index() < a.parts) {
    barrier_arrive_at(barrier, lane_index() * a.beside + share.rank);
  }
  barrier_wait_cluster(barrier, 0);
}

// A tile of columns, of all parts, as even.h adds them up. Parts that are not there count as 0.
template <class KIND>
DEVICE void wgmma_add_parts(const struct wgmma_arguments &a, const struct wgmma_share &share,
                            const char *from, float (&sum)[1][KIND::TILES][4]) {
  struct words4 words[MAX_CLUSTER][KIND::TILES] = {};
  float part[MAX_CLUSTER];
#pragma unroll
  for (int p = 0; p < MAX_CLUSTER; p++) {
#pragma unroll
    for (int n = 0; n < KIND::TILES && p < a.parts; n++) {
      words[p][n] =
          load_from_block(from + n * WARP * (int)sizeof(struct words4), p * a.beside + share.rank);
    }
  }
#pragma unroll
  for (int i = 0; i < KIND::TILES * 4; i++) {
#pragma unroll
    for (int p = 0; p < MAX_CLUSTER; p++) {
      part[p] = float_of(words[p][i / 4].word[i % 4]);
    }
#pragma unroll
    for (int step = 1; step < MAX_CLUSTER; step *= 2) {
#pragma unroll
      for (int p = 0; p < MAX_CLUSTER; p += 2 * step) {
        part[p] += part[p + step];
      }
    }
    sum[0][i / 4][i % 4] = part[0];
  }
}

template <class KIND>
DEVICE void wgmma_finish_parts(const struct wgmma_arguments &a, const struct wgmma_share &share,
                               const struct matrix_share &of_tile, const typename KIND::sums &sum) {
  typedef wgmma_kind<typename KIND::ELEMENTS, KIND::END, 8> one; // tile of columns
  char *own = wgmma_put_at<KIND>(share);
  wgmma_leave_ring();
#pragma unroll
  for (int i = 0; i < KIND::COLUMN_TILES * KIND::TILES; i++) {
    const float(&from)[4] = sum[i / KIND::TILES][i % KIND::TILES];
    store_shared(own + i * WARP * (int)sizeof(struct words4),
                 {{bits_of(from[0]), bits_of(from[1]), bits_of(from[2]), bits_of(from[3])}});
  }
  wgmma_meet(a, share, share.there);
#pragma unroll 1
  for (int tile = share.part; tile < KIND::COLUMN_TILES; tile += a.parts) {
    const struct matrix_share columns = {of_tile.row, of_tile.column + tile * 8, 0, 0};
    typename one::sums all;
    wgmma_add_parts<one>(a, share, own + tile * KIND::TILES * WARP * (int)sizeof(struct words4),
                         all);
    wgmma_finish<one, KIND>(a, share, columns, all);
  }
  wgmma_meet(a, share, share.taken);
}

#endif
