// latent: the parts of latent attention outside attention itself: making queries and mapping them
// to the latents' space by k_b, and mapping sums of latents back by v_b. attention.c stores a
// position's latent.
#ifndef PERTOKEN_KERNELS_CPU_LATENT_H
#define PERTOKEN_KERNELS_CPU_LATENT_H

#include "kernels/cpu/worker.h"

#include <stddef.h>

// All threads enter, after the first product of the layer's attention; leaves the queries for
// attention.
void cpu_latent_queries(const struct worker *worker, size_t layer);

// All threads enter, after attention; leaves the heads' outputs in BLOCK_ATTENDED.
void cpu_latent_outputs(const struct worker *worker, size_t layer);

#endif
