// state: a model in memory, and each thread's place in it. For the files of kernels/cpu only.
#ifndef PERTOKEN_KERNELS_CPU_STATE_H
#define PERTOKEN_KERNELS_CPU_STATE_H

#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/threads.h"
#include "kernels/decode.h"
#include "kernels/family.h"
#include "kernels/integers.h"

#include <stddef.h>
#include <stdint.h>

// A thread's weights in the order in which it reads them: its shares of each layer's matrices,
// layer by layer, then its share of the head. They are one contiguous block, so that prefetching
// past the end of one matrix brings in the next.
struct stream {
  uint8_t *base;
  size_t bytes, layer_bytes[LAYER_KINDS];
  size_t start[LAYER_KINDS][MATRICES]; // from the layer's start; for the head, from the base
  struct panel_share share[MATRICES];
};

// What goes through the layers together: first the prompt's positions, then a step of each batch
// row, or of each other row.
struct pass {
  size_t vectors;
  size_t prompt_count; // 0: the vectors are the rows of the batch
  size_t prompt_row, prompt_first;
  const int *prompt_tokens;
};

struct decode_state {
  struct plan plan;
  struct stream *streams; // [threads]
  void *block[BLOCKS];
  int *tokens;     // [batch]
  size_t position; // that steps write; steps attend up to it
  size_t *turned;  // [plan.vectors], the positions whose angles are in BLOCK_TURNS
  struct pass pass;
  size_t steps;           // made so far
  struct onednn *library; // NULL: prompts are multiplied by the kernels of steps
  char library_words[128];
  _Atomic int library_failed; // during the pass
  struct decode_touched touched;
  struct barrier barrier;
};

// The lines of a thread's first panel of a matrix begin header_bytes after this; its shares of the
// matrix's copies follow one another.
static inline uint8_t *stream_at(const struct decode_state *state, int thread,
                                 enum matrix_name name, size_t layer) {
  const struct stream *stream = &state->streams[thread];
  const size_t dense = layer < state->plan.dense_layers ? layer : state->plan.dense_layers;
  if (name == MATRIX_HEAD)
    return stream->base + stream->start[LAYER_DENSE][name];
  return stream->base + dense * stream->layer_bytes[LAYER_DENSE] +
         (layer - dense) * stream->layer_bytes[LAYER_EXPERTS] +
         stream->start[plan_layer_kind(&state->plan, layer)][name];
}

// The first vector of a pass that logits are made from: the prompt's last, or the first row's.
static inline size_t pass_first_out(const struct pass *pass) {
  return pass->prompt_count ? pass->prompt_count - 1 : 0;
}

static inline size_t pass_row(const struct pass *pass, size_t vector) {
  if (!pass->prompt_count)
    return vector;
  if (vector < pass->prompt_count)
    return pass->prompt_row;
  size_t other = vector - pass->prompt_count;
  return other < pass->prompt_row ? other : other + 1;
}

// The vector of a row that makes a step.
static inline size_t pass_vector(const struct pass *pass, size_t row) {
  if (!pass->prompt_count)
    return row;
  return pass->prompt_count + (row < pass->prompt_row ? row : row - 1);
}

static inline size_t pass_position(const struct decode_state *state, size_t vector) {
  const struct pass *pass = &state->pass;
  return vector < pass->prompt_count ? pass->prompt_first + vector : state->position;
}

static inline float *block_floats(const struct decode_state *state, enum block block) {
  return state->block[block];
}

// NULL when the model has no such vector. For the final norm, layer is 0.
static inline float *layer_vector(const struct decode_state *state, enum vector_name name,
                                  size_t layer) {
  const struct plan *plan = &state->plan;
  if (plan->vector[name].count == 0)
    return NULL;
  return block_floats(state, BLOCK_VECTORS) + layer * plan->vector_stride + plan->vector[name].at;
}

// The biases of one copy of a matrix, in the order of its panels; NULL when it has none.
static inline float *matrix_bias(const struct decode_state *state, enum matrix_name name,
                                 size_t layer, size_t copy) {
  const struct matrix *matrix = &state->plan.matrix[name];
  if (!matrix->biased)
    return NULL;
  return block_floats(state, BLOCK_VECTORS) + layer * state->plan.vector_stride + matrix->bias_at +
         copy * matrix->panels * PANEL_ROWS;
}

static inline uint8_t *cache_keys(const struct decode_state *state, size_t layer, size_t item) {
  const struct plan *plan = &state->plan;
  return (uint8_t *)state->block[BLOCK_CACHE] + (layer * plan->items + item) * plan->item_bytes;
}

static inline uint8_t *cache_values(const struct decode_state *state, size_t layer, size_t item) {
  return cache_keys(state, layer, item) + state->plan.key_bytes;
}

// With latent attention, a head's query before k_b: [head_dim].
static inline const float *latent_query(const struct decode_state *state, size_t vector,
                                        size_t head) {
  const struct plan *plan = &state->plan;
  const struct matrix *low = &plan->matrix[MATRIX_QUERY];
  const float *heads = low->copies > 0
                           ? block_floats(state, BLOCK_QUERY) + vector * low->panels * PANEL_ROWS
                           : block_floats(state, BLOCK_QKV) + vector * plan->qkv_stride;
  return heads + head * plan->head_dim;
}

// Pieces of attention are numbered item by item, and by part within an item; a thread takes
// neighboring ones.
static inline struct panel_share attention_share(const struct plan *plan, int thread) {
  size_t pieces = plan->items * plan->parts, threads = (size_t)plan->threads;
  size_t first = pieces * (size_t)thread / threads, last = pieces * ((size_t)thread + 1) / threads;
  return (struct panel_share){first, last - first};
}

// The positions that a step sees in a layer, and how they are split: a part begins part_positions
// after the one before, at a line of the cache; the last parts may be empty.
struct attention_span {
  size_t begin, end, part_positions;
};

// The first position that the layer's window shows to a position.
static inline size_t window_begin(const struct plan *plan, size_t layer, size_t position) {
  const size_t window = (size_t)family_layer(&plan->request.shape, (int)layer).window;
  return window > 0 && window <= position ? position + 1 - window : 0;
}

// Where the line with a position's keys and values begins.
static inline size_t line_begin(size_t position) {
  return position / TILE_COLUMNS * TILE_COLUMNS;
}

static inline struct attention_span attention_span(const struct decode_state *state, size_t layer) {
  const struct plan *plan = &state->plan;
  const size_t begin = line_begin(window_begin(plan, layer, state->position));
  const size_t end = state->position + 1, chunks = round_up(end - begin, CHUNK) / CHUNK;
  return (struct attention_span){begin, end, round_up(chunks, plan->parts) / plan->parts * CHUNK};
}

#endif
