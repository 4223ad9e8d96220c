// plan: from a request, the sizes of everything that a state holds, and what a step costs.
#ifndef PERTOKEN_KERNELS_CPU_PLAN_H
#define PERTOKEN_KERNELS_CPU_PLAN_H

#include "kernels/cpu/isa/rows.h"
#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>

// Tensors that are read together form one matrix. In the order in which a layer reads them.
enum matrix_name {
  MATRIX_QKV,     // panels of wq, then of wk, then of wv; latent: of q_a or wq, then of kv_a
  MATRIX_QUERY,   // q_b; this and the next two with latent attention
  MATRIX_KEY_B,   // k_b of each head, transposed
  MATRIX_VALUE_B, // v_b of each head
  MATRIX_OUTPUT,  // wo
  MATRIX_GATE_UP, // a panel of gate, a panel of up, and so on; with GELU only up
  MATRIX_DOWN,    // these two in dense layers, the following in layers of experts
  MATRIX_ROUTER,
  MATRIX_SHARED_GATE_UP, // of the shared expert
  MATRIX_SHARED_DOWN,
  MATRIX_EXPERT_GATE_UP, // one copy for each expert
  MATRIX_EXPERT_DOWN,
  MATRIX_HEAD, // the only one outside the layers
  MATRICES
};

// Multiplies only the vectors that chose the copy.
static inline bool matrix_is_routed(enum matrix_name name) {
  return name == MATRIX_EXPERT_GATE_UP || name == MATRIX_EXPERT_DOWN;
}

enum layer_kind { LAYER_DENSE, LAYER_EXPERTS, LAYER_KINDS };

// The inputs of products, rounded; each vector is written whole, by one thread.
enum input_name {
  INPUT_ATTENTION, // input of attention's products, and of the head
  INPUT_QUERY,     // q_a * n, normalized
  INPUT_HEAD_KEYS, // for each vector and head, the part of the query that k_b takes
  INPUT_HEAD_SUMS, // for each vector and head, what v_b takes
  INPUT_MLP,       // m of decode.h
  INPUT_SHARED,    // the same, rounded for the shared expert
  INPUT_ROUTER,    // and for the router
  INPUT_GATED,     // input of down
  INPUT_PAIRS,     // the same for each pair of a row and an expert that it chose
  INPUTS
};

struct input {
  size_t vectors, stride; // bytes from one to the next
  size_t at, first; // bytes before them in BLOCK_INPUT; vectors before them in BLOCK_INPUT_NOTES
};

struct matrix {
  enum element element;
  enum element rounded; // what its vectors are rounded to: F32, BF16, E4M3 or INT8
  enum element input;   // F32, BF16 or INT8: how they are then stored; E4M3 by value
  enum product_kind kind;
  enum input_name source;
  size_t copies;          // 0: the model has no such matrix
  size_t rows;            // of a copy, without padding
  size_t panels, grain;   // of a copy; threads take multiples of grain panels
  size_t head_panels;     // this many after each other take the vector of one head; 0: all the same
  size_t columns, padded; // padded to PANEL_COLUMNS
  size_t header_bytes;    // of a panel: kernels/cpu/isa/blocks.h
  size_t panel_bytes;     // with the header
  bool biased;
  size_t bias_at; // [copies][panels][PANEL_ROWS] floats among a layer's vectors
};

// Float vectors of a layer, except the last two; biases of products follow them.
enum vector_name {
  VECTOR_ATTENTION_NORM,
  VECTOR_ATTENTION_NORM_BIAS,
  VECTOR_FFN_NORM,
  VECTOR_FFN_NORM_BIAS,
  VECTOR_Q_NORM,
  VECTOR_K_NORM,
  VECTOR_Q_A_NORM,
  VECTOR_KV_A_NORM,
  VECTOR_SINKS,
  VECTOR_CHOICE_BIAS, // of a sigmoid router
  VECTOR_FINAL_NORM,
  VECTOR_FINAL_NORM_BIAS,
  VECTORS
};

struct vector {
  size_t at, count; // floats; a count of 0: the model has no such vector
};

