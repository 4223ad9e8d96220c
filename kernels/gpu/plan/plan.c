#include "kernels/gpu/plan/plan.h"

#include "kernels/decode.h"
#include "kernels/family.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/even.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/gpu/units.h"
#include "kernels/gpu/vendor.h"
#include "kernels/integers.h"
#include "kernels/share.h"

#include <stdbool.h>
#include <stddef.h>

const char *const gpu_element_names[] = {[ELEMENT_F32] = "f32",
                                         [ELEMENT_BF16] = "bf16",
                                         [ELEMENT_E4M3] = "e4m3",
#define NAME(name, ELEMENT, code_bytes, beside_bytes) [ELEMENT_##ELEMENT] = #name,
                                         GPU_UNIT_ELEMENTS(NAME)};

size_t gpu_element_bytes(enum element element) {
  static const size_t bytes[ELEMENTS] = {[ELEMENT_F32] = 4, [ELEMENT_BF16] = 2, [ELEMENT_E4M3] = 1};
  return bytes[element];
}

size_t gpu_plan_row_bytes(const struct plan_product *product) {
  return lies_in_units(product->weights)
             ? unit_row_bytes(product->weights, product->stride)
             : (size_t)product->stride * gpu_element_bytes(product->weights);
}

bool gpu_plan_uses_wgmma(const struct plan *plan) {
  for (int p = 0; p < PRODUCTS; p++)
    if (plan->product[p].wgmma)
      return true;
  return false;
}

bool gpu_plan_uses_matrix_unit(const struct plan_product *product) {
  return !product->vector || lies_in_units(product->weights);
}

enum element gpu_plan_multiplied(const struct plan_product *product) {
  return lies_in_units(product->weights) ? ELEMENT_BF16 : product->weights;
}

// An E4M3 or INT8 vector's scale is known only once all of it is. The stages of a step in one
// launch pass on floats.
enum passed gpu_plan_passed(const struct plan *plan, enum product_name which) {
  const struct plan_product *product = &plan->product[which];
  const bool has_one_maker = which == PRODUCT_DOWN || which == PRODUCT_SHARED_DOWN ||
                             (which == PRODUCT_WO && !gpu_plan_is_latent(plan));
  const int stride = product->vector ? product->stride : product->activation_stride;
  if (!has_one_maker || plan->streaming || product->rounded != ELEMENT_BF16 ||
      product->columns != stride)
    return PASSED_FLOAT;
  return product->wgmma && product->weights != product->activations ? PASSED_PAIRED : PASSED_BF16;
}

// Only add has the whole sum of a row, so one rank must have all of the stream.
enum product_name gpu_plan_norm_from(const struct plan *plan, enum product_name which) {
  const struct decode_shape *shape = &plan->request.shape;
  const enum product_name from = which == PRODUCT_QKV       ? PRODUCT_DOWN
                                 : which == PRODUCT_GATE_UP ? PRODUCT_WO
                                                            : PRODUCTS;
  if (from == PRODUCTS || plan->ranks > 1 || plan->prompt || shape->experts.count > 0 ||
      gpu_plan_is_latent(plan) || shape->parallel)
    return PRODUCTS;
  const struct plan_product *before = &plan->product[from], *behind = &plan->product[which];
  const bool fits = before->wgmma && behind->wgmma && !before->family && !behind->family &&
                    before->warp_columns <= WGMMA_NORM_COLUMNS &&
                    before->weights == behind->weights && behind->rounded == ELEMENT_BF16 &&
                    behind->columns == behind->activation_stride;
  return fits ? from : PRODUCTS;
}

bool product_is_of_family(const struct decode_shape *shape, enum product_name which) {
  static const unsigned biases[PRODUCTS] = {[PRODUCT_QKV] = BIAS_QKV,
                                            [PRODUCT_WO] = BIAS_OUTPUT,
                                            [PRODUCT_GATE_UP] = BIAS_MLP,
                                            [PRODUCT_DOWN] = BIAS_MLP};
  const bool is_normed = which == PRODUCT_QKV || which == PRODUCT_GATE_UP || which == PRODUCT_HEAD;
  return shape->biases & biases[which] || (is_normed && shape->norm != NORM_RMS) ||
         ((which == PRODUCT_GATE_UP || which == PRODUCT_SHARED_GATE_UP) &&
          shape->mlp != MLP_SWIGLU);
}

