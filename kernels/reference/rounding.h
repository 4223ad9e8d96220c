// rounding: rounds the inputs of products with weights as decode.h says.
#ifndef PERTOKEN_KERNELS_REFERENCE_ROUNDING_H
#define PERTOKEN_KERNELS_REFERENCE_ROUNDING_H

#include "kernels/decode.h"
#include "kernels/reference/state.h"
#include "kernels/weights.h"

#include <stddef.h>

// Rounds a vector of each item to types.activations.
void reference_round_all(const struct reference *reference, double *vectors, size_t width);

// `count` inputs of a wo or a down; each rank's part of a vector is rounded separately.
void reference_round_parts(const struct reference *reference, enum tensor tensor, double *vectors,
                           size_t count, size_t width);

// The type of the inputs of products whose weights are always BF16: router, k_b, v_b.
enum element reference_fine(const struct reference *reference);

// The type of the head's input: a BF16 head takes no narrower activations.
enum element reference_head_activations(const struct decode_types *types);

#endif
