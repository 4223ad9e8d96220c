// oracle: what the tests' backends share: the reference decodes for them.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_ORACLE_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_ORACLE_H

#include "kernels/reference/reference.h"

// One step, with its tokens fed back.
void oracle_step(struct reference *reference);

// decode.h's tokens and logits: [batch] and [batch][vocab], the logits multiplied by `factor`: 1
// unless a backend should be wrong.
void oracle_tokens(const struct reference *reference, const struct decode_request *request,
                   int *out);
void oracle_logits(const struct reference *reference, const struct decode_request *request,
                   float factor, float *out);

// For backends without matrix units to time.
enum decode_status oracle_matrix_rate(int device, const struct decode_types *types, int threads,
                                      double *operations_per_s);

#endif
