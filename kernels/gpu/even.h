// even: the even division of a wgmma product among blocks: stream-K (Osama et al., "Stream-K",
// arXiv 2301.03598).
//
// A unit of work is a step of a tile: WGMMA_STEP_BYTES of each of its rows of weights. Units are in
// order of their tile, then their step, and each block does a contiguous range of them, one more
// than another at most. So a tile is divided into pieces, of as many blocks as its units belong to.
//
// The sums of the pieces meet in pairs, as the leaves of a binary tree: at a node the second of the
// two blocks to arrive adds the first one's sums to its own and goes on to the next node; the first
// has put its sums into the workspace and does something else. So blocks merge side by side, no
// block ever waits for another, whichever of them run at the same time; and since a + b = b + a,
// the order in which they arrive does not change a bit.
//
// In clusters, all blocks of one count as one block here: they have the same units, each with rows
// or steps of its own.
//
// For the plan, the kernel (product_wgmma.h) and their tests alike.
#ifndef PERTOKEN_KERNELS_GPU_EVEN_H
#define PERTOKEN_KERNELS_GPU_EVEN_H

#if defined(__CUDACC__)
#define EVEN static inline __host__ __device__
#else
#define EVEN static inline
#endif

// All 1 or more; blocks <= units and units * blocks < 2^32, where units = tiles * steps.
struct even_work {
  unsigned tiles, steps, blocks;
};

// The first unit of a block's range, which ends where the next block's begins. If `blocks` is a
// multiple of `tiles`, every tile begins with a block's range.
EVEN unsigned even_begin(const struct even_work *work, unsigned block) {
  return work->tiles * work->steps * block / work->blocks;
}

// The block that does a unit.
EVEN unsigned even_block(const struct even_work *work, unsigned unit) {
  return ((unit + 1) * work->blocks - 1) / (work->tiles * work->steps);
}

// The blocks that do a tile are `first` to `first + count - 1`.
struct even_pieces {
  unsigned first, count;
};
EVEN struct even_pieces even_pieces(const struct even_work *work, unsigned tile) {
  const unsigned first = even_block(work, tile * work->steps);
  const unsigned last = even_block(work, (tile + 1) * work->steps - 1);
  const struct even_pieces pieces = {first, last - first + 1};
  return pieces;
}

// The place in the workspace of a block's piece of a tile, of two for each block: a range has at
// most two pieces that are not whole tiles, at its beginning and its end.
EVEN unsigned even_place(const struct even_work *work, unsigned tile, unsigned block) {
  return 2 * block + (even_begin(work, block) < tile * work->steps);
}

// The piece, counted from 0, whose sums meet those of pieces `at` to at + step - 1, with `at` a
// multiple of `step`, a power of two; `count` or more: none. They meet at the node of the larger of
// the two, which is unlike the node of any other pair of the tile. Afterwards the sums are those of
// 2 `step` pieces from at & ~step on.
EVEN unsigned even_other(unsigned at, unsigned step) {
  return at ^ step;
}

#endif
