// planned: GPU plans without a device, and properties that hold for all of them: for the suites of
// kernels/gpu/plan.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_PLANNED_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_PLANNED_H

#include "tests/support/fixture.h"

#include "kernels/decode.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

enum { PLANNED_DEVICES = 4 };

// Only the last one multiplies by wgmma; the small one is not a real device.
extern const struct gpu_device planned_h200, planned_mi300x, planned_small, planned_h200_wgmma;
extern const struct gpu_device *const planned_devices[PLANNED_DEVICES];

// Named by the type of the weights, and of those in e4m3 by what else is. From PLANNED_MXFP4 on,
// weights are stored in units.
enum planned_mix {
  PLANNED_BF16,
  PLANNED_E4M3_KV,
  PLANNED_E4M3_HEAD,
  PLANNED_E4M3_BUT_HEAD,
  PLANNED_E4M3_BUT_KV,
  PLANNED_MXFP4,
  PLANNED_NVFP4,
  PLANNED_MXFP6,
  PLANNED_INT8,
  PLANNED_INT4,
  PLANNED_TYPES
};
extern const struct decode_types planned_types[PLANNED_TYPES];

// The beginning of the memory of all plans. It is never touched: plans only compute.
extern char *const planned_base;

struct decode_request planned_request(const struct decode_shape *shape,
                                      const struct decode_types *types, int batch, int context);

// Fails the test, with the planner's message, if there is no plan; the same for a rank.
struct plan planned(const struct decode_request *request, const struct gpu_device *device);
struct plan planned_rank(const struct decode_request *request, int rank,
                         const struct gpu_device *device);

// The request must be refused, with a message that contains these words.
void planned_refused(const struct decode_request *request, const struct gpu_device *device,
                     const char *words);

// The size of a region over all layers that have it; and a check that regions do not overlap and
// make up the whole plan.
size_t planned_region_bytes(const struct plan *plan, enum plan_region region);
void planned_regions(const struct plan *plan);

// The region that contains an address; and a check that all `bytes` there are in one layer of a
// region.
enum plan_region planned_region_at(const struct plan *plan, const void *at);
void planned_within(const struct plan *plan, enum plan_region region, const void *at, size_t bytes);

// For a launch's kernel: does its name begin so; from "vector_bf16_bf16_...",
// "matrix_int8_group_bf16_..." the weights and, unless they are stored in units, the bytes of one.
bool planned_begins(const struct gpu_launch *launch, const char *start);
enum element planned_weights(const char *kernel);
size_t planned_weight_bytes(const char *kernel);

#endif
