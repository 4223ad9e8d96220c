// tuning: what a plan's shapes leave open, so that variants can be measured: how the work is
// divided, and which variant of a kernel does it, as "name=value" separated by spaces:
// "attention_splits=4 step=launches". A request's variant is such a text; without one, the
// environment variable PERTOKEN_GPU_TUNING is. A record says which was used: in its step's form, or
// in its device's runtime.
//
// 0 always means the plan's own choice, so a struct of zeros is the default.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_TUNING_H
#define PERTOKEN_KERNELS_GPU_PLAN_TUNING_H

#include <stdbool.h>
#include <stddef.h>

enum gpu_tuning_step {
  STEP_GRAPH = 1, // one graph of all launches, if the runtime has graphs: the default
  STEP_LAUNCHES,  // each launch separately
  STEP_STREAMING, // one cooperative launch: streaming.h; refused if the device has none
};

enum gpu_tuning_matrix {
  MATRIX_REGISTERS = 1, // whose weights come from registers
  MATRIX_WGMMA,         // from shared memory: sm_90's wgmma; the default there for dense Llamas
};

struct gpu_tuning {
  int matrix_splits;    // 1 to 8: for every matrix product, as far as its columns can be split
  int attention_splits; // 1 to 128: of the context, as far as it can be split
  int library_count;    // 1 to 2048: the fewest positions of an expert for the vendor's library
  int matrix;           // enum gpu_tuning_matrix
  int step;             // enum gpu_tuning_step
  int stream_flying;    // 1 to 8: units of weights of a warp on their way in a streaming step
  int wgmma_strips;     // 1 to 2: of rows that a block multiplies by the same activations
  int wgmma_beside;     // 1 to 2: blocks that share activations, if the device has clusters
  int wgmma_parts;      // 1 to 8: blocks whose sums meet in shared memory, if they fit a cluster
};

// NULL and "" are the default. False for an unknown name or value; `why` [why_size] then says what
// is wrong and what is allowed.
bool gpu_tuning_read(const char *text, struct gpu_tuning *out, char *why, size_t why_size);

// What differs from the default, in the form in which it is read; "" if nothing does.
void gpu_tuning_write(const struct gpu_tuning *tuning, char *out, size_t size);

#endif
