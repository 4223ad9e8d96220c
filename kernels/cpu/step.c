#include "kernels/cpu/step.h"

#include "kernels/cpu/attention.h"
#include "kernels/cpu/dispatch.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/threads.h"
#include "kernels/decode.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// What one thread works with during a step.
struct step_thread {
  struct decode_state *state;
  const struct plan *plan;
  int thread;
  size_t first, vectors; // of the pass: those that enter the next product
  float *row;            // [row_floats], one vector
  int32_t *arranged;     // [arranged_words], the input of a matrix
  float *room; // results of up to four panels, [vectors][BLOCK_FLOATS], or what attention needs
};

#define BLOCK_PANELS 4
#define BLOCK_FLOATS (BLOCK_PANELS * PANEL_ROWS)

static void wait(const struct step_thread *worker) {
  barrier_wait(&worker->state->barrier, worker->plan->threads);
}

// Rounds a vector to what the matrix takes and leaves it as the input's `row`.
static void store_input(const struct step_thread *worker, const struct matrix *matrix, size_t row,
                        const float *vector) {
  const struct plan *plan = worker->plan;
  const struct elementwise *elementwise = plan->kernels->elementwise;
  uint8_t *at = (uint8_t *)worker->state->block[BLOCK_INPUT] + row * plan->input_stride;
  float *scales = block_floats(worker->state, BLOCK_INPUT_NOTES);
  int32_t *sums = (int32_t *)(void *)(scales + plan->vectors);
  size_t size = element_bytes(matrix->input);
  void *out = at;
  scales[row] = 1;
  if (matrix->input == ELEMENT_BF16)
    elementwise->to_bf16(vector, matrix->columns, out);
  else if (matrix->input == ELEMENT_INT8)
    scales[row] = elementwise->to_int8(vector, matrix->columns, out, &sums[row]);
  else if (matrix->rounds_to_bf16)
    elementwise->round_bf16(vector, matrix->columns, out);
  else
    memcpy(out, vector, matrix->columns * size);
  memset(at + matrix->columns * size, 0, (matrix->padded - matrix->columns) * size);
}

// The stages that take whole vectors give each thread every so many of them.
static void normalise_rows(const struct step_thread *worker, enum matrix_name name, size_t norm) {
  const struct plan *plan = worker->plan;
  const float *weight = block_floats(worker->state, BLOCK_NORMS) + norm * plan->x_stride;
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    const float *x = block_floats(worker->state, BLOCK_X) + (worker->first + b) * plan->x_stride;
    plan->kernels->elementwise->normalise(x, weight, plan->hidden, plan->request.shape.norm_epsilon,
                                          worker->row);
    store_input(worker, &plan->matrix[name], b, worker->row);
  }
  wait(worker);
}

static void join_rows(const struct step_thread *worker) {
  const struct plan *plan = worker->plan;
  const float *attended = block_floats(worker->state, BLOCK_ATTENDED);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    cpu_attend_join(worker->state, b);
    store_input(worker, &plan->matrix[MATRIX_OUTPUT], b, attended + b * plan->attended_stride);
  }
  wait(worker);
}

static void round_gated_rows(const struct step_thread *worker) {
  const struct plan *plan = worker->plan;
  const float *gated = block_floats(worker->state, BLOCK_GATED);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads)
    store_input(worker, &plan->matrix[MATRIX_DOWN], b, gated + b * plan->gated_stride);
  wait(worker);
}

static size_t token_of(const struct decode_state *state, size_t vector) {
  const struct pass *pass = &state->pass;
  return (size_t)(vector < pass->prompt_count ? pass->prompt_tokens[vector]
                                              : state->tokens[pass_row(pass, vector)]);
}

// The angles of a held position stay.
static void turn_rows(const struct step_thread *worker) {
  struct decode_state *state = worker->state;
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)worker->plan->threads) {
    size_t position = pass_position(state, b);
    if (state->turned[b] != position)
      cpu_fill_turns(state, b, position);
    state->turned[b] = position;
  }
}

static void embed_rows(const struct step_thread *worker) {
  const struct plan *plan = worker->plan;
  enum element element = plan->request.types.head;
  const float *scales = block_floats(worker->state, BLOCK_EMBEDDING_SCALES);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    size_t token = token_of(worker->state, b);
    const uint8_t *from = (const uint8_t *)worker->state->block[BLOCK_EMBEDDING] +
                          token * plan->hidden * element_bytes(element);
    float *x = block_floats(worker->state, BLOCK_X) + b * plan->x_stride;
    for (size_t i = 0; i < plan->hidden; i++) {
      uint16_t bits;
      if (element == ELEMENT_BF16) {
        memcpy(&bits, from + 2 * i, sizeof bits);
        x[i] = float_from_bf16(bits);
      } else if (element == ELEMENT_E4M3) {
        x[i] = float_from_e4m3(from[i]) * scales[token];
      } else {
        x[i] = (float)(int8_t)from[i] * scales[token];
      }
    }
  }
}

