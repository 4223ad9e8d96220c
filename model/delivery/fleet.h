// fleet: what the probe's records of many nodes say together: which nodes and devices there are, what
// each ran, how fast, at what watts, and how each was set up.
//
// A record is of a device of a node. The node is what the record says (probe run --node), else the
// record's file, so that each record is a node of its own. A device is known by its UUID, else its PCI
// address, else its number. Where a record says what the device did while all of the machine's ran,
// that is what counts: a fleet works as a whole.
#ifndef PERTOKEN_MODEL_DELIVERY_FLEET_H
#define PERTOKEN_MODEL_DELIVERY_FLEET_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/evidence/measurement.h"
#include "model/evidence/records.h"

#include <stdbool.h>
#include <stddef.h>

// What should be alike on all devices.
enum fleet_setting {
  SETTING_KERNEL,
  SETTING_DRIVER,
  SETTING_RUNTIME,
  SETTING_VBIOS,
  SETTING_ECC,
  SETTING_PARTITION,
  SETTING_POWER_LIMIT,
  SETTING_MEMORY,
  SETTING_GOVERNOR,
  SETTING_THROTTLED, // why the clocks were held down, "" if they were not
  SETTING_KERNELS_BUILD,
  SETTING_TOOL_VERSION,
  FLEET_SETTINGS
};

extern const char *const fleet_setting_names[FLEET_SETTINGS];

struct fleet_node {
  const char *name;
  long row;            // of the list of nodes; -1: it is not on it
  size_t device_count; // that were measured
};

struct fleet_device {
  size_t node;
  const char *id;                       // UUID, PCI address or number
  const char *position;                 // within the node: the PCI address, else the number
  const char *settings[FLEET_SETTINGS]; // of its newest record; "" where that does not tell
};

// Results that may be set against each other: of one kind of device, model, precisions, batch and
// context, run alike.
struct fleet_workload {
  const char *device; // "NVIDIA H200"
  const char *model, *precision;
  int batch, context;
  int together; // devices of the node that ran at once; 1: one by one
  int ranks;    // devices that held a model together; 1: each its own
  const char *words;
  size_t first_run, run_count; // of runs
};

// One result of one record. NAN where it was not measured.
struct fleet_run {
  size_t device, workload;
  double tokens_per_s; // of an accelerator
  double error;        // standard error within the run, of the same
  double power_w;      // under load, of an accelerator
  double clock_mhz;    // the median of the core's
  const char *started, *file;
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
  const struct table *list; // of nodes that are expected; NULL: none
  struct texts missing;     // of these, without a record
  struct texts unexpected;  // with one, and not on the list
  struct texts warnings;
};

// Reads the records, as files or as folders of files. `expected`: a CSV table of nodes with a column
// "node" and others of the user's own (rack, slot, switch), or a plain list of names; or NULL.
// Errors: what measurement_read refuses, of any of them; one record in two files; a node twice on the
// list; no result of a whole model. Returns NULL after errors.
const struct fleet *fleet_read(const char *const *paths, size_t count, const char *expected,
                               struct arena *arena, struct diagnostics *diagnostics);

// The same of the probe's records among these, which were read already; NULL where none has a result of
// a whole model.
const struct fleet *fleet_of_records(const struct records *records, struct arena *arena);

// The workload of a result of one of these records; -1: it does not count.
long fleet_workload_like(const struct fleet *fleet, const struct measurement *result,
                         struct arena *arena);

#endif
