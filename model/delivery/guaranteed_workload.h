// guaranteed_workload: which of a fleet's workloads a guarantee applies to. A workload with another
// accelerator, model, precision, batch, context, request length or load is not comparable with it.
#ifndef PERTOKEN_MODEL_DELIVERY_GUARANTEED_WORKLOAD_H
#define PERTOKEN_MODEL_DELIVERY_GUARANTEED_WORKLOAD_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/delivery/fleet.h"
#include "model/delivery/fleet_item.h"
#include "model/delivery/offer.h"

#include <stdbool.h>

// The offer and the fleet to compare, and the catalogue's accelerators, by which devices are
// identified.
struct guaranteed_among {
  const struct offer *offer;
  const struct fleet *fleet;
  const struct table *accelerators;
};

// Whether a workload ran on the accelerator that was offered.
bool guaranteed_is_offered(const struct guaranteed_among *among,
                           const struct fleet_workload *measured);

// Whether a workload may be compared with a guarantee. Request lengths may differ by
// REQUEST_LENGTHS; a rate means Poisson arrivals, requests in flight mean a closed loop, and a
// server is on one node. What a server's record does not state of the precisions of activations, KV
// cache and head may be as guaranteed.
bool guaranteed_fits(const struct guaranteed_among *among, const struct offer_guarantee *guarantee,
                     const struct fleet_workload *measured);

// The keys that a guarantee states about a server but the server's records do not: "activations and
// kv"; "" for none. In the arena.
const char *guaranteed_unsaid(const struct offer_guarantee *guarantee,
                              const struct fleet_workload *measured, struct arena *arena);

// The fleet's workload that a guarantee applies to; of several, the one whose records state most of
// what is guaranteed: -1 if there is none. Errors: several that differ in what the guarantee leaves
// open.
long guaranteed_workload(const struct guaranteed_among *among,
                         const struct offer_guarantee *guarantee, struct diagnostics *diagnostics,
                         struct arena *arena);

// Whether two workloads are steps of one ladder: the same requests on the same servers at different
// loads.
bool guaranteed_same_ladder(const struct fleet_workload *a, const struct fleet_workload *b);

#endif
