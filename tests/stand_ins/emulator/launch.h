// launch: the interface for running launches on the emulator, for C as well; emulator.h has the
// rest.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_LAUNCH_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In the last word of a tensor map created by the driver (kernels/gpu/arguments/wgmma.h).
#define EMULATOR_TENSOR_MAP UINT64_C(0x7E4503A9)

struct emulator_launch {
  const char *kernel; // as named in KERNEL()
  unsigned grid[3], block;
  size_t shared_bytes;
  const void *arguments;
  size_t argument_bytes;
  uint64_t seed;     // of the schedule
  bool cooperative;  // all blocks are resident, EMULATOR_MOST_RESIDENT at most
  const void *image; // the code object that holds the kernel; the emulator has its own kernels
  unsigned cluster;  // blocks, neighbors on the first axis, that are resident together; 0: 1
};

// Runs all blocks to their end. Returns NULL, or what went wrong, with kernel, block, thread and
// seed: "kernel sum, block 3, thread 17: ... (schedule seed 5)"; valid until the next launch by the
// same host thread. The plugins export it as "emulator_launch_kernel".
typedef const char *emulator_launch_function(const struct emulator_launch *launch);

// The newest device memory that has not been released; NULL for none: "emulator_memory".
typedef void *emulator_memory_function(void);

#endif
