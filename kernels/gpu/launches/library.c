#include "kernels/gpu/launches/library.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/matrix.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/experts.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/vendor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct vendor_size library_size(const struct plan *plan, enum product_name name, int batch) {
  const struct plan_product *product = &plan->product[name];
  return (struct vendor_size){.element = product->weights,
                              .vectors = product->routed ? experts_library_vectors(batch)
                                                         : gpu_plan_library_vectors(batch),
                              .rows = product->rows,
                              .stride = product->stride};
}

// `activations` are of `batch` rows.
static void multiply(struct launch_list *list, enum product_name name, const void *weights,
                     const void *activations, int batch, float *out, int rest) {
  const struct plan *plan = list->plan;
  const struct vendor_arguments arguments = {
      .multiplied = {.size = library_size(plan, name, batch),
                     .weights = weights,
                     .activations = activations,
                     .out = out,
                     .workspace = list_shared_at(list, REGION_WORKSPACE)},
      .product = (int)name,
      .layer = list->layer,
      .rest = rest,
  };
  const struct gpu_launch launch = {
      .kernel = VENDOR_MULTIPLY, .grid = {1, 1, 1}, .block = 1, .argument_bytes = sizeof arguments};
  list_add(list, operands_of(plan, name).stage, &launch,
           &(union launch_arguments){.vendor = arguments});
}

static void finish(struct launch_list *list, enum product_name name,
                   const struct product_arguments *product, enum plan_region scales,
                   const float *sums, const float *second_sums) {
  const struct plan *plan = list->plan;
  const unsigned rows = (unsigned)product->rows;
  struct finish_arguments arguments = {
      .product = *product, .sums = sums, .second_sums = second_sums};
  if (plan->product[name].rounded != ELEMENT_BF16)
    arguments.product.activation_scales = list_shared_at(list, scales);
  struct gpu_launch launch = {
      .grid = {(rows + SMALL_THREADS - 1) / SMALL_THREADS, (unsigned)product->batch, 1},
      .block = SMALL_THREADS,
      .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "finish_%s",
           operands_epilogue(plan, name, "store"));
  list_add(list, "finish", &launch, &(union launch_arguments){.finish = arguments});
}

// The products with `product`'s matrices and what follows them. Activations and, for E4M3, their
// scales are at the beginning of these regions.
static void multiply_and_finish(struct launch_list *list, enum product_name name,
                                const struct product_arguments *product,
                                enum plan_region activations, enum plan_region scales) {
  const void *from = list_shared_at(list, activations);
  float *sums = list_shared_at(list, REGION_SUMS);
  float *second = product->second ? sums + gpu_plan_library_sums(list->plan, name) : NULL;
  multiply(list, name, product->weights, from, product->batch, sums, second ? 2 : 1);
  if (second)
    multiply(list, name, product->second, from, product->batch, second, 1);
  finish(list, name, product, scales, sums, second);
}

// The host makes the launches later.
static void leave_to_the_host(struct launch_list *list, enum product_name name) {
  const struct vendor_arguments arguments = {.product = (int)name, .layer = list->layer};
  const struct gpu_launch launch = {
      .kernel = VENDOR_EXPERTS, .grid = {1, 1, 1}, .block = 1, .argument_bytes = sizeof arguments};
  list_add(list, operands_of(list->plan, name).stage, &launch,
           &(union launch_arguments){.vendor = arguments});
}

void launch_by_library(struct launch_list *list, enum product_name name) {
  if (list->plan->product[name].routed) {
    leave_to_the_host(list, name);
    return;
  }
  const struct product_arguments product = operands_arguments(list, name);
  launch_round(list, name);
  multiply_and_finish(list, name, &product, launch_activations(list->plan, name),
                      REGION_ACTIVATION_SCALES);
}

// ---- experts

// The arguments of a run's expert, as expert_product (device/experts.h) makes them for an item.
static struct product_arguments arguments_of_expert(const struct launch_list *list,
                                                    enum product_name name,
                                                    const struct expert_run *run) {
  struct product_arguments product = operands_arguments(list, name);
  const size_t rows = (size_t)run->expert * (size_t)product.rows;
  const size_t weights = rows * gpu_plan_row_bytes(&list->plan->product[name]);
  product.weights = (const char *)product.weights + weights;
  if (product.second)
    product.second = (const char *)product.second + weights;
  product.scales += product.scales ? rows : 0;
  product.second_scales += product.second_scales ? rows : 0;
  product.bias += product.bias ? rows : 0;
  product.second_bias += product.second_bias ? rows : 0;
  product.output += (size_t)run->first * (size_t)product.output_stride;
  product.batch = run->count;
  return product;
}

static void launch_expert(struct launch_list *list, enum product_name name,
                          const struct expert_run *run) {
  const struct product_arguments product = arguments_of_expert(list, name, run);
  const int padded = experts_library_vectors(run->count);
  if (name == PRODUCT_EXPERT_GATE_UP)
    launch_gather_rows(list, name, run->first, run->count, padded);
  else
    launch_round_rows(list, name, run->first, run->count, padded);
  multiply_and_finish(list, name, &product, REGION_GATHERED, REGION_GATHERED_SCALES);
}

// Gate and up round the batch rows for both; down rounds what experts made, slot by slot.
void launch_expert_runs(struct launch_list *list, enum product_name name) {
  const struct expert_run *const end = list->runs + list->run_count;
  const bool up = name == PRODUCT_EXPERT_GATE_UP;
  bool own = false;
  for (const struct expert_run *run = list->runs; run < end; run++)
    own |= !run->library;
  if (up || own)
    launch_round(list, name);
  if (up && own)
    launch_gather(list, name);
  for (list->run = list->runs; list->run < end; list->run++)
    if (!list->run->library)
      launch_rounded(list, name);
  list->run = NULL;
  for (const struct expert_run *run = list->runs; run < end; run++)
    if (run->library)
      launch_expert(list, name, run);
}
