#include "kernels/cpu/latent.h"

#include "kernels/cpu/attention.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/multiply.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/worker.h"

#include <string.h>

static void use_query(const struct worker *worker, const struct run *run, size_t panel,
                      size_t count) {
  const size_t stride = worker->plan->matrix[MATRIX_QUERY].panels * PANEL_ROWS;
  float *out = block_floats(worker->state, BLOCK_QUERY) + panel * PANEL_ROWS;
  for (size_t b = 0; b < run->in.count; b++)
    memcpy(out + b * stride, run->results + b * run->result_stride,
           count * PANEL_ROWS * sizeof *out);
}

static void raise_queries(const struct worker *worker, size_t layer) {
  const struct plan *plan = worker->plan;
  const float *weight = layer_vector(worker->state, VECTOR_Q_A_NORM, layer);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    const float *low = block_floats(worker->state, BLOCK_QKV) + b * plan->qkv_stride;
    worker->elementwise->normalise(low, weight, plan->vector[VECTOR_Q_A_NORM].count,
                                   plan->request.shape.norm_epsilon, worker->row);
    cpu_store_input(worker, MATRIX_QUERY, b, worker->row);
  }
  cpu_prefetch_start(worker, MATRIX_QUERY, layer, 0);
  worker_wait(worker);
  cpu_multiply(worker, &(struct run){.name = MATRIX_QUERY,
                                     .layer = layer,
                                     .in = cpu_operand(worker, INPUT_QUERY, 0, worker->vectors),
                                     .use = use_query});
  worker_wait(worker);
}

// Copies one head's rows from the panels to out[vectors][heads][stride], without the padding.
static void use_heads(const struct worker *worker, const struct run *run, size_t panel,
                      size_t count, float *out, size_t vector_stride, size_t head_stride) {
  const struct plan *plan = worker->plan;
  const struct matrix *matrix = &plan->matrix[run->name];
  const size_t head = panel / matrix->head_panels, rows = matrix->rows / plan->heads;
  const size_t first = panel % matrix->head_panels * PANEL_ROWS, left = rows - first;
  const size_t floats = count * PANEL_ROWS < left ? count * PANEL_ROWS : left;
  for (size_t b = 0; b < run->in.count; b++)
    memcpy(out + b * vector_stride + head * head_stride + first,
           run->results + b * run->result_stride, floats * sizeof *out);
}

static void use_absorbed(const struct worker *worker, const struct run *run, size_t panel,
                         size_t count) {
  const struct plan *plan = worker->plan;
  use_heads(worker, run, panel, count, block_floats(worker->state, BLOCK_ABSORBED),
            plan->heads * plan->absorbed_stride, plan->absorbed_stride);
}

static void use_outputs(const struct worker *worker, const struct run *run, size_t panel,
                        size_t count) {
  const struct plan *plan = worker->plan;
  use_heads(worker, run, panel, count, block_floats(worker->state, BLOCK_ATTENDED),
            plan->attended_stride, plan->attended_width / plan->heads);
}

// The threads share the heads of all vectors, in order.
void cpu_latent_queries(const struct worker *worker, size_t layer) {
  const struct plan *plan = worker->plan;
  if (plan->matrix[MATRIX_QUERY].copies > 0)
    raise_queries(worker, layer);
  for (size_t i = (size_t)worker->thread; i < worker->vectors * plan->heads;
       i += (size_t)plan->threads) {
    const size_t vector = i / plan->heads, head = i % plan->heads;
    cpu_store_input(worker, MATRIX_KEY_B, cpu_head_input(worker, MATRIX_KEY_B, vector, head),
                    latent_query(worker->state, vector, head));
  }
  cpu_prefetch_start(worker, MATRIX_KEY_B, layer, 0);
  worker_wait(worker);
  cpu_multiply_heads(worker, MATRIX_KEY_B, layer, use_absorbed);
  worker_wait(worker);
}

void cpu_latent_outputs(const struct worker *worker, size_t layer) {
  const struct plan *plan = worker->plan;
  const float *sums = block_floats(worker->state, BLOCK_SUMS);
  for (size_t i = (size_t)worker->thread; i < worker->vectors * plan->heads;
       i += (size_t)plan->threads) {
    const size_t vector = i / plan->heads, head = i % plan->heads;
    cpu_attend_join(worker->state, vector, head);
    cpu_store_input(worker, MATRIX_VALUE_B, cpu_head_input(worker, MATRIX_VALUE_B, vector, head),
                    sums + i * plan->sums_stride);
  }
  worker_wait(worker);
  cpu_multiply_heads(worker, MATRIX_VALUE_B, layer, use_outputs);
  cpu_prefetch_start(worker, MATRIX_OUTPUT, layer, 0);
  worker_wait(worker);
}
