// matrix: the launches of products for many batch rows: their input is rounded, gathered for
// experts, and then multiplied by the matrix unit, in slices of the batch.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_MATRIX_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_MATRIX_H

#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"

void launch_matrix(struct launch_list *list, enum product_name name);

// The parts of it: the input of the product rounded, from the batch rows, or from the slots if
// experts made it; for gate and up of experts copied to the slots; and multiplied.
// Nothing is rounded, or copied, that comes so.
void launch_round(struct launch_list *list, enum product_name name);
void launch_gather(struct launch_list *list, enum product_name name);
void launch_rounded(struct launch_list *list, enum product_name name);
// The region in which the rounded input then is.
enum plan_region launch_activations(const struct plan *plan, enum product_name name);

// `rows` of the batch rows or slots from `first` on, to the beginning of the memory for all, with
// zeros up to `padded` rows; and likewise the batch rows of `slots` slots.
void launch_round_rows(struct launch_list *list, enum product_name name, int first, int rows,
                       int padded);
void launch_gather_rows(struct launch_list *list, enum product_name name, int first, int slots,
                        int padded);

#endif
