// serving_options: what `pertoken probe serving` accepts on its command line, and what it was given.
#ifndef PERTOKEN_PROBE_COMMANDS_SERVING_OPTIONS_H
#define PERTOKEN_PROBE_COMMANDS_SERVING_OPTIONS_H

#include "base/arena.h"
#include "probe/serving/ladder.h"
#include "probe/serving/window.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_CONCURRENCY = 1024, USUAL_INPUT = 1024, USUAL_OUTPUT = 256 };

struct serving_options {
  const char *url;
  const char *accelerator, *precision, *model; // as typed
  int accelerators;
  const char *served_model, *engine; // NULL: what the server says
  int input_tokens, output_tokens;
  struct ladder ladder;
  struct slo slo;
  double window_s, limit_s;
  uint64_t seed;               // 0: drawn
  const char *power, *devices; // NULL: not said
  double clock_offset_s;       // NAN: not said
  const char *data_directory;  // NULL: beside the program
  const char *output_directory;
  bool quiet;
};

// argv[0] is the command's name. argp prints help and reports errors, and then exits with status 0
// or 2. Texts are argv's own.
struct serving_options serving_options_parse(int argc, char **argv, struct arena *arena);

#endif
