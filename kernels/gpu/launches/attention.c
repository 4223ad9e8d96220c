#include "kernels/gpu/launches/attention.h"

#include "kernels/decode.h"
#include "kernels/family.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <stdio.h>

// A row's part of the layer's keys or values.
static char *cache_of_row(const struct launch_list *list, int row, enum plan_region region,
                          int elements) {
  const struct plan *plan = list->plan;
  const size_t entries = (size_t)plan->request.shape.kv_heads * (size_t)plan->context_padded;
  return (char *)list_at(list, region) +
         (size_t)row * entries * (size_t)elements * gpu_element_bytes(plan->request.types.kv);
}

// A vector's queries, keys and values, and what its heads attended to.
static float *qkv_at(const struct launch_list *list, int vector) {
  const size_t width = (size_t)list->plan->product[PRODUCT_QKV].rows;
  return (float *)list_shared_at(list, REGION_QKV_OUT) + (size_t)vector * width;
}
static enum passed attended_as(const struct launch_list *list) {
  return gpu_plan_passed(list->plan, PRODUCT_WO);
}
static float *attended_at(const struct launch_list *list, int vector) {
  const size_t width = (size_t)list->plan->product[PRODUCT_WO].columns;
  const size_t element = attended_as(list) == PASSED_FLOAT ? sizeof(float) : 2;
  return (float *)((char *)list_shared_at(list, REGION_ATTENDED) +
                   (size_t)vector * width * element);
}

static void turn(struct launch_list *list) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const struct prompt_piece *piece = list->piece;
  const unsigned heads = (unsigned)(shape->heads + 2 * shape->kv_heads);
  const unsigned warps = SMALL_THREADS / (unsigned)plan->device.warp;
  const struct turn_arguments arguments = {
      .qkv = qkv_at(list, piece_before(piece)),
      .angles = (const float *)list_shared_at(list, REGION_PROMPT_ANGLES) +
                (size_t)piece->first * (size_t)shape->head_dim,
      .keys = cache_of_row(list, piece->row, REGION_KEYS, plan->head_stride),
      .values = cache_of_row(list, piece->row, REGION_VALUES, shape->head_dim),
      .q_norm = list_vector_at(list, REGION_Q_NORM),
      .k_norm = list_vector_at(list, REGION_K_NORM),
      .epsilon = shape->norm_epsilon,
      .first = piece->first,
      .heads = shape->heads,
      .kv_heads = shape->kv_heads,
      .head_dim = shape->head_dim,
      .head_stride = plan->head_stride,
      .context_padded = plan->context_padded,
      .interleaved = shape->rope.interleaved,
  };
  struct gpu_launch launch = {.grid = {(unsigned)piece->count, (heads + warps - 1) / warps, 1},
                              .block = SMALL_THREADS,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "turn_%s",
           gpu_element_names[plan->request.types.kv]);
  list_add(list, "turn", &launch, &(union launch_arguments){.turn = arguments});
}

// Shared memory of these kernels by themselves, whose launches also stand beside a streaming step:
// that one's own attention copies nothing.
static size_t shared_bytes_of(const struct plan *plan) {
  return attention_shared_bytes(plan->head_dim_padded, !plan->device.any_chunk);
}

static void attend_prompt(struct launch_list *list) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const struct prompt_piece *piece = list->piece;
  const int window = family_layer(shape, list->layer).window;
  const unsigned tile = plan->device.warp == 64 ? 16 : 8;
  const unsigned columns = (unsigned)(piece->count * (shape->heads / shape->kv_heads));
  const struct attention_arguments arguments = {
      .qkv = qkv_at(list, piece_before(piece)),
      .keys = cache_of_row(list, piece->row, REGION_KEYS, plan->head_stride),
      .values = cache_of_row(list, piece->row, REGION_VALUES, shape->head_dim),
      .batch = piece->count,
      .heads = shape->heads,
      .kv_heads = shape->kv_heads,
      .head_dim = shape->head_dim,
      .head_stride = plan->head_stride,
      .context_padded = plan->context_padded,
      .splits = 1,
      .partials = list_shared_at(list, REGION_PARTIALS),
      .counters = list_shared_at(list, REGION_COUNTERS),
      .output = attended_at(list, piece_before(piece)),
      .sinks = list_vector_at(list, REGION_SINKS),
      .score_scale = shape->score_scale > 0 ? shape->score_scale : 1,
      .first = piece->first,
      .window = window > 0 ? window : plan->context_padded,
      .passed = attended_as(list),
  };
  struct gpu_launch launch = {.grid = {(columns + tile - 1) / tile, (unsigned)shape->kv_heads, 1},
                              .block = ATTENTION_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = shared_bytes_of(plan),
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "attention_%s_prompt_%d",
           gpu_element_names[plan->request.types.kv], plan->head_dim_padded);
  list_add(list, "attention", &launch, &(union launch_arguments){.attention = arguments});
}

// A step of `count` batch rows from `row` on, whose vectors are in the list's memory from `vector`
// on; everything else is as in the plan of the steps.
static void attend(struct launch_list *list, const struct plan *plan, int row, int vector,
                   int count) {
  const struct launch_list steps = {.plan = plan, .base = list->base, .layer = list->layer};
  const struct decode_shape *shape = &plan->request.shape;
  const struct plan_attention attention = gpu_plan_attention(plan, list->layer);
  const struct attention_arguments arguments = {
      .qkv = qkv_at(list, vector),
      .angles = list_shared_at(&steps, REGION_ANGLES),
      .keys = cache_of_row(&steps, row, REGION_KEYS, plan->head_stride),
      .values = cache_of_row(&steps, row, REGION_VALUES, shape->head_dim),
      .batch = count,
      .heads = shape->heads,
      .kv_heads = shape->kv_heads,
      .head_groups = plan->head_groups,
      .head_dim = shape->head_dim,
      .head_stride = plan->head_stride,
      .context = plan->request.context,
      .context_padded = plan->context_padded,
      .splits = attention.splits,
      .partials = list_shared_at(&steps, REGION_PARTIALS),
      .counters = list_shared_at(&steps, REGION_COUNTERS),
      .output = attended_at(list, vector),
      .q_norm = list_vector_at(list, REGION_Q_NORM),
      .k_norm = list_vector_at(list, REGION_K_NORM),
      .sinks = list_vector_at(list, REGION_SINKS),
      .epsilon = shape->norm_epsilon,
      .score_scale = shape->score_scale > 0 ? shape->score_scale : 1,
      .first = attention.first,
      .interleaved = shape->rope.interleaved,
      .passed = attended_as(list),
  };
  struct gpu_launch launch = {.grid = {(unsigned)attention.splits,
                                       (unsigned)(shape->kv_heads * plan->head_groups),
                                       (unsigned)count},
                              .block = ATTENTION_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = shared_bytes_of(plan),
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "attention_%s%s_%d",
           gpu_element_names[plan->request.types.kv], attention.family ? "_family" : "",
           plan->head_dim_padded);
  list_add(list, "attention", &launch, &(union launch_arguments){.attention = arguments});
}

void launch_attention(struct launch_list *list) {
  attend(list, list->plan, 0, 0, list->plan->request.batch);
}

void launch_prompt_attention(struct launch_list *list) {
  const struct prompt_piece *piece = list->piece;
  const int before = piece_before(piece), behind = piece_behind(piece);
  turn(list);
  attend_prompt(list);
  if (before > 0)
    attend(list, piece->steps, 0, 0, before);
  if (behind > 0)
    attend(list, piece->steps, piece->row + 1, before + piece->count, behind);
}
