// accelerators: the devices of this machine that have power readings of their own, as listed by the
// kernel and the drivers' management libraries. Nothing is started on a device: one filled by a
// server is not disturbed.
#ifndef PERTOKEN_PROBE_METERS_ACCELERATORS_H
#define PERTOKEN_PROBE_METERS_ACCELERATORS_H

#include "base/arena.h"
#include "probe/meters/meter.h"

#include <stddef.h>

struct accelerator_found {
  const char *pci;  // "0000:17:00.0"
  const char *uuid; // "GPU-1a2b..."; "" unknown
};

// NVIDIA's and AMD's display controllers and processing accelerators by PCI address, the order in
// which nvidia-smi numbers them; partitions of one socket count once. Sets *count.
struct accelerator_found *accelerators_find(const struct meter_roots *roots, size_t *count,
                                            struct arena *arena);

#endif
