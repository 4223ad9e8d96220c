// multiply: a thread's rows of a matrix times vectors, which are rounded to the type the matrix
// takes.
#ifndef PERTOKEN_KERNELS_CPU_MULTIPLY_H
#define PERTOKEN_KERNELS_CPU_MULTIPLY_H

#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/worker.h"

#include <stddef.h>
#include <stdint.h>

// Panels whose results a thread has at a time.
enum { BLOCK_PANELS = 4, BLOCK_FLOATS = BLOCK_PANELS * PANEL_ROWS };

// Rounds a vector to the type the matrix takes and stores it as the index-th of the matrix's input.
void cpu_store_input(const struct worker *worker, enum matrix_name name, size_t index,
                     const float *vector);

// Vectors of an input: their bytes, scales and sums.
struct operand {
  const uint8_t *vectors;
  size_t stride, count;
  const float *scales;
  const int32_t *sums;
};

struct operand cpu_operand(const struct worker *worker, enum input_name name, size_t first,
                           size_t count);

// One product, and where its results go.
struct run {
  enum matrix_name name;
  size_t layer, copy;
  struct operand in;
  // Takes results [in.count][result_stride] of `count` panels from `panel` on.
  void (*use)(const struct worker *worker, const struct run *run, size_t panel, size_t count);
  size_t first_pair;    // with experts: the pair of in's first vector
  const void *pairs;    // with experts: struct pair of all of them
  const float *results; // set before `use` is called
  size_t result_stride;
};

void cpu_multiply(const struct worker *worker, const struct run *run);

// Where a head's vector is stored in the input of a matrix in which each head's panels take that
// head's vectors.
size_t cpu_head_input(const struct worker *worker, enum matrix_name name, size_t vector,
                      size_t head);

// Multiplies such a matrix with the vectors of all heads.
void cpu_multiply_heads(const struct worker *worker, enum matrix_name name, size_t layer,
                        void (*use)(const struct worker *, const struct run *, size_t, size_t));

// Prefetches the beginning of what the thread reads after a barrier, or next.
void cpu_prefetch_start(const struct worker *worker, enum matrix_name name, size_t layer,
                        size_t copy);

#endif
