// vendor_products: products of many vectors with weights by the vendor's own library, cuBLASLt with
// CUDA and hipBLASLt with HIP, loaded at run time and needed neither for building nor for decoding.
// vendor.h says what they multiply.
//
// The libraries see matrices column by column, so they are asked for out^T = weights x
// activations^T with only the weights transposed: the one form that cuBLASLt has for E4M3.
//
// The declarations follow "Using the cuBLASLt API" in NVIDIA's cuBLAS 13.0 documentation, the same
// since 12.0, and the "hipBLASLt API reference" of AMD's ROCm 6.0 to 7.0, which has the same names
// and argument order. Handles are the libraries' own pointers; int stands for enumerations.
#ifndef PERTOKEN_KERNELS_GPU_HOST_VENDOR_PRODUCTS_H
#define PERTOKEN_KERNELS_GPU_HOST_VENDOR_PRODUCTS_H

#include "kernels/gpu/host/library_file.h"
#include "kernels/gpu/vendor.h"

#include <stdbool.h>
#include <stddef.h>

enum vendor_kind { VENDOR_CUBLASLT, VENDOR_HIPBLASLT };

struct vendor_library; // in use on one device

// Opens a library for the current device, whose E4M3 may be the one without a negative zero
// (`fnuz`). NULL, with the reason in `why`, if there is no library, its version is not supported,
// it lacks a function, or it gives no handle.
struct vendor_library *vendor_library_open(enum vendor_kind kind, const struct library_file *file,
                                           bool fnuz, char *why, size_t why_size);
void vendor_library_close(struct vendor_library *library); // NULL is allowed

const char *vendor_library_name(const struct vendor_library *library); // "cuBLASLt 13.1.0"

// Has the library choose how it multiplies a size; does nothing for a size it has already seen. -1,
// with the reason in `why`, if it has no way to do it within the workspace.
int vendor_prepare(struct vendor_library *library, const struct vendor_size *size, char *why,
                   size_t why_size);

// Queues a product of a size that was prepared. -1, with the reason in `why`, if the library fails.
int vendor_multiply(const struct vendor_library *library, const struct vendor_product *product,
                    void *stream, char *why, size_t why_size);

#endif
