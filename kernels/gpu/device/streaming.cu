// streaming: the kernels streaming_* of arguments/streaming.h, compiled separately from the others,
// whose stages they contain once more.
#include "kernels/gpu/device/streaming.h"

#define STREAMING(batch)                                                                          \
  KERNEL_BOUNDS(streaming_##batch, streaming_arguments, VECTOR_THREADS, 1) {                     \
    streaming<batch>(a);                                                                          \
  }
STREAMING(1)
STREAMING(2)
STREAMING(4)
