// output: where a command's answer goes, the standard output or a file.
//
// What is written to a file takes its place when it is complete, and until then has no name: nothing
// is left behind, however the program ends. A file that is there keeps its mode and, where the system
// lets it, its owner. A device or pipe is written to.
#ifndef PERTOKEN_BASE_OUTPUT_H
#define PERTOKEN_BASE_OUTPUT_H

#include "base/arena.h"
#include "base/diagnostics.h"

#include <signal.h>
#include <stdio.h>

struct output {
  FILE *stream;
  const char *path;     // NULL: the standard output
  const char *writable; // of a file: a path that others can open what is written by; else NULL
  const char *folder;   // of a file: where it is to stand
};

// `path` NULL or "-" means the standard output. Errors: a file that this run has read, a link to
// nothing, a pipe that nobody reads. Returns 0 or -1.
int output_open(struct output *output, const char *path, struct arena *arena,
                struct diagnostics *diagnostics);

// The same of a file that this run may have read, to write it anew.
int output_open_again(struct output *output, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics);

// Flushes, closes and puts a file in its place. A stream that failed is an error with machine_failed
// set. Returns 0 or -1.
int output_close(struct output *output, struct diagnostics *diagnostics);

// Gives up: what was written to a file is gone.
void output_discard(struct output *output);

// While a file has another name than its own, no signal that asks the program to end does so; those
// that came are delivered afterwards.
void output_hold_signals(sigset_t *before);
void output_release_signals(const sigset_t *before);

#endif
