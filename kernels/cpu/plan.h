// plan: from a request, the sizes of everything that a state holds, and what a step costs.
#ifndef PERTOKEN_KERNELS_CPU_PLAN_H
#define PERTOKEN_KERNELS_CPU_PLAN_H

#include "kernels/cpu/rows.h"
#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>

// Tensors that are read together are one matrix.
enum matrix_name {
  MATRIX_QKV,     // panels of wq, then of wk, then of wv
  MATRIX_OUTPUT,  // wo
  MATRIX_GATE_UP, // a panel of gate, a panel of up, and so on
  MATRIX_DOWN,
  MATRIX_HEAD, // the only one outside the layers
  MATRICES
};

struct matrix {
  enum element element;
  enum element input;  // F32, BF16 or INT8: how the vectors lie in memory
  bool rounds_to_bf16; // input is F32, rounded
  enum product_kind kind;
  size_t panels, grain;   // threads take multiples of grain panels
  size_t columns, padded; // padded to PANEL_COLUMNS
  size_t header_bytes;    // scales of 16 rows before the lines of a panel, or 0
  size_t panel_bytes;     // with the header
};

// Blocks of memory other than the threads' weights.
enum block {
  BLOCK_CACHE,
  BLOCK_EMBEDDING,        // [vocab][hidden], row-major
  BLOCK_EMBEDDING_SCALES, // [vocab]
  BLOCK_NORMS,            // [2 * layers + 1][x_stride]: attention, ffn of each layer; final
  BLOCK_TURNS,            // [vectors][2][head_dim / 2]: cosines and sines of rope
  BLOCK_X,                // [vectors][x_stride]
  BLOCK_QKV,              // [vectors][qkv_stride]
  BLOCK_ATTENDED,         // [vectors][attended_stride]
  BLOCK_PARTIAL,          // [items][parts][group][partial_stride]
  BLOCK_GATED,            // [vectors][gated_stride]
  BLOCK_INPUT,            // [vectors][input_stride bytes]
  BLOCK_INPUT_NOTES,      // [vectors] scales, [vectors] sums
  BLOCK_LOGITS,           // [batch][logits_stride]
  BLOCK_BEST,             // [threads][batch]
  BLOCK_ROOM,             // [threads][room_stride]
  BLOCKS
};

// Positions whose scores are computed before the softmax moves on.
#define CHUNK 256

#define MAX_HEAD_DIM (2 * CHUNK)

// Queries of one kv head that attention takes together from a prompt, where a position has fewer.
#define PROMPT_QUERIES 64

struct plan {
  struct decode_request request;
  const struct cpu_kernels *kernels;
  int threads;
  bool one_stream; // see dispatch.h
  size_t layers, hidden, heads, kv_heads, head_dim, group, query_width, kv_width, ffn, vocab;
  size_t batch, context;
  size_t vectors; // the most that go through the layers together: a batch, or a prompt beside it
  struct matrix matrix[MATRICES];

  // The cache: for each layer and item (a kv head of a row of the batch) the keys as panels of 16
  // positions, then the values as panels of 16 elements of head_dim.
  size_t items, parts;                       // an item's positions are split among `parts` threads
  size_t part_positions;                     // a multiple of CHUNK, or all
  size_t key_columns, value_rows, positions; // padded
  enum element attention_input;              // queries and softmax weights: F32, or BF16 for tiles
  enum product_kind attention_kind;
  size_t block_positions; // of a prompt that attention takes together
  size_t key_panel_bytes, value_panel_bytes, key_bytes, item_bytes;

  // Where k and v begin in a row of qkv; in floats, as the strides are.
  size_t k_at, v_at;
  size_t x_stride, qkv_stride, attended_stride, gated_stride, logits_stride, partial_stride;
  size_t input_stride; // bytes
  size_t row_floats, arranged_words, room_stride;
  size_t block_bytes[BLOCKS];
};

// DECODE_UNSUPPORTED when this backend does not know the shape or the types.
enum decode_status plan_make(const struct decode_request *request,
                             const struct cpu_kernels *kernels, struct plan *plan);

struct decode_cost plan_cost(const struct plan *plan);

// A thread's share of a matrix.
struct panel_share {
  size_t first, count; // panels
};

struct panel_share plan_share(const struct plan *plan, enum matrix_name name, int thread);

// Bytes of a thread's shares of one layer; and of the head.
size_t plan_layer_bytes(const struct plan *plan, int thread);
size_t plan_head_bytes(const struct plan *plan, int thread);

#endif
