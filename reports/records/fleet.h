// fleet: what the records of many nodes say together: is the fleet complete, and are its nodes
// alike?
#ifndef PERTOKEN_REPORTS_RECORDS_FLEET_H
#define PERTOKEN_REPORTS_RECORDS_FLEET_H

#include "base/arena.h"
#include "model/delivery/fleet.h"
#include "reports/faces/answer.h"

// margin: FLEET_MARGIN or another. The answer is no if a node is missing, or if a node or device
// stands out. CSV and JSON list all devices and all nodes, sorted.
// Json: { schema 1, nodes, devices, records, tables: { measured, spread, outliers, places,
// settings, missing, node_values, device_values } }.
struct answer fleet_answer(const struct fleet *fleet, double margin, struct arena *arena);

#endif
