// failure: the last failure of the calling thread in words, for decode_backend.error.
#ifndef PERTOKEN_KERNELS_GPU_HOST_FAILURE_H
#define PERTOKEN_KERNELS_GPU_HOST_FAILURE_H

#include "kernels/decode.h"

// Stores the words, and returns the status.
enum decode_status failure_keep(enum decode_status status, const char *words);

// Stores the driver's words, unless the status is DECODE_OK, and returns the status.
enum decode_status failure_told(enum decode_status status);

// "" before any failure.
const char *failure_words(void);

#endif
