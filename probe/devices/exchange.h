// exchange: how long an all-reduce among several devices takes at the sizes of a decode step: the
// figure that `run --shard 1/N --all-reduce` asks for.
#ifndef PERTOKEN_PROBE_DEVICES_EXCHANGE_H
#define PERTOKEN_PROBE_DEVICES_EXCHANGE_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "probe/devices/device.h"

#include <stddef.h>

enum { EXCHANGE_SIZES = 2 };

struct exchange {
  struct decode_all_reduce sizes[EXCHANGE_SIZES]; // batch 1 and 64 of a model 8192 wide
  const char *why;                                // "", or why nothing was measured
};

// Times 200 of each in a row, on a model with next to nothing in it. The devices [count] belong to
// one backend.
struct exchange exchange_measure(const struct device *devices, size_t count, struct arena *arena);

#endif
