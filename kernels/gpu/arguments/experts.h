// experts: the arguments of a layer of experts.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_EXPERTS_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_EXPERTS_H

#include "kernels/gpu/arguments/product.h"
#include "kernels/integers.h"

#include <stddef.h>
#include <stdint.h>

// A layer of experts is computed by `route`, by expert_* for gate and up and for down, and by
// `combine`; the router itself is a plain product. A batch row and an expert that it is routed to
// form a pair. What an expert's product reads or writes for a row is in a slot. Work is dealt out
// in items, an expert and `count` slots from `first` on:
//   vector kernels: an item for each expert touched, in their order; the i-th has the slots from
//     batch * i on, one for each batch row, whether the row goes to the expert or not
//   matrix kernels: the pairs, expert by expert and in the order of rows, have a slot each; an
//     expert has as many items as its pairs fill, of at most `columns` slots
struct expert_item {
  int expert, first, count, unused;
};

// route: grid (batch), block SMALL_THREADS, shared route_shared_bytes. The last block to arrive at
// counters[0] makes the list of items, adds the number of experts touched to `touched`, and adds
// one to `steps` if this is the last layer of experts. Of the batch, the rows behind the first
// `before` are `positions` of a prompt (kernels/routing.h), and then come further rows of the
// table.
struct route_arguments {
  const float *r, *bias; // [batch][count]; [count] or NULL
  const uint16_t *table; // forced: [ROUTING_STEPS][layers][table_batch][chosen], otherwise NULL
  int table_batch;
  int before, positions;
  int prompt, first; // the prompt's row of the table, and its first position here
  const int *step;   // [1], the number of the step, which `sample` advances
  int layer, layers, last;
  int batch, count, chosen;
  int router, groups, kept_groups; // enum decode_router; groups 0: all experts are one
  float scale;                     // of the weights
  int columns;                     // matrix: slots in an item; vector: 0
  int *experts;                    // [batch][chosen], largest weight first
  float *weights;                  // [batch][chosen]
  int *slots;                      // [batch][chosen]
  int *rows;                       // matrix: [batch * chosen], the row of each slot
  struct expert_item *items;
  int *item_count, *touched, *steps; // [1]
  unsigned *counters;
};

static inline size_t route_shared_bytes(int batch, int count, int chosen) {
  const size_t row = 3 * (size_t)count + 2 * (size_t)chosen;
  const size_t all = (size_t)count + ((size_t)batch * (size_t)chosen + 1) / 2;
  return round_up((row > all ? row : all) * 4, 16);
}

// gather: copies rounded activations row by row to the slots of the matrix kernels or of an expert
// that the vendor's library takes, with their scales. Grid (slots, plus as many as an item or the
// library may read beyond its own, which become zeros with scale 1), block SMALL_THREADS.
struct gather_arguments {
  const void *from;         // [batch][stride]
  const float *from_scales; // [batch] for what is rounded to E4M3 or INT8, otherwise NULL
  const int *rows;          // [slots]
  int slots, row_bytes;     // a multiple of 16
  void *to;
  float *to_scales;
};

// expert_vector_*: vector_* for an item's expert, in the combinations norm_gated and round_biased.
// expert_matrix_*: matrix_* for it, with the epilogues gated and biased, COLUMNS 16 or 64, without
// splits. Both are without_residual. Grid (that of the plain kernel, 1, items at most). Matrices,
// scales and biases are stored expert by expert; `product` describes expert 0 and slot 0, with
// batch_padded the most columns of an item. Input after a norm is [batch][columns]; other input,
// activations and output are [slots].
struct expert_arguments {
  struct product_arguments product;
  const struct expert_item *items; // or a run within the list, which the grid does not exceed
  const int *item_count;           // of the whole list
};

// combine: x[row] += the sum over the row's experts, in their order, of weight * sums[slot]; with
// without_residual, = that sum. Grid (blocks of hidden, batch), block SMALL_THREADS.
struct combine_arguments {
  const float *sums;    // [slots][hidden]
  const int *slots;     // [batch][chosen]
  const float *weights; // [batch][chosen]
  int chosen, hidden;
  int without_residual; // as of a product
  float *x;             // [batch][hidden]
};

#endif
