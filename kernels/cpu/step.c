#include "kernels/cpu/step.h"

#include "kernels/cpu/attention.h"
#include "kernels/cpu/experts.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/latent.h"
#include "kernels/cpu/mlp.h"
#include "kernels/cpu/multiply.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/worker.h"
#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// In the stages that take whole vectors, thread t takes every threads-th vector. Puts a vector of
// x, normalized, in worker->row; a norm's bias is the vector after its weight.
static void normalise_row(const struct worker *worker, enum vector_name norm, size_t layer,
                          size_t row) {
  const struct plan *plan = worker->plan;
  const float *weight = layer_vector(worker->state, norm, layer);
  const float *bias = layer_vector(worker->state, norm + 1, layer);
  const float *x = block_floats(worker->state, BLOCK_X) + (worker->first + row) * plan->x_stride;
  const float epsilon = plan->request.shape.norm_epsilon;
  if (bias)
    worker->elementwise->layer_norm(x, weight, bias, plan->hidden, epsilon, worker->row);
  else
    worker->elementwise->normalise(x, weight, plan->hidden, epsilon, worker->row);
}

static void normalise_rows(const struct worker *worker, enum vector_name norm, size_t layer,
                           enum matrix_name taker) {
  const struct plan *plan = worker->plan;
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    normalise_row(worker, norm, layer, b);
    cpu_store_input(worker, taker, b, worker->row);
  }
}

// m, for every matrix that takes it.
static void normalise_for_mlp(const struct worker *worker, size_t layer) {
  static const enum matrix_name takers[] = {MATRIX_GATE_UP, MATRIX_EXPERT_GATE_UP,
                                            MATRIX_SHARED_GATE_UP, MATRIX_ROUTER};
  const struct plan *plan = worker->plan;
  const enum layer_kind kind = plan_layer_kind(plan, layer);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    normalise_row(worker, VECTOR_FFN_NORM, layer, b);
    for (size_t t = 0; t < sizeof takers / sizeof takers[0]; t++)
      if (plan_has(plan, kind, takers[t]))
        cpu_store_input(worker, takers[t], b, worker->row);
  }
}

static void join_rows(const struct worker *worker) {
  const struct plan *plan = worker->plan;
  const float *attended = block_floats(worker->state, BLOCK_ATTENDED);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    for (size_t head = 0; !plan->latent && head < plan->heads; head++)
      cpu_attend_join(worker->state, b, head);
    cpu_store_input(worker, MATRIX_OUTPUT, b, attended + b * plan->attended_stride);
  }
}

static size_t token_of(const struct decode_state *state, size_t vector) {
  const struct pass *pass = &state->pass;
  return (size_t)(vector < pass->prompt_count ? pass->prompt_tokens[vector]
                                              : state->tokens[pass_row(pass, vector)]);
}

// The angles of a held position do not change.
static void turn_rows(const struct worker *worker) {
  struct decode_state *state = worker->state;
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)worker->plan->threads) {
    size_t position = pass_position(state, b);
    if (state->turned[b] != position)
      cpu_fill_turns(state, b, position);
    state->turned[b] = position;
  }
}

