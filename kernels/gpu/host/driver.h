// driver: what the host side needs from a GPU runtime: driver_runtime.c, with CUDA or HIP under it,
// or the tests' emulator. One table of functions; a backend is linked with exactly one, called
// gpu_driver. All work goes into one queue per context, in order.
//
// Every function checks every call of the runtime. On failure it returns a status as decode.h means
// it, and error() says what failed and, if something can be done about it, what. A missing driver,
// library or device is DECODE_NO_DEVICE; a lost device or a failed kernel is DECODE_FAILED, and so
// is every call after it.
//
// Contexts of several devices can be joined, so that launches of ALL_REDUCE_SUM and ALL_REDUCE_MAX
// (arguments.h) meet: each context is then used by a thread of its own, and a launch may wait for
// the others'.
#ifndef PERTOKEN_KERNELS_GPU_HOST_DRIVER_H
#define PERTOKEN_KERNELS_GPU_HOST_DRIVER_H

#include "kernels/decode.h"
#include "kernels/gpu/host/tuning.h"

#include <stdbool.h>
#include <stddef.h>

struct gpu_device {
  struct decode_device described;
  char architecture[16]; // "sm_90", "gfx942"
  int warp;
  size_t shared_bytes; // that one block may take
  bool any_chunk;      // matrix kernels also take chunks shorter than MATRIX_CHUNK: arguments.h
  bool overlap;        // programmatic dependent launch
  bool wgmma;          // the matrix unit and copy engine of sm_90a
  bool cooperative;    // launches whose blocks wait for each other, and kernels for them
  struct gpu_tuning tuning;
};

struct gpu_launch {
  char kernel[48];
  unsigned grid[3], block;
  size_t shared_bytes;
  const void *arguments; // copied by the call
  size_t argument_bytes;
  struct tensor_map *maps; // the first of the arguments, as tensor_map is to make them
  int map_count;
  bool cooperative; // all blocks are resident at a time, or the launch fails
  int carveout;     // percent of a multiprocessor's shared memory asked for; 0: the driver's choice
};

struct tensor_map;  // arguments.h
struct gpu_context; // a device opened, its code loaded, its queue
struct gpu_graph;   // launches to be repeated

struct gpu_driver {
  const char *name;          // "cuda"
  const char *build;         // a hash over the kernels' sources, or a version
  int (*device_count)(void); // 0 without any, or without a driver: error() says why
  enum decode_status (*describe)(int device, struct gpu_device *out);
  enum decode_status (*open)(int device, struct gpu_context **out);
  void (*close)(struct gpu_context *); // NULL is allowed

  enum decode_status (*allocate)(struct gpu_context *, size_t bytes, void **out);
  void (*release)(struct gpu_context *, void *); // NULL is allowed
  enum decode_status (*set)(struct gpu_context *, void *, int byte, size_t bytes);
  enum decode_status (*copy_in)(struct gpu_context *, void *device, const void *host, size_t bytes);
  enum decode_status (*copy_out)(struct gpu_context *, void *host, const void *device,
                                 size_t bytes); // after all that is queued
  enum decode_status (*launch)(struct gpu_context *, const struct gpu_launch *);
  enum decode_status (*wait)(struct gpu_context *);

  // Makes of a matrix what a kernel takes, in place: arguments.h. DECODE_UNSUPPORTED without wgmma.
  enum decode_status (*tensor_map)(struct gpu_context *, struct tensor_map *);

  // With `recorded`, as one graph of the runtime's if possible; else launched one by one.
  // graph_form says which.
  enum decode_status (*graph_make)(struct gpu_context *, const struct gpu_launch *, size_t count,
                                   bool recorded, struct gpu_graph **out);
  enum decode_status (*graph_run)(struct gpu_context *, struct gpu_graph *, int times);
  void (*graph_free)(struct gpu_context *, struct gpu_graph *); // NULL is allowed
  void (*graph_form)(const struct gpu_graph *, struct decode_step_form *out);

  // Joins contexts of different devices; called by one thread. DECODE_NO_DEVICE if there is no
  // library for it.
  enum decode_status (*join)(struct gpu_context *const *contexts, int count);
  // What has gone wrong between them without any call reporting it; DECODE_OK: nothing.
  enum decode_status (*look)(struct gpu_context *const *contexts, int count);
  // With `broken`, after a failure: whatever waits for the others soon ends, with or without an
  // error, while the contexts' own threads are still at work. Without it, once they no longer are
  // and their graphs are freed: ends the joining.
  void (*part)(struct gpu_context *const *contexts, int count, bool broken);
  const char *(*joined_by)(void); // the library: "NCCL 2.28.9"; "" for none

  // Device time between the two, of what was queued in between; stop waits.
  enum decode_status (*timer_start)(struct gpu_context *);
  enum decode_status (*timer_stop)(struct gpu_context *, double *seconds);

  const char *(*error)(void); // "" if none
};

extern const struct gpu_driver gpu_driver;

#endif
