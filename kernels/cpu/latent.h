// latent: what latent attention does beside attention itself: queries made and brought among the
// latents by k_b, sums of latents brought back by v_b. A position's latent is stored by attention.c.
#ifndef PERTOKEN_KERNELS_CPU_LATENT_H
#define PERTOKEN_KERNELS_CPU_LATENT_H

#include "kernels/cpu/worker.h"

#include <stddef.h>

// Entered by all threads, after the first product of the layer's attention; leaves what attention
// takes as queries.
void cpu_latent_queries(const struct worker *worker, size_t layer);

// Entered by all threads, after attention; leaves the heads' outputs in BLOCK_ATTENDED.
void cpu_latent_outputs(const struct worker *worker, size_t layer);

#endif
