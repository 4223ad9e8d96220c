// fleet_spread: how tokens per second, watts or clocks are spread over a fleet, what that spread is made of,
// and who stands out.
//
// Of each device its mean over its runs counts, of each node the mean over its devices.
//   stands out   further from the median than FLEET_DEVIATIONS robust standard deviations, which are
//                1.4826 times the median of the absolute deviations from it (Iglewicz and Hoaglin, How
//                to Detect and Handle Outliers, 1993), and than the practical margin. Both hold up as
//                long as fewer than half are bad, where a mean and a standard deviation do not.
//   made of      one-way random effects by analysis of variance, devices with unlike numbers of runs
//                (Searle, Casella, McCulloch, Variance Components, 1992, 3.6): what a run's own interval
//                says, what runs of one device differ by beyond that, and what devices differ by beyond
//                that. A component that comes out below zero is zero.
#ifndef PERTOKEN_MODEL_DELIVERY_FLEET_SPREAD_H
#define PERTOKEN_MODEL_DELIVERY_FLEET_SPREAD_H

#include "base/arena.h"
#include "model/delivery/fleet.h"
#include "model/evidence/measurement.h"
#include "model/evidence/records.h"

#include <stdbool.h>
#include <stddef.h>

#define FLEET_DEVIATIONS      3.5
#define FLEET_MARGIN          0.03 // of the median, unless another is asked for
#define FLEET_POSITION_MARGIN 0.01 // the same of a place's median, over many devices

enum { FLEET_ENOUGH = 3 }; // fewer say nothing of a spread

enum fleet_measure { FLEET_TOKENS, FLEET_WATTS, FLEET_CLOCK, FLEET_MEASURES };

// Of a device or a node.
struct fleet_value {
  size_t index; // of fleet.devices or fleet.nodes
  double value;
  double share; // of the median, less one
  bool stands_out;
};

// All devices at one place: at a position within the node, or at a value of a column of the list.
struct fleet_place {
  const char *column, *name;
  size_t count;
  double median, share;
  bool stands_out;
};

struct fleet_spread {
  size_t device_count, node_count, run_count;
  double mean, median, p5, p95, low, high; // of devices
  double deviation;                        // robust, of devices
  // Standard deviations as shares of the mean. NAN: not known; between_runs is then in between_devices.
  double within_run, between_runs, between_devices;
  struct fleet_value *devices; // ascending
  struct fleet_value *nodes;   // ascending
  size_t devices_out, nodes_out;
  struct fleet_place *places; // by column, then name
  size_t place_count;
};

// Of the results of one workload; device_count 0 where the measure is in none of them.
struct fleet_spread fleet_spread_of(const struct fleet *fleet, size_t workload,
                                    enum fleet_measure measure, double margin, struct arena *arena);

// By how much devices differ, as a standard deviation over the mean: of results like this one or, where
// fewer than FLEET_ENOUGH devices have one, the most of any workload of such a device. NAN: fewer than
// that were measured.
double fleet_device_spread(const struct records *records, const struct measurement *like,
                           enum fleet_measure measure, struct arena *arena);

#endif
