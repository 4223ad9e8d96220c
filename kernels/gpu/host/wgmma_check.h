// wgmma_check: does the device multiply as product_wgmma.h assumes? The very kernel of a product
// runs on a small matrix of whole numbers, whose sums are exact: this checks where each element
// lies in shared memory and registers, what descriptors and tensor maps mean, and what lies beyond
// a matrix.
#ifndef PERTOKEN_KERNELS_GPU_HOST_WGMMA_CHECK_H
#define PERTOKEN_KERNELS_GPU_HOST_WGMMA_CHECK_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/plan.h"

#include <stdbool.h>
#include <stddef.h>

// *passes says what was found, if all calls of the driver succeeded: DECODE_OK. Else returns their
// status; the words are the driver's error.
enum decode_status wgmma_check(struct gpu_context *context, const struct plan_product *product,
                               bool *passes);

// Has the driver make the tensor maps of launches [count], before they are launched or recorded.
enum decode_status wgmma_maps(struct gpu_context *context, const struct gpu_launch *launches,
                              size_t count);

#endif
