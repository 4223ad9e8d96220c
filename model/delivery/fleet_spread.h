// fleet_spread: how tokens per second, watts, clocks or latencies are spread over a fleet, the
// components of that spread, and outliers.
//
// Each device counts by the mean over its runs, each node by the mean over its devices.
//   outliers     further from the median than FLEET_DEVIATIONS robust standard deviations, which
//                are 1.4826 times the median of the absolute deviations from it (Iglewicz and
//                Hoaglin, How to Detect and Handle Outliers, 1993), and further than the practical
//                margin. Both are valid as long as fewer than half are bad, unlike a mean and a
//                standard deviation.
//   components   one-way random effects by analysis of variance, devices with unequal numbers of
//                runs (Searle, Casella, McCulloch, Variance Components, 1992, 3.6): the spread
//                according to a run's own interval, the additional spread of runs of one device,
//                and the additional spread of devices. A component that comes out below zero is set
//                to zero.
#ifndef PERTOKEN_MODEL_DELIVERY_FLEET_SPREAD_H
#define PERTOKEN_MODEL_DELIVERY_FLEET_SPREAD_H

#include "base/arena.h"
#include "model/delivery/fleet.h"
#include "model/records/measurement.h"
#include "model/records/records.h"

#include <stdbool.h>
#include <stddef.h>

#define FLEET_DEVIATIONS      3.5
#define FLEET_MARGIN          0.03 // of the median, by default
#define FLEET_POSITION_MARGIN 0.01 // of a place's median, over many devices, by default

enum { FLEET_ENOUGH = 3 }; // fewer tell nothing about a spread

// Latencies are of servers: their spread is that of the mean over a run's requests, and a sample of
// nodes (node_sample.h) has any statistic. A node's watts at the wall have no spread over devices.
enum fleet_measure {
  FLEET_TOKENS,
  FLEET_WATTS,
  FLEET_CLOCK,
  FLEET_TTFT,
  FLEET_TPOT,
  FLEET_MEASURES,
  FLEET_WALL
};

// The value of a device or a node.
struct fleet_value {
  size_t index; // of fleet.devices or fleet.nodes
  double value;
  double share; // of the median, less one
  bool stands_out;
};

// All devices at one place: at a position within the node, or with one value in a column of the
// list.
struct fleet_place {
  const char *column, *name;
  size_t count;
  double median, share;
  bool stands_out;
};

struct fleet_spread {
  size_t device_count, node_count, run_count;
  double mean, median, p5, p95, low, high; // of devices
  double node_median, node_p5, node_p95;   // of nodes
  double deviation;                        // robust, of devices
  // Standard deviations as shares of the mean. NAN: unknown; between_runs is then part of
  // between_devices.
  double within_run, between_runs, between_devices;
  struct fleet_value *devices; // ascending
  struct fleet_value *nodes;   // ascending
  size_t devices_out, nodes_out;
  struct fleet_place *places; // by column, then name
  size_t place_count;
};

// The spread of a measure in the results of one workload; device_count is 0 if none of them has the
// measure.
struct fleet_spread fleet_spread_of(const struct fleet *fleet, size_t workload,
                                    enum fleet_measure measure, double margin, struct arena *arena);

// The devices that have a result like this one.
struct fleet_sample {
  size_t count;
  double mean; // NAN for none
  // A standard deviation over the mean: between them or, for fewer than FLEET_ENOUGH, the largest
  // of any workload of such devices. NAN: fewer were measured.
  double between_devices;
};

struct fleet_sample fleet_sample_of(const struct records *records, const struct measurement *like,
                                    enum fleet_measure measure, struct arena *arena);

#endif
