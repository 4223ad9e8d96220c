#include "kernels/gpu/launches/library.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/matrix.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/vendor.h"

#include <stddef.h>
#include <stdio.h>

struct vendor_size library_size(const struct plan *plan, enum product_name name, int batch) {
  const struct plan_product *product = &plan->product[name];
  return (struct vendor_size){.element = product->weights,
                              .vectors = gpu_plan_library_vectors(batch),
                              .rows = product->rows,
                              .stride = product->stride};
}

static void multiply(struct launch_list *list, enum product_name name, const void *weights,
                     float *out, int rest) {
  const struct plan *plan = list->plan;
  const struct vendor_arguments arguments = {
      .multiplied = {.size = library_size(plan, name, plan->request.batch),
                     .weights = weights,
                     .activations = list_shared_at(list, REGION_ACTIVATIONS),
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

static void finish(struct launch_list *list, enum product_name name, const float *sums,
                   const float *second_sums) {
  const struct plan *plan = list->plan;
  const unsigned rows = (unsigned)plan->product[name].rows;
  struct finish_arguments arguments = {
      .product = operands_arguments(list, name), .sums = sums, .second_sums = second_sums};
  if (plan->product[name].rounded != ELEMENT_BF16)
    arguments.product.activation_scales = list_shared_at(list, REGION_ACTIVATION_SCALES);
  struct gpu_launch launch = {
      .grid = {(rows + SMALL_THREADS - 1) / SMALL_THREADS, (unsigned)plan->request.batch, 1},
      .block = SMALL_THREADS,
      .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "finish_%s",
           operands_epilogue(plan, name, "store"));
  list_add(list, "finish", &launch, &(union launch_arguments){.finish = arguments});
}

void launch_by_library(struct launch_list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  const struct operands operands = operands_of(plan, name);
  float *sums = list_shared_at(list, REGION_SUMS);
  float *second = plan->product[name].gated ? sums + gpu_plan_library_sums(plan, name) : NULL;
  launch_round(list, name);
  multiply(list, name, list_at(list, operands.weights), sums, second ? 2 : 1);
  if (second)
    multiply(list, name, list_at(list, operands.second), second, 1);
  finish(list, name, sums, second);
}
