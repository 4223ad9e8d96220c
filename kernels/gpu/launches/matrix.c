#include "kernels/gpu/launches/matrix.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void launch_round_rows(struct launch_list *list, enum product_name name, int first, int rows,
                       int padded) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  const struct operands operands = operands_of(plan, name);
  const bool slots = name == PRODUCT_EXPERT_DOWN;
  const int input_stride = operands_input_stride(plan, name);
  const struct round_arguments arguments = {
      .input = (const float *)list_shared_at(list, operands.input) +
               (size_t)first * (size_t)input_stride,
      .norm = list_vector_at(list, operands.norm),
      .norm_bias = list_vector_at(list, operands.norm_bias),
      .epsilon = plan->request.shape.norm_epsilon,
      .columns = product->columns,
      .stride = product->activation_stride,
      .batch = rows,
      .output = list_shared_at(list, slots ? REGION_GATHERED : REGION_ACTIVATIONS),
      .scales = list_shared_at(list, slots ? REGION_GATHERED_SCALES : REGION_ACTIVATION_SCALES),
      .input_stride = input_stride,
      .input_step = operands_input_step(plan, name),
  };
  const unsigned heads = product->by_head ? (unsigned)product->copies : 1;
  struct gpu_launch launch = {.grid = {(unsigned)padded, heads, 1},
                              .block = ROUND_THREADS,
                              .shared_bytes = LAUNCH_SMALL_SHARED,
                              .argument_bytes = sizeof arguments};
  const bool paired = product->wgmma && product->weights != product->activations;
  snprintf(launch.kernel, sizeof launch.kernel, "round_%s%s_%s",
           paired ? "paired" : gpu_element_names[product->rounded],
           product->rounded != product->activations ? "_as_bf16" : "",
           arguments.norm_bias ? "layer" : operands.prologue);
  list_add(list, "round", &launch, &(union launch_arguments){.round = arguments});
}

// Whether the product before this one, in the list, has passed on its norm's input.
static bool is_passed_norm(const struct launch_list *list, enum product_name name) {
  const bool is_first = name == PRODUCT_QKV && list->layer == 0;
  return !is_first && gpu_plan_norm_from(list->plan, name) != PRODUCTS;
}

enum plan_region launch_activations(const struct plan *plan, enum product_name name) {
  if (gpu_plan_passed(plan, name) != PASSED_FLOAT)
    return operands_of(plan, name).input;
  return plan->product[name].routed ? REGION_GATHERED : REGION_ACTIVATIONS;
}

void launch_round(struct launch_list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  if (gpu_plan_passed(plan, name) != PASSED_FLOAT || is_passed_norm(list, name))
    return;
  const bool slots = name == PRODUCT_EXPERT_DOWN;
  const int rows = slots ? plan->experts.slots : plan->request.batch;
  const int padded = slots                         ? rows + plan->experts.columns
                     : plan->product[name].library ? gpu_plan_library_vectors(rows)
                                                   : plan->batch_padded;
  launch_round_rows(list, name, 0, rows, padded);
}

// The norm before the product, or that behind it: for the batch rows from `first` on.
static struct wgmma_norm norm_of(const struct launch_list *list, enum product_name name,
                                 int first) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const enum product_name next = name == PRODUCT_WO     ? PRODUCT_GATE_UP
                                 : name == PRODUCT_DOWN ? PRODUCT_QKV
                                                        : PRODUCTS;
  struct launch_list behind = *list;
  behind.layer += name == PRODUCT_DOWN;
  const bool follows =
      next != PRODUCTS && behind.layer < shape->layers && is_passed_norm(&behind, next);
  struct wgmma_norm norm = {.sums = wgmma_squares(shape->hidden), .epsilon = shape->norm_epsilon};
  if (follows || is_passed_norm(list, name))
    norm.squares =
        (float *)list_shared_at(list, REGION_SQUARES) + (size_t)first * (size_t)norm.sums;
  if (follows) {
    norm.gain = list_vector_at(&behind, operands_of(plan, next).norm);
    norm.scaled =
        (uint16_t *)list_shared_at(list, REGION_SCALED) + (size_t)first * (size_t)shape->hidden;
  }
  return norm;
}

