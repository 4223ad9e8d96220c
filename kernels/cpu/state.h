// state: a model in memory, and each thread's place in it. For the files of kernels/cpu only.
#ifndef PERTOKEN_KERNELS_CPU_STATE_H
#define PERTOKEN_KERNELS_CPU_STATE_H

#include "kernels/cpu/plan.h"
#include "kernels/cpu/threads.h"

#include <stddef.h>
#include <stdint.h>

// A thread's weights in the order in which it reads them: its shares of each layer's matrices,
// layer by layer, then that of the head. One contiguous block, so that prefetching past the end of
// one matrix brings in the next.
struct stream {
  uint8_t *base;
  size_t bytes, layer_bytes;
  size_t start[MATRICES]; // from the layer's start; of the head from the base
  struct panel_share share[MATRICES];
};

// What goes through the layers together: the prompt's positions first, then a step of each row of
// the batch, or of each other row.
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
  size_t position; // that steps write
  size_t *turned;  // [plan.vectors], the positions that BLOCK_TURNS has the angles of
  struct pass pass;
  struct barrier barrier;
};

// The lines of a thread's first panel of a matrix begin header_bytes after this.
static inline uint8_t *stream_at(const struct decode_state *state, int thread,
                                 enum matrix_name name, size_t layer) {
  const struct stream *stream = &state->streams[thread];
  size_t from = name == MATRIX_HEAD ? 0 : layer * stream->layer_bytes;
  return stream->base + from + stream->start[name];
}

// The first vector of a pass that logits are made of: the prompt's last, or the first row's.
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

static inline uint8_t *cache_keys(const struct decode_state *state, size_t layer, size_t item) {
  const struct plan *plan = &state->plan;
  return (uint8_t *)state->block[BLOCK_CACHE] + (layer * plan->items + item) * plan->item_bytes;
}

static inline uint8_t *cache_values(const struct decode_state *state, size_t layer, size_t item) {
  return cache_keys(state, layer, item) + state->plan.key_bytes;
}

// The pieces of attention are numbered item by item, parts within; a thread takes neighbours.
static inline struct panel_share attention_share(const struct plan *plan, int thread) {
  size_t pieces = plan->items * plan->parts, threads = (size_t)plan->threads;
  size_t first = pieces * (size_t)thread / threads, last = pieces * ((size_t)thread + 1) / threads;
  return (struct panel_share){first, last - first};
}

#endif
