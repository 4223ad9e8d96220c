// reference: the decode step of decode.h in double precision, the oracle that every backend is
// checked against. Written to be read, not to be fast.
//
// Weights are worth exactly what weights.h says that a backend holds; activations and cache entries
// are rounded where decode.h says so; all sums, norms, exponentials and angles are double. Weights
// are computed from the seed as they are read, so that a large model needs little memory: the cache
// (4 bytes an element), logits, and the few tensors that a test has asked for.
#ifndef PERTOKEN_KERNELS_REFERENCE_H
#define PERTOKEN_KERNELS_REFERENCE_H

#include "kernels/decode.h"
#include "kernels/weights.h"

#include <stddef.h>

struct reference;

// Fills the cache from the seed; the first tokens are (seed + row) mod vocab. Of several ranks it
// is the whole model, rounded as they round it. NULL and *status DECODE_UNSUPPORTED (a shape or a
// mix of types that decode.h does not know) or DECODE_NO_MEMORY.
struct reference *reference_create(const struct decode_request *request,
                                   enum decode_status *status);
void reference_destroy(struct reference *reference); // NULL is allowed

// The tokens [batch] that the next step starts from. -1, and nothing set, if one is no token.
int reference_set_tokens(struct reference *reference, const int *tokens);

// One step for all rows of the batch.
void reference_step(struct reference *reference);

// After a step: logits [batch][vocab] and the tokens chosen from them [batch], valid until the
// next.
const double *reference_logits(const struct reference *reference);
const int *reference_tokens(const struct reference *reference);

// For tests. A tensor of weights or norms in the shape of decode.h, to be read or overwritten: from
// now on the step reads this copy, unrounded. NULL without memory. layer 0 outside the layers.
double *reference_tensor(struct reference *reference, enum tensor tensor, int layer);
// The cache itself: TENSOR_KEYS or TENSOR_VALUES, [batch][context][kv_heads * head_dim].
float *reference_cache(struct reference *reference, enum tensor tensor, int layer);

// The stages, on one vector each, for checking a kernel by itself.
// out = x / sqrt(mean(x^2) + epsilon) * weight; out may be x.
void reference_rmsnorm(const double *x, const double *weight, size_t count, double epsilon,
                       double *out);
// Turns the pairs of one head in place.
void reference_rope(double *head, int head_dim, int position, double theta);
// query and out [heads][head_dim]; keys and values [context][kv_heads][head_dim]; scores [context]
// is room to work in.
void reference_attention(const struct decode_shape *shape, int context, const double *query,
                         const float *keys, const float *values, double *scores, double *out);
// Rounds x in place to what `type` can hold: F32 leaves it alone, INT8 and E4M3 with a scale of
// their own for the vector. x, the scale and their quotient are floats here, as in a backend, so
// that both send a quotient halfway between two steps the same way.
void reference_round(enum element type, double *x, size_t count);

// The largest relative error that reference_check lets pass, by what enters the products. Once one
// sum falls on the other side of a rounding boundary, the difference spreads through every later
// rounding, up to the rounding noise itself. Measured with float sums and with queries and softmax
// weights in bf16, 3 layers at context 4 and 64 and 32 at 64, as the largest error of a correct
// step:
//   F32        1e-3  9.8e-4, all of it from bf16 queries and softmax weights; 9e-7 without those
//   BF16       1e-2  4.1e-3
//   INT8       2e-2  1.2e-2
//   E4M3       5e-2  3.7e-2, in 50 steps of random small shapes
//     its head 8e-2  5.5e-2, in 70 of them
// So this cannot tell whether activations were rounded at all; reference_round on a kernel's own
// input can.
double reference_tolerance(const struct decode_types *types);

struct reference_verdict {
  bool pass;
  double error;     // norm(device - oracle) / norm(oracle), largest over the rows; infinite when a
                    // logit is not finite
  double shortfall; // by how much the oracle's logit of the device's token misses the oracle's
                    // largest, over its largest magnitude, largest over the rows
  bool greedy;      // each token is the first of the largest of its own logits
};

// Compares a device's logits [batch][vocab] and the tokens [batch] it chose from them with the
// reference's last step, which must have started from the same tokens (random weights make logits
// nearly tie, so that the device's choice may differ and the two must be kept together). Passes
// when neither error nor shortfall exceeds the tolerance and the choice is greedy. Short contexts
// show more: a slot left out moves the logits by 0.03 of their norm among 64, by 0.3 among 4.
struct reference_verdict reference_check(const struct reference *reference, const float *logits,
                                         const int *tokens, double tolerance);

#endif
