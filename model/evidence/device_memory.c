#include "model/evidence/device_memory.h"

bool device_memory_find(const struct table *accelerators, size_t row, struct device_memory *out) {
  double memory_gb = 0;
  *out = (struct device_memory){0};
  if (table_number(accelerators, row, "usable_bytes", &out->bytes))
    return true;
  if (!table_number(accelerators, row, "memory_gb", &memory_gb))
    return false;
  *out = (struct device_memory){1e9 * memory_gb, true};
  return true;
}
