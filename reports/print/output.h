// output: where a command's answer goes, the standard output or a file.
#ifndef PERTOKEN_REPORTS_PRINT_OUTPUT_H
#define PERTOKEN_REPORTS_PRINT_OUTPUT_H

#include "base/arena.h"
#include "base/diagnostics.h"

#include <stdio.h>

struct output {
  FILE *stream;
  const char *path;      // NULL: the standard output
  const char *temporary; // written beside `path` and renamed, so that no half file is left;
                         // NULL for a device or pipe
};

// `path` NULL or "-" means the standard output. Returns 0 or -1.
int output_open(struct output *output, const char *path, struct arena *arena,
                struct diagnostics *diagnostics);

// Flushes, closes and puts a file in its place; removes it after a failure. A stream that failed is
// an error with machine_failed set. Returns 0 or -1.
int output_close(struct output *output, struct diagnostics *diagnostics);

// Gives up: removes what was written to a file.
void output_discard(struct output *output);

#endif
