#include "model/delivery/delivered.h"

#include "model/delivery/fleet.h"
#include "model/delivery/fleet_item.h"

#include <stdbool.h>

// A device that ran several workloads is one device; one that held a model together with others
// counts for all of them, and a server for the devices that it is on.
static void count_device(const struct guaranteed_among *among, struct delivered *delivered,
                         const struct fleet_workload *workload, const struct fleet_device *device,
                         int *ranks) {
  const int count = workload->ranks > 1 ? workload->ranks : 1;
  const bool offered = guaranteed_is_offered(among, workload);
  const size_t more = count > *ranks ? (size_t)(count - *ranks) : 0;
  if (!more)
    return;
  *(offered ? &delivered->right : &delivered->wrong) += more;
  *ranks = count;
  if (!offered && !delivered->device) {
    delivered->device = workload->device;
    delivered->node = among->fleet->nodes[device->node].name;
  }
}

struct delivered delivered_of(const struct guaranteed_among *among, struct arena *arena) {
  const struct fleet *fleet = among->fleet;
  int *ranks = arena_array(arena, fleet->device_count + 1, sizeof *ranks);
  struct delivered delivered = {0};
  for (size_t w = 0; w < fleet->workload_count; w++) {
    const struct fleet_workload *workload = &fleet->workloads[w];
    for (size_t r = 0; r < workload->run_count; r++) {
      const size_t index = fleet->runs[workload->first_run + r].device;
      const struct fleet_device *device = &fleet->devices[index];
      const struct fleet_node *node = &fleet->nodes[device->node];
      if ((device->served > 0) == (node->served > node->device_count))
        count_device(among, &delivered, workload, device, &ranks[index]);
    }
  }
  return delivered;
}
