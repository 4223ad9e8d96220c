// stamps: room on the device for the stamps of a build that stamps (stamp.h), and the file that
// they are written to, named by $PERTOKEN_GPU_STAMPS: CSV, one row for each block that ran to its
// end, in the form that tests/gpu/stamps.py reads. For one device at a time. Without that variable
// nothing is stamped.
//
// Other builds have no room, and their kernels no such argument.
#ifndef PERTOKEN_KERNELS_GPU_HOST_STAMPS_H
#define PERTOKEN_KERNELS_GPU_HOST_STAMPS_H

#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/stamp.h"

#include <stddef.h>

#ifdef GPU_STAMPS

enum { STAMPS_KEPT_BYTES = STAMP_SHARED_BYTES }; // of a block's shared memory

// Called when a device's code is loaded. Returns 0 or the runtime's error.
int gpu_stamps_open(void);

// Room for the blocks of a launch, called each time that it is queued or recorded; NULL if none is
// left, and for kernels that are not part of a step.
struct gpu_stamp *gpu_stamps_of(const struct gpu_launch *launch);

// Called before the code is unloaded: writes the file, unless it already has as many blocks, from
// earlier contexts of this process. Returns 0 or the runtime's error; a file that cannot be written
// is reported.
int gpu_stamps_close(void);

#else

enum { STAMPS_KEPT_BYTES = 0 };

static inline int gpu_stamps_open(void) {
  return 0;
}
static inline struct gpu_stamp *gpu_stamps_of(const struct gpu_launch *launch) {
  (void)launch;
  return NULL;
}
static inline int gpu_stamps_close(void) {
  return 0;
}

#endif

#endif
