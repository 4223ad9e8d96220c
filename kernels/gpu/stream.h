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
// Where blocks of a row have scales (units.h), these are at the row's end, but a unit includes its
// own: what multiplies its codes must be there with them, and a warp that waited for scales on
// their own would have nothing else under way. What a whole row or matrix has for a scale is not in
// the stream: it is needed once, when the row's sums are complete.
//
// A warp's stream is its units of the step's first product, then of the second, and so on. Apart
// from a mixture's experts, nothing that the step computes has a part in it. So weights can be
// requested as long as there is room for them, whatever the block is waiting for.
//
// In a layer of experts, each item that a step can have (arguments/streaming.h) has products of its
// own: all those of gate and up, then all those of down. Whose matrices they are is known once the
// experts are chosen; until then the stream ends before the first of them. Of an item that the step
// does not have, a product has no rows.
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
  STREAM_SLOT = 2 * STREAM_BYTES, // of a unit's codes in shared memory: first one row's
  STREAM_LEAST = 2,               // slots of a warp: one is filled while another is used
  STREAM_MOST = 8,
  STREAM_FLYING = 2, // of them, with units on their way: 64 KB of a block of 16 warps. On an H200
                     // that reads as fast as more, and loads are not kept waiting behind it
  STREAM_STATE = 56  // bytes that a warp keeps in shared memory: product_stream.h
};

// A product's weights: [rows][row_bytes], of `second` too unless it is NULL. A row is `codes` bytes
// of codes, and then `beside` bytes for each STREAM_BYTES of these; all three are multiples of 16.
struct stream_product {
  alignas(16) const void *weights; // because it is read in pieces of 16 bytes
  const void *second;
  int rows, row_bytes, codes;
  short beside;
  short item; // counted from 1, whose expert's matrices they are: still those of expert 0; or 0
};

// A product whose rows consist of that many units (units.h), each of code_bytes and beside_bytes,
// or of anything else that divides STREAM_BYTES.
STREAM struct stream_product stream_product_of(const void *weights, const void *second, int rows,
                                               int units, int code_bytes, int beside_bytes) {
  struct stream_product product;
  product.weights = weights;
  product.second = second;
  product.rows = rows;
  product.row_bytes = units * code_bytes + (units * beside_bytes + 15) / 16 * 16;
  product.codes = units * code_bytes;
  product.beside = (short)(STREAM_BYTES / code_bytes * beside_bytes);
  product.item = 0;
  return product;
}

// The expert of such a product, whose matrices follow those of the expert before, given the number
// of the step's items and then the expert of each.
STREAM void stream_choose(struct stream_product *product, const int *experts) {
  if (product->item > experts[0]) {
    product->rows = 0;
    return;
  }
  const size_t from =
      (size_t)experts[product->item] * (size_t)product->rows * (size_t)product->row_bytes;
  product->weights = (const unsigned char *)product->weights + from;
  if (product->second) {
    product->second = (const unsigned char *)product->second + from;
  }
}

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
  return (product->codes + STREAM_BYTES - 1) / STREAM_BYTES;
}
// The first of the block's `units` that belongs to a warp; units * warps < 2^31.
STREAM int stream_unit(int units, int warp, int warps) {
  return units * warp / warps;
}

// Where a warp is in a product.
struct stream_place {
  const unsigned char *row[2]; // the pair's; the second may be missing
  int left;                    // units of the warp, this one included
  int at;                      // bytes of codes of the rows before this unit
  int pair;                    // of the block's
  int both;                    // pairs of the block from this one on that have two rows
  int codes, beside;           // of the product
  int pair_bytes;              // from a pair's row to the next pair's
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
  place.codes = product->codes;
  place.beside = product->beside;
  place.pair_bytes = step * product->row_bytes;
  return place;
}

// Codes of each row in this unit, and what belongs to them: where that begins in the row, and how
// much it is.
STREAM int stream_bytes(const struct stream_place *place) {
  const int left = place->codes - place->at;
  return left < STREAM_BYTES ? left : STREAM_BYTES;
}
STREAM int stream_beside_at(const struct stream_place *place) {
  return place->codes + place->at / STREAM_BYTES * place->beside;
}
STREAM int stream_beside_bytes(const struct stream_place *place) {
  return (stream_bytes(place) * place->beside / STREAM_BYTES + 15) / 16 * 16;
}
STREAM int stream_has_second(const struct stream_place *place) {
  return place->both > 0;
}
// Whether the warp has no further unit of this pair.
STREAM int stream_ends_pair(const struct stream_place *place) {
  return place->left == 1 || place->codes - place->at <= STREAM_BYTES;
}

// The warp's units of this pair from this one on, and how many of them are STREAM_BYTES of two
// rows.
STREAM int stream_units_of_pair(const struct stream_place *place) {
  const int units = (place->codes - place->at + STREAM_BYTES - 1) / STREAM_BYTES;
  return place->left < units ? place->left : units;
}
STREAM int stream_whole_units(const struct stream_place *place) {
  const int units = (place->codes - place->at) / STREAM_BYTES;
  return !stream_has_second(place) ? 0 : place->left < units ? place->left : units;
}

STREAM void stream_next_pair(struct stream_place *place) {
  place->at = 0;
  place->pair++;
  place->both--;
  place->row[0] += place->pair_bytes;
  place->row[1] += place->pair_bytes;
}

// Goes on to the warp's next unit.
STREAM void stream_advance(struct stream_place *place) {
  place->left--;
  place->at += STREAM_BYTES;
  if (place->at >= place->codes) {
    stream_next_pair(place);
  }
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