// out *= scale of the panel's row, and of the vector.
static void apply_scales(const struct step_thread *worker, const struct matrix *matrix,
                         const uint8_t *headers, size_t panels) {
  const float *factors = block_floats(worker->state, BLOCK_INPUT_NOTES);
  const float *scales = (const float *)(const void *)headers;
  for (size_t b = 0; b < worker->vectors; b++)
    worker->plan->kernels->elementwise->scale_rows(worker->room + b * BLOCK_FLOATS, panels, scales,
                                                   matrix->panel_bytes / sizeof(float), factors[b]);
}

// The row of the batch that a vector belongs to.
static size_t row_of(const struct step_thread *worker, size_t vector) {
  return pass_row(&worker->state->pass, worker->first + vector);
}

// Where the results of `count` panels go.
static void use_results(const struct step_thread *worker, enum matrix_name name, size_t panel,
                        size_t count) {
  const struct plan *plan = worker->plan;
  const struct elementwise *elementwise = plan->kernels->elementwise;
  const struct decode_state *state = worker->state;
  for (size_t b = 0; b < worker->vectors; b++) {
    const float *from = worker->room + b * BLOCK_FLOATS;
    size_t at = panel * PANEL_ROWS, floats = count * PANEL_ROWS;
    float *to;
    switch (name) {
    case MATRIX_QKV:
      to = block_floats(state, BLOCK_QKV) + b * plan->qkv_stride + at;
      memcpy(to, from, floats * sizeof *to);
      break;
    case MATRIX_OUTPUT:
    case MATRIX_DOWN:
      to = block_floats(state, BLOCK_X) + b * plan->x_stride + at;
      elementwise->add(to, from, floats);
      break;
    case MATRIX_GATE_UP:
      to = block_floats(state, BLOCK_GATED) + b * plan->gated_stride + at / 2;
      elementwise->swiglu(from, count / 2, to);
      break;
    case MATRIX_HEAD:
    case MATRICES:
      to = block_floats(state, BLOCK_LOGITS) + row_of(worker, b) * plan->logits_stride + at;
      memcpy(to, from, floats * sizeof *to);
      break;
    }
  }
}

// Brings in the beginning of what a thread reads after a barrier.
static void prefetch_start(const struct step_thread *worker, enum matrix_name name, size_t layer) {
  const struct matrix *matrix = &worker->plan->matrix[name];
  const uint8_t *at = stream_at(worker->state, worker->thread, name, layer);
  size_t next = worker->plan->one_stream ? AHEAD_BYTES : matrix->panel_bytes;
  for (size_t line = 0; line < AHEAD_LINES; line++)
    for (size_t p = 0; p < BLOCK_PANELS; p++)
      __builtin_prefetch(at + p * next + line * LINE_BYTES, 0, 2);
  __asm__ volatile(""); // or the compiler takes this for a function without effect
}

// The thread's rows of a matrix times the input.
static void multiply(const struct step_thread *worker, enum matrix_name name, size_t layer) {
  const struct plan *plan = worker->plan;
  const struct matrix *matrix = &plan->matrix[name];
  struct panel_share share = worker->state->streams[worker->thread].share[name];
  const uint8_t *at = stream_at(worker->state, worker->thread, name, layer);
  const float *notes = block_floats(worker->state, BLOCK_INPUT_NOTES);
  size_t words = matrix->padded * element_bytes(matrix->input) / sizeof(int32_t);
  bool arranges = plan->kernels->takes_arranged && worker->vectors >= MIN_ARRANGED_BATCH &&
                  worker->vectors <= MAX_ARRANGED_BATCH;
  if (arranges)
    cpu_arrange(worker->state->block[BLOCK_INPUT], plan->input_stride, worker->vectors, words,
                worker->arranged);
  for (size_t done = 0; done < share.count; done += BLOCK_PANELS) {
    size_t left = share.count - done, count = left < BLOCK_PANELS ? left : BLOCK_PANELS;
    struct product product = {
        .panels = at + matrix->header_bytes,
        .panel_stride = matrix->panel_bytes,
        .panel_count = count,
        .columns = matrix->padded,
        .in = worker->state->block[BLOCK_INPUT],
        .in_stride = plan->input_stride,
        .in_sums = (const int32_t *)(const void *)(notes + plan->vectors),
        .batch = worker->vectors,
        .arranged = arranges ? worker->arranged : NULL,
        .in_words = words,
        .one_stream = plan->one_stream,
        .out = worker->room,
        .out_stride = BLOCK_FLOATS,
    };
    plan->kernels->product[matrix->kind](&product);
    if (matrix->header_bytes)
      apply_scales(worker, matrix, at, count);
    use_results(worker, name, share.first + done, count);
    at += count * matrix->panel_bytes;
  }
}

