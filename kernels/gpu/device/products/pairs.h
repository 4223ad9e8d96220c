// pairs: what products of a step in one launch have in common if their rows are divided into pairs
// as stream.h says, however their weights come (product_stream.h, streaming_registers.h): the end
// of a product, and the arithmetic of weights stored in units.
//
// A warp leaves the sums of each pair that it comes to the end of, or that its share ends in, in
// shared memory; after a block_wait each thread adds up a row's, in the order of the warps.
//
// Weights in units are multiplied by the matrix unit (units.h). A batch row would fill one column
// of its tile, a pair two of its rows. So a tile's rows are adjacent units of one row or, with
// half as many of each, of both rows of a pair, and its columns are the same units of one vector:
// the products that are wanted are those on the diagonal. Each weight is converted once, as for
// the launches' tiles, and a KiB of 4 bits takes eight instructions of mma.sync for each vector,
// where conversions take 128 and more. Which of the matrix unit's sums are of no use does not
// matter: a warp has nothing else for it to do.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PAIRS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PAIRS_H

#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/stream.h"
#include "kernels/gpu/units.h"
#include "kernels/gpu/device/machine/matrix_tile.h"
#include "kernels/gpu/device/machine/unit_codes.h"
#include "kernels/gpu/device/products/product_vector.h"

// Where a warp's sums are.
struct pair_block {
  int own, blocks, warp; // this block, out of the stage's; the warp of it
  float *sums;           // of `pairs` pairs, then of each warp the first, if it begins within one
  int pairs;
};

DEVICE struct pair_block pair_block_of(void) {
  SHARED(unsigned char, shared);
  const struct streaming_place *place = streaming_place();
  return {block_index(0), grid_blocks(0), warp_index(),
          reinterpret_cast<float *>(shared + place->launch.sums), place->launch.pairs};
}

// Leaves the warp's sums of a pair at `to`, and resets them. KIND has SUMS of them, of each row
// BATCH.
template <class KIND> DEVICE void pair_leave(typename KIND::sums &sum, float *to) {
  float mine = 0;
#pragma unroll
  for (int i = 0; i < KIND::SUMS; i++) {
    const float total = warp_sum(KIND::own(sum, i / KIND::BATCH, i % KIND::BATCH));
    mine = lane_index() == i ? total : mine;
  }
  if (lane_index() < KIND::SUMS) {
    to[lane_index()] = mine;
  }
  sum = {};
}

// Where the warp's sums go next: those of the place's pair, in which it may begin.
template <class KIND>
DEVICE float *pair_first(const struct pair_block &block, const struct stream_place &place) {
  float *const carried = block.sums + (block.pairs + block.warp) * KIND::SUMS;
  if (place.left == 0 && lane_index() < KIND::SUMS) {
    carried[lane_index()] = 0;
  }
  return place.at == 0 ? block.sums + place.pair * KIND::SUMS : carried;
}

// What is needed when a row's sums are complete, fetched early where there are few rows.
template <class KIND> struct pair_end {
  float scale[2]; // of the rows of both matrices
  float residual[KIND::BATCH];
};

template <class KIND>
DEVICE struct pair_end<KIND> pair_end_at(const struct product_arguments &a, int row) {
  struct pair_end<KIND> end = {
    {1, 1}, {}
  };
  if (KIND::has_scales(a)) {
    end.scale[0] = load_published_float(a.scales + row);
    end.scale[1] = KIND::is_gated(a) ? load_published_float(a.second_scales + row) : 1;
  }
#pragma unroll
  for (int b = 0; b < KIND::BATCH; b++) {
    if (KIND::adds(a) && b < a.batch) {
      end.residual[b] =
          load_passed_known(a.output + (size_t)b * (size_t)a.output_stride + (size_t)row);
    }
  }
  return end;
}

// What belongs to the end of the thread's first row's sum, loaded early.
template <class KIND>
DEVICE struct pair_end<KIND> pair_end_early(const struct product_arguments &a,
                                            const struct stream_product &product) {
  const struct pair_block block = pair_block_of();
  const int row = stream_row(&product, block.own, block.blocks) + thread_index();
  if (row < stream_row(&product, block.own + 1, block.blocks)) {
    return pair_end_at<KIND>(a, row);
  }
  return {};
}

// A pair's sum `i`, of all warps.
template <class KIND>
DEVICE float pair_total(const struct pair_block &block, const struct stream_sharers &sharers,
                        int pair, int i) {
  float total = block.sums[pair * KIND::SUMS + i];
#pragma unroll 1
  for (int warp = sharers.first + 1; warp <= sharers.last; warp++) {
    total += block.sums[(block.pairs + warp) * KIND::SUMS + i];
  }
  return total;
}

