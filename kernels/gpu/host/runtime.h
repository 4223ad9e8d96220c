// runtime: what CUDA and HIP have in common, as one table of functions, so that one driver
// (driver_runtime.c) serves both: HIP's functions directly (driver_hip.c), CUDA's behind wrappers
// (driver_cuda.c); a plugin is linked with one of the two. Both runtimes use the same error numbers
// (cudaError_t, hipError_t).
//
// Handles are the runtime's own pointers: streams, events, graphs, code, kernels.
#ifndef PERTOKEN_KERNELS_GPU_HOST_RUNTIME_H
#define PERTOKEN_KERNELS_GPU_HOST_RUNTIME_H

#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/library_file.h"
#include "kernels/gpu/host/vendor_products.h"
#include "kernels/gpu/plan/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// Returns 0 or the runtime's error.
struct gpu_runtime {
  const char *vendor;  // "NVIDIA"
  const char *install; // what to do if the driver is missing or too old
  struct library_file collectives;
  struct library_file products; // vendor_products.h: which library, and its names
  enum vendor_kind vendor_kind;
  bool bound_by_host; // some versions refuse to allocate more at once than the host's memory

  int (*device_count)(int *);
  int (*device_set)(int); // of the calling thread
  int (*memory_info)(size_t *free, size_t *total);
  int (*allocate)(void **, size_t);
  int (*release)(void *);
  int (*set)(void *, int byte, size_t, void *stream);
  int (*copy)(void *to, const void *from, size_t, int kind, void *stream);

  int (*stream_create)(void **, unsigned flags);
  int (*stream_destroy)(void *);
  int (*stream_wait)(void *);
  int (*event_create)(void **);
  int (*event_destroy)(void *);
  int (*event_record)(void *event, void *stream);
  int (*event_wait)(void *);
  int (*event_elapsed)(float *milliseconds, void *start, void *stop);

  int (*capture_begin)(void *stream, int mode);
  int (*capture_end)(void *stream, void **graph);
  int (*graph_instantiate)(void **executable, void *graph, unsigned long long flags);
  int (*graph_launch)(void *executable, void *stream);
  int (*graph_destroy)(void *);
  int (*executable_destroy)(void *);

  const char *(*error_name)(int);
  const char *(*error_string)(int);
  int (*error_clear)(void); // the thread's last error, which belongs to no context

  // The embedded code that fits the device; kernels by name.
  int (*code_load)(int device, void **code);
  int (*code_unload)(void *code);
  int (*kernel_find)(void **kernel, void *code, const char *name);
  int (*kernel_shared)(void *kernel, size_t bytes);  // more than 48 KiB must be allowed first
  int (*kernel_carveout)(void *kernel, int percent); // NULL if there is none
  int (*kernel_launch)(void *kernel, const struct gpu_launch *, void *stream, bool overlap);
  int (*kernel_clusters)(void *kernel, const struct gpu_launch *, int *count); // NULL: none
  int (*tensor_map)(struct tensor_map *);              // NULL if there is none
  int (*describe)(int device, struct gpu_device *out); // everything except the memory
};

extern const char gpu_runtime_name[]; // of the backend: "cuda"

// NULL, with *why in words, if there is no such runtime.
const struct gpu_runtime *gpu_runtime(const char **why);

enum {
  RUNTIME_TO_DEVICE = 1, // cudaMemcpyKind, hipMemcpyKind
  RUNTIME_FROM_DEVICE = 2,
  RUNTIME_NON_BLOCKING = 1,      // cudaStreamNonBlocking, hipStreamNonBlocking
  RUNTIME_CAPTURE_OF_THREAD = 1, // cudaStreamCaptureModeThreadLocal and HIP's

  RUNTIME_OUT_OF_MEMORY = 2,
  RUNTIME_STUB_LIBRARY = 34,
  RUNTIME_OLD_DRIVER = 35,
  RUNTIME_NO_DEVICE = 100,
  RUNTIME_NO_CODE = 209,
};

#endif
