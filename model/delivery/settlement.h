// settlement: what is owed for a delivery that fails, by the remedy of its offer.
// docs/acceptance.md has the rules.
//
// Money is the share of the hardware's price that the cost model calls remedy_share
// (model/cost/tco.ini): for the fleet's shortfall or, if only single nodes fail, each node's part
// of the price for its own shortfall. A node counts if the clause fails in which it does.
//
// A replacement covers these nodes and, if the mean fails, the fewest nodes, slowest first,
// after whose replacement the mean is as guaranteed, assuming that the new ones perform as
// guaranteed. Excess watts are not a shortfall.
#ifndef PERTOKEN_MODEL_DELIVERY_SETTLEMENT_H
#define PERTOKEN_MODEL_DELIVERY_SETTLEMENT_H

#include "base/arena.h"
#include "model/delivery/acceptance.h"

#include <stdbool.h>
#include <stddef.h>

struct settlement {
  const struct acceptance *acceptance;
  double price;     // of the hardware offered, in the offer's currency
  double shortfall; // of the fleet's mean, for the worst guarantee except watts: share of
                    // the guaranteed value; 0: none
  double owed;      // NAN if the offer's remedy is not money
  bool limited;     // by remedy_limit
  size_t failing;   // nodes, including those of a clause that passes
  // If the remedy is replacement: the nodes to replace, of fleet.nodes and in their order, the
  // price of their hardware, and of its delivery and installation.
  size_t *replaced; // [replaced_count]
  size_t replaced_count;
  double replaced_price, replaced_delivery;
};

struct settlement settlement_of(const struct acceptance *acceptance, struct arena *arena);

#endif
