// options: what the probe's commands accept on their command lines, and the values given.
#ifndef PERTOKEN_PROBE_OPTIONS_OPTIONS_H
#define PERTOKEN_PROBE_OPTIONS_OPTIONS_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/meters/wall.h"
#include "probe/options/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char usual_fleet_devices[]; // used if there is no --device

struct probe_options {
  const char *device; // NULL: all, for list
  const char *model, *kv, *head, *activations;
  const char *precisions[MAX_LIST_VALUES];
  size_t precision_count;
  struct number_list batches, contexts, layers; // layers ascending; none: all
  struct number_list prefills;                  // prompts, in positions
  struct number_list power_limits; // watts, descending; none: the device's limit is left unchanged
  int chunk;                       // of these, how many are computed at once
  double time_s, energy_s;         // energy_s is 0 with no_power
  double soak_s;                   // of load before the energy_s of metering
  struct wall_options wall;
  struct measurement_shard shard; // for a backend's share of 1/N of a model; 0: whole models
  int tensor_parallel;            // devices that hold a model together; 0: each has its own
  double tolerance;               // a share of token/s
  int threads;
  const char *node; // "" unless given
  uint64_t seed;
  const char *variant; // of the kernels; NULL: their own choice
  bool fastest;        // instead, the fastest of their variants
  enum decode_routing routing;
  float skew;                 // for ROUTING_SKEWED
  const char *data_directory; // NULL: next to the program
  const char *data_extra;     // a file of the user's own rows; NULL: none
  const char *output_directory;
  const char *record; // for check
  struct {
    bool one_by_one;
    double wait_s;          // for other nodes
    bool send;              // records go to process 0: no folder is shared
    const char *first;      // where process 0 is; NULL: as the launcher says
    const char *expect;     // the list of nodes; NULL: none
    const char *offer;      // whose guarantees say what is measured; NULL: `model` does
    const char *guarantee;  // of the offer; NULL: all
    const char *wall_table; // of each node's wall power; NULL: none
  } fleet;
  bool json, csv; // of list: neither is the table
  bool calibrate, verify_only, no_power, quiet;
};

// The commands with these options, as bits.
enum probe_command { COMMAND_LIST = 1, COMMAND_RUN = 2, COMMAND_CHECK = 4, COMMAND_FLEET = 8 };

// argv[0] is the command's name. argp prints help and reports errors, and then exits with status 0
// or 2. Texts are those of argv.
struct probe_options probe_options_parse(enum probe_command command, int argc, char **argv,
                                         struct arena *arena);

#endif
