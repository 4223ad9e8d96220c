// diagnostics: the one way to report problems.
//
// Functions add errors and warnings and carry on as long as that makes sense, so that one run shows
// everything that is wrong with a file; they return 0 or -1. Only main prints, and only main exits.
#ifndef PERTOKEN_BASE_DIAGNOSTICS_H
#define PERTOKEN_BASE_DIAGNOSTICS_H

#include "base/arena.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

enum severity { SEVERITY_ERROR, SEVERITY_WARNING };

struct diagnostic {
  enum severity severity;
  struct place place;
  const char *message;
};

// A file that was read, by the attributes that identify a file.
struct file_read {
  const char *path; // as it was opened
  dev_t device;
  ino_t inode;
  const struct file_read *next;
};

struct diagnostics {
  struct arena *arena;
  struct diagnostic *list; // [count], in the order in which they were reported
  size_t count;
  size_t errors;
  const char *about; // put before every message, such as "demand 'chat'"; NULL: nothing
  const struct file_read *files;
  struct diagnostics *held_for; // whose errors these are, held back until they matter; else NULL
  bool machine_failed;          // a disk or device failed: exit status 3 rather than 2
};

// A zeroed struct with `arena` set is ready for use; messages are kept in that arena.

// The message says what was expected, in one sentence without a full stop.
void diagnostics_error(struct diagnostics *diagnostics, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// A warning with the same text as an earlier one is dropped.
void diagnostics_warning(struct diagnostics *diagnostics, struct place place, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

// Notes that a file was read, and tells whether one was: nothing may be written in its place.
void diagnostics_note_file(struct diagnostics *diagnostics, const char *path,
                           const struct stat *file);
bool diagnostics_have_read(const struct diagnostics *diagnostics, const struct stat *file);

// The same for a path, of a file that another program reads, or that was read unreported; nothing
// if there is no such file.
void diagnostics_note_path(struct diagnostics *diagnostics, const char *path);

// Prints "file:line:column: error: message", the line and a caret, in the order in which they were
// reported; of a file with very many errors or warnings, the first ones and how many more there
// are.
void diagnostics_print(const struct diagnostics *diagnostics, FILE *stream, bool colour);

// Adds the messages of another value, in their order: errors that were held back until they matter.
void diagnostics_forward(struct diagnostics *diagnostics, const struct diagnostics *from);

enum { MAX_CANDIDATES = 1000 };

// The candidate nearest to `name` by edit distance, ignoring case, or NULL if none is near enough
// to be meant (the limit is a third of the longer length, at least 1) or there are more than
// MAX_CANDIDATES.
const char *nearest_name(const char *name, const char *const *candidates, size_t count);

// "; did you mean 'NAME'?", to end a message; "" if name is NULL.
const char *did_you_mean(const char *name, struct arena *arena);

enum { MAX_HINTED = 16 };

// The end of a message about a name that is not among the candidates: the nearest one, as above;
// else "; there are A, B and C", or "" if there are none, or more than MAX_HINTED.
const char *name_hint(const char *name, const char *const *candidates, size_t count,
                      struct arena *arena);

#endif
