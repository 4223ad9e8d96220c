// prompt_product: a thread's rows of a matrix, or of one head's part of it, times the many vectors
// of a prompt, by oneDNN.
//
// Weights are held once, in the panels that steps read. For a prompt they are converted to oneDNN's
// blocks as they are multiplied, some rows at a time, so that there is no second copy in memory:
// for 512 positions that costs at most a tenth of the products' time, for more positions less.
#ifndef PERTOKEN_KERNELS_CPU_PROMPT_PRODUCT_H
#define PERTOKEN_KERNELS_CPU_PROMPT_PRODUCT_H

#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Fewer vectors are multiplied faster by the kernels of steps.
enum { MIN_PROMPT_VECTORS = 16 };

// Whether the library can multiply the matrix with a prompt's vectors. For the experts' matrices,
// these are held as in steps, and must be bf16: whether there are enough of them for the library is
// known only when an expert has been chosen.
bool cpu_prompt_product_fits(const struct decode_state *state, enum matrix_name name);

// Whether it does so in this pass, with this many vectors. If so they are contiguous, `padded`
// elements each.
bool cpu_prompt_product_takes(const struct decode_state *state, enum matrix_name name,
                              size_t vectors);

// For an expert with `count` vectors, how many it multiplies: few distinct numbers, at most those
// of the pass, and at least `count`.
size_t cpu_prompt_product_padded(const struct decode_state *state, size_t count);

// Makes the library's products of this pass, on one thread. -1 when the library cannot.
int cpu_prompt_product_prepare(struct decode_state *state);

// Rounds a vector to the type the matrix takes, and stores it as bf16 (INT8 as whole numbers);
// returns its scale.
float cpu_prompt_product_store(const struct decode_state *state, enum matrix_name name,
                               const float *vector, uint16_t *out);

struct prompt_product {
  const struct decode_state *state;
  int thread;
  enum matrix_name name;
  struct panel_share part; // of the thread's panels
  const uint8_t *panels;   // the first of them
  size_t vectors;          // of an expert, padded
  const void *in;          // [vectors][padded]
  const float *scales;     // [vectors]
  // Takes out[vectors][stride], the results of `count` panels from `panel` on, scales applied.
  void (*use)(const void *user, float *out, size_t stride, size_t panel, size_t count);
  const void *user;
};

// -1 when the library fails.
int cpu_prompt_product(const struct prompt_product *product);

#endif
