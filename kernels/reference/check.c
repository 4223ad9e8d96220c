#include "kernels/reference/check.h"

#include "kernels/reference/stages.h"

#include <math.h>
#include <stddef.h>

double reference_tolerance(const struct decode_types *types) {
  if (types->activations == ELEMENT_E4M3 && types->head == ELEMENT_E4M3)
    return 8e-2;
  static const double tolerances[] = {
      [ELEMENT_F32] = 1e-3,
      [ELEMENT_BF16] = 1e-2,
      [ELEMENT_E4M3] = 5e-2,
      [ELEMENT_INT8] = 2e-2,
  };
  return tolerances[types->activations];
}

// norm(logits - oracle) / norm(oracle); infinite if a logit is not finite.
static double relative_error(const float *logits, const double *oracle, size_t count) {
  double difference = 0, norm = reference_dot(oracle, oracle, count);
  for (size_t i = 0; i < count; i++) {
    double off = (double)logits[i] - oracle[i];
    difference += off * off;
  }
  if (difference == 0)
    return 0;
  return isfinite(difference) && norm > 0 ? sqrt(difference / norm) : INFINITY;
}

static double token_shortfall(const double *oracle, size_t count, int token) {
  if (token < 0 || (size_t)token >= count)
    return INFINITY;
  double missed = oracle[reference_largest(oracle, count)] - oracle[token];
  return missed > 0 ? missed / (double)reference_magnitude(oracle, count) : 0;
}

bool reference_greedy(const float *logits, size_t count, int token) {
  if (token < 0 || (size_t)token >= count)
    return false;
  size_t chosen = (size_t)token;
  for (size_t i = 0; i < count; i++)
    if (i < chosen ? logits[i] >= logits[chosen] : logits[i] > logits[chosen])
      return false;
  return true;
}

static double row_distance(const float *logits, int token, const float *other, int other_token,
                           size_t vocab) {
  double norm = 0, apart = 0, largest = 0;
  for (size_t i = 0; i < vocab; i++) {
    const double off = (double)logits[i] - other[i];
    norm += (double)other[i] * other[i];
    apart += off * off;
    largest = fmax(largest, fabs((double)other[i]));
  }
  if (!isfinite(apart) || !(norm > 0) || !reference_greedy(logits, vocab, token))
    return INFINITY;
  const double missed = ((double)other[other_token] - other[token]) / largest;
  return fmax(sqrt(apart / norm), missed);
}

double reference_distance(const float *logits, const int *tokens, const float *other,
                          const int *other_tokens, size_t rows, size_t vocab) {
  double worst = 0;
  for (size_t row = 0; row < rows; row++)
    worst = fmax(worst, row_distance(logits + row * vocab, tokens[row], other + row * vocab,
                                     other_tokens[row], vocab));
  return worst;
}

struct reference_verdict reference_check(const struct reference *r, const float *logits,
                                         const int *tokens, double tolerance) {
  const size_t batch = (size_t)reference_request(r)->batch;
  const size_t vocab = (size_t)reference_request(r)->shape.vocab;
  struct reference_verdict verdict = {.greedy = true, .routing = reference_routing_shortfall(r)};
  for (size_t b = 0; b < batch; b++) {
    const double *oracle = reference_logits(r) + b * vocab;
    const float *row = logits + b * vocab;
    verdict.error = fmax(verdict.error, relative_error(row, oracle, vocab));
    verdict.shortfall = fmax(verdict.shortfall, token_shortfall(oracle, vocab, tokens[b]));
    verdict.greedy = verdict.greedy && reference_greedy(row, vocab, tokens[b]);
  }
  verdict.pass = verdict.error <= tolerance && verdict.shortfall <= tolerance &&
                 verdict.routing <= tolerance && verdict.greedy;
  return verdict;
}
