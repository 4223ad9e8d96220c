// serving_options: what `pertoken probe serving` accepts on its command line, and the values given.
#ifndef PERTOKEN_PROBE_OPTIONS_SERVING_OPTIONS_H
#define PERTOKEN_PROBE_OPTIONS_SERVING_OPTIONS_H

#include "base/arena.h"
#include "probe/serving/ladder.h"
#include "probe/serving/window.h"

#include <stdbool.h>
#include <stdint.h>

enum { USUAL_LIMIT_S = 1800 }; // of a load

struct serving_options {
  const char *url;
  const char *accelerator, *precision, *model; // as typed
  const char *activations, *kv;                // the same; NULL: not given
  const char *speculation;                     // "none", or a method; NULL: not given
  int accelerators;
  const char *served_model, *engine; // NULL: as the server says
  const char *node;                  // that serves; NULL: not given
  int input_tokens, output_tokens;
  struct ladder ladder;
  struct slo slo;
  double window_s, limit_s;
  uint64_t seed;               // 0: drawn
  const char *power, *devices; // NULL: not given
  double clock_offset_s;       // NAN: not given
  const char *data_directory;  // NULL: next to the program
  const char *data_extra;      // a file of the user's own rows; NULL: none
  const char *output_directory;
  bool quiet;
};

// argv[0] is the command's name. argp prints help and reports errors, and then exits with status 0
// or 2. Texts are those of argv.
struct serving_options serving_options_parse(int argc, char **argv, struct arena *arena);

#endif
