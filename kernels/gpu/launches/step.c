#include "kernels/gpu/launches/step.h"

#include "kernels/decode.h"
#include "kernels/gpu/launches/attention.h"
#include "kernels/gpu/launches/exchange.h"
#include "kernels/gpu/launches/experts.h"
#include "kernels/gpu/launches/latent.h"
#include "kernels/gpu/launches/library.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/launches/product.h"
#include "kernels/gpu/launches/token.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/experts.h"
#include "kernels/gpu/plan/limits.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/integers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static void emit_layer(struct launch_list *list) {
  const bool parallel = list->plan->request.shape.parallel;
  launch_product(list, PRODUCT_QKV);
  if (gpu_plan_is_latent(list->plan))
    launch_latent(list);
  else if (list->piece)
    launch_prompt_attention(list);
  else
    launch_attention(list);
  if (parallel) // before the residual stream grows
    launch_product(list, PRODUCT_GATE_UP);
  launch_product(list, PRODUCT_WO);
  launch_add_up_residual(list);
  if (list->layer >= list->plan->experts.first_layer) {
    launch_experts(list);
  } else {
    if (!parallel)
      launch_product(list, PRODUCT_GATE_UP);
    launch_product(list, PRODUCT_DOWN);
  }
  launch_add_up_residual(list);
}

static void emit_layers(struct launch_list *list) {
  list->layer = -1;
  launch_embed(list);
  for (list->layer = 0; list->layer < list->plan->request.shape.layers; list->layer++)
    emit_layer(list);
  list->layer = -1;
}

static void emit_step(struct launch_list *list) {
  emit_layers(list);
  launch_product(list, PRODUCT_HEAD);
  launch_sample(list);
  launch_agree(list);
}

struct gpu_launch *gpu_plan_step(const struct plan *plan, void *base, size_t *count,
                                 const char *const **what) {
  struct launch_list list = {.plan = plan, .base = base};
  struct gpu_launch *launches = list_make(&list, emit_step, count);
  if (launches && what)
    *what = list.what;
  return launches;
}

// Moves `count` vectors, from `vector` on, to the places of batch rows in the steps' memory, from
// `row` on.
static struct plan plan_of_rows(const struct plan *plan, int vector, int row, int count) {
  const struct decode_shape *shape = &plan->request.shape;
  struct plan rows = *plan;
  rows.request.batch = count;
  rows.region[REGION_X].offset += (size_t)vector * (size_t)shape->hidden * sizeof(float);
  rows.region[REGION_LOGITS].offset += (size_t)row * (size_t)shape->vocab * sizeof(float);
  rows.region[REGION_TOKENS].offset += (size_t)row * sizeof(int);
  return rows;
}

static void emit_tokens(struct launch_list *list, const struct plan *rows) {
  const struct plan *plan = list->plan;
  list->plan = rows;
  launch_product(list, PRODUCT_HEAD);
  launch_sample(list);
  launch_agree(list);
  list->plan = plan;
}

static struct plan plan_of_piece(const struct plan *prompt, const struct prompt_piece *piece) {
  struct plan plan = *prompt;
  plan.request.batch = piece_before(piece) + piece->count + piece_behind(piece);
  // A short piece is rounded up to what the slices of its products read, not to a whole pass.
  plan.batch_padded =
      (int)round_up((size_t)plan.request.batch, (size_t)least(prompt->batch_padded, LIMITS_BATCH));
  experts_count(&plan);
  experts_share(&plan);
  return plan;
}

// The last position and the rows behind it are neighbors, so that a pass beside the first row's
// prompt reads the head once.
static void emit_pass(struct launch_list *list) {
  const struct prompt_piece *piece = list->piece;
  const int before = piece_before(piece), behind = piece_behind(piece);
  emit_layers(list);
  if (!piece->ends)
    return;
  struct plan rows = plan_of_rows(list->plan, 0, 0, before);
  rows.region[REGION_STEP].layer_bytes = 0; // the step ends with the other rows
  if (before > 0)
    emit_tokens(list, &rows);
  rows = plan_of_rows(list->plan, before + piece->count - 1, piece->row, behind + 1);
  if (!piece->steps)
    rows.region[REGION_STEP].layer_bytes = 0;
  emit_tokens(list, &rows);
}

struct gpu_launch *gpu_plan_pass(const struct plan *prompt, const struct prompt_piece *piece,
                                 void *base, size_t *count) {
  const struct plan plan = plan_of_piece(prompt, piece);
  struct launch_list list = {.plan = &plan, .piece = piece, .base = base};
  return list_make(&list, emit_pass, count);
}

static void emit_alone(struct launch_list *list) {
  launch_product(list, list->alone);
}

struct gpu_launch *gpu_plan_pass_product(const struct plan *prompt,
                                         const struct prompt_piece *piece, int layer,
                                         enum product_name name, void *base, size_t *count) {
  const struct plan plan = plan_of_piece(prompt, piece);
  struct launch_list list = {
      .plan = &plan, .piece = piece, .base = base, .layer = layer, .alone = name};
  return list_make(&list, emit_alone, count);
}

static void emit_runs(struct launch_list *list) {
  launch_expert_runs(list, list->alone);
}

struct gpu_launch *gpu_plan_pass_experts(const struct plan *prompt,
                                         const struct prompt_piece *piece, int layer,
                                         enum product_name name, const struct expert_run *runs,
                                         int run_count, void *base, size_t *count) {
  const struct plan plan = plan_of_piece(prompt, piece);
  struct launch_list list = {.plan = &plan,
                             .piece = piece,
                             .base = base,
                             .layer = layer,
                             .alone = name,
                             .runs = runs,
                             .run_count = run_count};
  return list_make(&list, emit_runs, count);
}

uint64_t gpu_plan_stage_bytes(const struct plan *plan, const char *stage) {
  for (int p = 0; p < PRODUCTS; p++)
    if (strcmp(operands_of(plan, (enum product_name)p).stage, stage) == 0)
      return gpu_plan_product_bytes(plan, (enum product_name)p);
  return strcmp(stage, "attention") == 0 ? gpu_plan_cache_bytes(plan) : 0;
}
