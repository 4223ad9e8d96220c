// fleet: what the probe's records of many nodes show together: which nodes and devices there are,
// what each ran, how fast, at what watts, and how each was set up.
//
// A record is of a device in a node, or of a server on one. The node is the one that the record
// states (--node of probe run and probe serving), else the record's file, so that each such record
// is its own node. A device is identified by its UUID, else its PCI address, else its number. If a
// record states what the device did while all of the machine's devices ran, that counts: a fleet
// works as a whole.
#ifndef PERTOKEN_MODEL_DELIVERY_FLEET_H
#define PERTOKEN_MODEL_DELIVERY_FLEET_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/delivery/fleet_item.h"
#include "model/records/measurement.h"
#include "model/records/records.h"

#include <stdbool.h>
#include <stddef.h>

struct fleet_node {
  const char *name;
  long row;            // in the list of nodes; -1: not on it
  size_t device_count; // devices measured alone
  size_t served;       // accelerators behind its servers
};

// A device, or a server on some of the node's devices.
struct fleet_device {
  size_t node;
  const char *id;       // UUID, PCI address or number; a server's URL
  const char *position; // within the node: the PCI address, else the number
  // The settings in the device's newest record; "" if that does not tell, NULL if the device has no
  // such setting.
  const char *settings[FLEET_SETTINGS];
  int served;    // accelerators behind a server; 0: not a server
  bool is_named; // its node, by its records; else by their files' names
};

struct fleet {
  struct fleet_node *nodes; // by name
  size_t node_count;
  struct fleet_device *devices; // by node, then id
  size_t device_count;
  struct fleet_workload *workloads;
  size_t workload_count;
  struct fleet_run *runs; // by workload, then device, then time
  size_t run_count, record_count;
  const struct table *list; // of expected nodes; NULL: none
  struct texts missing;     // expected nodes without a record
  struct texts unexpected;  // nodes with a record that are not on the list
  struct texts warnings;    // about devices that occur in two nodes
  struct texts twins;       // nodes that may be one (twins.h)
  struct texts unlike;      // workloads for which not all devices ran the same of our kernels
  struct texts refused;     // the first server loads that are not used, and why
};

// A list of nodes: a CSV table with a column "node" and others of the user's own (rack, slot,
// switch), or a plain list of names, as such a table; or the names themselves, as in host_list.h.
// Its rows are found by node (table_find). Errors: a node that is blank or repeated. NULL after
// errors.
const struct table *fleet_list_read(const char *path, struct arena *arena,
                                    struct diagnostics *diagnostics);

// Reads the records, from files or folders of files. `expected`: for fleet_list_read, or NULL.
// Errors: what measurement_read and serving_read refuse, in any record; a serving record of
// decoding or of a published run; one record in two files; one result file in two records
// (twins.h); no usable result. Returns NULL after errors.
const struct fleet *fleet_read(const char *const *paths, size_t count, const char *expected,
                               struct arena *arena, struct diagnostics *diagnostics);

// The same for the probe's records among records that have already been read; NULL if none has a
// result for a whole model.
const struct fleet *fleet_of_records(const struct records *records, struct arena *arena);

// The workload of a result in one of these records; -1: the result does not count.
long fleet_workload_like(const struct fleet *fleet, const struct measurement *result,
                         struct arena *arena);

// The variants of the probe's kernels with which a workload ran on the node, or on one device of it
// (-1: on all of them): "own choice", "own choice, step=streaming"; "" on a server. *is_usual:
// whether they are the same as on most devices.
const char *fleet_variants(const struct fleet *fleet, const struct fleet_workload *workload,
                           size_t node, long device, bool *is_usual, struct arena *arena);

#endif
