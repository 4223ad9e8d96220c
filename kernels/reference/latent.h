// latent: attention whose keys and values are one short vector per position (DeepSeek-V2, arXiv
// 2405.04434), with k_b and v_b applied to queries and sums instead of to every position.
#ifndef PERTOKEN_KERNELS_REFERENCE_LATENT_H
#define PERTOKEN_KERNELS_REFERENCE_LATENT_H

#include "kernels/reference/state.h"

// attended = the heads' outputs, before wo, for the normalized and rounded input of each item.
void reference_latent(struct reference *reference, int layer);

#endif
