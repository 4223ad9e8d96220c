// source: a text from the user, held whole, and places in it.
//
// A place can be shown to the user (the line and a caret) because the text stays in the arena for
// as long as anything points into it.
#ifndef PERTOKEN_BASE_SOURCE_H
#define PERTOKEN_BASE_SOURCE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
  const char *name; // as the user wrote it, or "built-in model", "command line"
  const char *text; // size bytes and a final NUL
  size_t size;
};

// line and column count from 1; columns are in bytes. line 0: the source as a whole; source NULL:
// no source, as in a zeroed place.
struct place {
  const struct source *source;
  int line;
  int column;
};

static const struct place nowhere = {0}; // a message that concerns no line of a file

// A source made of text in memory. The text is copied; it must be valid UTF-8.
const struct source *source_from_text(const char *name, const char *text, struct arena *arena);

// The start of a text in memory: the value of a command-line option, named after the option.
struct place source_text_start(const char *name, const char *text, struct arena *arena);

// The text of a line without its line end (LF or CRLF), as start and length; false if there is
// none.
bool source_line(const struct source *source, int line, const char **start, size_t *length);

// The line that begins at *next, as above, after which *next is the following one's start; false at
// the text's end. A walk over all lines begins at source->text.
bool source_next_line(const struct source *source, const char **next, const char **start,
                      size_t *length);

// The place of the byte at `offset`, at most the text's size. The whole of a line end is in the
// column after the line's last.
struct place source_place(const struct source *source, size_t offset);

// The first byte that is not valid UTF-8, or NULL.
const uint8_t *source_invalid_utf8(const char *text, size_t size);

// NAME as a path in the file at `path`: relative to that file's folder, unless it is absolute.
const char *source_beside(const char *path, const char *name, struct arena *arena);

// The name of a file in its folder: what follows the path's last slash.
const char *source_file_name(const char *path);

// SHA-256 of the text as 64 lower-case hex digits.
char *source_sha256(const struct source *source, struct arena *arena);

#endif
