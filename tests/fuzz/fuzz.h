// fuzz: what every harness shares. A harness reads one text as a program would read a file, shows
// its diagnostics, and asserts what the reader's header promises.
#ifndef PERTOKEN_FUZZ_H
#define PERTOKEN_FUZZ_H

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

// Prints the diagnostics to nowhere, checks their places, frees the arena.
void fuzz_end(struct fuzz *fuzz);

// A file in memory, for readers that take a path.
struct fuzz_file {
  FILE *stream; // open for writing
  const char *path;
};

struct fuzz_file fuzz_file(struct arena *arena);
struct fuzz_file fuzz_file_of(const void *data, size_t size, struct arena *arena);

// The same of a JSON record, with its digest mended.
struct fuzz_file fuzz_record_of(const uint8_t *data, size_t size, struct arena *arena);

void fuzz_file_close(struct fuzz_file *file);

// A whole harness for a reader that takes a path; returns what LLVMFuzzerTestOneInput does.
int fuzz_a_file(const uint8_t *data, size_t size,
                void (*read)(struct fuzz *fuzz, const char *path));

// The same for a reader of a kind of record: `read` gives what it read, NULL after errors, which is checked.
int fuzz_a_record(const uint8_t *data, size_t size,
                  void *(*read)(struct fuzz *fuzz, const char *path),
                  void (*check)(struct fuzz *fuzz, void *record));

// Where a record may be written for a moment.
const char *fuzz_path(struct fuzz *fuzz);

// libFuzzer's entry points.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
