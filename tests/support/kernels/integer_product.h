// integer_product: products of integers, which every order of summing gives exactly: their inputs
// in the memory of an emulated GPU (emulated.h), and whether a kernel's output is what they give.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_INTEGER_PRODUCT_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_INTEGER_PRODUCT_H

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "tests/support/kernels/emulated.h"

// What becomes of a sum: it is stored, added to a residual, or goes through SwiGLU with that of a
// second matrix.
enum end { STORE, ADD, SWIGLU };
extern const char *const end_names[]; // in kernels' names

struct product {
  const struct emulated *plugin;
  enum element weights, activations;
  enum end end;
  int rows, columns, batch, batch_padded;
  int stages;         // of wgmma; 0: the other matrix products
  enum passed passed; // of what SWIGLU makes
  bool rounded;       // what ADD takes, by vectors
};

// How the `number`-th of many products passes on what it makes.
enum passed passed_of(enum end end, size_t number);

// ---- the integers: the vectors of ADD are inputs, the others signs times norms. A 7 in each
// vector makes its scale in E4M3 a power of two

float weight_at(int matrix, int row, int column);
float input_at(int vector, int column);
float norm_at(int column);
float sign_at(int vector, int column);
float row_scale(int matrix, int row); // of E4M3

double expected_sum(const struct product *p, int matrix, int vector, int row);

// ---- in memory that emulated_give_back frees

const void *make_weights(const struct product *p, int matrix, int stride);
const float *make_scales(const struct product *p, int matrix); // NULL: not in E4M3

// What vector and matrix products share: weights, sizes and output.
struct product_arguments make_arguments(const struct product *p);

// What matrix products take: activations, `stride` apart, and sums of parts of a row with a counter
// for each block.
void set_activations(const struct product *p, int stride, struct product_arguments *a);
void set_splits(const struct product *p, int splits, size_t blocks, struct product_arguments *a);

// Does the product take its activations as "paired"?
bool is_paired(const struct product *p);

// ---- the result

// Fails the test unless the output is what the product gives, and NaN between its vectors.
void check_output(const struct product *p, const char *kernel, const float *output, int stride);

// The same for a matrix product, whose counters must be zero again; then gives all memory back.
void check_product(const struct product *p, const char *kernel, size_t blocks,
                   const struct product_arguments *a);

#endif
