// onednn: products of many vectors with weights by Intel's oneDNN, which is loaded at run time and
// needed neither for building nor for decoding.
//
// Vectors and weights are bf16, sums float. The weights of `outputs` rows of a matrix of `inner`
// columns are stored in blocks of 64 rows, a block as [inner / 2][64 rows][2 columns]: four panels
// of panel.h, interleaved line by line. oneDNN calls this BA16a64b2a, and its own matmul chooses it
// when free to.
//
// Every thread of a team calls it for itself, and the work runs on that thread alone.
#ifndef PERTOKEN_KERNELS_CPU_ONEDNN_H
#define PERTOKEN_KERNELS_CPU_ONEDNN_H

#include <stddef.h>
#include <stdint.h>

enum { ONEDNN_ROWS = 64 }; // of a block of weights

struct onednn;

// Loads `file`, or if that is NULL the first usable library under its usual names, and tests it by
// multiplying a small matrix. NULL, with the reason in `why`, if there is no library, its version
// is not 2.6 to 3, it runs threads of its own, or its results are wrong.
struct onednn *onednn_open(const char *file, char *why, size_t why_size);
void onednn_close(struct onednn *library); // NULL is allowed

const char *onednn_name(const struct onednn *library); // "oneDNN 2.6.3"

struct onednn_size {
  size_t vectors, inner, outputs; // inner: a multiple of 32
};

// Bytes of a product's weights.
size_t onednn_weight_bytes(size_t inner, size_t outputs);

struct onednn_product;

// The product of that size, made now if there is none yet; one thread at a time. NULL if the
// library cannot, or only by its slow fallback.
const struct onednn_product *onednn_product(struct onednn *library, const struct onednn_size *size);

// out[vectors][outputs] = in[vectors][inner] * weights, on the calling thread. -1 when the library
// fails.
int onednn_multiply(const struct onednn_product *product, const void *in, const void *weights,
                    float *out);

#endif
