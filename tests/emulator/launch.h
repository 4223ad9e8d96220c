// launch: what the emulator runs, for C as well: emulator.h has the rest.
#ifndef PERTOKEN_EMULATOR_LAUNCH_H
#define PERTOKEN_EMULATOR_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

struct emulator_launch {
  const char *kernel; // as named in KERNEL()
  unsigned grid[3], block;
  size_t shared_bytes;
  const void *arguments;
  size_t argument_bytes;
  uint64_t seed; // of the schedule
};

// Runs all blocks to their end. NULL, or what went wrong, with kernel, block, thread and seed:
// "kernel sum, block 3, thread 17: ... (schedule seed 5)"; valid until the next launch of the same
// thread of the host. The plugins export it as "emulator_launch_kernel".
typedef const char *emulator_launch_function(const struct emulator_launch *launch);

// The newest device memory that was not released; NULL for none: "emulator_memory".
typedef void *emulator_memory_function(void);

#endif
