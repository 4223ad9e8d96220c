// backend: the decode backend for CPUs (decode.h), which is always linked in.
#ifndef PERTOKEN_KERNELS_CPU_BACKEND_H
#define PERTOKEN_KERNELS_CPU_BACKEND_H

#include "kernels/decode.h"

extern const struct decode_backend cpu_backend;

#endif
