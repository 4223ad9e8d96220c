// vendor: a product of many vectors with weights, as the vendor's own library is asked for it:
//
//   out[vectors][rows] = activations[vectors][stride] x weights[rows][stride]^T
//
// in BF16 or E4M3, with sums in float, and without scales: E4M3's scales for each row and vector
// are applied to the sums, like the rest of the epilogue. Everything is stored row by row as
// arguments/layout.h says, and the padding of a stride is multiplied too: it is zero. So weights
// are used in place, without a second copy. All four begin at multiples of VENDOR_ALIGNMENT, which
// the libraries assume.
#ifndef PERTOKEN_KERNELS_GPU_VENDOR_H
#define PERTOKEN_KERNELS_GPU_VENDOR_H

#include "kernels/decode.h"

#include <stddef.h>

struct vendor_size {
  enum element element; // of weights and activations
  int vectors, rows, stride;
};

// Device memory that a product of any size may use while it runs.
#define VENDOR_WORKSPACE ((size_t)32 << 20)
// Bytes: what cublasLtMatmulPreferenceAttributes_t assumes for every matrix.
#define VENDOR_ALIGNMENT ((size_t)256)

struct vendor_product {
  struct vendor_size size;
  const void *weights, *activations;
  float *out;
  void *workspace; // VENDOR_WORKSPACE bytes
};

// A launch with this name is not a kernel of ours but a product for the library: part of one of the
// plan's products, whose other launches follow.
#define VENDOR_MULTIPLY "vendor_multiply"
struct vendor_arguments {
  struct vendor_product multiplied;
  int product; // enum product_name
  int layer;
  int rest; // launches of the plan's product that follow this one
};

// A launch with this name stands for a product of a layer's routed experts: which of them the
// library takes depends on how many positions each has, which the host reads before it makes the
// launches. Of struct vendor_arguments it has `product` and `layer`.
#define VENDOR_EXPERTS "vendor_experts"

#endif
