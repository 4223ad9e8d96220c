// fuzz: code shared by all harnesses. A harness reads one text the way a program reads a file,
// shows its diagnostics, and asserts what the reader's header promises.
#ifndef PERTOKEN_TESTS_FUZZ_FUZZ_H
#define PERTOKEN_TESTS_FUZZ_FUZZ_H

#include "base/diagnostics.h"
#include "base/source_file.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fuzz {
  struct arena arena;
  struct diagnostics diagnostics;
  const struct source *source;
};

// False for bytes that source_read would refuse: invalid UTF-8, NUL.
bool fuzz_begin(struct fuzz *fuzz, const uint8_t *data, size_t size);

// Prints the diagnostics to a null stream, checks their places, frees the arena.
void fuzz_end(struct fuzz *fuzz);

// A file in memory, for readers that take a path.
struct fuzz_file {
  FILE *stream; // open for writing
  const char *path;
};

struct fuzz_file fuzz_file(struct arena *arena);
struct fuzz_file fuzz_file_of(const void *data, size_t size, struct arena *arena);

void fuzz_file_close(struct fuzz_file *file);

// A complete harness for a reader that takes a path; returns the result of LLVMFuzzerTestOneInput.
int fuzz_a_file(const uint8_t *data, size_t size,
                void (*read)(struct fuzz *fuzz, const char *path));

// The same for a reader of a kind of record: `read` returns what it read, NULL after errors; this
// is checked.
int fuzz_a_record(const uint8_t *data, size_t size,
                  void *(*read)(struct fuzz *fuzz, const char *path),
                  void (*check)(struct fuzz *fuzz, void *record));

// A path to which a record may be written temporarily.
const char *fuzz_path(struct fuzz *fuzz);

// libFuzzer's entry points.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