static void layer_step(const struct step_thread *worker, size_t layer) {
  size_t last = worker->plan->layers - 1;
  normalise_rows(worker, MATRIX_QKV, 2 * layer);
  multiply(worker, MATRIX_QKV, layer);
  wait(worker);
  if (worker->state->pass.prompt_count) {
    cpu_store_prompt(worker->state, layer, worker->thread, worker->room);
    wait(worker);
  }
  cpu_attend(worker->state, layer, worker->thread, worker->room);
  prefetch_start(worker, MATRIX_OUTPUT, layer);
  wait(worker);
  join_rows(worker);
  multiply(worker, MATRIX_OUTPUT, layer);
  prefetch_start(worker, MATRIX_GATE_UP, layer);
  wait(worker);
  normalise_rows(worker, MATRIX_GATE_UP, 2 * layer + 1);
  multiply(worker, MATRIX_GATE_UP, layer);
  prefetch_start(worker, MATRIX_DOWN, layer);
  wait(worker);
  round_gated_rows(worker);
  multiply(worker, MATRIX_DOWN, layer);
  prefetch_start(worker, layer < last ? MATRIX_QKV : MATRIX_HEAD, layer < last ? layer + 1 : 0);
  wait(worker);
}

// The lowest index of the largest logit among the thread's panels.
static int best_of_share(const struct step_thread *worker, size_t vector) {
  const struct plan *plan = worker->plan;
  struct panel_share share = worker->state->streams[worker->thread].share[MATRIX_HEAD];
  size_t first = share.first * PANEL_ROWS, end = first + share.count * PANEL_ROWS;
  if (end > plan->vocab)
    end = plan->vocab;
  if (first >= end)
    return -1;
  const float *logits =
      block_floats(worker->state, BLOCK_LOGITS) + row_of(worker, vector) * plan->logits_stride;
  float most = plan->kernels->elementwise->largest(logits + first, end - first);
  size_t i = first;
  while (i + 1 < end && logits[i] != most)
    i++;
  return (int)i;
}

// Threads hold ascending shares: the first of equals stays.
static void choose_token(const struct step_thread *worker, size_t vector) {
  const struct plan *plan = worker->plan;
  size_t row = row_of(worker, vector);
  const int *best = worker->state->block[BLOCK_BEST];
  const float *logits = block_floats(worker->state, BLOCK_LOGITS) + row * plan->logits_stride;
  int token = -1;
  for (size_t t = 0; t < (size_t)plan->threads; t++) {
    int candidate = best[t * plan->batch + vector];
    if (candidate >= 0 && (token < 0 || logits[candidate] > logits[token]))
      token = candidate;
  }
  worker->state->tokens[row] = token;
}

static void classify(struct step_thread *worker) {
  const struct plan *plan = worker->plan;
  int *best = worker->state->block[BLOCK_BEST];
  worker->first = pass_first_out(&worker->state->pass);
  worker->vectors -= worker->first;
  normalise_rows(worker, MATRIX_HEAD, 2 * plan->layers);
  multiply(worker, MATRIX_HEAD, 0);
  for (size_t b = 0; b < worker->vectors; b++)
    best[(size_t)worker->thread * plan->batch + b] = best_of_share(worker, b);
  prefetch_start(worker, MATRIX_QKV, 0);
  wait(worker);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads)
    choose_token(worker, b);
}

// A row's token is chosen, looked up and normalised by one thread: no barrier lies between.
void cpu_step(struct decode_state *state, int thread) {
  const struct plan *plan = &state->plan;
  float *room = block_floats(state, BLOCK_ROOM) + (size_t)thread * plan->room_stride;
  struct step_thread worker = {
      .state = state,
      .plan = plan,
      .thread = thread,
      .vectors = state->pass.vectors,
      .row = room,
      .arranged = (int32_t *)(void *)(room + plan->row_floats),
      .room = room + plan->row_floats + plan->arranged_words,
  };
  turn_rows(&worker);
  embed_rows(&worker);
  for (size_t layer = 0; layer < plan->layers; layer++)
    layer_step(&worker, layer);
  classify(&worker);
}
