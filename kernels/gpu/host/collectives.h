// collectives: the library by which several devices add up their parts: NCCL with CUDA, RCCL with
// HIP, found when the program runs. RCCL has NCCL's interface, so that one table serves both.
//
// The declarations follow NCCL 2.28's nccl.h and "NCCL API" in NVIDIA's NCCL documentation
// (unchanged since 2.4, which added ncclCommAbort and ncclCommGetAsyncError); RCCL's rccl.h has the
// same names and numbers ("RCCL API" in AMD's ROCm documentation). Handles are the library's own
// pointers; int stands for its enumerations.
#ifndef PERTOKEN_KERNELS_GPU_HOST_COLLECTIVES_H
#define PERTOKEN_KERNELS_GPU_HOST_COLLECTIVES_H

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
  int (*abort)(void *communicator); // ends whatever waits; any thread may call it
  int (*async_error)(void *communicator, int *error);
  const char *(*error_string)(int);
};

// Where to look for it.
struct gpu_collectives_source {
  const char *kind;     // "NCCL"
  const char *beside;   // another library, in whose folder to look first; or NULL
  const char *names[4]; // of libraries, ends with NULL
  const char *variable; // of the environment, with the path of another
  const char *install;  // what to do if there is none
};

// Loads it on the first call. NULL, with *why in words, if there is none.
const struct gpu_collectives *gpu_collectives(const struct gpu_collectives_source *source,
                                              const char **why);

#endif
