// options: the options that a command accepts, and what it was given.
#ifndef PERTOKEN_REPORTS_COMMANDS_OPTIONS_H
#define PERTOKEN_REPORTS_COMMANDS_OPTIONS_H

#include "base/arena.h"
#include "reports/print/format.h"

#include <stdbool.h>
#include <stddef.h>

// Groups of options that a command takes; all take -q, -v and --help.
enum option_group {
  OPTIONS_DATA = 1,     // --data --data-extra
  OPTIONS_SCENARIO = 2, // --set --case --mixed --model --measurements
  OPTIONS_FORMAT = 4,   // --format
  OPTIONS_OUTPUT = 8,   // -o
  OPTIONS_WHERE = 16,   // --where
  OPTIONS_OPTION = 32,  // --option
  OPTIONS_SWING = 64,   // --swing --grid
  OPTIONS_SOLVE = 128,  // --for --match --target --saving --between
  OPTIONS_DRAWS = 256,  // --draws --seed --method
  OPTIONS_FOR = 512,    // --for
  OPTIONS_SHARD = 1024, // --shard
  OPTIONS_FIT = 2048,   // --context --kv --accelerators --parameters
  OPTIONS_TABLE = 4096, // --table
  // --accelerator --accelerators --precision --model --date --published --power --devices
  // --utc-offset --clock-offset -o DIR
  OPTIONS_IMPORT = 8192,
  OPTIONS_FLEET = 16384,     // --expect --margin --explain
  OPTIONS_NEW = 32768,       // --model --count --demand --template --set --mixed -o FILE
  OPTIONS_ACCEPT = 65536,    // --expect --for --plan --shortfall --chance --scenario --explain
  OPTIONS_EVIDENCE = 131072, // --measurements --files --sign --signers
  OPTIONS_ROWS = 262144,     // --latest --stale --spread
  OPTIONS_PLAN = 524288,     // --time --explain
  OPTIONS_CASES = 1048576    // --all-cases
};

struct syntax {
  const char *name;      // compare
  const char *arguments; // "SCENARIO.ini", as the help shows them
  const char *summary;   // one line
  const char *example;   // a command line
  unsigned groups;       // of option_group
  unsigned formats;      // 1 << FORMAT_..., with OPTIONS_FORMAT
  int argument_count;
  bool more; // that many arguments or more
};

struct options {
  const char *command;    // its name
  const char **arguments; // [argument_count]
  int argument_count;
  const char **settings, **wheres, **data_extras;
  size_t setting_count, where_count, data_extra_count;
  // NULL: not given.
  const char *case_name, *model_path, *data_directory, *measurements_directory, *output_path;
  const char *option, *swing, *grid, *input, *match, *target, *saving, *between;
  const char *table;
  const char *time;      // seconds
  const char *explained; // a table of a plan
  const char *count, *demand, *template;
  const char *expect, *margin;
  const char *shortfall, *chance, *scenario;
  const char *files, *sign, *signers;
  const char *draws, *seed, *method, *shard;
  const char *context, *kv, *accelerators, *parameters;
  const char *accelerator, *precision, *model, *date, *published;
  const char *power, *devices, *utc_offset, *clock_offset, *node;
  enum output_format format;
  bool format_given;
  bool mixed, all_cases, plan, explain, latest, stale, spread, quiet, verbose;
};

// argv[0] is the command's name. argp prints help and reports errors, and then exits with status 0
// or 2.
struct options options_parse(const struct syntax *syntax, int argc, char **argv,
                             struct arena *arena);

#endif
