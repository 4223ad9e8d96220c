#include "kernels/gpu/plan/limits.h"

#include "kernels/decode.h"
#include "kernels/family.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/plan/experts.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/gpu/units.h"
#include "kernels/integers.h"
#include "kernels/share.h"
#include "kernels/weights.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

// The kernels count rows, columns and positions in int.
#define MAX_COLUMNS 65536
#define MAX_CONTEXT (1 << 24)
#define MAX_VOCAB   (1 << 24)
#define MAX_LAYERS  4096
#define MAX_GRID_Y  65535 // CUDA C++ Programming Guide, technical specifications

_Static_assert(LIMITS_BATCH == 256 && LIMITS_HEAD_DIM == 256, "the words below say so");

static bool in(int value, int low, int high) {
  return value >= low && value <= high;
}

// The kernels read queries and the data between k_b and v_b four floats at a time.
static const char *latent_unknown(const struct decode_shape *shape) {
  const struct decode_latent *latent = &shape->latent;
  const size_t entry = (size_t)latent->rank + (size_t)latent->rope_dim;
  if (latent->rank > LATENT_RANK || round_up(entry, ROW_ALIGNMENT) > LATENT_STRIDE)
    return "the GPU kernels support latent attention with a rank of up to 512, and up to 576 "
           "elements with those that turn";
  if (latent->rank % 4 != 0 || latent->query_rank % 4 != 0 || latent->rope_dim % 4 != 0 ||
      shape->head_dim % 4 != 0)
    return "the GPU kernels support latent attention whose ranks and heads are multiples of 4";
  if (!in(shape->heads, 1, MAX_COLUMNS) || !in(latent->query_rank, 0, MAX_COLUMNS) ||
      !in(latent->value_dim, 1, MAX_COLUMNS / shape->heads))
    return "the model is wider than the GPU kernels support";
  return NULL;
}

static const char *shape_unknown(const struct decode_shape *shape) {
  if (family_fault(shape))
    return family_fault(shape);
  if (!in(shape->head_dim, 2, LIMITS_HEAD_DIM) || shape->head_dim % 2 != 0)
    return "the GPU kernels need an even head_dim of at most 256";
  if (shape->latent.rank > 0) {
    if (latent_unknown(shape))
      return latent_unknown(shape);
  } else if (!in(shape->kv_heads, 1, MAX_COLUMNS) ||
             !in(shape->heads, shape->kv_heads, MAX_COLUMNS) ||
             shape->heads % shape->kv_heads != 0) {
    return "the query heads are not a multiple of the KV heads";
  }
  if (!in(shape->layers, 1, MAX_LAYERS) || !in(shape->hidden, 1, MAX_COLUMNS) ||
      !in(shape->ffn_hidden, experts_dense_layers(shape) > 0, MAX_COLUMNS) ||
      !in(shape->vocab, 1, MAX_VOCAB) || !in(shape->heads * shape->head_dim, 2, MAX_COLUMNS))
    return "the model is wider or deeper than the GPU kernels support";
  if (!(shape->norm_epsilon >= 0) || !(shape->rope_theta > 0))
    return "the norm's epsilon is negative, or rope's theta is not positive";
  return NULL;
}

// The narrower types that activations may have; with BF16 weights none.
static enum element narrow_activations(enum element weights) {
  static const enum element narrow[ELEMENTS] = {
      [ELEMENT_BF16] = ELEMENT_BF16,       [ELEMENT_E4M3] = ELEMENT_E4M3,
      [ELEMENT_INT8] = ELEMENT_INT8,       [ELEMENT_MXFP4] = ELEMENT_E4M3,
      [ELEMENT_NVFP4] = ELEMENT_E4M3,      [ELEMENT_MXFP6_E2M3] = ELEMENT_E4M3,
      [ELEMENT_MXFP6_E3M2] = ELEMENT_E4M3, [ELEMENT_INT8_GROUP] = ELEMENT_INT8,
      [ELEMENT_INT4_GROUP] = ELEMENT_INT8,
  };
  return narrow[weights];
}

static const char *types_unknown(const struct decode_types *types) {
  if (types->weights == ELEMENT_F32 || (unsigned)types->weights >= ELEMENTS)
    return "the GPU kernels do not support weights in f32";
  if (types->activations != ELEMENT_BF16 &&
      types->activations != narrow_activations(types->weights))
    return "the GPU kernels support activations in bf16, or in e4m3 or int8 with weights that go "
           "with these";
  if (types->kv != ELEMENT_BF16 && types->kv != ELEMENT_E4M3)
    return "the GPU kernels support a KV cache in bf16 or e4m3";
  if (types->head != ELEMENT_BF16 && types->head != types->weights)
    return "the GPU kernels support a head in bf16 or in the weights' type";
  const enum element experts = weights_element(types, TENSOR_EXPERT_UP);
  if (experts != types->weights && experts != ELEMENT_E4M3 && !lies_in_units(experts))
    return "the GPU kernels support experts in the weights' type, in e4m3, or in 4 to 8 bits";
  if (types->activations != ELEMENT_BF16 && types->activations != narrow_activations(experts))
    return "the GPU kernels support activations in e4m3 or int8 with experts that go with these";
  if (types->accumulation != ELEMENT_F32)
    return "the GPU kernels accumulate in f32";
  return NULL;
}

