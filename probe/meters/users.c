#include "probe/meters/users.h"

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/amd.h"
#include "probe/meters/kinds.h"

#include <math.h>
#include <stddef.h>

struct device_users device_users_find(const struct meter_roots *roots, struct arena *arena) {
  struct device_users users = {0};
  struct amd *amd = arena_alloc(arena, sizeof *amd);
  if (amd_open(amd, &amd_smi, roots, arena) != METER_OK)
    return users;
  users.addresses = arena_array(arena, amd->count + 1, sizeof *users.addresses);
  users.processes = arena_array(arena, amd->count + 1, sizeof *users.processes);
  for (; users.count < amd->count; users.count++) {
    struct amd_state state = {.processes = -1};
    amd->source->state(amd, users.count, &state);
    users.addresses[users.count] = amd->addresses[users.count];
    users.processes[users.count] = state.processes;
  }
  amd_close(amd);
  return users;
}

double device_users_of(const struct device_users *users, const struct meter_address *device) {
  double others = NAN;
  for (size_t i = 0; users && i < users->count; i++)
    if (users->processes[i] >= 0 && meter_address_shares_socket(&users->addresses[i], device))
      others = (isnan(others) ? 0 : others) + users->processes[i];
  return others;
}
