// source_file: a user's file, read whole and checked, as a source.
#ifndef PERTOKEN_BASE_SOURCE_FILE_H
#define PERTOKEN_BASE_SOURCE_FILE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

// Reads a regular file. Refused, with one error each: a missing or unreadable file, a directory or
// device, a file over 256 MiB, a NUL byte, invalid UTF-8, U+FFFE and U+FFFF, which XML and so a
// workbook cannot hold. A byte order mark is dropped; line ends stay as they are. NULL after an
// error.
const struct source *source_read(const char *path, struct arena *arena,
                                 struct diagnostics *diagnostics);

#endif
