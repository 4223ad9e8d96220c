#include "kernels/cpu/mlp.h"

#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/multiply.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/worker.h"

static void use_gate_up(const struct worker *worker, const struct run *run, size_t panel,
                        size_t count) {
  const struct plan *plan = worker->plan;
  const size_t grain = plan->matrix[run->name].grain;
  float *out = block_floats(worker->state, BLOCK_GATED) + panel / grain * PANEL_ROWS;
  for (size_t b = 0; b < run->in.count; b++)
    worker->elementwise->activate[plan->request.shape.mlp](
        run->results + b * run->result_stride, count / grain, out + b * plan->gated_stride);
}

void cpu_mlp_gate_up(const struct worker *worker, enum matrix_name gate_up, size_t layer) {
  const struct plan *plan = worker->plan;
  cpu_multiply(worker, &(struct run){.name = gate_up,
                                     .layer = layer,
                                     .in = cpu_operand(worker, plan->matrix[gate_up].source, 0,
                                                       worker->vectors),
                                     .use = use_gate_up});
}

void cpu_mlp_round(const struct worker *worker, enum matrix_name down) {
  const struct plan *plan = worker->plan;
  const float *gated = block_floats(worker->state, BLOCK_GATED);
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads)
    cpu_store_input(worker, down, b, gated + b * plan->gated_stride);
}

void cpu_mlp_down(const struct worker *worker, enum matrix_name down, size_t layer) {
  cpu_multiply(worker, &(struct run){.name = down,
                                     .layer = layer,
                                     .in = cpu_operand(worker, INPUT_GATED, 0, worker->vectors),
                                     .use = cpu_use_residual});
}

void cpu_use_residual(const struct worker *worker, const struct run *run, size_t panel,
                      size_t count) {
  float *x = block_floats(worker->state, BLOCK_X) + panel * PANEL_ROWS;
  for (size_t b = 0; b < run->in.count; b++)
    worker->elementwise->add(x + b * worker->plan->x_stride, run->results + b * run->result_stride,
                             count * PANEL_ROWS);
}
