#include "tests/support/kernels/planned.h"

#include <string.h>

#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/plan/planner.h"

// Units, warp width and shared memory per block (CUDA C++ Programming Guide; AMD's CDNA 3 ISA).
const struct gpu_device planned_h200 = {.described = {.name = "H200", .units = 132},
                                        .architecture = "sm_90",
                                        .warp = 32,
                                        .shared_bytes = 232448,
                                        .overlap = true,
                                        .wgmma = true,
                                        .clusters = MAX_CLUSTER,
                                        .tuning = {.matrix = MATRIX_REGISTERS}};
const struct gpu_device planned_h200_wgmma = {
    .described = {.name = "H200 by wgmma", .units = 132},
    .architecture = "sm_90",
    .warp = 32,
    .shared_bytes = 232448,
    .overlap = true,
    .wgmma = true,
    .clusters = MAX_CLUSTER,
    .tuning = {.matrix = MATRIX_WGMMA, .wgmma_beside = MAX_WGMMA_BESIDE}};
const struct gpu_device planned_mi300x = {.described = {.name = "MI300X", .units = 304},
                                          .architecture = "gfx942",
                                          .warp = 64,
                                          .shared_bytes = 65536,
                                          .any_chunk = true};
const struct gpu_device planned_small = {.described = {.name = "small", .units = 3},
                                         .warp = 32,
                                         .shared_bytes = 49152,
                                         .any_chunk = true};
const struct gpu_device *const planned_devices[PLANNED_DEVICES] = {
    &planned_h200, &planned_mi300x, &planned_small, &planned_h200_wgmma};

#define TYPES(weights_, activations_, kv_, head_)                                                  \
  {                                                                                                \
    .weights = ELEMENT_##weights_, .activations = ELEMENT_##activations_, .kv = ELEMENT_##kv_,     \
    .head = ELEMENT_##head_, .accumulation = ELEMENT_F32, .experts = ELEMENT_F32                   \
  }
const struct decode_types planned_types[PLANNED_TYPES] = {
    [PLANNED_BF16] = TYPES(BF16, BF16, BF16, BF16),
    [PLANNED_E4M3_KV] = TYPES(E4M3, BF16, E4M3, BF16),
    [PLANNED_E4M3_HEAD] = TYPES(E4M3, BF16, BF16, E4M3),
    [PLANNED_E4M3_BUT_HEAD] = TYPES(E4M3, E4M3, E4M3, BF16),
    [PLANNED_E4M3_BUT_KV] = TYPES(E4M3, E4M3, BF16, E4M3),
    [PLANNED_MXFP4] = TYPES(MXFP4, BF16, BF16, BF16),
    [PLANNED_NVFP4] = TYPES(NVFP4, E4M3, BF16, NVFP4),
    [PLANNED_MXFP6] = TYPES(MXFP6_E3M2, BF16, BF16, MXFP6_E3M2),
    [PLANNED_INT8] = TYPES(INT8, INT8, BF16, INT8),
    [PLANNED_INT4] = TYPES(INT4_GROUP, INT8, BF16, BF16),
};
#undef TYPES

char *const planned_base = (char *)UINT64_C(0x100000000);

struct decode_request planned_request(const struct decode_shape *shape,
                                      const struct decode_types *types, int batch, int context) {
  return (struct decode_request){
      .shape = *shape, .types = *types, .batch = batch, .context = context, .seed = 1};
}

struct plan planned_rank(const struct decode_request *request, int rank,
                         const struct gpu_device *device) {
  struct plan plan;
  const char *why;
  if (gpu_plan_make(request, rank, device, &plan, &why) != DECODE_OK)
    fail_msg("%s: %s", device->described.name, why);
  return plan;
}

struct plan planned(const struct decode_request *request, const struct gpu_device *device) {
  return planned_rank(request, 0, device);
}

void planned_refused(const struct decode_request *request, const struct gpu_device *device,
                     const char *words) {
  struct plan plan;
  const char *why = NULL;
  assert_int_equal(gpu_plan_make(request, 0, device, &plan, &why), DECODE_UNSUPPORTED);
  assert_non_null(why);
  if (!strstr(why, words))
    fail_msg("expected '%s' in '%s'", words, why);
}