bool gpu_plan_reaches_library(const struct plan *plan) {
  return 2 * (int64_t)plan->experts.pairs >=
         (int64_t)plan->request.shape.experts.count * plan->experts.library_count;
}

bool gpu_plan_fits_library(const struct plan *plan, enum product_name which) {
  const struct plan_product *product = &plan->product[which];
  if (which == PRODUCT_HEAD || (which == PRODUCT_ROUTER && plan->ranks > 1))
    return false;
  if (product->routed &&
      ((size_t)product->rows * gpu_plan_row_bytes(product) % VENDOR_ALIGNMENT > 0 ||
       !gpu_plan_reaches_library(plan)))
    return false;
  return plan->prompt && product->rows > 0 && !product->vector && !product->wgmma &&
         !product->by_head && product->weights == product->activations;
}

int gpu_plan_library_vectors(int batch) {
  return (int)round_up((size_t)batch, PLAN_MIN_SLICE);
}

size_t gpu_plan_library_sums(const struct plan *plan, enum product_name which) {
  return round_up((size_t)plan->batch_padded * (size_t)plan->product[which].rows,
                  VENDOR_ALIGNMENT / sizeof(float));
}

unsigned gpu_plan_merges(const struct even_work *work) {
  unsigned most = 1, merges = 0;
  for (unsigned tile = 0; tile < work->tiles; tile++) {
    const unsigned count = even_pieces(work, tile).count;
    most = count > most ? count : most;
  }
  while (1U << merges < most)
    merges++;
  return merges;
}

int gpu_plan_cluster(const struct plan_product *product) {
  return product->beside * product->parts;
}

size_t gpu_plan_block_shared_bytes(const struct plan *plan) {
  const size_t own = plan->device.tuning.step == STEP_STREAMING ? STREAMING_SHARED : 0;
  return plan->device.shared_bytes > own ? plan->device.shared_bytes - own : 0;
}

struct share gpu_plan_share(const struct plan *plan) {
  return (struct share){&plan->whole, &plan->request.types, plan->rank, plan->ranks};
}

bool gpu_plan_is_latent(const struct plan *plan) {
  return plan->request.shape.latent.rank > 0;
}

int gpu_plan_attention_rows(const struct plan *plan) {
  const int caches = gpu_plan_is_latent(plan) ? 1 : plan->request.shape.kv_heads;
  return plan->request.batch * caches * plan->head_groups;
}

bool gpu_plan_copies_cache(const struct plan *plan) {
  return !plan->device.any_chunk && !plan->streaming && !gpu_plan_is_latent(plan);
}

size_t gpu_plan_attention_shared_bytes(const struct plan *plan) {
  return gpu_plan_is_latent(plan)
             ? latent_shared_bytes(plan->head_stride, plan->request.shape.latent.rank)
             : attention_shared_bytes(plan->head_dim_padded, gpu_plan_copies_cache(plan));
}

int gpu_plan_window_first(const struct decode_request *request, int window) {
  return window > 0 && window < request->context ? request->context - window : 0;
}

struct plan_attention gpu_plan_attention(const struct plan *plan, int layer) {
  const struct decode_shape *shape = &plan->request.shape;
  const int first = gpu_plan_window_first(&plan->request, family_layer(shape, layer).window);
  const bool scaled = shape->score_scale != 0 && shape->score_scale != 1;
  return (struct plan_attention){
      .first = first,
      .splits = first > 0 ? plan->window_splits : plan->attention_splits,
      .family = first > 0 || scaled || shape->qk_norm || shape->sinks || shape->rope.interleaved ||
                gpu_plan_is_latent(plan),
  };
}
