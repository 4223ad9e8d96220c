#include "model/evidence/carbon.h"

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool is_of(const struct table *table, size_t row, const char *category) {
  return !strcmp(table_cell(table, row, "category"), category);
}

long carbon_of_grid(const struct table *table, const char *region, const char **nearest,
                    struct arena *arena) {
  const char **regions = arena_array(arena, table->rows, sizeof *regions);
  size_t count = 0;
  *nearest = NULL;
  for (size_t row = 0; row < table->rows; row++) {
    if (!is_of(table, row, "grid_intensity"))
      continue;
    regions[count] = table_cell(table, row, "region");
    if (!strcasecmp(regions[count++], region))
      return (long)row;
  }
  *nearest = nearest_name(region, regions, count);
  return -1;
}

long carbon_of_accelerator(const struct table *table, const char *accelerator) {
  double highest = 0, value;
  long found = -1;
  for (size_t row = 0; row < table->rows; row++) {
    if (!is_of(table, row, "embodied") || !*accelerator ||
        strcmp(table_cell(table, row, "accelerator"), accelerator) != 0 ||
        !table_number(table, row, "per_gpu_value", &value) || value <= highest)
      continue;
    highest = value;
    found = (long)row;
  }
  return found;
}
