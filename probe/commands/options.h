// options: what the probe's commands accept on their command lines, and what they were given.
#ifndef PERTOKEN_PROBE_COMMANDS_OPTIONS_H
#define PERTOKEN_PROBE_COMMANDS_OPTIONS_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/evidence/measurement.h"
#include "probe/commands/values.h"
#include "probe/meters/wall.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probe_options {
  const char *device; // NULL: all, for list
  const char *model, *kv, *head, *activations;
  const char *precisions[MAX_LIST_VALUES];
  size_t precision_count;
  struct number_list batches, contexts, layers; // layers ascending; none: all
  struct number_list prefills;                  // prompts, in positions
  int chunk;                                    // of them computed at once
  double time_s, energy_s;
  double soak_s; // of load before energy_s under the meter
  struct wall_options wall;
  struct measurement_shard shard; // of 0: whole models
  int tensor_parallel;            // devices that hold a model together; 0: each has its own
  double tolerance;               // a share of token/s
  int threads;
  const char *node; // "" unless it was said
  uint64_t seed;
  enum decode_routing routing;
  float skew;                 // of ROUTING_SKEWED
  const char *data_directory; // NULL: beside the program
  const char *output_directory;
  const char *record; // for check
  bool json, calibrate, verify_only, quiet;
};

enum probe_command {
  COMMAND_LIST = 1,
  COMMAND_RUN = 2,
  COMMAND_CHECK = 4,
  COMMAND_SERVING = 8,
  COMMAND_METER = 16
};

// argv[0] is the command's name. argp prints help and reports errors, and then exits with status 0
// or 2. Texts are argv's own.
struct probe_options probe_options_parse(enum probe_command command, int argc, char **argv,
                                         struct arena *arena);

#endif