// Writes the results of the block's rows, after a block_wait.
template <class KIND>
DEVICE void pair_finish(const struct product_arguments &a, const struct stream_product &product,
                        const pair_end<KIND> &early) {
  const struct pair_block block = pair_block_of();
  const int first = stream_row(&product, block.own, block.blocks);
  const int rows = stream_rows(&product, block.own, block.blocks);
  const bool gated = KIND::is_gated(a);
  struct pair_end<KIND> end = early;
#pragma unroll 1
  for (int row = thread_index(); row < rows; row += VECTOR_THREADS) {
    if (row >= VECTOR_THREADS) {
      end = pair_end_at<KIND>(a, first + row);
    }
    const int pair = gated ? row : row / 2, half = gated ? 0 : row % 2 * KIND::BATCH;
    const struct stream_sharers sharers =
        stream_sharers_of(&product, rows, pair, VECTOR_THREADS / WARP);
#pragma unroll
    for (int b = 0; b < KIND::BATCH; b++) {
      if (b < a.batch) {
        float total = pair_total<KIND>(block, sharers, pair, half + b) * end.scale[0];
        if (gated) {
          total = vector_gated(total, pair_total<KIND>(block, sharers, pair, KIND::BATCH + b) *
                                          end.scale[1]);
        }
        pass(a.output + (size_t)b * (size_t)a.output_stride + (size_t)(first + row),
             end.residual[b] + total);
      }
    }
  }
}

// ---- weights in units

enum { UNIT_VECTOR_BYTES = UNIT * 2 + 16 }; // of activations, in shared memory: product_vector.h

// Compile-time parameters of a product of such weights, whatever precedes and follows it. What
// stream.h calls a unit is called a slice here.
template <enum element TYPE_, int BATCH_> struct unit_pair_kind {
  static constexpr enum element TYPE = TYPE_;
  static constexpr int BATCH = BATCH_, SUMS = 2 * BATCH;
  static constexpr int CODES = unit_kind<TYPE>::CODES;
  static constexpr int UNITS = STREAM_BYTES / CODES;                       // of a row in a slice
  static constexpr int SIDE = UNITS < TILE_COLUMNS ? UNITS : TILE_COLUMNS; // of a row in a tile
  static constexpr int TILES = SIDE / (TILE_ROWS / 2); // side by side: 1 if it has both rows, or 2
  static constexpr int TURNS = UNITS / SIDE;           // to a slice
  struct sums {
    float of[BATCH][TILES][TILE_ACCUMULATORS];
  };

  DEVICE bool has_scales(const struct product_arguments &a) {
    return a.scales;
  }
  DEVICE bool is_gated(const struct product_arguments &a) {
    return a.second;
  }
  DEVICE bool adds(const struct product_arguments &a) {
    return !a.norm && !a.without_residual;
  }
  // A lane's part of the pair's sum of a row: what it has of the diagonal.
  DEVICE float own(const struct sums &sum, int row, int vector) {
    float own = 0;
#pragma unroll
    for (int n = 0; n < TILES; n++) {
#pragma unroll
      for (int i = 0; i < TILE_ACCUMULATORS; i++) {
        const int at = tile_row(lane_index(), i);
        const bool is_own = (TILES == 2 ? n : at / SIDE) == row;
        own += is_own && at % SIDE == tile_column(lane_index(), i) ? sum.of[vector][n][i] : 0;
      }
    }
    return own * unit_kind<TYPE>::WORTH;
  }
};

// A lane's pieces of a turn's tiles.
template <class KIND> struct unit_pieces {
  struct unit_piece<KIND::TYPE> of[KIND::TILES][TILE_PARTS];
};

// Which row of the pair a part of a tile is of, and which unit of the slice, of which `units` are
// there. Beyond the last one it is that one again, and meets zeros.
template <class KIND> DEVICE int unit_pair_row(int tile, int part) {
  return KIND::TILES == 2 ? tile : tile_part_row(lane_index(), part) / KIND::SIDE;
}
template <class KIND> DEVICE int unit_of_slice(int turn, int units, int part) {
  const int unit = turn * KIND::SIDE + tile_part_row(lane_index(), part) % KIND::SIDE;
  return unit < units ? unit : units - 1;
}

// `codes` and `beside` are of the slice in both rows.
template <class KIND, class PLACE>
DEVICE struct unit_pieces<KIND> unit_pieces_of(const unsigned char *const (&codes)[2],
                                               const unsigned char *const (&beside)[2], int turn,
                                               int units) {
  struct unit_pieces<KIND> out;
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      const bool second = unit_pair_row<KIND>(n, part) == 1;
      out.of[n][part] = unit_piece_of<KIND::TYPE, PLACE>(
          second ? codes[1] : codes[0], second ? beside[1] : beside[0],
          unit_of_slice<KIND>(turn, units, part), tile_part_byte(lane_index(), part) / 16);
    }
  }
  return out;
}

