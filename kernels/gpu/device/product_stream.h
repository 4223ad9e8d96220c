// product_stream: weights times one to four vectors in a step in one launch: as product_vector, but
// the weights come out of the warp's stream (weight_stream.h), some of which have arrived while the
// block was waiting for its activations. One of the two headers by which such a step has its
// weights, of which platform.h names the device's; included by streaming.h:
//   void streaming_start(void): by all threads, before the first stage
//   streaming_product<WEIGHTS, ROUND, END, BATCH>(): the stage's product
//
// A warp leaves the sums of each pair that it comes to the end of, or that its share ends in, in
// shared memory; after a block_wait each thread adds up a row's, in the order of the warps.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_STREAM_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_STREAM_H

#include "kernels/gpu/device/product_vector.h"
#include "kernels/gpu/device/weight_stream.h"

// Two rows at a time, whatever the product.
template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
struct stream_kind : vector_kind<WEIGHTS, ELEMENT_BF16, ROUND, END, BATCH> {
  static constexpr int STREAMS = 2;
  static constexpr int SUMS = STREAMS * BATCH; // of a pair
};

// Adds the products of a unit to the sums.
template <class KIND>
DEVICE void stream_multiply(const struct stream_place &place, const unsigned char *unit,
                            const unsigned char *activations, int vector_bytes,
                            vector_sums<KIND> sum) {
#pragma unroll
  for (int i = 0; i < STREAM_BYTES / 16 / WARP; i++) {
    const int chunk = i * WARP + lane_index();
    if (place.at + chunk * 16 < place.row_bytes) {
      const struct words4 weights[] = {load_shared(unit + chunk * 16),
                                       load_shared(unit + STREAM_BYTES + chunk * 16)};
      vector_multiply<KIND>(weights, place.at / 16 + chunk, activations, vector_bytes, sum);
    }
  }
}

// Leaves the warp's sums of a pair at `to`, and resets them.
template <class KIND> DEVICE void stream_leave(vector_sums<KIND> sum, float *to) {
  float mine = 0;
#pragma unroll
  for (int i = 0; i < KIND::SUMS; i++) {
    const float total = warp_sum(sum[i / KIND::BATCH][i % KIND::BATCH]);
    mine = lane_index() == i ? total : mine;
    sum[i / KIND::BATCH][i % KIND::BATCH] = 0;
  }
  if (lane_index() < KIND::SUMS) {
    to[lane_index()] = mine;
  }
}

// All units of the warp.
template <class KIND>
DEVICE void stream_units(const struct stream_product &product, const unsigned char *activations,
                         int vector_bytes) {
  const struct stream_block block = stream_block_of();
  struct stream_state state = *block.kept;
  struct stream_place place =
      stream_begin(&product, block.own, block.blocks, block.warp, STREAM_WARPS);
  float sum[KIND::STREAMS][KIND::BATCH] = {};
  float *const carried = block.sums + (block.pairs + block.warp) * KIND::SUMS;
  float *to = place.at == 0 ? block.sums + place.pair * KIND::SUMS : carried;
  if (place.left == 0 && lane_index() < KIND::SUMS) {
    carried[lane_index()] = 0;
  }
#pragma unroll 1
  while (place.left > 0) {
    stream_multiply<KIND>(place, stream_take(block, state), activations, vector_bytes, sum);
    stream_used(block, &state);
    if (stream_ends_pair(&place)) {
      stream_leave<KIND>(sum, to);
      to = block.sums + (place.pair + 1) * KIND::SUMS;
    }
    stream_advance(&place);
  }
  stream_keep(block, state);
}

// What is needed when a row's sums are complete, fetched early where there are few rows.
template <class KIND> struct stream_end {
  float scale[KIND::STREAMS]; // of the rows of both matrices
  float residual[KIND::BATCH];
};

template <class KIND>
DEVICE struct stream_end<KIND> stream_end_at(const struct product_arguments &a, int row) {
  struct stream_end<KIND> end = {
    {1, 1}, {}
  };
#pragma unroll
  for (int s = 0; s < (KIND::END == VECTOR_SWIGLU ? 2 : 1) && KIND::WEIGHTS == ELEMENT_E4M3; s++) {
    end.scale[s] = load_published_float((s ? a.second_scales : a.scales) + row);
  }
#pragma unroll
  for (int b = 0; b < KIND::BATCH && KIND::END == VECTOR_ADD; b++) {
    if (b < a.batch) {
      end.residual[b] =
          load_published_float(a.output + (size_t)b * (size_t)a.output_stride + (size_t)row);
    }
  }
  return end;
}

