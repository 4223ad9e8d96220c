// rounding: what enters products with weights, rounded as decode.h says.
#ifndef PERTOKEN_KERNELS_REFERENCE_ROUNDING_H
#define PERTOKEN_KERNELS_REFERENCE_ROUNDING_H

#include "kernels/decode.h"
#include "kernels/reference/state.h"

#include <stddef.h>

// A vector of each item to types.activations.
void reference_round_all(const struct reference *reference, double *vectors, size_t width);

// `count` vectors of which each rank has a part, rounded by itself.
void reference_round_parts(const struct reference *reference, double *vectors, size_t count,
                           size_t width);

// What enters products with BF16 weights whatever the others are: router, k_b, v_b.
enum element reference_fine(const struct reference *reference);

// What enters the head: one in BF16 takes no narrower activations.
enum element reference_head_activations(const struct decode_types *types);

#endif
