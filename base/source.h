// source: the text of one input file, held whole, and a place in it.
//
// A place can be shown to the user (line with a caret) because the text stays in the arena for as
// long as anything points into it.
#ifndef PERTOKEN_BASE_SOURCE_H
#define PERTOKEN_BASE_SOURCE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct diagnostics;

struct source {
  const char *name; // as the user wrote it, or "built-in model", "command line"
  const char *text; // size bytes and a final NUL
  size_t size;
};

// line and column count from 1; column counts bytes; line 0: the file as a whole; source NULL: no
// file.
struct place {
  const struct source *source;
  int line;
  int column;
};

// Reads a regular file. Refused, with one error each: a missing or unreadable file, a directory or
// device, a file over 256 MiB, a NUL byte, invalid UTF-8. A byte order mark is dropped; line ends
// stay as they are. Returns NULL after an error.
const struct source *source_read(const char *path, struct arena *arena,
                                 struct diagnostics *diagnostics);

// A source made of text in memory. The text is copied; it must be valid UTF-8.
const struct source *source_from_text(const char *name, const char *text, struct arena *arena);

// The beginning of a text in memory, such as the value of an option of the command line by the
// option's name.
struct place source_text_start(const char *name, const char *text, struct arena *arena);

// The text of a line without its line end (LF or CRLF), as start and length; false if there is
// none.
bool source_line(const struct source *source, int line, const char **start, size_t *length);

// SHA-256 of the text as 64 lower-case hex digits.
char *source_sha256(const struct source *source, struct arena *arena);

#endif
