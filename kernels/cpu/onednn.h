// onednn: products of many vectors with weights by Intel's oneDNN, which is loaded at run time:
// neither building nor decoding needs it.
//
// Vectors and weights are bf16, sums float. The weights of `outputs` rows of a matrix of `inner`
// columns lie in blocks of 64 rows, a block as [inner / 2][64 rows][2 columns]: four panels of
// panel.h, line by line in turn. oneDNN calls this BA16a64b2a, and it is what its own matmul
// chooses where it may.
//
// Every thread of a team calls it for itself, and it runs on that thread alone.
#ifndef PERTOKEN_KERNELS_CPU_ONEDNN_H
#define PERTOKEN_KERNELS_CPU_ONEDNN_H

#include <stddef.h>
#include <stdint.h>

enum {
  ONEDNN_ROWS = 64,    // of a block of weights
  ONEDNN_COLUMNS = 32, // `inner` is a multiple of these
};

struct onednn;

// Loads `file`, or where that is NULL the library under its usual names, and has it multiply a
// small matrix. NULL, with the reason in `why`: there is none, one of a version that is not known
// here (2.6 to 3), one that runs threads of its own, or one that multiplies otherwise.
struct onednn *onednn_open(const char *file, char *why, size_t why_size);
void onednn_close(struct onednn *library); // NULL is allowed

const char *onednn_name(const struct onednn *library); // "oneDNN 2.6.3"

struct onednn_size {
  size_t vectors, inner, outputs;
};

// Bytes of the weights of a product.
size_t onednn_weight_bytes(size_t inner, size_t outputs);

struct onednn_product;

// Of that size, made now if there is none yet: by one thread at a time. NULL when the library
// cannot, or only by the slow way that it has for whatever nobody has written a kernel for.
const struct onednn_product *onednn_product(struct onednn *library, const struct onednn_size *size);

// out[vectors][outputs] = in[vectors][inner] * weights, on the calling thread. -1 when the library
// fails.
int onednn_multiply(const struct onednn_product *product, const void *in, const void *weights,
                    float *out);

#endif