// A pair's sum `i`, of all warps.
template <class KIND>
DEVICE float stream_total(const struct stream_block &block, const struct stream_sharers &sharers,
                          int pair, int i) {
  float total = block.sums[pair * KIND::SUMS + i];
#pragma unroll 1
  for (int warp = sharers.first + 1; warp <= sharers.last; warp++) {
    total += block.sums[(block.pairs + warp) * KIND::SUMS + i];
  }
  return total;
}

// Writes the results of the block's rows, after a block_wait. `early` belongs to the thread's
// first.
template <class KIND>
DEVICE void stream_finish(const struct product_arguments &a, const struct stream_product &product,
                          const stream_end<KIND> &early) {
  const struct stream_block block = stream_block_of();
  const int first = stream_row(&product, block.own, block.blocks);
  const int rows = stream_rows(&product, block.own, block.blocks);
  struct stream_end<KIND> end = early;
#pragma unroll 1
  for (int row = thread_index(); row < rows; row += VECTOR_THREADS) {
    if (row >= VECTOR_THREADS) {
      end = stream_end_at<KIND>(a, first + row);
    }
    constexpr bool GATED = KIND::END == VECTOR_SWIGLU;
    const int pair = GATED ? row : row / 2, half = GATED ? 0 : row % 2 * KIND::BATCH;
    const struct stream_sharers sharers = stream_sharers_of(&product, rows, pair, STREAM_WARPS);
#pragma unroll
    for (int b = 0; b < KIND::BATCH; b++) {
      if (b < a.batch) {
        float total = stream_total<KIND>(block, sharers, pair, half + b) * end.scale[0];
        if (GATED) {
          total = vector_gated(total, stream_total<KIND>(block, sharers, pair, KIND::BATCH + b) *
                                          end.scale[1]);
        }
        publish(a.output + (size_t)b * (size_t)a.output_stride + (size_t)(first + row),
                end.residual[b] + total);
      }
    }
  }
}

// A product as a stage of the step.
template <class KIND> DEVICE void stream_product_stage(const struct product_arguments &a) {
  SHARED(unsigned char, shared);
  const struct stream_product product = {a.weights, a.second, a.rows,
                                         a.stride * (KIND::WEIGHTS == ELEMENT_E4M3 ? 1 : 2)};
  const int own = stream_block_of().own, blocks = stream_block_of().blocks;
  const int row = stream_row(&product, own, blocks) + thread_index();
  struct norm_ahead ahead = {};
  norm_before_wait<KIND::ROUND, VECTOR_THREADS>(a.norm, a.columns, &ahead);
  wait_for_previous();
  const int vector_bytes = vector_row_bytes<KIND>(a.stride);
  const int batch = KIND::BATCH == 1 ? 1 : a.batch;
  const struct vectors v = {a.input, a.norm, a.epsilon, a.columns, batch, NULL, a.input_stride};
  vector_activations<KIND>(v, a.stride, ahead, shared,
                           reinterpret_cast<float *>(shared + vector_bytes * KIND::BATCH));
  struct stream_end<KIND> end = {};
  if (row < stream_row(&product, own + 1, blocks)) {
    end = stream_end_at<KIND>(a, row);
  }
  stream_units<KIND>(product, shared, vector_bytes);
  block_wait();
  stream_finish<KIND>(a, product, end);
}

// Where the launch's shared memory has a warp's things (arguments.h).
DEVICE struct stream_block stream_block_of(void) {
  SHARED(unsigned char, shared);
  const struct streaming_place *place = streaming_place();
  const int slots = place->launch.slots, mine = warp_index() * slots;
  unsigned char *ring = shared + place->launch.ring;
  unsigned char *barriers = ring + STREAM_WARPS * slots * STREAM_SLOT;
  unsigned char *kept = barriers + STREAM_WARPS * slots * 8;
  return {place->launch.products,
          place->launch.product_count,
          place->own,
          place->grid,
          warp_index(),
          {ring + mine * STREAM_SLOT, reinterpret_cast<uint64_t *>(barriers) + mine, slots},
          reinterpret_cast<float *>(shared + place->launch.sums),
          place->launch.pairs,
          reinterpret_cast<struct stream_state *>(kept) + warp_index()};
}

DEVICE void streaming_start(void) {
  stream_start(stream_block_of());
}

template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
DEVICE void streaming_product(void) {
  stream_product_stage<stream_kind<WEIGHTS, ROUND, END, BATCH>>(streaming_held().arguments.product);
}

#endif
