// device: what a plan must know about a device, and a launch on it.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_DEVICE_H
#define PERTOKEN_KERNELS_GPU_PLAN_DEVICE_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/tuning.h"

#include <stdbool.h>
#include <stddef.h>

struct tensor_map; // arguments/wgmma.h

struct gpu_device {
  struct decode_device described;
  char architecture[16]; // "sm_90", "gfx942"
  int warp;
  size_t shared_bytes; // that one block may use
  bool any_chunk;      // matrix kernels take chunks of any length; neither these nor attention copy
                       // what they stream: arguments/wgmma.h
  bool overlap;        // programmatic dependent launch
  bool wgmma;          // the matrix unit and copy engine of sm_90a
  int clusters; // the most blocks of a cluster, which reach each other's shared memory; 0, 1: none
  bool cooperative; // launches whose blocks wait for each other, and kernels for them
  struct gpu_tuning tuning;
};

struct gpu_launch {
  char kernel[48];
  unsigned grid[3], block;
  size_t shared_bytes;
  const void *arguments; // copied by the call
  size_t argument_bytes;
  struct tensor_map *maps; // the first of the arguments, to be made by tensor_map
  int map_count;
  bool cooperative; // all blocks must be resident at once, or the launch fails
  unsigned cluster; // blocks, neighbors in the grid, that are resident together; 0 or 1: none
  int carveout;     // percent of a multiprocessor's shared memory to request; 0: the driver's
};

#endif
