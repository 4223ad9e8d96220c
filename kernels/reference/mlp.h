// mlp: the second half of a layer, dense or with experts, for all items of a pass.
#ifndef PERTOKEN_KERNELS_REFERENCE_MLP_H
#define PERTOKEN_KERNELS_REFERENCE_MLP_H

#include "kernels/reference/state.h"

// mlp_output = the MLP of x.
void reference_mlp(struct reference *reference, int layer);

#endif