// Adds the products of a turn to the sums; `vectors` is where its first unit of vector 0 begins.
template <class KIND>
DEVICE void unit_pair_add(const struct unit_pieces<KIND> &pieces, const unsigned char *vectors,
                          int vector_bytes, struct KIND::sums &sum) {
#pragma unroll
  for (int j = 0; j < 4; j++) {
    struct tile_a rows[KIND::TILES];
#pragma unroll
    for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
      for (int part = 0; part < TILE_PARTS; part++) {
        rows[n].part[part] = unit_octet<KIND::TYPE>(pieces.of[n][part], j);
      }
    }
#pragma unroll
    for (int b = 0; b < KIND::BATCH; b++) {
      tile_multiply_bf16_bf16<KIND::TILES>(rows, vectors + b * vector_bytes + j * TILE_STEP_BYTES,
                                           UNIT_VECTOR_BYTES, sum.of[b]);
    }
  }
}

// The scale of accumulator i's unit, if it is on the diagonal. Then this lane has a part of that
// unit, except where a lane has one part but its tile both rows.
template <class KIND>
DEVICE float unit_pair_scale(const struct unit_pieces<KIND> &pieces, int tile, int i, int turn,
                             int units) {
  const int part = TILE_PARTS == 2 ? i / 2 : 0;
  const float own =
      unit_group_scale<KIND::TYPE>(pieces.of[tile][part], unit_of_slice<KIND>(turn, units, part));
  return TILE_PARTS == 1 && KIND::TILES == 1 ? shuffle(own, tile_row(lane_index(), i)) : own;
}

// As unit_pair_add, for groups: a turn's sums times their units' scales.
template <class KIND>
DEVICE void unit_pair_add_groups(const struct unit_pieces<KIND> &pieces, int turn, int units,
                                 const unsigned char *vectors, int vector_bytes,
                                 struct KIND::sums &sum) {
  struct KIND::sums own = {};
  unit_pair_add<KIND>(pieces, vectors, vector_bytes, own);
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
    for (int i = 0; i < TILE_ACCUMULATORS; i++) {
      const float scale = unit_pair_scale<KIND>(pieces, n, i, turn, units);
#pragma unroll
      for (int b = 0; b < KIND::BATCH; b++) {
        sum.of[b][n][i] += own.of[b][n][i] * scale;
      }
    }
  }
}

template <class KIND>
DEVICE void unit_pair_multiply(const struct unit_pieces<KIND> &pieces,
                               const struct stream_place &place, int turn,
                               const unsigned char *activations, int vector_bytes,
                               struct KIND::sums &sum) {
  const int first = place.at / KIND::CODES + turn * KIND::SIDE;
  const unsigned char *vectors = activations + first * UNIT_VECTOR_BYTES;
  if (unit_kind<KIND::TYPE>::IS_GROUP) {
    unit_pair_add_groups<KIND>(pieces, turn, stream_bytes(&place) / KIND::CODES, vectors,
                               vector_bytes, sum);
  } else {
    unit_pair_add<KIND>(pieces, vectors, vector_bytes, sum);
  }
}

// The vectors in shared memory, with zeros to the end of the last tile's columns.
template <class KIND, enum rounding ROUND>
using unit_vector_kind = vector_kind<KIND::TYPE, ELEMENT_BF16, ROUND, VECTOR_STORE, KIND::BATCH>;

template <class KIND> DEVICE int unit_vector_stride(const struct product_arguments &a) {
  const int units = (a.stride / UNIT + KIND::SIDE - 1) / KIND::SIDE * KIND::SIDE;
  return (units + TILE_COLUMNS - KIND::SIDE) * UNIT;
}
template <class KIND> DEVICE int unit_vector_bytes(const struct product_arguments &a) {
  return vector_row_bytes<unit_vector_kind<KIND, ROUND_ALONE>>(unit_vector_stride<KIND>(a));
}

// Waits for the stage before, and makes the block's activations.
template <class KIND> DEVICE void unit_activations(const struct product_arguments &a) {
  SHARED(unsigned char, shared);
  const int stride = unit_vector_stride<KIND>(a);
  float *room = reinterpret_cast<float *>(shared + unit_vector_bytes<KIND>(a) * KIND::BATCH);
  const int batch = KIND::BATCH == 1 ? 1 : a.batch;
  const struct vectors v = {a.input, a.norm, a.epsilon, a.columns, batch, NULL, a.input_stride};
  struct norm_ahead ahead = {};
  if (!a.norm) {
    wait_for_previous();
    await_passed(a.input, a.columns);
    vector_activations<unit_vector_kind<KIND, ROUND_ALONE>>(v, stride, ahead, shared, room);
    return;
  }
  norm_before_wait<ROUND_NORM, VECTOR_THREADS>(a.norm, a.columns, &ahead);
  wait_for_previous();
  await_passed(a.input, a.columns);
  vector_activations<unit_vector_kind<KIND, ROUND_NORM>>(v, stride, ahead, shared, room);
}

// A matrix of such weights, of the stage's element.
template <class KIND>
DEVICE struct stream_product unit_product_of(const struct product_arguments &a) {
  return stream_product_of(a.weights, a.second, a.rows, a.stride / UNIT, KIND::CODES,
                           unit_kind<KIND::TYPE>::BESIDE);
}

#endif