static const char *division_unknown(const struct decode_request *request) {
  static _Thread_local char words[SHARE_WORDS];
  int size;
  const char *what;
  if (request->ranks < 2)
    return NULL;
  if (share_divides(&request->shape, request->ranks, &size, &what))
    return share_cut(&request->shape, &request->types, request->ranks, words);
  snprintf(words, sizeof words, "a model with %d %s cannot be divided among %d devices", size, what,
           request->ranks);
  return words;
}

static const char *prompt_unknown(const struct decode_request *request) {
  if (request->chunk == 0)
    return NULL;
  if (!in(request->chunk, 1, request->context))
    return "a chunk of a prompt is longer than the cache";
  return NULL;
}

const char *limits_of_request(const struct decode_request *request) {
  const char *why = shape_unknown(&request->shape);
  if (!why)
    why = experts_unknown(request);
  if (!why)
    why = types_unknown(&request->types);
  if (!why)
    why = division_unknown(request);
  if (!why)
    why = prompt_unknown(request);
  if (why)
    return why;
  if (!in(request->batch, 1, LIMITS_BATCH))
    return "the GPU kernels support batches of 1 to 256";
  if (!in(request->context, 1, MAX_CONTEXT) || request->context > INT_MAX / request->batch)
    return "the context is longer than the GPU kernels support";
  return NULL;
}

const char *limits_of_device(const struct plan *plan) {
  if (plan->device.warp != 32 && plan->device.warp != 64)
    return "the device's warp is neither 32 nor 64 wide";
  if (gpu_plan_attention_shared_bytes(plan) + PLAN_STATIC_SHARED > plan->device.shared_bytes)
    return "attention with heads this wide needs more shared memory than the device has";
  if (plan->device.tuning.matrix == MATRIX_WGMMA && !plan->device.wgmma)
    return "matrix=wgmma needs sm_90 (H100, H200)";
  for (int p = 0; p < PRODUCTS && plan->device.tuning.matrix == MATRIX_WGMMA; p++)
    if (product_is_of_family(&plan->request.shape, (enum product_name)p))
      return "matrix=wgmma supports only products as in a Llama: leave it out";
  if (gpu_plan_attention_rows(plan) / plan->request.batch > MAX_GRID_Y)
    return "there are more KV heads than a grid can take";
  return NULL;
}

// Whether there is a layer whose kernels a step in one launch does not have. Experts may be a
// Llama's MLP.
static bool has_family_kernels(const struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  bool has = plan->experts.layers > 0 && (shape->biases & BIAS_MLP || shape->mlp != MLP_SWIGLU);
  for (int layer = 0; layer < shape->layers; layer++)
    has |= gpu_plan_attention(plan, layer).family;
  for (int p = 0; p < PRODUCTS; p++)
    has |= plan->product[p].family && !plan->product[p].routed;
  return has;
}

// Whether the kernels of a step in one launch lack such weights on the device.
static bool lacks(const struct plan *plan, enum element weights) {
  return plan->device.warp == 64 && lies_in_units(weights) && !units_are_held(weights);
}

const char *limits_of_streaming(const struct plan *plan) {
  const struct decode_types *types = &plan->request.types;
  if (plan->device.tuning.step != STEP_STREAMING)
    return NULL;
  if (!plan->device.cooperative)
    return "step=streaming needs cooperative launches, which this device or its runtime lacks (on "
           "AMD, HIP with hipModuleLaunchCooperativeKernel): leave it out for a graph of launches";
  if (lacks(plan, types->weights) ||
      (plan->experts.layers > 0 && lacks(plan, weights_element(types, TENSOR_EXPERT_UP))))
    return "step=streaming needs weights in bf16, e4m3, mxfp4 or groups of int4 on this device";
  if (plan->ranks > 1 || plan->request.batch > VECTOR_BATCH || types->activations != ELEMENT_BF16 ||
      types->head != ELEMENT_BF16 || plan->head_dim_padded > 128)
    return "step=streaming needs one device, batch 1 to 4, heads of up to 128, and activations "
           "and head in bf16";
  if (!plan->vector ||
      attention_shared_bytes(plan->head_dim_padded, false) > gpu_plan_block_shared_bytes(plan))
    return "step=streaming: this batch's activations do not fit into the device's shared memory";
  return NULL;
}

const char *limits_fallback(const struct plan *plan) {
  if (plan->device.tuning.step == STEP_STREAMING && has_family_kernels(plan))
    return "step=streaming supports only attention and products as in a Llama: the step is a "
           "graph of launches";
  return NULL;
}
