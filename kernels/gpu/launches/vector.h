// vector: the launches of products for few batch rows.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_VECTOR_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_VECTOR_H

#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"

void launch_vector(struct launch_list *list, enum product_name name);

#endif
