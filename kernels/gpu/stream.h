// stream: the division of a step's weights among the warps of a step in one launch, and the order
// in which each of them uses its own.
//
// A block takes an even share of the rows of each product, adjacent ones, and goes through them in
// pairs: of two adjacent rows, the last of which may be missing, or of the same row of two
// matrices, so that two rows meet each activation that is read. A unit is STREAM_BYTES of both rows
// of a pair, or what is left of them. The units of a block's share, in the order of their pair,
// then of their place in the rows, are divided evenly among its warps, so that all of them end
// together; a pair may therefore belong to several warps, whose sums the block adds up.
//
// A warp's stream is its units of the step's first product, then of the second, and so on. Nothing
// that the step computes has a part in it. So weights can be requested as long as there is room for
// them, whatever the block is waiting for.
//
// For the plan, the kernel (streaming.h) and their tests alike.
#ifndef PERTOKEN_KERNELS_GPU_STREAM_H
#define PERTOKEN_KERNELS_GPU_STREAM_H

#include <stdalign.h>
#include <stddef.h>

#if defined(__CUDACC__)
#define STREAM static inline __host__ __device__
#elif defined(__HIP__)
#define STREAM static inline __attribute__((host, device))
#else
#define STREAM static inline
#endif

enum {
  STREAM_BYTES = 1024,
  STREAM_SLOT = 2 * STREAM_BYTES, // of a unit in shared memory: the second row after the first
  STREAM_LEAST = 2,               // slots of a warp: one is filled while another is used
  STREAM_MOST = 8,
  STREAM_STATE = 56 // bytes that a warp keeps in shared memory: weight_stream.h
};

// A product's weights: [rows][row_bytes], of `second` too unless it is NULL. row_bytes is a
// multiple of 16.
struct stream_product {
  alignas(16) const void *weights; // because it is read in pieces of 16 bytes
  const void *second;
  int rows, row_bytes;
};

STREAM int stream_row(const struct stream_product *product, int block, int blocks) {
  return (int)((long long)product->rows * block / blocks);
}
STREAM int stream_rows(const struct stream_product *product, int block, int blocks) {
  return stream_row(product, block + 1, blocks) - stream_row(product, block, blocks);
}
// Rows of the first matrix in a pair.
STREAM int stream_step(const struct stream_product *product) {
  return product->second ? 1 : 2;
}
STREAM int stream_pairs(const struct stream_product *product, int rows) {
  return (rows + stream_step(product) - 1) / stream_step(product);
}
// Units of a pair.
STREAM int stream_columns(const struct stream_product *product) {
  return (product->row_bytes + STREAM_BYTES - 1) / STREAM_BYTES;
}
// The first of the block's `units` that belongs to a warp; units * warps < 2^31.
STREAM int stream_unit(int units, int warp, int warps) {
  return units * warp / warps;
}

// Where a warp is in a product.
struct stream_place {
  const unsigned char *row[2]; // the pair's; the second may be missing
  int left;                    // units of the warp, this one included
  int at;                      // bytes of the rows before this unit
  int pair;                    // of the block's
  int both;                    // pairs of the block from this one on that have two rows
  int row_bytes;
  int pair_bytes; // from a pair's row to the next pair's
};

STREAM struct stream_place stream_begin(const struct stream_product *product, int block, int blocks,
                                        int warp, int warps) {
  const int row = stream_row(product, block, blocks), rows = stream_rows(product, block, blocks);
  const int step = stream_step(product), columns = stream_columns(product);
  const int units = stream_pairs(product, rows) * columns;
  const int first = stream_unit(units, warp, warps), pair = first / columns;
  const size_t from = (size_t)(row + pair * step) * (size_t)product->row_bytes;
  const unsigned char *weights = (const unsigned char *)product->weights + from;
  struct stream_place place;
  place.row[0] = weights;
  place.row[1] = product->second ? (const unsigned char *)product->second + from
                                 : weights + product->row_bytes;
  place.left = stream_unit(units, warp + 1, warps) - first;
  place.at = (first - pair * columns) * STREAM_BYTES;
  place.pair = pair;
  place.both = (product->second ? rows : rows / 2) - pair;
  place.row_bytes = product->row_bytes;
  place.pair_bytes = step * product->row_bytes;
  return place;
}

// Of each row in this unit.
STREAM int stream_bytes(const struct stream_place *place) {
  const int left = place->row_bytes - place->at;
  return left < STREAM_BYTES ? left : STREAM_BYTES;
}
// NULL: the pair has one row.
STREAM const unsigned char *stream_second(const struct stream_place *place) {
  return place->both > 0 ? place->row[1] + place->at : NULL;
}
// Whether the warp has no further unit of this pair.
STREAM int stream_ends_pair(const struct stream_place *place) {
  return place->left == 1 || place->row_bytes - place->at <= STREAM_BYTES;
}

// To the warp's next unit.
STREAM void stream_advance(struct stream_place *place) {
  place->left--;
  place->at += STREAM_BYTES;
  if (place->at < place->row_bytes) {
    return;
  }
  place->at = 0;
  place->pair++;
  place->both--;
  place->row[0] += place->pair_bytes;
  place->row[1] += place->pair_bytes;
}

// The warp that has a unit.
STREAM int stream_warp(int units, int unit, int warps) {
  return ((unit + 1) * warps - 1) / units;
}

// Whose sums of a pair the block adds up: those of warps `first` to `last`. All of them but the
// first begin within the pair, and some may have no units at all.
struct stream_sharers {
  int first, last;
};
STREAM struct stream_sharers stream_sharers_of(const struct stream_product *product, int rows,
                                               int pair, int warps) {
  const int columns = stream_columns(product);
  const int units = stream_pairs(product, rows) * columns;
  const struct stream_sharers sharers = {stream_warp(units, pair * columns, warps),
                                         stream_warp(units, (pair + 1) * columns - 1, warps)};
  return sharers;
}

#endif