static void embed_rows(const struct worker *worker) {
  const struct plan *plan = worker->plan;
  enum element element = plan->request.types.head;
  const float *scales = block_floats(worker->state, BLOCK_EMBEDDING_SCALES);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    size_t token = token_of(worker->state, b);
    const uint8_t *from =
        (const uint8_t *)worker->state->block[BLOCK_EMBEDDING] + token * plan_embedding_row(plan);
    float *x = block_floats(worker->state, BLOCK_X) + b * plan->x_stride;
    if (element_has_blocks(element)) {
      element_row_values(element, from, plan->hidden, scales[0], x);
      continue;
    }
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

// The row of the batch that a vector belongs to.
static size_t row_of(const struct worker *worker, size_t vector) {
  return pass_row(&worker->state->pass, worker->first + vector);
}

static void use_qkv(const struct worker *worker, const struct run *run, size_t panel,
                    size_t count) {
  const struct plan *plan = worker->plan;
  float *out = block_floats(worker->state, BLOCK_QKV) + panel * PANEL_ROWS;
  for (size_t b = 0; b < run->in.count; b++)
    memcpy(out + b * plan->qkv_stride, run->results + b * run->result_stride,
           count * PANEL_ROWS * sizeof *out);
}

static void use_logits(const struct worker *worker, const struct run *run, size_t panel,
                       size_t count) {
  const struct plan *plan = worker->plan;
  float *out = block_floats(worker->state, BLOCK_LOGITS) + panel * PANEL_ROWS;
  for (size_t b = 0; b < run->in.count; b++)
    memcpy(out + row_of(worker, b) * plan->logits_stride, run->results + b * run->result_stride,
           count * PANEL_ROWS * sizeof *out);
}

// A product of attention, or the head, for all rows.
static void multiply(const struct worker *worker, enum matrix_name name, size_t layer,
                     void (*use)(const struct worker *, const struct run *, size_t, size_t)) {
  cpu_multiply(worker, &(struct run){
                           .name = name,
                           .layer = layer,
                           .in = cpu_operand(worker, INPUT_ATTENTION, 0, worker->vectors),
                           .use = use,
                       });
}

static void attention_block(const struct worker *worker, size_t layer) {
  multiply(worker, MATRIX_QKV, layer, use_qkv);
  worker_wait(worker);
  if (worker->plan->latent)
    cpu_latent_queries(worker, layer);
  if (worker->state->pass.prompt_count) {
    cpu_store_prompt(worker->state, layer, worker->thread, worker->room);
    worker_wait(worker);
  }
  cpu_attend(worker->state, layer, worker->thread, worker->room);
  cpu_prefetch_start(worker, worker->plan->latent ? MATRIX_VALUE_B : MATRIX_OUTPUT, layer, 0);
  worker_wait(worker);
  if (worker->plan->latent)
    cpu_latent_outputs(worker, layer);
  join_rows(worker);
  worker_wait(worker);
  multiply(worker, MATRIX_OUTPUT, layer, cpu_use_residual);
}

static void dense_block(const struct worker *worker, size_t layer) {
  cpu_mlp_gate_up(worker, MATRIX_GATE_UP, layer);
  cpu_prefetch_start(worker, MATRIX_DOWN, layer, 0);
  worker_wait(worker);
  cpu_mlp_round(worker, MATRIX_DOWN);
  worker_wait(worker);
  cpu_mlp_down(worker, MATRIX_DOWN, layer);
}

static void layer_step(const struct worker *worker, size_t layer) {
  const struct plan *plan = worker->plan;
  const bool dense = plan_layer_kind(plan, layer) == LAYER_DENSE;
  const bool parallel = plan->request.shape.parallel, last = layer + 1 == plan->layers;
  normalise_rows(worker, VECTOR_ATTENTION_NORM, layer, MATRIX_QKV);
  if (parallel)
    normalise_for_mlp(worker, layer);
  worker_wait(worker);
  attention_block(worker, layer);
  cpu_prefetch_start(worker, dense ? MATRIX_GATE_UP : MATRIX_ROUTER, layer, 0);
  worker_wait(worker);
  if (!parallel) {
    normalise_for_mlp(worker, layer);
    worker_wait(worker);
  }
  if (dense)
    dense_block(worker, layer);
  else
    cpu_experts(worker, layer);
  cpu_prefetch_start(worker, last ? MATRIX_HEAD : MATRIX_QKV, last ? 0 : layer + 1, 0);
  worker_wait(worker);
}

// The lowest index of the largest logit among the thread's panels.
static int best_of_share(const struct worker *worker, size_t vector) {
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

// Threads hold ascending shares, so the first of equal logits wins.
static void choose_token(const struct worker *worker, size_t vector) {
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

// A prompt alone is not a step, and touched experts are counted for whole steps.
static void count_step(struct decode_state *state) {
  state->steps += state->pass.vectors > state->pass.prompt_count;
  state->touched.steps += state->pass.prompt_count == 0;
}

static void classify(struct worker *worker) {
  const struct plan *plan = worker->plan;
  int *best = worker->state->block[BLOCK_BEST];
  worker->first = pass_first_out(&worker->state->pass);
  worker->vectors -= worker->first;
  normalise_rows(worker, VECTOR_FINAL_NORM, 0, MATRIX_HEAD);
  worker_wait(worker);
  multiply(worker, MATRIX_HEAD, 0, use_logits);
  for (size_t b = 0; b < worker->vectors; b++)
    best[(size_t)worker->thread * plan->batch + b] = best_of_share(worker, b);
  cpu_prefetch_start(worker, MATRIX_QKV, 0, 0);
  worker_wait(worker);
  if (worker->thread == 0)
    count_step(worker->state);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads)
    choose_token(worker, b);
}

// One thread chooses, looks up and normalizes a row's token, so no barrier is needed in between.
void cpu_step(struct decode_state *state, int thread) {
  struct worker worker = worker_of(state, thread);
  turn_rows(&worker);
  embed_rows(&worker);
  for (size_t layer = 0; layer < state->plan.layers; layer++)
    layer_step(&worker, layer);
  classify(&worker);
}
