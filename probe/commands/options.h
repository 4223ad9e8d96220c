// options: what the probe's commands understand on their command lines, and were given.
#ifndef PERTOKEN_PROBE_COMMANDS_OPTIONS_H
#define PERTOKEN_PROBE_COMMANDS_OPTIONS_H

#include "base/arena.h"
#include "probe/measure/protocol.h"

#include <stdbool.h>

enum {
  OPTIONS_MOST_BATCH = 65536,
  OPTIONS_MOST_CONTEXT = 1 << 24,
  OPTIONS_MOST_LAYERS = 10000,
  OPTIONS_MOST_THREADS = 1024, // that the CPU's backend takes
  OPTIONS_MOST_RANKS = 1024,
  OPTIONS_MOST_VALUES = 32 // of one list
};

struct number_list {
  int values[OPTIONS_MOST_VALUES];
  size_t count;
};

struct probe_options {
  const char *device; // NULL: of list, all
  const char *model, *kv, *head, *activations;
  const char *precisions[OPTIONS_MOST_VALUES];
  size_t precision_count;
  struct number_list batches, contexts, layers; // layers ascending; none: all
  double time_s, energy_s;
  double soak_s; // of load before the energy_s under the meter
  struct wall_options wall;
  struct measurement_shard shard; // of 0: whole models
  int tensor_parallel;            // devices that hold a model together; 0: each one by itself
  double tolerance;               // a fraction
  int threads;
  uint64_t seed;
  const char *data_directory; // NULL: beside the program
  const char *output_directory;
  const char *record; // of check
  bool json, calibrate, verify_only, quiet;
};

enum probe_command { COMMAND_LIST = 1, COMMAND_RUN = 2, COMMAND_CHECK = 4 };

// argv[0] is the command's name. Help is printed and errors are reported by argp, which exits with
// status 0 or 2 then.
struct probe_options probe_options_parse(enum probe_command command, int argc, char **argv,
                                         struct arena *arena);

#endif
