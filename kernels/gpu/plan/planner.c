#include "kernels/gpu/plan/planner.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/plan/division.h"
#include "kernels/gpu/plan/experts.h"
#include "kernels/gpu/plan/limits.h"
#include "kernels/gpu/plan/memory.h"
#include "kernels/gpu/plan/streaming.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/integers.h"
#include "kernels/share.h"

#include <stdbool.h>
#include <stddef.h>

static const char memory_too_large[] = "the model and its cache are larger than any memory";

static void set_padding(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const int head_dim = shape->head_dim, tile_columns = plan->device.warp == 64 ? 16 : 8;
  plan->batch_padded = PLAN_MIN_SLICE;
  while (plan->batch_padded < plan->request.batch)
    plan->batch_padded *= 2;
  plan->context_padded = (int)round_up((size_t)plan->request.context, VALUE_BLOCK);
  if (gpu_plan_is_latent(plan)) {
    plan->head_stride =
        (int)round_up((size_t)shape->latent.rank + (size_t)shape->latent.rope_dim, ROW_ALIGNMENT);
    plan->head_groups = ceiling(shape->heads, LATENT_HEADS);
    return;
  }
  plan->head_dim_padded = head_dim <= 64 ? 64 : head_dim <= 128 ? 128 : 256;
  plan->head_stride = (int)round_up((size_t)head_dim, ROW_ALIGNMENT);
  plan->head_groups = ceiling(shape->heads / shape->kv_heads, tile_columns);
}

// What both kinds of plan have in common, once the request is complete.
static const char *divide(struct plan *plan) {
  set_padding(plan);
  experts_count(plan);
  const char *why = limits_of_device(plan);
  if (why)
    return why;
  division_name_products(plan);
  if (!division_share_products(plan))
    return "the products need more shared memory than the device has";
  experts_share(plan);
  return NULL;
}

// Why products by wgmma are without clusters; NULL: they have them where it is faster, or shall
// not.
static const char *without_clusters(const struct plan *plan) {
  const struct gpu_tuning *tuning = &plan->device.tuning;
  const bool wanted = tuning->wgmma_beside > 1 || tuning->wgmma_parts != 1;
  return gpu_plan_uses_wgmma(plan) && plan->device.clusters < 2 && wanted
             ? "the device does not run clusters of blocks: products by wgmma are without them"
             : NULL;
}

// The most positions of a pass: no batch may have more pairs than EXPERTS_PAIRS.
static int longest_pass(const struct plan *steps) {
  return steps->experts.layers > 0
             ? least(LIMITS_PASS, EXPERTS_PAIRS / steps->request.shape.experts.chosen)
             : LIMITS_PASS;
}

const char *gpu_plan_prompt(const struct plan *steps, struct plan *out) {
  *out = (struct plan){.request = steps->request,
                       .whole = steps->whole,
                       .ranks = steps->ranks,
                       .rank = steps->rank,
                       .device = steps->device,
                       .attention_splits = 1,
                       .window_splits = 1,
                       .prompt = true};
  out->device.tuning.step = 0;
  out->request.batch = least(steps->request.chunk + steps->request.batch - 1, longest_pass(steps));
  const char *why = divide(out);
  if (why)
    return why;
  out->carveout = division_carveout(out);
  out->experts.library_count = experts_library_count(out);
  return memory_place_prompt(out, steps) ? NULL : memory_too_large;
}

enum decode_status gpu_plan_make(const struct decode_request *request, int rank,
                                 const struct gpu_device *device, struct plan *out,
                                 const char **why) {
  *out = (struct plan){.request = *request,
                       .whole = request->shape,
                       .ranks = request->ranks > 1 ? request->ranks : 1,
                       .rank = rank,
                       .device = *device};
  *why = limits_of_request(request);
  if (*why)
    return DECODE_UNSUPPORTED;
  const struct share share = gpu_plan_share(out);
  out->request.shape = share_shape(&share);
  *why = divide(out);
  if (*why)
    return DECODE_UNSUPPORTED;
  out->fallback = limits_fallback(out);
  *why = out->fallback ? NULL : limits_of_streaming(out);
  out->streaming = !*why && device->tuning.step == STEP_STREAMING && !out->fallback;
  if (out->streaming)
    *why = streaming_share(out);
  if (*why)
    return DECODE_UNSUPPORTED;
  if (!out->fallback)
    out->fallback = without_clusters(out);
  out->carveout = division_carveout(out);
  division_share_attention(out);
  *why = memory_place(out) ? NULL : memory_too_large;
  struct plan prompt;
  if (!*why && request->chunk > 0) {
    *why = gpu_plan_prompt(out, &prompt);
    out->bytes = prompt.bytes;
  }
  return *why ? DECODE_UNSUPPORTED : DECODE_OK;
}
