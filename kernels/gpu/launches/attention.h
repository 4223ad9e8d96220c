// attention: the launches of a layer's attention.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_ATTENTION_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_ATTENTION_H

#include "kernels/gpu/launches/list.h"

void launch_attention(struct launch_list *list);
// Attention of a piece of a prompt, including what writes its keys and values to the cache.
void launch_prompt_attention(struct launch_list *list);

#endif
