// stages: what a decode step does with one vector, each stage separately and in double precision;
// also for checking a kernel by itself. decode.h has the formulas.
#ifndef PERTOKEN_KERNELS_REFERENCE_STAGES_H
#define PERTOKEN_KERNELS_REFERENCE_STAGES_H

#include "kernels/decode.h"

#include <stddef.h>

double reference_dot(const double *a, const double *b, size_t count);

// out = x / sqrt(mean(x^2) + epsilon) * weight; out may be x.
void reference_rmsnorm(const double *x, const double *weight, size_t count, double epsilon,
                       double *out);
// out = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias; out may be x.
void reference_layernorm(const double *x, const double *weight, const double *bias, size_t count,
                         double epsilon, double *out);

// Applies rope to the rope_width values of a head, in place.
void reference_rope(const struct decode_shape *shape, int position, double *values);

// Turns scores into weights that sum to 1.
void reference_softmax(double *scores, size_t count);

// A softmax with an attention sink: a score that takes part but gets no weight.
void reference_softmax_beside(double *scores, size_t count, double sink);

// query and out [heads][head_dim]; keys and values [count][kv_heads][head_dim]; sinks [heads], or
// NULL; scores [count] is scratch space.
void reference_attention(const struct decode_shape *shape, int count, const double *query,
                         const float *keys, const float *values, const double *sinks,
                         double *scores, double *out);

// The factor for q.k.
double reference_score_factor(const struct decode_shape *shape);

double reference_sigmoid(double x);

// gate = the input of down, from gate and up; in an MLP without a gate, from up alone.
void reference_activation(enum decode_mlp kind, double *gate, const double *up, size_t count);

// Rounds x in place to values of `type`: F32 leaves it unchanged; INT8 and E4M3 use a separate
// scale for the vector. x, the scale and their quotient are floats here, as in a backend, so that
// both round a quotient halfway between two steps the same way.
void reference_round(enum element type, double *x, size_t count);

// A value as the cache stores it.
float reference_kv_round(enum element type, double value);

// The index of the largest value, the first of equals.
size_t reference_largest(const double *values, size_t count);
// The largest magnitude, as a float.
float reference_magnitude(const double *values, size_t count);

#endif
