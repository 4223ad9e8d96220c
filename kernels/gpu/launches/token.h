// token: the launches at both ends of a step, from tokens to the residual stream and from logits to
// tokens.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_TOKEN_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_TOKEN_H

#include "kernels/gpu/launches/list.h"

void launch_embed(struct launch_list *list);
void launch_sample(struct launch_list *list);

#endif
