// driver: what the host side needs from a GPU runtime: driver_runtime.c, with CUDA or HIP under it,
// or the tests' emulator. One table of functions; a backend is linked with exactly one, called
// gpu_driver. All work goes into one queue per context, in order.
//
// Every function checks every call of the runtime. On failure it returns a status as defined in
// decode.h, and error() says what failed and, if something can be done about it, what. A missing
// driver, library or device is DECODE_NO_DEVICE; a lost device or a failed kernel is DECODE_FAILED,
// and every later call then fails the same way.
//
// Contexts of several devices can be joined, so that launches of ALL_REDUCE_SUM and ALL_REDUCE_MAX
// (arguments/token.h) meet: each context is then used by its own thread, and a launch may wait for
// those of the others.
#ifndef PERTOKEN_KERNELS_GPU_HOST_DRIVER_H
#define PERTOKEN_KERNELS_GPU_HOST_DRIVER_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/device.h"

#include <stdbool.h>
#include <stddef.h>

struct tensor_map;     // arguments/wgmma.h
struct vendor_product; // vendor.h
struct vendor_size;
struct gpu_context; // an open device, its loaded code, its queue
struct gpu_graph;   // launches that can be repeated

struct gpu_driver {
  const char *name;          // "cuda"
  const char *build;         // a hash over the kernels' sources, or a version
  int (*device_count)(void); // 0 if there are none, or no driver: error() says why
  enum decode_status (*describe)(int device, struct gpu_device *out);
  enum decode_status (*open)(int device, struct gpu_context **out);
  void (*close)(struct gpu_context *); // NULL is allowed

  enum decode_status (*allocate)(struct gpu_context *, size_t bytes, void **out);
  void (*release)(struct gpu_context *, void *); // NULL is allowed
  enum decode_status (*set)(struct gpu_context *, void *, int byte, size_t bytes);
  enum decode_status (*copy_in)(struct gpu_context *, void *device, const void *host, size_t bytes);
  enum decode_status (*copy_out)(struct gpu_context *, void *host, const void *device,
                                 size_t bytes); // after everything that is queued
  enum decode_status (*launch)(struct gpu_context *, const struct gpu_launch *);
  // How many of such a launch's clusters the device holds at a time: 0 if it refuses the launch.
  enum decode_status (*clusters)(struct gpu_context *, const struct gpu_launch *, int *count);
  enum decode_status (*wait)(struct gpu_context *);

  // Queues a product by the vendor's library, which a context's first product loads. If there is no
  // library, or it cannot or fails, returns DECODE_UNSUPPORTED; nothing is queued or lost.
  enum decode_status (*multiply)(struct gpu_context *, const struct vendor_product *);
  // Whether the library can multiply such sizes: DECODE_UNSUPPORTED if not.
  enum decode_status (*multiplies)(struct gpu_context *, const struct vendor_size *);
  // The library, once a context has loaded it: "cuBLASLt 13.1.0"; "" if there is none.
  const char *(*multiplied_by)(const struct gpu_context *);

  // Turns a matrix, in place, into what a kernel takes (arguments/wgmma.h). Without wgmma,
  // DECODE_UNSUPPORTED.
  enum decode_status (*tensor_map)(struct gpu_context *, struct tensor_map *);

  // With `recorded`, as one graph of the runtime if possible; otherwise launched one by one.
  // graph_form says which.
  enum decode_status (*graph_make)(struct gpu_context *, const struct gpu_launch *, size_t count,
                                   bool recorded, struct gpu_graph **out);
  enum decode_status (*graph_run)(struct gpu_context *, struct gpu_graph *, int times);
  void (*graph_free)(struct gpu_context *, struct gpu_graph *); // NULL is allowed
  void (*graph_form)(const struct gpu_graph *, struct decode_step_form *out);

  // Joins contexts of different devices; called by one thread. DECODE_NO_DEVICE if there is no
  // library for it.
  enum decode_status (*join)(struct gpu_context *const *contexts, int count);
  // Asynchronous errors between them that no call has reported; DECODE_OK: none.
  enum decode_status (*look)(struct gpu_context *const *contexts, int count);
  // With `broken`, after a failure, while the contexts' own threads are still at work: makes
  // anything that waits for the others end soon, with or without an error. Without it, once the
  // threads are done and their graphs are freed: ends the joining.
  void (*part)(struct gpu_context *const *contexts, int count, bool broken);
  const char *(*joined_by)(void); // the library: "NCCL 2.28.9"; "" if there is none

  // Device time of what was queued between the two calls; stop waits for it.
  enum decode_status (*timer_start)(struct gpu_context *);
  enum decode_status (*timer_stop)(struct gpu_context *, double *seconds);

  const char *(*error)(void); // "" if there is none
};

extern const struct gpu_driver gpu_driver;

#endif
