// format: the formats of other programs' results, and how a file's format is recognized.
//
// A file is recognized by its content, never by its name.
#ifndef PERTOKEN_MODEL_IMPORTS_FORMAT_H
#define PERTOKEN_MODEL_IMPORTS_FORMAT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/imports/imported.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_FORMAT_KEYS = 5 };

struct format {
  const char *tool; // for the record
  // Paths in the first value of every file of the format, and of no format listed before it.
  const char *keys[MAX_FORMAT_KEYS];
  const char *begins; // instead: how a text without values begins
  // Reads one value of the file. NULL: refused as a whole, for this reason:
  int (*read)(struct import_reading *reading);
  const char *refused;
  const char *run_number; // a key of each result in a file of repeated runs; NULL: in no such file
  // The path of the file's version, and the newest one that is known: 2, 1.3. Versions of another
  // first number are refused, or of another second one after a 0; of the others newer ones give a
  // warning. NULL: the format has none.
  const char *version, *newest;
  bool is_benchmark; // audited once published
  bool is_beside;    // describes the machine or the window of another file's rates
  bool is_whole_run; // its rates are means that include ramp-up and drain
};

// Reads a file according to its format, and appends its values to *all. Errors: those of the
// document and the reader; an unknown format; a format that is refused; an empty file. Returns 0,
// or -1 with *all as it was.
int format_read(const char *path, struct imported_list *all, struct arena *arena,
                struct diagnostics *diagnostics);

#endif
