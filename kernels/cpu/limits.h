// limits: whether the CPU's kernels can run a request, and if not, why.
#ifndef PERTOKEN_KERNELS_CPU_LIMITS_H
#define PERTOKEN_KERNELS_CPU_LIMITS_H

#include "kernels/decode.h"

enum { MAX_HEAD_DIM = 512, LIMITS_WORDS = 256 };

// NULL, or why the request cannot be run on one CPU, in `words`: "the CPU kernels need a batch of 1
// to 4096, not 5000".
const char *limits_fault(const struct decode_request *request, char words[LIMITS_WORDS]);

#endif
