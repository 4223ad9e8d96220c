// collectives: the library with which several devices add up their parts: NCCL with CUDA, RCCL with
// HIP, loaded at run time. RCCL has NCCL's interface, so one table serves both.
//
// The declarations follow NCCL 2.28's nccl.h and "NCCL API" in NVIDIA's NCCL documentation
// (unchanged since 2.4, which added ncclCommAbort and ncclCommGetAsyncError); RCCL's rccl.h has the
// same names and numbers ("RCCL API" in AMD's ROCm documentation). Handles are the library's own
// pointers; its enumerations are declared as int.
#ifndef PERTOKEN_KERNELS_GPU_HOST_COLLECTIVES_H
#define PERTOKEN_KERNELS_GPU_HOST_COLLECTIVES_H

#include "kernels/gpu/host/library_file.h"

#include <stddef.h>

enum {
  COLLECTIVES_FLOAT = 7, // ncclFloat32
  COLLECTIVES_UINT64 = 5,
  COLLECTIVES_SUM = 0, // ncclSum
  COLLECTIVES_MAX = 2,
  COLLECTIVES_IN_PROGRESS = 7, // ncclInProgress: no error
};

struct gpu_collectives {
  char name[64]; // "NCCL 2.28.9"
  int (*version)(int *);
  // A communicator for each device, made by one thread.
  int (*init_all)(void **communicators, int count, const int *devices);
  int (*all_reduce)(const void *from, void *to, size_t count, int type, int operation,
                    void *communicator, void *stream);
  int (*destroy)(void *communicator);
  int (*abort)(void *communicator); // ends anything that waits; any thread may call it
  int (*async_error)(void *communicator, int *error);
  const char *(*error_string)(int);
};

// Loads the library on the first call. NULL, with *why in words, if there is none.
const struct gpu_collectives *gpu_collectives(const struct library_file *file, const char **why);

#endif
