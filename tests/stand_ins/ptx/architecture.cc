// architecture: which of nvcc's images the library runs, set by the build.
#include "tests/stand_ins/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/gpu/arguments/wgmma.h"

const char ptx_architecture[] = PTX_ARCHITECTURE;
const char ptx_streaming_architecture[] = PTX_STREAMING;

// Like driver_cuda.c for real devices.
void ptx_describe(struct gpu_device *out) {
  const int number = atoi(ptx_architecture);
  snprintf(out->architecture, sizeof out->architecture, "sm_%d", number);
  out->overlap = number >= 90;
  out->wgmma = number == 90;
  out->clusters = out->wgmma ? MAX_CLUSTER : 0;
}
