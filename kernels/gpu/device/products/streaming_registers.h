// streaming_registers: the products of a step in one launch have their weights through registers;
// otherwise as product_stream.h. In BF16 and E4M3 like those of launches. Weights in units are
// divided as stream.h says; a warp holds the next units of its stream in registers, each of which
// is loaded again as soon as it has been used, the first before the block waits. The planner
// refuses formats that are not held.
//
// Of experts' products the blocks take the items, rather than each a share of all: so weights of
// all items are under way together, and a block makes the activations of one item or few.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_STREAMING_REGISTERS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_STREAMING_REGISTERS_H

#include "kernels/gpu/device/products/pairs.h"
#include "kernels/gpu/device/products/product_vector.h"

enum { WINDOW_UNITS = 4 }; // of 2 KiB each

DEVICE void streaming_start(void) {}
DEVICE void streaming_await(const float *, int) {}
DEVICE void streaming_chosen(int) {}
DEVICE void streaming_take(struct streaming_place *) {}

// The stage's product; of experts, that of the block's item, in scalar registers too. Read again
// where it is used, so that no registers hold it meanwhile.
DEVICE struct product_arguments product_of_item(void) {
  struct product_arguments a = streaming_held().arguments.product;
  if (a.expert_row_bytes > 0) {
    const int item = block_index(2);
    streaming_to_item(a, item, warp_alike(streaming_experts()[item + 1]));
  }
  return a;
}

template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
DEVICE void streaming_product(void) {
  vector_product<vector_kind<WEIGHTS, ELEMENT_BF16, ROUND, END, BATCH>>(product_of_item());
}

// A second row that is missing is the first again.
template <class KIND>
DEVICE struct unit_pieces<KIND> window_load(const struct stream_place &place) {
  static_assert(KIND::TURNS == 1, "a unit is one turn");
  const unsigned char *second = stream_has_second(&place) ? place.row[1] : place.row[0];
  const int beside = stream_beside_at(&place);
  return unit_pieces_of<KIND, unit_in_memory>({place.row[0] + place.at, second + place.at},
                                              {place.row[0] + beside, second + beside}, 0,
                                              stream_bytes(&place) / KIND::CODES);
}

// Loads what comes next, and moves on; at the end the last unit is loaded again.
template <class KIND>
DEVICE void window_next(struct stream_place &ahead, struct unit_pieces<KIND> &to) {
  to = window_load<KIND>(ahead);
  if (ahead.left > 1) {
    stream_advance(&ahead);
  }
}

// All units of the warp; the window is under way.
template <class KIND>
DEVICE void window_units(struct stream_place place, struct stream_place ahead,
                         struct unit_pieces<KIND> (&window)[WINDOW_UNITS]) {
  SHARED(unsigned char, shared);
  const int vector_bytes = unit_vector_bytes<KIND>(product_of_item());
  typename KIND::sums sum = {};
  float *to = pair_first<KIND>(pair_block_of(), place);
#pragma unroll 1
  while (place.left > 0) {
#pragma unroll
    for (int i = 0; i < WINDOW_UNITS; i++) {
      if (place.left > 0) {
        unit_pair_multiply<KIND>(window[i], place, 0, shared, vector_bytes, sum);
        if (stream_ends_pair(&place)) {
          pair_leave<KIND>(sum, to);
          to = pair_block_of().sums + (place.pair + 1) * KIND::SUMS;
        }
        stream_advance(&place);
      }
      window_next<KIND>(ahead, window[i]);
    }
  }
}

template <class KIND> DEVICE void window_product(void) {
  const struct pair_block block = pair_block_of();
  const struct stream_product product = unit_product_of<KIND>(product_of_item());
  const struct stream_place place =
      stream_begin(&product, block.own, block.blocks, block.warp, VECTOR_THREADS / WARP);
  struct stream_place ahead = place;
  struct unit_pieces<KIND> window[WINDOW_UNITS];
  if (place.left > 0) {
#pragma unroll
    for (int i = 0; i < WINDOW_UNITS; i++) {
      window_next<KIND>(ahead, window[i]);
    }
  }
  unit_activations<KIND>(product_of_item());
  window_units<KIND>(place, ahead, window);
  block_wait();
  const struct product_arguments a = product_of_item();
  pair_finish<KIND>(a, unit_product_of<KIND>(a), pair_end_early<KIND>(a, unit_product_of<KIND>(a)));
}

template <int BATCH> DEVICE void streaming_units(void) {
  switch (streaming_held().kind) {
#define WINDOW_PRODUCT(name, ELEMENT, code_bytes, beside_bytes)                                    \
  case STREAMING_##ELEMENT: return window_product<unit_pair_kind<ELEMENT_##ELEMENT, BATCH>>();
    GPU_UNIT_ELEMENTS_HELD(WINDOW_PRODUCT)
#undef WINDOW_PRODUCT
  default: return;
  }
}

#endif