// Blocks of memory other than the threads' weights.
enum block {
  BLOCK_CACHE,
  BLOCK_EMBEDDING,        // [vocab][plan_embedding_row], row-major
  BLOCK_EMBEDDING_SCALES, // [vocab], or one for the whole tensor if rows have blocks
  BLOCK_VECTORS,          // [layers][vector_stride], then the final norm
  BLOCK_TURNS,            // [vectors][2][head_dim / 2]: cosines and sines of rope
  BLOCK_X,                // [vectors][x_stride]
  BLOCK_QKV,              // [vectors][qkv_stride]
  BLOCK_QUERY,            // [vectors][heads][head_dim], with latent attention and a query_rank
  BLOCK_ABSORBED,         // [vectors][heads][absorbed_stride]: k_b^T q
  BLOCK_SUMS,             // [vectors][heads][sums_stride]: o of decode.h
  BLOCK_ATTENDED,         // [vectors][attended_stride]
  BLOCK_PARTIAL,          // [items][parts][group][partial_stride]
  BLOCK_GATED,            // [vectors][gated_stride]
  BLOCK_ROUTED,           // [vectors][routed_stride]: r of decode.h
  BLOCK_ROUTING,          // the table of kernels/routing.h, if routing is forced
  BLOCK_CHOSEN,           // [layers][vectors][chosen] experts
  BLOCK_CHOSEN_WEIGHTS,   // [vectors][chosen]
  BLOCK_GROUPS,           // [threads][groups_stride bytes]: see experts.c
  BLOCK_PAIRS_GATED,      // [vectors * chosen][pair_stride]
  BLOCK_INPUT,            // the vectors of all inputs
  BLOCK_INPUT_NOTES,      // the scales of these vectors, then their sums
  BLOCK_LOGITS,           // [batch][logits_stride]
  BLOCK_BEST,             // [threads][batch]
  BLOCK_ROOM,             // [threads][room_stride]
  BLOCK_UNPACKED,         // [threads][unpacked_bytes], for prompts: prompt_product.h
  BLOCK_RESULTS,          // [threads][result_floats]: [vectors][result_panels][16]
  BLOCKS
};

// Positions whose scores are computed before the softmax moves on.
enum { CHUNK = 256 };

// Queries of one kv head that attention takes together from a prompt, if one position has fewer.
enum { PROMPT_QUERIES = 64 };

struct plan {
  struct decode_request request;
  const struct cpu_kernels *kernels;
  int threads;
  bool one_stream; // see dispatch.h
  size_t layers, hidden, heads, kv_heads, head_dim, group, query_width, kv_width, ffn, vocab;
  size_t batch, context;
  size_t vectors; // the most that go through the layers together: a batch, or a prompt beside it
  size_t dense_layers;           // the first layers; the others have experts
  size_t experts, chosen, pairs; // pairs = vectors * chosen
  struct matrix matrix[MATRICES];
  struct input input[INPUTS];
  size_t notes; // vectors of all inputs
  struct vector vector[VECTORS];
  size_t vector_stride; // floats per layer

  // The cache: for each layer and item (a kv head of a batch row) the keys as panels of 16
  // positions, then the values as panels of 16 elements of head_dim. With latent attention a row is
  // one item, and there are only keys: their first value_width elements are also the values.
  bool latent;
  size_t key_width, value_width;
  size_t items, parts;                       // an item's positions are split among `parts` threads
  size_t key_columns, value_rows, positions; // padded
  enum element attention_input;              // queries and softmax weights: F32, or BF16 for tiles
  enum product_kind attention_kind;
  size_t block_positions; // of a prompt, taken together by attention
  size_t key_panel_bytes, value_panel_bytes, key_bytes, item_bytes;

  // Where k and v begin in a row of qkv; in floats, like the strides.
  size_t k_at, v_at;
  size_t attended_width; // of a vector, before wo
  size_t absorbed_stride, sums_stride;
  size_t x_stride, qkv_stride, attended_stride, gated_stride, routed_stride, pair_stride,
      logits_stride, partial_stride;
  size_t groups_stride; // bytes
  size_t row_floats, arranged_words, gathered_bytes, turned_floats, room_stride;
  size_t unpacked_bytes, result_panels, result_floats;
  size_t block_bytes[BLOCKS];
};

// DECODE_UNSUPPORTED if limits.h has a reason.
enum decode_status plan_make(const struct decode_request *request,
                             const struct cpu_kernels *kernels, struct plan *plan);

struct decode_cost plan_cost(const struct plan *plan);

// Bytes of a row of the embedding; if it has blocks, in the layout of element_row_put.
size_t plan_embedding_row(const struct plan *plan);

static inline enum layer_kind plan_layer_kind(const struct plan *plan, size_t layer) {
  return layer < plan->dense_layers ? LAYER_DENSE : LAYER_EXPERTS;
}

// Whether layers of that kind have the matrix.
bool plan_has(const struct plan *plan, enum layer_kind kind, enum matrix_name name);

// A thread's share of a matrix; the same in each copy.
struct panel_share {
  size_t first, count; // panels
};

struct panel_share plan_share(const struct plan *plan, enum matrix_name name, int thread);

// Takes the first panels off a thread's share: those that take the same vectors, which are one
// head's in a matrix of heads.
struct panel_share plan_part(const struct plan *plan, enum matrix_name name,
                             struct panel_share *rest);

// Bytes of a thread's shares of a matrix, and of everything that a step reads.
size_t plan_share_bytes(const struct plan *plan, enum matrix_name name, int thread);
size_t plan_weight_bytes(const struct plan *plan, int thread);

#endif
