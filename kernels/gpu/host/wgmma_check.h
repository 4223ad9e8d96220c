// wgmma_check: does the device multiply as product_wgmma.h assumes? A product's own kernel runs on
// a small matrix of whole numbers, whose sums are exact: this checks where each element is in
// shared memory and registers, what descriptors and tensor maps mean, what is read beyond a matrix,
// and whether the sums of blocks that share a tile meet, through L2 or in a cluster, as the product
// has it.
#ifndef PERTOKEN_KERNELS_GPU_HOST_WGMMA_CHECK_H
#define PERTOKEN_KERNELS_GPU_HOST_WGMMA_CHECK_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

// If all calls of the driver succeeded, returns DECODE_OK and *passes is the result. Otherwise
// returns their status; the driver's error has the words.
enum decode_status wgmma_check(struct gpu_context *context, const struct plan_product *product,
                               bool *passes);

// Whether the device holds as many clusters of a product at a time as its multiprocessors suggest.
enum decode_status wgmma_check_clusters(struct gpu_context *context,
                                        const struct gpu_device *device,
                                        const struct plan_product *product, bool *fit);

// Has the driver make the tensor maps of launches [count], before they are launched or recorded.
enum decode_status wgmma_maps(struct gpu_context *context, const struct gpu_launch *launches,
                              size_t count);

#endif
