// persistent: the kernels persistent_* of arguments.h, compiled separately from the others, whose
// stages they contain once more.
#include "kernels/gpu/device/persistent.h"

#define PERSISTENT(batch)                                                                          \
  KERNEL_BOUNDS(persistent_##batch, persistent_arguments, VECTOR_THREADS, 1) {                     \
    persistent<batch>(a);                                                                          \
  }
PERSISTENT(1)
PERSISTENT(2)
PERSISTENT(4)
