// families: a small model of every family that decode.h can tell, at sizes of which no two are equal,
// so that one mixed up with another shows.
#ifndef PERTOKEN_TESTS_FAMILIES_H
#define PERTOKEN_TESTS_FAMILIES_H

#include "kernels/decode.h"

#include <stddef.h>

struct family {
  const char *name; // after a model that is built so
  struct decode_shape shape;
};

extern const struct family families[];
extern const size_t family_count;

// Prints a request as one line of JSON, in the names of decode.h, with what the oracle computes:
// logits and chosen experts after two steps, of which the second starts from the tokens that the
// first chose; and where the request has a chunk, prompt_logits: a prompt of so many tokens (7, 14,
// ... mod vocab) prefilled into the last row, and a step after it from token 0.
void family_print(const char *name, const struct decode_request *request);

#endif
