#include "probe/measure/one_step.h"

#include <math.h>
#include <stddef.h>

enum decode_status one_step(const struct decode_backend *backend, struct decode_state *state,
                            const struct decode_request *request, float *logits, int *tokens) {
  const size_t rows = (size_t)request->batch;
  for (size_t i = 0; i < rows * (size_t)request->shape.vocab; i++)
    logits[i] = NAN;
  for (size_t row = 0; row < rows; row++)
    tokens[row] = -1;
  enum decode_status status = backend->run(state, 1);
  if (status == DECODE_OK)
    status = backend->logits(state, logits);
  return status == DECODE_OK ? backend->tokens(state, tokens) : status;
}
