// delivered: how many accelerators a fleet's records show, of the kind offered and of others.
#ifndef PERTOKEN_MODEL_DELIVERY_DELIVERED_H
#define PERTOKEN_MODEL_DELIVERY_DELIVERED_H

#include "base/arena.h"
#include "model/delivery/guaranteed_workload.h"

#include <stddef.h>

struct delivered {
  size_t right, wrong;       // accelerators
  const char *device, *node; // the first of the wrong ones; NULL
};

// If a node was measured alone and through its servers, the same accelerators count once: those
// behind servers, if they are more.
struct delivered delivered_of(const struct guaranteed_among *among, struct arena *arena);

#endif
