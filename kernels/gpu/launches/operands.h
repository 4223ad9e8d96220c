// operands: what the products of a step read and write, and the resulting parts of their kernels'
// names. Common to vector and matrix kernels.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_OPERANDS_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_OPERANDS_H

#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

struct operands {
  const char *stage, *prologue, *epilogue;
  enum plan_region weights, second, input, norm, output; // NO_REGION: no such region
  enum plan_region norm_bias, bias, second_bias;
};
struct operands operands_of(const struct plan *plan, enum product_name name);

// The epilogue in a kernel's name. `part` replaces it if the rank makes a part of a sum over ranks,
// and for matrix kernels.
const char *operands_epilogue(const struct plan *plan, enum product_name name, const char *part);

// The beginning of a kernel's name: "expert_", "heads_" or "".
const char *operands_kind(const struct plan_product *product);

// Floats from one batch row to the next in the product's input; for a product by heads, where the
// parts of a row are contiguous, from one head to the next; otherwise 0.
int operands_input_stride(const struct plan *plan, enum product_name name);
int operands_input_step(const struct plan *plan, enum product_name name);

// The arguments that do not depend on how the product is divided.
struct product_arguments operands_arguments(const struct launch_list *list, enum product_name name);

// Adds the product's launch; for routed experts with the grid and arguments of their items, for
// heads with theirs.
void operands_add(struct launch_list *list, enum product_name name, struct gpu_launch *launch,
                  const struct product_arguments *product);

#endif
