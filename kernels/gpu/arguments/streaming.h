// streaming: the arguments of a step in one launch.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_STREAMING_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_STREAMING_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/stream.h"
#include "kernels/gpu/units.h"
#include "kernels/integers.h"

#include <stddef.h>

// streaming_BATCH, BATCH 1, 2 or 4: a whole step in one launch, for at most that many batch rows,
// with activations and head in BF16, heads of up to 128 and any weights, or without slots some
// (units.h). Grid (as many blocks as are resident at a time), block VECTOR_THREADS.
// The blocks run the stages one after another, each as its own kernel would. The grid of a stage is
// dealt out to them. Between two stages they wait for each other at `arrived`, which is zero before
// and after, or each for those floats that it needs, by their marks (device/machine/passed.h).
// With slots weights do not wait: each warp has `slots` slots of shared memory, where the units
// that stream.h gives it of each of the `products` in turn arrive while it does something else; and
// a product's grid has as many blocks as there are. So has one with weights in units without slots,
// too, unless of experts: its warps divide it likewise. A product of experts has a grid for each
// item that there can be. The grids of those that there are, are dealt out to the blocks; with
// slots each block takes its share of every item. Arguments are those of expert 0 and slot 0;
// expert_row_bytes are its matrices', and 0 for other products. With slots its weights are under
// way once `route` has been done, by every block for itself. Besides the shared memory of its
// launch, a block takes at most STREAMING_SHARED bytes.
enum streaming_kind {
  STREAMING_CLEAR, // of what stages pass on: the first, after which all blocks wait for each other
  STREAMING_EMBED,
  STREAMING_STORE_BF16, // a product, named by the element of its weights
  STREAMING_STORE_E4M3,
  STREAMING_ADD_BF16,
  STREAMING_ADD_E4M3,
  STREAMING_SWIGLU_BF16,
  STREAMING_SWIGLU_E4M3,
#define STREAMING_OF(name, ELEMENT, code_bytes, beside_bytes) STREAMING_##ELEMENT,
  GPU_UNIT_ELEMENTS(STREAMING_OF) // likewise, of any kind
#undef STREAMING_OF
  STREAMING_ATTENTION_BF16_64, // named by the element of the cache, and the longest heads
  STREAMING_ATTENTION_E4M3_64,
  STREAMING_ATTENTION_BF16_128,
  STREAMING_ATTENTION_E4M3_128,
  STREAMING_ROUTE,
  STREAMING_COMBINE,
  STREAMING_SAMPLE
};
enum streaming_mark { MARK_ZERO, MARK_ONE, MARK_NONE }; // a float's lowest bit, or not marked
enum { STREAMING_SHARED = 352 };
struct streaming_clear {
  void *passed; // [pieces] of 16 bytes
  int pieces;
};
struct streaming_route {
  struct route_arguments route;
  int products; // of the step, as far as this choice lets their weights be known
};
// Short, so that shared memory has room for as many slots as possible.
struct streaming_stage {
  short kind;
  short grid[2];  // axis 2: blocks / grid[0] / grid[1]
  short barriers; // begins after all blocks have arrived so many times; 0: without waiting for that
  short arrivals; // of a block, the one at the stage's end included; 0: there it does not arrive
  signed char awaits, marks; // of the floats it is passed, and of those it passes on
  int blocks;
  union {
    struct product_arguments product;
    struct embed_arguments embed;
    struct attention_arguments attention;
    struct streaming_route route;
    struct combine_arguments combine;
    struct sample_arguments sample;
    struct streaming_clear clear;
    unsigned char bytes[208]; // a multiple of 16
  } arguments;
};
struct streaming_arguments {
  const struct streaming_stage *stages;  // [count]
  unsigned *arrived;                     // [1]
  const struct stream_product *products; // in the order of the stages, of experts one for each item
  int count;
  int product_count; // of these, the ones before the first of experts
  // Where in the launch's shared memory sums begin, with room for those of `pairs` pairs of rows
  // and of one more for each warp; where the slots do, followed, for each of them, by what belongs
  // to its codes, `beside` bytes for each of two rows, then by 8 bytes for each, and by
  // STREAM_STATE for each warp; and where the number of a layer's items does, followed by their
  // experts.
  int sums, pairs, ring, experts;
  short slots, beside;
  short flying; // of a warp's slots, the most whose units are on their way, where that can be told
};

// Shared memory of these sums, and of slots and states, for `warps` warps and at most `rows` batch
// rows.
static inline size_t streaming_sums_bytes(int pairs, int warps, int rows) {
  return round_up(2 * sizeof(float) * (size_t)(pairs + warps) * (size_t)rows, 128);
}
// Shared memory of the experts of so many items, and of their number.
static inline size_t streaming_experts_bytes(int items) {
  return items > 0 ? round_up(sizeof(int) * ((size_t)items + 1), 128) : 0;
}
static inline size_t streaming_ring_bytes(int slots, int warps, int beside) {
  return (size_t)warps * ((size_t)slots * (STREAM_SLOT + 2 * (size_t)beside + 8) + STREAM_STATE);
}

// Shared memory of the activations of a product with weights in units: each padded by 16 bytes, and
// as many as the columns of the device's tiles, which a quarter of its warp is. A tile takes so
// many units of a row, or as many as stream.h's unit has.
static inline size_t streaming_units_bytes(int stride, int batch, int warp, int code_bytes) {
  const int columns = warp / 4, own = STREAM_BYTES / code_bytes;
  const int side = own < columns ? own : columns;
  const int units = (int)round_up((size_t)(stride / UNIT), (size_t)side) + columns - side;
  return vector_shared_bytes(units * UNIT, batch, 2) + (size_t)(units * batch) * 16;
}

#endif
