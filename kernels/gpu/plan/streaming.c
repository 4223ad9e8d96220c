#include "kernels/gpu/plan/streaming.h"

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/plan/integers.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/stream.h"

#include <limits.h>
#include <stdint.h>

#define SLOTS_ALIGNMENT 128

int streaming_blocks(const struct plan *plan) {
  return plan->device.described.units > 0 ? plan->device.described.units : 1;
}

// The most pairs of rows that a block has of a product; INT_MAX: more than the kernel can count.
static int most_pairs(const struct plan *plan, const struct plan_product *product) {
  const int64_t warps = VECTOR_THREADS / plan->device.warp;
  const int rows = ceiling(product->rows, streaming_blocks(plan));
  const int pairs = product->gated ? rows : ceiling(rows, 2);
  const int columns = ceiling((int)gpu_plan_row_bytes(product), STREAM_BYTES);
  return (pairs + 1) * (int64_t)columns * warps <= INT_MAX ? pairs : INT_MAX;
}

const char *streaming_share(struct plan *plan) {
  const int warps = VECTOR_THREADS / plan->device.warp;
  const size_t most = gpu_plan_block_shared_bytes(plan);
  struct plan_stream *stream = &plan->stream;
  const int columns = plan->device.warp == 64 ? 16 : 8; // of the tile
  size_t stages = attention_tile_shared_bytes(plan->head_dim_padded, columns);
  *stream = (struct plan_stream){0};
  for (int p = 0; p < PRODUCTS; p++) {
    const struct plan_product *product = &plan->product[p];
    if (product->rows == 0)
      continue;
    const int pairs = most_pairs(plan, product);
    stages = product->shared_bytes > stages ? product->shared_bytes : stages;
    stream->pairs = pairs > stream->pairs ? pairs : stream->pairs;
  }
  if (stream->pairs == INT_MAX)
    return "step=streaming: a block has more of a product's rows than the kernel can count";
  stream->shared_bytes = stages;
  if (plan->device.warp == 64) // ring.h
    return NULL;
  stream->sums = gpu_round_up(stages, SLOTS_ALIGNMENT);
  stream->ring = stream->sums + streaming_sums_bytes(stream->pairs, warps, plan->vector_rows);
  while (stream->slots < STREAM_MOST &&
         stream->ring + streaming_ring_bytes(stream->slots + 1, warps) <= most)
    stream->slots++;
  stream->shared_bytes = stream->ring + streaming_ring_bytes(stream->slots, warps);
  if (stream->slots < STREAM_LEAST)
    return "step=streaming: beside this batch's activations the device's shared memory has no room "
           "for weights on their way: leave it out for a graph of launches";
  return NULL;
}
