// mlp: the products of one MLP for all vectors of a pass, a dense layer's or the shared expert's.
#ifndef PERTOKEN_KERNELS_CPU_MLP_H
#define PERTOKEN_KERNELS_CPU_MLP_H

#include "kernels/cpu/multiply.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/worker.h"

#include <stddef.h>

// All threads wait for each other between these functions. gate and up, and the activation after
// them:
void cpu_mlp_gate_up(const struct worker *worker, enum matrix_name gate_up, size_t layer);
// rounds that to the type that down takes; each thread does a part.
void cpu_mlp_round(const struct worker *worker, enum matrix_name down);
// Adds to x.
void cpu_mlp_down(const struct worker *worker, enum matrix_name down, size_t layer);

// Handles results that are added to x.
void cpu_use_residual(const struct worker *worker, const struct run *run, size_t panel,
                      size_t count);

#endif
