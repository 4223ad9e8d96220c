#include "tests/support/kernels/oracle.h"

#include <string.h>

void oracle_step(struct reference *reference) {
  reference_step(reference);
  reference_set_tokens(reference, reference_tokens(reference));
}

void oracle_tokens(const struct reference *reference, const struct decode_request *request,
                   int *out) {
  memcpy(out, reference_tokens(reference), (size_t)request->batch * sizeof *out);
}

void oracle_logits(const struct reference *reference, const struct decode_request *request,
                   float factor, float *out) {
  const double *exact = reference_logits(reference);
  const size_t count = (size_t)request->batch * (size_t)request->shape.vocab;
  for (size_t i = 0; i < count; i++)
    out[i] = (float)exact[i] * factor;
}

enum decode_status oracle_matrix_rate(int device, const struct decode_types *types, int threads,
                                      double *operations_per_s) {
  (void)device, (void)types, (void)threads, (void)operations_per_s;
  return DECODE_UNSUPPORTED;
}