static bool is_layered(enum plan_region region) {
  static const bool layered[REGIONS] = {
      [REGION_ATTENTION_NORM] = true,
      [REGION_ATTENTION_NORM_BIAS] = true,
      [REGION_QKV] = true,
      [REGION_QKV_BIAS] = true,
      [REGION_Q_B] = true,
      [REGION_K_B] = true,
      [REGION_V_B] = true,
      [REGION_Q_A_NORM] = true,
      [REGION_KV_A_NORM] = true,
      [REGION_WO] = true,
      [REGION_WO_BIAS] = true,
      [REGION_FFN_NORM] = true,
      [REGION_FFN_NORM_BIAS] = true,
      [REGION_GATE] = true,
      [REGION_GATE_BIAS] = true,
      [REGION_UP] = true,
      [REGION_UP_BIAS] = true,
      [REGION_DOWN] = true,
      [REGION_DOWN_BIAS] = true,
      [REGION_Q_NORM] = true,
      [REGION_K_NORM] = true,
      [REGION_SINKS] = true,
      [REGION_KEYS] = true,
      [REGION_VALUES] = true,
  };
  return layered[region];
}

static bool is_of_experts(enum plan_region region) {
  return (region >= REGION_ROUTER && region <= REGION_EXPERT_DOWN_BIAS) || region == REGION_CHOSEN;
}

size_t planned_region_bytes(const struct plan *plan, enum plan_region region) {
  const bool dense = region == REGION_GATE || region == REGION_UP || region == REGION_DOWN ||
                     region == REGION_GATE_BIAS || region == REGION_UP_BIAS ||
                     region == REGION_DOWN_BIAS;
  const size_t layers = is_of_experts(region) ? (size_t)plan->experts.layers
                        : dense               ? (size_t)plan->experts.first_layer
                        : is_layered(region)  ? (size_t)plan->request.shape.layers
                                              : 1;
  return plan->region[region].layer_bytes * layers;
}

void planned_regions(const struct plan *plan) {
  size_t sum = 0;
  for (int r = 0; r < REGIONS; r++) {
    const struct plan_extent *a = &plan->region[r];
    assert_int_equal(a->offset % 256, 0);
    assert_int_equal(a->layer_bytes % 256, 0);
    assert_true(a->scales == 0 || (a->scales % 256 == 0 && a->scales < a->layer_bytes));
    assert_true(a->offset + planned_region_bytes(plan, (enum plan_region)r) <= plan->bytes);
    sum += planned_region_bytes(plan, (enum plan_region)r);
    for (int s = 0; s < r; s++) {
      const struct plan_extent *b = &plan->region[s];
      assert_true(a->offset + planned_region_bytes(plan, (enum plan_region)r) <= b->offset ||
                  b->offset + planned_region_bytes(plan, (enum plan_region)s) <= a->offset);
    }
  }
  assert_int_equal(sum, plan->bytes);
}

void planned_within(const struct plan *plan, enum plan_region region, const void *at,
                    size_t bytes) {
  const struct plan_extent *extent = &plan->region[region];
  const size_t offset = (size_t)((const char *)at - planned_base) - extent->offset;
  if ((const char *)at < planned_base + extent->offset ||
      offset >= planned_region_bytes(plan, region) ||
      offset % extent->layer_bytes + bytes > extent->layer_bytes)
    fail_msg("%zu bytes at %zu are not within region %d of %zu", bytes, offset, (int)region,
             planned_region_bytes(plan, region));
}

bool planned_begins(const struct gpu_launch *launch, const char *start) {
  return strncmp(launch->kernel, start, strlen(start)) == 0;
}

enum element planned_weights(const char *kernel) {
  const char *name = strchr(kernel, '_') + 1;
  for (int e = 0; e < ELEMENTS; e++) {
    const size_t length = strlen(gpu_element_names[e]);
    if (strncmp(name, gpu_element_names[e], length) == 0 &&
        (strncmp(name + length, "_bf16_", 6) == 0 || strncmp(name + length, "_e4m3_", 6) == 0))
      return (enum element)e;
  }
  fail_msg("%s: of which weights?", kernel);
  return ELEMENT_F32;
}

size_t planned_weight_bytes(const char *kernel) {
  return planned_weights(kernel) == ELEMENT_BF16 ? 2 : 1;
}

enum plan_region planned_region_at(const struct plan *plan, const void *at) {
  const size_t offset = (size_t)((const char *)at - planned_base);
  for (int r = 0; r < REGIONS; r++)
    if (offset >= plan->region[r].offset &&
        offset < plan->region[r].offset + planned_region_bytes(plan, (enum plan_region)r))
      return (enum plan_region)r;
  fail_msg("no region at %zu", offset);
  return REGIONS;
}
