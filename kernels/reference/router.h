// router: which experts a position goes to and with what weight, from one vector of the router's
// outputs r[count]; decode.h has the three kinds.
#ifndef PERTOKEN_KERNELS_REFERENCE_ROUTER_H
#define PERTOKEN_KERNELS_REFERENCE_ROUTER_H

#include "kernels/decode.h"

#include <stdbool.h>

// The scores that decide the choice, [count]: r itself, or sigmoid(r) + bias (NULL: none).
void router_scores(const struct decode_experts *experts, const double *r, const double *bias,
                   double *scores);

// The model's own choice: [chosen].
void router_choose(const struct decode_experts *experts, const double *scores, int *chosen);

// The weights of the chosen experts, however they were chosen: [chosen] each, sorted by weight, the
// largest first and of equals the lower expert.
void router_weigh(const struct decode_experts *experts, const double *r, int *chosen,
                  double *weights);

// By how much a choice, in any order, misses the scores' own choice, over their largest magnitude:
// the most by which the score of an expert left out exceeds one taken, or that of a group left out
// one of a group taken. Infinite if the experts do not exist, are repeated, or are in too many
// groups.
double router_shortfall(const struct decode_experts *experts, const double *scores,
                        const int *chosen);

// Whether two choices are the same experts.
bool router_same(const struct decode_experts *experts, const int *a, const int *b);

#endif
