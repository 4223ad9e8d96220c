// families: a small model of every family that decode.h can express, with sizes of which no two are
// equal, so that mix-ups show.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_FAMILIES_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_FAMILIES_H

#include "kernels/decode.h"

#include <stddef.h>

struct family {
  const char *name; // named after a model of that family
  struct decode_shape shape;
};

extern const struct family families[];
extern const size_t family_count;

// Prints a request as one line of JSON, with decode.h's names, and the oracle's results: logits and
// chosen experts after two steps, the second of which starts from the tokens that the first chose;
// and, if the request has a chunk, prompt_logits: a prompt of that many tokens (7, 14, ... mod
// vocab) prefilled into the last row, followed by a step from token 0.
void family_print(const char *name, const struct decode_request *request);

#endif
