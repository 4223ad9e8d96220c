#include "kernels/gpu/launches/vector.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WARP_BYTES 4096 // of a window of a warp: LOADS_IN_FLIGHT of 16 bytes a lane
#define MAX_TURNS  32   // rows that a warp can ask for: its lanes

// What its warps begin with, by its first `ahead` windows.
static struct product_next beginning(const struct plan_product *product,
                                     const struct product_arguments *arguments) {
  const size_t row = gpu_plan_row_bytes(product);
  const size_t wanted = (size_t)product->ahead * WARP_BYTES / (product->gated ? 2 : 1);
  const size_t turns = row < wanted ? wanted / row : 1;
  return (struct product_next){.weights = arguments->weights,
                               .second = arguments->second,
                               .rows = product->rows,
                               .row_bytes = (int)row,
                               .bytes = (int)(row < wanted ? row : wanted),
                               .turns = (int)(turns < MAX_TURNS ? turns : MAX_TURNS)};
}

// Lets the vector product before this launch ask for its weights, if it is the preceding launch or
// there is only one between, such as attention.
static void ask_before(struct launch_list *list, const struct plan_product *product,
                       const struct product_arguments *arguments) {
  const size_t before = list->vector;
  list->vector = product->routed || product->by_head ? 0 : list->count + 1;
  if (!list->launches || !product->asked || before == 0 || list->count - before > 1)
    return;
  const bool is_alike = (int)list->launches[before - 1].grid[0] == product->blocks;
  if (is_alike && (uint64_t)product->rows * (uint64_t)product->blocks <= UINT32_MAX)
    list->arguments[before - 1].product.next = beginning(product, arguments);
}

void launch_vector(struct launch_list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  const struct operands operands = operands_of(plan, name);
  struct product_arguments arguments = operands_arguments(list, name);
  arguments.input = list_shared_at(list, operands.input);
  arguments.norm = list_vector_at(list, operands.norm);
  arguments.norm_bias = list_vector_at(list, operands.norm_bias);
  arguments.epsilon = plan->request.shape.norm_epsilon;
  arguments.ahead = product->ahead;
  struct gpu_launch launch = {.grid = {(unsigned)product->blocks, 1, 1},
                              .block = VECTOR_THREADS,
                              .shared_bytes = product->shared_bytes,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "%svector_%s_%s_%s_%s_%d", operands_kind(product),
           gpu_element_names[product->weights], gpu_element_names[product->activations],
           operands.prologue, operands_epilogue(plan, name, operands.epilogue), plan->vector_rows);
  ask_before(list, product, &arguments);
  operands_add(list, name, &launch, &arguments);
}
