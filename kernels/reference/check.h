// check: did a device compute the decode step of decode.h?
#ifndef PERTOKEN_KERNELS_REFERENCE_CHECK_H
#define PERTOKEN_KERNELS_REFERENCE_CHECK_H

#include "kernels/decode.h"
#include "kernels/reference/reference.h"

#include <stdbool.h>
#include <stddef.h>

// The largest relative error that reference_check accepts, by the type of the products' inputs.
// Once one sum falls on the other side of a rounding boundary, the difference spreads through every
// later rounding, up to the rounding noise itself. The largest error of a correct step, measured
// with float sums and with queries and softmax weights in bf16, 3 layers at context 4 and 64 and 32
// at 64:
//   F32        1e-3  9.8e-4, all of it from bf16 queries and softmax weights; 9e-7 without those
//   BF16       1e-2  4.1e-3
//   INT8       2e-2  1.2e-2
//   E4M3       5e-2  3.7e-2, in 50 steps of random small shapes
//     its head 8e-2  5.5e-2, in 70 of them
// For a model of every family, 4 and 8 layers at context 9 and 40, in 240 steps each: at most
// 3.5e-4, 3.9e-3 and 1.5e-2 in F32, BF16 and INT8, and 1.3e-3 for routers' outputs. So this cannot
// tell whether activations were rounded at all; reference_round on a kernel's own input can.
double reference_tolerance(const struct decode_types *types);

struct reference_verdict {
  bool pass;
  double error;     // norm(device - oracle) / norm(oracle), largest over the rows; infinite if a
                    // logit is not finite
  double shortfall; // how far the oracle's logit for the device's token is below the oracle's
                    // largest, over the largest magnitude; largest over the rows
  double routing;   // the same for the experts that reference_set_chosen gave, with the routers'
                    // outputs; largest over layers and rows
  bool greedy;      // each token is the first of the largest of its own logits
};

// Compares a device's logits [batch][vocab] and the tokens [batch] it chose from them with the
// reference's last step, which must have started from the same tokens. (Random weights make logits
// nearly tie, so the device's choice may differ and the two must be kept together; with a mixture
// of experts also by the device's experts.) Passes if neither error nor shortfall nor routing
// exceeds the tolerance and the choice is greedy. Short contexts show more: leaving out a slot
// moves the logits by 0.03 of their norm among 64, by 0.3 among 4.
struct reference_verdict reference_check(const struct reference *reference, const float *logits,
                                         const int *tokens, double tolerance);

// How far a step's results are from those of another that is to compute the same: the larger of the
// distance of the logits, relative to the other's norm, and of how far its own logit for the token
// is below its largest, relative to the largest magnitude; of the worst row. Infinite for logits
// that are not finite and for a token that does not have its row's largest logit. [rows][vocab] and
// [rows]. If both may err by `tolerance`, they may be twice that apart.
double reference_distance(const float *logits, const int *tokens, const float *other,
                          const int *other_tokens, size_t rows, size_t vocab);

// Whether the token is the first of the largest of a row's logits. NaN is never larger.
bool reference_greedy(const float *logits, size_t count, int token);

#endif
