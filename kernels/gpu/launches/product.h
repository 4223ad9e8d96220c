// product: the launches of a step's product, by whichever kernels the plan uses for it.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_PRODUCT_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_PRODUCT_H

#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"

void launch_product(struct launch_list *list, enum product_name name);

#endif
