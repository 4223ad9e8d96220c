// cache: what the earlier positions of a batch row left, and which of them a layer sees.
#ifndef PERTOKEN_KERNELS_REFERENCE_CACHE_H
#define PERTOKEN_KERNELS_REFERENCE_CACHE_H

#include "kernels/reference/state.h"
#include "kernels/weights.h"

#include <stddef.h>

// A layer's cache: TENSOR_KEYS, TENSOR_VALUES or TENSOR_LATENTS, [batch][context][width].
float *reference_cache_of(const struct reference *reference, enum tensor tensor, int layer);

// The positions that an item attends to: `count` from `first` on.
struct reference_span {
  size_t first, count;
};
struct reference_span reference_span_of(const struct reference *reference, int layer,
                                        const struct reference_item *item);

#endif
