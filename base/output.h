// output: where a command's answer goes: standard output or a file.
//
// A file appears in its place only when it is complete, and has no name until then: nothing is left
// behind, however the program ends. A file that is replaced keeps its mode and, if the system
// allows it, its owner. A device or pipe is written to directly.
#ifndef PERTOKEN_BASE_OUTPUT_H
#define PERTOKEN_BASE_OUTPUT_H

#include "base/arena.h"
#include "base/diagnostics.h"

#include <signal.h>
#include <stdio.h>

struct output {
  FILE *stream;
  const char *path;     // NULL: the standard output
  const char *writable; // of a file: a path through which others can write it; else NULL
  const char *folder;   // of a file: the folder that it goes to
};

// A `path` of NULL, "-" or "/dev/stdout" means standard output. Errors: a directory or no name at
// all, a file that this run has read, a dangling link, a pipe without a reader. Returns 0 or -1.
int output_open(struct output *output, const char *path, struct arena *arena,
                struct diagnostics *diagnostics);

// The same for a file that this run may have read, to overwrite it.
int output_open_again(struct output *output, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics);

// Whether such a file could be written now, so that a long run does not end with that error.
// Nothing is left behind. Returns 0 or -1.
int output_try(const char *path, struct arena *arena, struct diagnostics *diagnostics);

// Writes a text to a file that must not exist yet, not even as a link. A partly written file is not
// left behind. Returns 0 or -1.
int output_write_new(const char *path, const char *text, struct diagnostics *diagnostics);

// Makes a directory for output unless it exists, and those that it is to be in. A failure is an
// error with machine_failed set. Returns 0 or -1.
int output_make_directory(const char *path, struct diagnostics *diagnostics);

// Flushes a stream. Returns 0, or the errno of what failed, then or earlier.
int output_failure(FILE *stream);

// Flushes, closes and puts a file in place. A failed stream is an error with machine_failed set.
// Returns 0 or -1.
int output_close(struct output *output, struct diagnostics *diagnostics);

// Gives up: what was written to a file is discarded.
void output_discard(struct output *output);

// While a file has a temporary name, signals that ask the program to end are held; any that arrived
// are delivered afterwards.
void output_hold_signals(sigset_t *before);
void output_release_signals(const sigset_t *before);

#endif
