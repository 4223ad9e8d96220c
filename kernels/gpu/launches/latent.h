// latent: the launches of a layer's latent attention.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_LATENT_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_LATENT_H

#include "kernels/gpu/launches/list.h"

// Everything from the outputs of q_a (or wq) and kv_a to the input of wo.
void launch_latent(struct launch_list *list);

#endif
