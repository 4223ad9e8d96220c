#include "probe/meters/amd.h"

#include "base/arena.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>

// One call into a library at a time: when called by several threads at once, AMD SMI has given one
// device the counter of another (ROCm/amdsmi issue 115).
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

const char *const amd_reasons[AMD_REASONS + 1] = {
    "processor hot",         "power limit",        "socket temperature",
    "regulator temperature", "memory temperature", "current limit",
};

enum meter_status amd_open(struct amd *amd, const struct amd_source *source,
                           const struct meter_roots *roots, struct arena *arena) {
  *amd = (struct amd){.source = source, .why = "", .arena = arena, .roots = roots};
  return source->open(amd, roots);
}

void amd_close(struct amd *amd) {
  if (amd->source)
    amd->source->close(amd);
  amd->source = NULL;
}

int amd_look(struct amd *amd, size_t index, struct amd_look *look) {
  *look = (struct amd_look){.watts = NAN,
                            .core_clock_hz = NAN,
                            .memory_clock_hz = NAN,
                            .core_temperature_c = NAN,
                            .memory_temperature_c = NAN,
                            .pcie_generation = NAN,
                            .pcie_width = NAN,
                            .xgmi_width = NAN};
  pthread_mutex_lock(&asking);
  const int result = amd->source->look(amd, index, look);
  pthread_mutex_unlock(&asking);
  return result;
}

int amd_find(const struct amd *amd, const struct meter_address *address) {
  for (size_t i = 0; i < amd->count; i++)
    if (meter_address_compare(&amd->addresses[i], address) == 0)
      return (int)i;
  for (size_t i = 0; i < amd->count; i++)
    if (meter_address_shares_socket(&amd->addresses[i], address))
      return (int)i;
  return -1;
}

size_t amd_first_partition(const struct amd *amd, size_t index) {
  size_t first = index;
  for (size_t i = 0; i < amd->count; i++)
    if (meter_address_shares_socket(&amd->addresses[i], &amd->addresses[first]) &&
        amd->addresses[i].function < amd->addresses[first].function)
      first = i;
  return first;
}
