#include "kernels/gpu/launches/latent.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/launches/product.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <stdio.h>

// The arguments for the vectors from `vector` on in the list's memory, and the caches of the batch
// rows from `row` on.
static struct latent_arguments arguments_of(const struct launch_list *list, int row, int vector) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_latent *latent = &shape->latent;
  const int rows = plan->product[PRODUCT_QKV].rows, own = latent->rank + latent->rope_dim;
  const int query_stride = operands_input_stride(plan, PRODUCT_K_B);
  const size_t at = (size_t)vector, ranks = (size_t)shape->heads * (size_t)latent->rank;
  const size_t cache = (size_t)plan->context_padded * (size_t)plan->head_stride *
                       gpu_element_bytes(plan->request.types.kv);
  const float *queries = list_shared_at(list, operands_of(plan, PRODUCT_K_B).input);
  const float *entries = list_shared_at(list, REGION_QKV_OUT);
  return (struct latent_arguments){
      .queries = queries + at * (size_t)query_stride,
      .absorbed = (const float *)list_shared_at(list, REGION_ABSORBED) + at * ranks,
      .entries = entries + at * (size_t)rows + (rows - own),
      .norm = list_at(list, REGION_KV_A_NORM),
      .latents = (char *)list_at(list, REGION_KEYS) + (size_t)row * cache,
      .query_stride = query_stride,
      .entry_stride = rows,
      .heads = shape->heads,
      .head_groups = plan->head_groups,
      .head_dim = shape->head_dim,
      .rank = latent->rank,
      .rope_dim = latent->rope_dim,
      .stride = plan->head_stride,
      .context_padded = plan->context_padded,
      .interleaved = shape->rope.interleaved,
      .epsilon = shape->norm_epsilon,
      .score_scale = shape->score_scale > 0 ? shape->score_scale : 1,
      .output = (float *)list_shared_at(list, REGION_LATENT_SUMS) + at * ranks,
  };
}

static void add(struct launch_list *list, const char *kernel, struct gpu_launch *launch,
                const struct latent_arguments *arguments) {
  const char *kv = gpu_element_names[list->plan->request.types.kv];
  launch->argument_bytes = sizeof *arguments;
  snprintf(launch->kernel, sizeof launch->kernel, "latent_%s%s", kv, kernel);
  list_add(list, "attention", launch, &(union launch_arguments){.latent = *arguments});
}

// A step of `count` batch rows from `row` on; everything but their vectors is as in the plan of the
// steps.
static void attend(struct launch_list *list, const struct plan *plan, int row, int vector,
                   int count) {
  const struct launch_list steps = {.plan = plan, .base = list->base, .layer = list->layer};
  struct latent_arguments arguments = arguments_of(list, row, vector);
  arguments.angles = list_shared_at(&steps, REGION_ANGLES);
  arguments.context = plan->request.context;
  arguments.splits = gpu_plan_attention(plan, list->layer).splits;
  arguments.partials = list_shared_at(&steps, REGION_PARTIALS);
  arguments.counters = list_shared_at(&steps, REGION_COUNTERS);
  struct gpu_launch launch = {
      .grid = {(unsigned)arguments.splits, (unsigned)plan->head_groups, (unsigned)count},
      .block = LATENT_WARPS * (unsigned)plan->device.warp,
      .shared_bytes = gpu_plan_attention_shared_bytes(plan)};
  add(list, "", &launch, &arguments);
}

static void attend_prompt(struct launch_list *list) {
  const struct plan *plan = list->plan;
  const struct prompt_piece *piece = list->piece;
  const unsigned columns = (unsigned)(piece->count * plan->request.shape.heads);
  struct latent_arguments arguments = arguments_of(list, piece->row, piece_before(piece));
  arguments.batch = piece->count;
  arguments.first = piece->first;
  arguments.angles = (const float *)list_shared_at(list, REGION_PROMPT_ANGLES) +
                     (size_t)piece->first * (size_t)plan->request.shape.head_dim;
  struct gpu_launch entries = {.grid = {(unsigned)piece->count, 1, 1}, .block = SMALL_THREADS};
  struct gpu_launch launch = {.grid = {(columns + LATENT_HEADS - 1) / LATENT_HEADS, 1, 1},
                              .block = LATENT_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = gpu_plan_attention_shared_bytes(plan)};
  add(list, "_entries", &entries, &arguments);
  add(list, "_prompt", &launch, &arguments);
}

static void attend_pass(struct launch_list *list) {
  const struct prompt_piece *piece = list->piece;
  const int before = piece_before(piece), behind = piece_behind(piece);
  attend_prompt(list);
  if (before > 0)
    attend(list, piece->steps, 0, 0, before);
  if (behind > 0)
    attend(list, piece->steps, piece->row + 1, before + piece->count, behind);
}

void launch_latent(struct launch_list *list) {
  if (list->plan->product[PRODUCT_Q_B].rows > 0)
    launch_product(list, PRODUCT_Q_B);
  launch_product(list, PRODUCT_K_B);
  if (list->piece)
    attend_pass(list);
  else
    attend(list, list->plan, 0, 0, list->plan->request.batch);
  launch_product(list, PRODUCT_V_B);
}
