// matrix: the launches of products for many batch rows: their input is rounded, gathered for
// experts, and then multiplied by the matrix unit, in slices of the batch.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_MATRIX_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_MATRIX_H

#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"

void launch_matrix(struct launch_list *list, enum product_name name);
// The rounded input of such a product, from the batch rows.
void launch_round(struct launch_list *list, enum product_name name);

#endif
