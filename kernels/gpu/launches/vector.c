#include "kernels/gpu/launches/vector.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stdio.h>

void launch_vector(struct launch_list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  const struct operands operands = operands_of(plan, name);
  struct product_arguments arguments = operands_arguments(list, name);
  arguments.input = list_shared_at(list, operands.input);
  arguments.norm = list_vector_at(list, operands.norm);
  arguments.norm_bias = list_vector_at(list, operands.norm_bias);
  arguments.epsilon = plan->request.shape.norm_epsilon;
  struct gpu_launch launch = {.grid = {(unsigned)product->blocks, 1, 1},
                              .block = VECTOR_THREADS,
                              .shared_bytes = product->shared_bytes,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "%svector_%s_%s_%s_%s_%d", operands_kind(product),
           gpu_element_names[product->weights], gpu_element_names[product->activations],
           operands.prologue, operands_epilogue(plan, name, operands.epilogue), plan->vector_rows);
  operands_add(list, name, &launch, &arguments);
}
