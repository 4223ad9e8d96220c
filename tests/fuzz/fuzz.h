// fuzz: what every harness shares. A harness reads one text as a program would read a file, shows
// its diagnostics, and asserts what the reader's header promises.
#ifndef PERTOKEN_FUZZ_H
#define PERTOKEN_FUZZ_H

#include "model/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct fuzz {
  struct arena arena;
  struct diagnostics diagnostics;
  const struct source *source;
};

// False for bytes that source_read would refuse: invalid UTF-8, NUL.
bool fuzz_begin(struct fuzz *fuzz, const uint8_t *data, size_t size);

// Prints the diagnostics to nowhere, checks their places, frees the arena.
void fuzz_end(struct fuzz *fuzz);

// libFuzzer's entry points.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
