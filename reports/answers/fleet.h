// fleet: what the records of many nodes say together: is the fleet whole, and are its nodes alike?
#ifndef PERTOKEN_REPORTS_ANSWERS_FLEET_H
#define PERTOKEN_REPORTS_ANSWERS_FLEET_H

#include "base/arena.h"
#include "model/delivery/fleet.h"
#include "reports/answers/answer.h"

// margin: FLEET_MARGIN, or another. The answer is no where a node is missing or one, or a device,
// stands out. All devices stand in the files for machines, and all nodes, sorted.
// Json: { schema 1, nodes, devices, records, tables: { measured, spread, outliers, places, settings,
// missing, node_values, device_values } }.
struct answer fleet_answer(const struct fleet *fleet, double margin, struct arena *arena);

#endif
