// format: the formats of other programs' results, and which of them a file is of.
//
// A file is known by what stands in it, never by its name.
#ifndef PERTOKEN_MODEL_IMPORTS_FORMAT_H
#define PERTOKEN_MODEL_IMPORTS_FORMAT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/imports/document.h"
#include "model/imports/imported.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_FORMAT_KEYS = 5 };

struct format {
  const char *tool; // "vLLM bench serve": the record's
  // Paths that lie in the first value of every file of the format, and of no earlier one.
  const char *keys[MAX_FORMAT_KEYS];
  const char *begins; // instead: of a text without values, how it begins
  // Reads one value of the file. NULL: refused as a whole, for this reason.
  int (*read)(struct reading *reading);
  const char *refused;
  bool is_benchmark; // audited once it is published
  bool is_beside;    // tells of the machine or the window that another file's rates are of
  bool is_whole_run; // its rates are means over ramp-up and drain too
};

// NULL for a document of no known format.
const struct format *format_of(const struct document *document);

// "vLLM bench serve, SGLang bench_serving, ...": those that are read.
const char *format_names(struct arena *arena);

// Reads a file by its format. Errors: the document's and the reader's; no known format; a format that
// is refused; nothing in it. Returns 0 or -1.
int format_read(const char *path, struct imported *imported, struct arena *arena,
                struct diagnostics *diagnostics);

#endif
