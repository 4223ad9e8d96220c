// settlement: what is owed for a delivery that fails, by the remedy of its offer.
// docs/acceptance.md has the rules.
//
// Money is the share of the hardware's price that the cost model calls remedy_share
// (model/cost/tco.ini): for the fleet's shortfall or, if only single nodes fail, each node's part
// of the price for its own shortfall. A node counts if the clause fails in which it does.
//
// A replacement covers these nodes and, while a failed clause's mean is beyond its limit, the worst
// of the others, one after the other. The new ones are assumed to perform as guaranteed. Excess
// watts are not a shortfall.
#ifndef PERTOKEN_MODEL_DELIVERY_SETTLEMENT_H
#define PERTOKEN_MODEL_DELIVERY_SETTLEMENT_H

#include "base/arena.h"
#include "model/delivery/acceptance.h"
#include "model/delivery/clause.h"

#include <stdbool.h>
#include <stddef.h>

struct replaced_node {
  size_t node;                            // of fleet.nodes
  const struct acceptance_clause *clause; // whose mean it is replaced for; NULL: it fails by itself
};

struct settlement {
  const struct acceptance *acceptance;
  double price;     // of the hardware offered, in the offer's currency
  double shortfall; // of the fleet's mean, for the worst guarantee except watts: share of
                    // the guaranteed value; 0: none
  double owed;      // NAN if the offer's remedy is not money
  bool limited;     // by remedy_limit
  size_t failing;   // nodes, including those of a clause that passes
  // If the remedy is replacement: the nodes to replace, in the order of fleet.nodes, the price of
  // their hardware, and of its delivery and installation.
  struct replaced_node *replaced; // [replaced_count]
  size_t replaced_count;
  double replaced_price, replaced_delivery;
};

struct settlement settlement_of(const struct acceptance *acceptance, struct arena *arena);

#endif
