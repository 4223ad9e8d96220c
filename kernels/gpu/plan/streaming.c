#include "kernels/gpu/plan/streaming.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/stream.h"
#include "kernels/gpu/units.h"
#include "kernels/integers.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS_ALIGNMENT 128

// As many blocks as multiprocessors, or as the fewest rows of a layer's products, whose vectors are
// passed on by marks.
int streaming_blocks(const struct plan *plan) {
  static const enum product_name marked[] = {PRODUCT_QKV, PRODUCT_WO, PRODUCT_GATE_UP,
                                             PRODUCT_DOWN};
  int blocks = plan->device.described.units > 0 ? plan->device.described.units : 1;
  for (size_t i = 0; i < sizeof marked / sizeof marked[0]; i++) {
    const int rows = plan->product[marked[i]].rows;
    blocks = rows > 0 ? least(blocks, rows) : blocks;
  }
  return blocks;
}

struct stream_product streaming_divided(const struct plan_product *product, const void *weights,
                                        const void *second) {
  if (lies_in_units(product->weights)) {
    const struct unit_layout layout = unit_layout(product->weights);
    return stream_product_of(weights, second, product->rows, product->stride / UNIT,
                             layout.code_bytes, layout.beside_bytes);
  }
  return stream_product_of(weights, second, product->rows, product->stride / ROW_ALIGNMENT,
                           ROW_ALIGNMENT * (int)gpu_element_bytes(product->weights), 0);
}

// The most pairs of rows that a block has of a product; INT_MAX: more than the kernel can count.
static int most_pairs(const struct plan *plan, const struct plan_product *product) {
  const int64_t warps = VECTOR_THREADS / plan->device.warp;
  const int rows = ceiling(product->rows, product->blocks);
  const int pairs = product->gated ? rows : ceiling(rows, 2);
  const struct stream_product divided = streaming_divided(product, NULL, NULL);
  const int columns = stream_columns(&divided);
  return (pairs + 1) * (int64_t)columns * warps <= INT_MAX ? pairs : INT_MAX;
}

// Whether there is a ring of weights on their way: ring.h.
static bool has_ring(const struct plan *plan) {
  return plan->device.warp == 32;
}

// Whether blocks divide the product as stream.h says.
static bool is_divided(const struct plan *plan, const struct plan_product *product) {
  return product->rows > 0 && (has_ring(plan) || lies_in_units(product->weights));
}

// The blocks that divide a product: all of the step's; but without a ring an item of experts has
// only those of its own kernel, so that weights of all items are on their way together, and a block
// makes the activations of few.
static int dividing_blocks(const struct plan *plan, const struct plan_product *product) {
  return product->routed && !has_ring(plan) ? product->blocks : streaming_blocks(plan);
}

// Sets what all products need; returns the shared memory of the largest stage.
static size_t share_stages(struct plan *plan) {
  struct plan_stream *stream = &plan->stream;
  const int columns = plan->device.warp == 64 ? 16 : 8; // of the tile
  const struct decode_experts *experts = &plan->request.shape.experts;
  size_t stages = larger(attention_tile_shared_bytes(plan->head_dim_padded, columns),
                         route_shared_bytes(plan->request.batch, experts->count, experts->chosen));
  *stream = (struct plan_stream){0};
  for (int p = 0; p < PRODUCTS; p++) {
    struct plan_product *product = &plan->product[p];
    stages = larger(product->shared_bytes, stages);
    if (product->rows > 0 && !product->routed)
      product->blocks = streaming_blocks(plan);
    if (!is_divided(plan, product))
      continue;
    product->blocks = dividing_blocks(plan, product);
    const int pairs = most_pairs(plan, product);
    const int beside = streaming_divided(product, NULL, NULL).beside;
    stream->pairs = pairs > stream->pairs ? pairs : stream->pairs;
    stream->beside = beside > stream->beside ? beside : stream->beside;
  }
  return stages;
}

const char *streaming_share(struct plan *plan) {
  static const char no_room[] =
      "step=streaming: beside this batch's activations the device's shared memory has no room for "
      "weights on their way: leave it out for a graph of launches";
  const int warps = VECTOR_THREADS / plan->device.warp;
  const size_t most = gpu_plan_block_shared_bytes(plan), stages = share_stages(plan);
  struct plan_stream *stream = &plan->stream;
  if (stream->pairs == INT_MAX)
    return "step=streaming: a block has more of a product's rows than the kernel can count";
  stream->sums = round_up(stages, SLOTS_ALIGNMENT);
  stream->experts = stream->sums;
  if (stream->pairs > 0)
    stream->experts += streaming_sums_bytes(stream->pairs, warps, plan->vector_rows);
  stream->ring = stream->experts + streaming_experts_bytes(plan->experts.items);
  stream->shared_bytes = stream->ring;
  if (!has_ring(plan))
    return stream->shared_bytes <= most ? NULL : no_room;
  const int tuned = plan->device.tuning.stream_flying;
  stream->flying = tuned > 0 ? tuned : STREAM_FLYING;
  while (stream->slots < STREAM_MOST &&
         stream->ring + streaming_ring_bytes(stream->slots + 1, warps, stream->beside) <= most)
    stream->slots++;
  stream->shared_bytes = stream->ring + streaming_ring_bytes(stream->slots, warps, stream->beside);
  return stream->slots < STREAM_LEAST ? no_room : NULL;
}
