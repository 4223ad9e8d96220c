// context: an open device under CUDA or HIP (runtime.h): its code, its queue, and what the
// runtime's errors mean for it, as statuses of decode.h and in words.
#ifndef PERTOKEN_KERNELS_GPU_HOST_CONTEXT_H
#define PERTOKEN_KERNELS_GPU_HOST_CONTEXT_H

#include "kernels/decode.h"
#include "kernels/gpu/host/collectives.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/runtime.h"
#include "kernels/gpu/host/vendor_products.h"
#include "kernels/gpu/plan/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct kernel; // queue.c

struct gpu_context {
  const struct gpu_runtime *runtime;
  int device;
  bool overlap, lost, recording;
  void *stream, *start, *stop, *mark[2];
  size_t marks;
  void *code;
  struct vendor_library *products;
  bool products_tried;
  char products_words[256];                  // why there is none
  const struct gpu_collectives *collectives; // once joined with others
  void *communicator;
  atomic_bool parted; // no more all-reduces may be started
  bool aborting;
  pthread_t aborter;
  struct kernel *kernels; // found so far
  size_t kernel_count, kernel_room;
  char words[512]; // from the failure that lost the device
};

// What driver.h says of these.
int context_devices(void);
enum decode_status context_describe(int device, struct gpu_device *out);
enum decode_status context_open(int device, struct gpu_context **out);
void context_close(struct gpu_context *context);

// What the calling thread's last failure was, in words; and a failure in these words.
const char *context_error(void);
enum decode_status context_fail(enum decode_status status, const char *words);

// Checks a call of the runtime, or of the library of collectives, on a context, which is lost after
// any failure except running out of memory. `what` it was for: "making a stream".
enum decode_status context_check(struct gpu_context *context, const char *what, int code);
enum decode_status context_check_collective(struct gpu_context *context, const char *what,
                                            int code);

// Chooses the context's device for the calling thread. Fails if it is lost.
enum decode_status context_ready(struct gpu_context *context);

#endif