// All three are in the plan's memory.
static void wgmma_slice(struct launch_list *list, enum product_name name, int first,
                        const struct product_arguments *slice) {
  const struct plan_product *product = &list->plan->product[name];
  const uint32_t rows = (uint32_t)product->rows, columns = (uint32_t)product->slice;
  const size_t weight = gpu_element_bytes(product->weights);
  const uint64_t row = (uint64_t)product->stride * weight;
  const uint64_t activations =
      (uint64_t)product->activation_stride * gpu_element_bytes(product->activations);
  const union launch_arguments arguments = {
      .wgmma = {.weights.matrix = {slice->weights, row, rows, WGMMA_ROWS},
                .second.matrix = {slice->second, row, rows, WGMMA_ROWS},
                .activations.matrix = {slice->activations, activations, columns,
                                       columns / (uint32_t)product->beside},
                .product = *slice,
                .work = product->work,
                .stages = product->stages,
                .slots = wgmma_slots(product->stages, product->strips),
                .beside = product->beside,
                .parts = product->parts,
                .norm = norm_of(list, name, first)}};
  struct gpu_launch launch = {.grid = {(unsigned)product->blocks, 1, 1},
                              .block = WGMMA_THREADS,
                              .cluster = (unsigned)gpu_plan_cluster(product),
                              .shared_bytes = product->shared_bytes,
                              .argument_bytes = sizeof arguments.wgmma,
                              .map_count = product->gated ? 3 : 2};
  snprintf(launch.kernel, sizeof launch.kernel, "wgmma%s_%s_%s_%s_%d",
           product->strips > 1 ? "_strips" : "", gpu_element_names[product->weights],
           gpu_element_names[product->activations], operands_epilogue(list->plan, name, "store"),
           product->warp_columns);
  list_add(list, operands_of(list->plan, name).stage, &launch, &arguments);
}

void launch_gather_rows(struct launch_list *list, enum product_name name, int first, int slots,
                        int padded) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  const bool scaled = product->rounded != ELEMENT_BF16;
  const struct gather_arguments arguments = {
      .from = list_shared_at(list, REGION_ACTIVATIONS),
      .from_scales = scaled ? list_shared_at(list, REGION_ACTIVATION_SCALES) : NULL,
      .rows = (const int *)list_shared_at(list, REGION_SLOT_ROWS) + first,
      .slots = slots,
      .row_bytes = product->activation_stride * (int)gpu_element_bytes(product->activations),
      .to = list_shared_at(list, REGION_GATHERED),
      .to_scales = list_shared_at(list, REGION_GATHERED_SCALES),
  };
  const struct gpu_launch launch = {.kernel = "gather",
                                    .grid = {(unsigned)padded, 1, 1},
                                    .block = SMALL_THREADS,
                                    .argument_bytes = sizeof arguments};
  list_add(list, "round", &launch, &(union launch_arguments){.gather = arguments});
}

void launch_gather(struct launch_list *list, enum product_name name) {
  const struct plan_experts *experts = &list->plan->experts;
  launch_gather_rows(list, name, 0, experts->slots, experts->slots + experts->columns);
}

// The batch rows from `first` on; with experts, the slots of any of the run's items.
static void matrix_slice(struct launch_list *list, enum product_name name, int first) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  struct product_arguments arguments = operands_arguments(list, name);
  const int rest = plan->request.batch - first;
  const size_t row = (size_t)product->activation_stride * gpu_element_bytes(product->activations);
  const enum plan_region from =
      is_passed_norm(list, name) ? REGION_SCALED : launch_activations(plan, name);
  arguments.activations = (const char *)list_shared_at(list, from) + (size_t)first * row;
  if (product->rounded != ELEMENT_BF16)
    arguments.activation_scales =
        (const float *)list_shared_at(list, product->routed ? REGION_GATHERED_SCALES
                                                            : REGION_ACTIVATION_SCALES) +
        first;
  arguments.batch = rest < product->slice ? rest : product->slice;
  arguments.batch_padded = product->slice;
  arguments.splits = product->splits;
  arguments.chunk = product->chunk;
  arguments.buffers = product->buffers;
  arguments.partials = list_shared_at(list, REGION_PARTIALS);
  arguments.counters = list_shared_at(list, REGION_COUNTERS);
  arguments.output = (float *)((char *)arguments.output +
                               (size_t)first * (size_t)arguments.output_stride *
                                   (arguments.passed == PASSED_FLOAT ? sizeof(float) : 2));
  if (product->wgmma) {
    wgmma_slice(list, name, first, &arguments);
    return;
  }
  struct gpu_launch launch = {.grid = {(unsigned)product->blocks, (unsigned)product->splits, 1},
                              .block = MATRIX_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = product->shared_bytes,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "%smatrix_%s_%s_%s_%d", operands_kind(product),
           gpu_element_names[product->weights], gpu_element_names[product->activations],
           operands_epilogue(plan, name, "store"), product->warp_columns);
  operands_add(list, name, &launch, &arguments);
}

void launch_rounded(struct launch_list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  for (int first = 0; first < (product->routed ? 1 : plan->request.batch); first += product->slice)
    matrix_slice(list, name, first);
}

void launch_matrix(struct launch_list *list, enum product_name name) {
  launch_round(list, name);
  if (name == PRODUCT_EXPERT_GATE_UP)
    launch_gather(list, name);
  launch_rounded(list, name);
}
