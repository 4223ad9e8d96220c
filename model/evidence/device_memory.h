// device_memory: the memory of an accelerator that software may use, from the catalogue.
//
// `usable_bytes` is the total that the driver reports. Where it is unknown, the datasheet's
// memory_gb counts as decimal GB. That is a lower bound: most vendors print GiB, and their drivers
// report up to 7 % more bytes than the number says.
#ifndef PERTOKEN_MODEL_EVIDENCE_DEVICE_MEMORY_H
#define PERTOKEN_MODEL_EVIDENCE_DEVICE_MEMORY_H

#include "base/csv.h"

#include <stdbool.h>
#include <stddef.h>

struct device_memory {
  double bytes;
  bool is_lower_bound; // from the datasheet
};

// Finds the memory of an accelerator. Returns false, with 0 bytes, if the row has neither figure.
bool device_memory_find(const struct table *accelerators, size_t row, struct device_memory *out);

#endif
