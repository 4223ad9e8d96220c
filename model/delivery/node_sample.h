// node_sample: the nodes of a fleet as a sample of the delivery: the result of each, the spread
// among nodes, and the spread among runs of one node. docs/acceptance.md has the formulas.
//
// The accelerators of one node are not independent of each other, so nodes are counted. A node
// counts once all of its accelerators have been measured, with as many runs as all of them have.
#ifndef PERTOKEN_MODEL_DELIVERY_NODE_SAMPLE_H
#define PERTOKEN_MODEL_DELIVERY_NODE_SAMPLE_H

#include "base/arena.h"
#include "model/delivery/fleet.h"
#include "model/delivery/fleet_spread.h"
#include "model/records/serving.h"

#include <stddef.h>

// The value of a node's runs that is sampled. The statistic is for FLEET_TTFT and FLEET_TPOT.
struct node_measure {
  enum fleet_measure measure;
  enum serving_statistic statistic;
};

// Tokens/s or watts per accelerator of the node, or seconds of its servers: the mean over its
// accelerators and runs. A run in which one of them lacks the value does not count.
struct node_value {
  size_t node; // of fleet.nodes
  double value;
  size_t runs;
};

struct node_sample {
  struct node_value *nodes; // [count] by node
  size_t count;
  size_t run_count;     // of all nodes together
  size_t partial_count; // nodes with an accelerator that was not measured
  double mean;
  double deviation;     // s: of the nodes' values; NAN for fewer than two
  double robust;        // the same by the median absolute deviation; NAN for fewer than three
  double run_deviation; // e: of a node's runs about their mean; NAN if none ran twice
  double run_freedom;   // v: its degrees of freedom
  double run_variance;  // w: the mean over the nodes of e^2 / runs; NAN if e is NAN
};

// The sample of the results of one workload. `records`: their number per node, one for each device
// or for each group of devices that hold a model together.
struct node_sample node_sample_of(const struct fleet *fleet, size_t workload,
                                  struct node_measure measure, size_t records, struct arena *arena);

// A standard error and its degrees of freedom.
struct node_error {
  double error, freedom;
};

// The error of the sample's mean as an estimate for `nodes` nodes. NAN if the sample cannot tell.
struct node_error node_sample_error(const struct node_sample *sample, size_t nodes);

// The error of one node's value after that many runs.
struct node_error node_sample_node_error(const struct node_sample *sample, size_t runs);

// The same for the mean of `count` of `nodes` nodes after `runs` runs of each, if they are like
// these; if no node ran twice, the spread among nodes includes that among runs.
struct node_error node_sample_foreseen(const struct node_sample *sample, size_t count, size_t nodes,
                                       size_t runs);

#endif
