// experts: the launches of a mixture of experts.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_EXPERTS_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_EXPERTS_H

#include "kernels/gpu/launches/list.h"

// The MLP of a layer that has experts.
void launch_experts(struct launch_list *list);

#endif
